package rest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/storytest"
)

const queryFolder = "testdata/queries"

// A queryFile is a container with items, and queries over it. Its language is described in
// testdata/queries/README.md.
type queryFile struct {
	head      []string // the lines before the first case, as they are
	source    string
	container string
	key       string
	items     []string
	gone      []string
	udfs      []string
	cases     []*queryCase
}

type queryCase struct {
	notes     []string // comments before it
	name      string
	query     []string
	params    string
	partition string
	plan      []string
	hasPlan   bool
	rows      []string
	unordered bool
	err       string
}

// readQueries parses a file.
func readQueries(t testing.TB, file string) *queryFile {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	f := &queryFile{key: `["/pk"]`}
	var c *queryCase
	var into *[]string
	var notes []string
	for n, line := range strings.Split(strings.TrimRight(string(text), "\n"), "\n") {
		if name, ok := strings.CutPrefix(line, "=== "); ok {
			c = &queryCase{notes: notes, name: name}
			f.cases, into, notes = append(f.cases, c), &c.query, nil
			continue
		}
		if c != nil && strings.HasPrefix(line, "# ") {
			notes = append(notes, line)
			continue
		}
		if c == nil {
			f.head = append(f.head, line)
			f.setting(t, file, n+1, line)
			continue
		}
		if rest, ok := strings.CutPrefix(line, "--- "); ok {
			into = c.section(t, file, n+1, rest)
		} else if line != "" {
			*into = append(*into, line)
		}
	}
	if f.source == "" || len(f.cases) == 0 {
		t.Fatalf("%s: no source, or no case", file)
	}
	return f
}

func (f *queryFile) setting(t testing.TB, file string, n int, line string) {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "", "#":
	case "source":
		f.source = rest
	case "container":
		f.container = rest
	case "key":
		f.key = rest
	case "item":
		f.items = append(f.items, rest)
	case "gone":
		f.gone = append(f.gone, rest)
	case "udf":
		f.udfs = append(f.udfs, rest)
	default:
		t.Fatalf("%s:%d: %q", file, n, line)
	}
}

func (c *queryCase) section(t testing.TB, file string, n int, line string) *[]string {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "params":
		c.params = rest
	case "partition":
		c.partition = rest
	case "unordered":
		c.unordered = true
	case "error":
		c.err = rest
	case "plan":
		c.hasPlan = true
		return &c.plan
	case "rows":
		return &c.rows
	default:
		t.Fatalf("%s:%d: %q", file, n, line)
	}
	return new([]string)
}

func (f *queryFile) write(t testing.TB, file string) {
	var b strings.Builder
	for _, line := range f.head {
		b.WriteString(line + "\n")
	}
	for i, c := range f.cases {
		if i > 0 {
			b.WriteString("\n")
		}
		c.write(&b)
	}
	must(t, os.WriteFile(file, []byte(b.String()), 0o644))
}

func (c *queryCase) write(b *strings.Builder) {
	line := func(text string) { b.WriteString(text + "\n") }
	for _, note := range c.notes {
		line(note)
	}
	line("=== " + c.name)
	if len(c.query) == 0 {
		line("") // an empty query shows as a blank line
	}
	for _, q := range c.query {
		line(q)
	}
	if c.params != "" {
		line("--- params " + c.params)
	}
	if c.partition != "" {
		line("--- partition " + c.partition)
	}
	if c.hasPlan {
		line("--- plan")
		for _, p := range c.plan {
			line(p)
		}
	}
	if c.err != "" {
		line("--- error " + c.err)
		return
	}
	if c.unordered {
		line("--- unordered")
	}
	line("--- rows")
	for _, r := range c.rows {
		line(r)
	}
}

// build creates the container and its items.
func (f *queryFile) build(t testing.TB) *testAPI {
	d := newTestAPI(t)
	d.do("POST", "/dbs", `{"id":"d"}`).want(201)
	more := f.container
	if more == "" {
		more = `{}`
	}
	kind := "Hash"
	if strings.Contains(f.key, ",") {
		kind = "MultiHash"
	}
	members := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(more), "{"), "}")
	if members != "" {
		members = "," + members
	}
	if !strings.Contains(members, `"defaultTtl"`) {
		members += `,"defaultTtl":-1`
	}
	d.do("POST", "/dbs/d/colls", `{"id":"c","partitionKey":{"paths":`+f.key+`,"kind":"`+kind+`","version":2}`+members+
		`}`).want(201)
	for _, item := range append(slices.Clone(f.gone), f.items...) {
		a := d.do("POST", collection+"/docs", item, "x-ms-documentdb-is-upsert", "true", hPK, keyOf(t, f.key, item))
		if a.status != 200 {
			a.want(201)
		}
	}
	for _, udf := range f.udfs {
		name, body, _ := strings.Cut(udf, " ")
		text, _ := json.Marshal(map[string]string{"id": name, "body": body})
		d.do("POST", collection+"/udfs", string(text)).want(201)
	}
	if len(f.gone) > 0 {
		must(t, d.clock.Advance(time.Hour))
	}
	return d
}

// keyOf is the partition key header of an item.
func keyOf(t testing.TB, paths, item string) string {
	var names []string
	must(t, json.Unmarshal([]byte(paths), &names))
	var fields map[string]json.RawMessage
	must(t, json.Unmarshal([]byte(item), &fields))
	values := make([]string, len(names))
	for i, name := range names {
		v, ok := fields[strings.TrimPrefix(name, "/")]
		if values[i] = string(v); !ok {
			values[i] = "{}"
		}
	}
	return "[" + strings.Join(values, ",") + "]"
}

// ask runs the query of the case page by page, and returns the rows.
func (c *queryCase) ask(d *testAPI, page int, headers ...string) (rows []string, refused answer) {
	d.t.Helper()
	body := map[string]any{"query": strings.Join(c.query, "\n")}
	if c.params != "" {
		var params map[string]json.RawMessage
		must(d.t, json.Unmarshal([]byte(c.params), &params))
		var list []any
		for name, value := range params {
			list = append(list, map[string]any{"name": name, "value": value})
		}
		body["parameters"] = list
	}
	text, _ := json.Marshal(body)
	headers = append(headers, "content-type", "application/query+json", "x-ms-documentdb-query-enablecrosspartition",
		"true", "x-ms-max-item-count", fmt.Sprint(page))
	if c.partition != "" {
		headers = append(headers, hPK, c.partition)
	}
	token := ""
	for pages := 0; ; pages++ {
		if pages > 1000 {
			d.t.Fatalf("%s: more than 1000 pages", c.name)
		}
		h := headers
		if token != "" {
			h = append(slices.Clone(headers), "x-ms-continuation", token)
		}
		a := d.do("POST", collection+"/docs", string(text), h...)
		if a.status != 200 {
			return rows, a
		}
		var out struct{ Documents []json.RawMessage }
		must(d.t, json.Unmarshal([]byte(a.text), &out))
		for _, r := range out.Documents {
			rows = append(rows, string(r))
		}
		if token = a.header.Get("x-ms-continuation"); token == "" {
			return rows, answer{}
		}
	}
}

func queryFiles(t testing.TB) []string {
	files, err := filepath.Glob(queryFolder + "/*.txt")
	must(t, err)
	return files
}

// TestQueryStories runs every query of testdata/queries.
func TestQueryStories(t *testing.T) {
	total := 0
	for _, file := range queryFiles(t) {
		f := readQueries(t, file)
		total += len(f.cases)
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			d := f.build(t)
			for _, c := range f.cases {
				t.Run(c.name, func(t *testing.T) {
					d.t = t
					c.tell(d, storytest.Rewriting())
				})
			}
			if storytest.Rewriting() {
				f.write(t, file)
			}
		})
	}
	t.Logf("%d cases", total)
}

// Files are written as they were read, so that -rewrite changes nothing but answers.
func TestQueryStoriesAreWrittenAsTheyAreRead(t *testing.T) {
	copied := filepath.Join(t.TempDir(), "copy.txt")
	for _, file := range queryFiles(t) {
		readQueries(t, file).write(t, copied)
		want, err := os.ReadFile(file)
		must(t, err)
		got, err := os.ReadFile(copied)
		must(t, err)
		if string(got) != string(want) {
			t.Errorf("%s:\n%s\nwant\n%s", file, got, want)
		}
	}
}

// tell compares the case with the API's answers.
func (c *queryCase) tell(d *testAPI, rewriting bool) {
	t := d.t
	got, refused := c.ask(d, 1000)
	if c.err != "" {
		if status, text, _ := strings.Cut(c.err, " "); fmt.Sprint(refused.status) != status ||
			!strings.Contains(refused.text, text) {
			t.Errorf("%d %s with %d rows, want %s", refused.status, refused.text, len(got), c.err)
		}
		return
	}
	if refused.status != 0 {
		t.Errorf("%d %s", refused.status, refused.text)
		return
	}
	if rewriting {
		c.rows = got
	} else if !slices.Equal(got, c.rows) {
		t.Errorf("rows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.rows, "\n"))
		return
	}
	if c.hasPlan {
		c.checkPlan(d, rewriting)
	}
	for _, way := range []struct {
		name    string
		page    int
		headers []string
	}{
		{"without indexes", 1000, []string{"x-ms-documentdb-force-query-scan", "true"}},
		{"one by one", 1, nil},
		{"two by two", 2, nil},
		{"one by one without indexes", 1, []string{"x-ms-documentdb-force-query-scan", "true"}},
	} {
		again, refused := c.ask(d, way.page, way.headers...)
		if refused.status != 0 {
			t.Errorf("%s: %d %s", way.name, refused.status, refused.text)
		}
		want := got
		if c.unordered || way.headers != nil && !strings.Contains(strings.ToUpper(strings.Join(c.query, " ")),
			"ORDER BY") {
			again, want = slices.Sorted(slices.Values(again)), slices.Sorted(slices.Values(got))
		}
		if !slices.Equal(again, want) {
			t.Errorf("%s\n%s\nwant\n%s", way.name, strings.Join(again, "\n"), strings.Join(want, "\n"))
		}
	}
}

// checkPlan compares the plan's text.
func (c *queryCase) checkPlan(d *testAPI, rewriting bool) {
	rows, refused := c.ask(d, 1000, "x-mayfly-explain", "true")
	if refused.status != 0 || len(rows) != 1 {
		d.t.Errorf("explain: %d %s", refused.status, refused.text)
		return
	}
	var out struct{ Plan string }
	must(d.t, json.Unmarshal([]byte(rows[0]), &out))
	plan := strings.Split(strings.TrimRight(out.Plan, "\n"), "\n")
	if rewriting {
		c.plan = plan
	} else if !slices.Equal(plan, c.plan) {
		d.t.Errorf("plan\n%s\nwant\n%s", strings.Join(plan, "\n"), strings.Join(c.plan, "\n"))
	}
}
