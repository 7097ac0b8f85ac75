package rest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A feed is one answer of a feed, or several.
type feed struct {
	names []string          // in their order
	text  map[string]string // each item as it came
}

var lsnMember = regexp.MustCompile(`,"_lsn":\d+\}$`)

// rows adds an answer's items.
func (f *feed) rows(w *storyRunner, a answer) {
	w.t.Helper()
	if a.status == 304 {
		return
	}
	var page struct {
		Documents []json.RawMessage
		Count     int `json:"_count"`
	}
	if a.status != 200 || json.Unmarshal(a.body, &page) != nil {
		w.t.Fatalf("a feed answers %d %s", a.status, a.body)
	}
	if page.Count != len(page.Documents) || a.header.Get("x-ms-item-count") != strconv.Itoa(page.Count) {
		w.t.Errorf("%d items, but the feed counts %d, its header %s", len(page.Documents), page.Count,
			a.header.Get("x-ms-item-count"))
	}
	for _, text := range page.Documents {
		f.add(w, string(text))
	}
}

func (f *feed) add(w *storyRunner, text string) {
	w.t.Helper()
	d := parse([]byte(text))
	name := nameOf(d.pk, d.id)
	if f.text == nil {
		f.text = map[string]string{}
	}
	if _, twice := f.text[name]; twice {
		w.t.Errorf("a feed has %s twice", name)
	}
	f.names = append(f.names, name)
	f.text[name] = lsnMember.ReplaceAllString(text, "}")
}

func (f *feed) said() string {
	if len(f.names) == 0 {
		return "nothing"
	}
	return strings.Join(f.names, " ")
}

// scope is the header for a partition, or for the whole container.
func scope(partition string) map[string]string {
	if partition == "" {
		return map[string]string{}
	}
	return map[string]string{partitionKey: keyHeader(partition)}
}

// list reads the container's feed, or that of one partition.
func (w *storyRunner) list(partition string) string {
	var f feed
	f.rows(w, w.ask("GET", storyItems, "", scope(partition)))
	return f.said()
}

// firstPage reads so many items and remembers where it stopped.
func (w *storyRunner) firstPage(size string) string {
	w.page, w.more = size, ""
	return w.nextPage()
}

// next reads the page behind it.
func (w *storyRunner) next(string) string {
	w.t.Helper()
	if w.more == "" {
		w.t.Fatal("there is no next page")
	}
	return w.nextPage()
}

func (w *storyRunner) nextPage() string {
	header := map[string]string{"x-ms-max-item-count": w.page}
	if w.more != "" {
		header["x-ms-continuation"] = w.more
	}
	var f feed
	f.rows(w, w.ask("GET", storyItems, "", header))
	if w.more = w.last.header.Get("x-ms-continuation"); w.more != "" {
		return f.said() + ", and more"
	}
	return f.said()
}

// changes reads the change feed: from the beginning, `of q`, `since 5s`, `now`, or `next`
// from where the last one ended.
func (w *storyRunner) changes(args string) string {
	word, rest, _ := strings.Cut(args, " ")
	header := scope("")
	switch word {
	case "":
	case "of":
		header = scope(rest)
	case "since":
		d, err := time.ParseDuration(rest)
		must(w.t, err)
		header["If-Modified-Since"] = w.clock.start.Add(d).Format(http.TimeFormat)
	case "now":
		header["If-None-Match"] = "*"
	case "next":
		header["If-None-Match"] = w.feedPlace
	default:
		w.t.Fatalf("changes %s?", args)
	}
	header["A-IM"] = "Incremental Feed"
	var f feed
	a := w.ask("GET", storyItems, "", header)
	f.rows(w, a)
	if len(f.names) == 0 && a.status != 304 {
		w.t.Errorf("an empty change feed answers %d", a.status)
	}
	w.feedPlace = a.header.Get("etag")
	return f.said()
}

// live lists the items of the story that exist, through every way of reading. All must agree, and every copy of an
// item must be the same.
func (w *storyRunner) live(string) string {
	w.t.Helper()
	truth := w.readEach()
	for _, way := range w.waysToRead(truth) {
		if !maps.Equal(way.feed.text, truth.text) {
			w.t.Errorf("%s: reading each finds %s, %s finds %s", w.clock.sinceStart(w.clock.Now()), truth.said(),
				way.name, way.feed.said())
		}
	}
	if count := w.counted(); count != len(truth.names) {
		w.t.Errorf("%d items are read, but the container counts %d", len(truth.names), count)
	}
	for _, where := range []string{"", ` WHERE c.id >= ""`, " WHERE c._ts > 0", " WHERE IS_DEFINED(c.pk)"} {
		if count := w.countedByQuery(where); count != strconv.Itoa(len(truth.names)) {
			w.t.Errorf("%d items are read, but COUNT%s is %s", len(truth.names), where, count)
		}
	}
	return truth.said()
}

// readEach reads every item of the story by its id.
func (w *storyRunner) readEach() (f feed) {
	w.t.Helper()
	for _, i := range w.items {
		path, header := storyItems+"/"+i.id, map[string]string{partitionKey: keyHeader(i.partition)}
		switch a := w.ask("GET", path, "", header); a.status {
		case 200:
			f.add(w, string(a.body))
		case 404:
		default:
			w.t.Errorf("reading %s answers %d %s", i.name(), a.status, a.body)
		}
	}
	return f
}

// A way is a method of reading items.
type way struct {
	name string
	feed feed
}

func (w *storyRunner) waysToRead(truth feed) []way {
	return []way{
		{"reading by RID", w.readByRID()},
		{"reading what has changed", w.readUnlessKnown(truth)},
		{"a batch", w.readInBatches()},
		{"the feed", w.readFeed(nil)},
		{"the feed of the range", w.readFeed(map[string]string{"x-ms-documentdb-partitionkeyrangeid": "0"})},
		{"the feed page by page", w.readPages()},
		{"the feeds of the partitions", w.readPartitions(nil)},
		{"the feeds of two halves", w.readHalves()},
		{"the change feed", w.readFeed(map[string]string{"A-IM": "Incremental Feed"})},
		{"the change feed since long ago", w.readFeed(map[string]string{
			"A-IM": "Incremental Feed", "If-Modified-Since": w.clock.start.AddDate(-1, 0, 0).Format(http.TimeFormat)})},
		{"the change feeds of the partitions", w.readPartitions(map[string]string{"A-IM": "Incremental Feed"})},
		{"a query", w.query("SELECT * FROM c", "1000")},
		{"a query page by page", w.query("SELECT VALUE c FROM c", "1")},
		{"a query through an index", w.query(`SELECT * FROM c WHERE c.id >= ""`, "2")},
		{"a query in order", w.query("SELECT * FROM c"+w.order("c.id DESC"), "2")},
		{"a query in order of stamps", w.query("SELECT * FROM c ORDER BY c._ts DESC", "1")},
		{"a query for some stamps", w.query("SELECT * FROM c WHERE c._ts > 0", "1000")},
		{"a query for ids", w.query("SELECT * FROM c WHERE c.id IN ("+w.ids()+")", "1000")},
	}
}

// query runs a query over all partitions, page by page. Its rows are items.
func (w *storyRunner) query(text, page string) (f feed) {
	w.t.Helper()
	body, err := json.Marshal(map[string]string{"query": text})
	must(w.t, err)
	header := map[string]string{
		"content-type": "application/query+json", "x-ms-documentdb-query-enablecrosspartition": "True",
		"x-ms-max-item-count": page}
	for {
		f.rows(w, w.ask("POST", storyItems, string(body), header))
		more := w.last.header.Get("x-ms-continuation")
		if more == "" {
			return f
		}
		header["x-ms-continuation"] = more
	}
}

// order is ORDER BY, where the container has the index that it needs.
func (w *storyRunner) order(by string) string {
	if bytes.Contains(w.ask("GET", storyContainer, "", nil).body, []byte(`"indexingMode":"none"`)) {
		return ""
	}
	return " ORDER BY " + by
}

// ids are those of the story's items as a list of the query language, and one more.
func (w *storyRunner) ids() string {
	list := `"none"`
	for _, i := range w.items {
		list += "," + strconv.Quote(i.id)
	}
	return list
}

// countedByQuery is COUNT, in a way that may read no items.
func (w *storyRunner) countedByQuery(where string) string {
	w.t.Helper()
	body, err := json.Marshal(map[string]string{"query": "SELECT VALUE COUNT(1) FROM c" + where})
	must(w.t, err)
	a := w.ask("POST", storyItems, string(body), map[string]string{
		"content-type": "application/query+json", "x-ms-documentdb-query-enablecrosspartition": "True"})
	var out struct{ Documents []json.RawMessage }
	if json.Unmarshal(a.body, &out) != nil || len(out.Documents) != 1 {
		w.t.Fatalf("COUNT answers %d %s", a.status, a.body)
	}
	return string(out.Documents[0])
}

func (w *storyRunner) readFeed(header map[string]string) (f feed) {
	f.rows(w, w.ask("GET", storyItems, "", header))
	return f
}

func (w *storyRunner) readPages() (f feed) {
	w.t.Helper()
	header := map[string]string{"x-ms-max-item-count": "1"}
	for {
		before := len(f.names)
		f.rows(w, w.ask("GET", storyItems, "", header))
		more := w.last.header.Get("x-ms-continuation")
		if more == "" {
			return f
		}
		if len(f.names) == before {
			w.t.Fatal("an empty page with a continuation")
		}
		header["x-ms-continuation"] = more
	}
}

func (w *storyRunner) readPartitions(header map[string]string) (f feed) {
	partitions := map[string]bool{}
	for _, i := range w.items {
		partitions[i.partition] = true
	}
	for _, partition := range slices.Sorted(maps.Keys(partitions)) {
		h := scope(partition)
		maps.Copy(h, header)
		f.rows(w, w.ask("GET", storyItems, "", h))
	}
	return f
}

func (w *storyRunner) readHalves() (f feed) {
	const middle = "1FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF"
	for _, half := range [][2]string{{"", middle}, {middle, "FF"}} {
		f.rows(w, w.ask("GET", storyItems, "", map[string]string{
			"x-ms-read-key-type": "EffectivePartitionKeyRange", "x-ms-start-epk": half[0], "x-ms-end-epk": half[1]}))
	}
	return f
}

// readByRID reads every document that ever had one of the names.
func (w *storyRunner) readByRID() (f feed) {
	w.t.Helper()
	for _, i := range w.items {
		for _, rid := range i.rids {
			a := w.ask("GET", w.self+"docs/"+rid, "", map[string]string{partitionKey: keyHeader(i.partition)})
			if a.status == 200 {
				f.add(w, string(a.body))
			} else if a.status != 404 {
				w.t.Errorf("reading %s by RID answers %d %s", i.name(), a.status, a.body)
			}
		}
	}
	return f
}

// readUnlessKnown reads items only if they have changed: 304 says that they have not.
func (w *storyRunner) readUnlessKnown(truth feed) (f feed) {
	w.t.Helper()
	for _, i := range w.items {
		a := w.ask("GET", storyItems+"/"+i.id, "", map[string]string{partitionKey: keyHeader(i.partition),
			"If-None-Match": "*"})
		if text := truth.text[i.name()]; a.status == 304 && text != "" {
			f.add(w, text)
		} else if a.status != 404 {
			w.t.Errorf("reading %s unless known answers %d %s", i.name(), a.status, a.body)
		}
	}
	return f
}

func (w *storyRunner) readInBatches() (f feed) {
	w.t.Helper()
	for _, i := range w.items {
		a := w.ask("POST", storyItems, fmt.Sprintf(`[{"operationType":"Read","id":%q}]`, i.id), map[string]string{
			partitionKey: keyHeader(i.partition), "x-ms-cosmos-is-batch-request": "True",
			"x-ms-cosmos-batch-atomic": "True"})
		var list []struct {
			StatusCode   int
			ResourceBody json.RawMessage
		}
		if json.Unmarshal(a.body, &list) != nil || len(list) != 1 {
			w.t.Fatalf("a batch answers %d %s", a.status, a.body)
		}
		switch {
		case a.status == 200 && list[0].StatusCode == 200:
			f.add(w, string(list[0].ResourceBody))
		case a.status != 207 || list[0].StatusCode != 404:
			w.t.Errorf("reading %s in a batch answers %d %s", i.name(), a.status, a.body)
		}
	}
	return f
}

var documentsCount = regexp.MustCompile(`documentsCount=(\d+);`)

// counted is the number of items by the container's own account.
func (w *storyRunner) counted() int {
	w.t.Helper()
	a := w.ask("GET", storyContainer, "", map[string]string{"x-ms-documentdb-populatequotainfo": "True"})
	m := documentsCount.FindStringSubmatch(a.header.Get("x-ms-resource-usage"))
	if m == nil {
		w.t.Fatalf("no usage in %v", a.header)
	}
	n, err := strconv.Atoi(m[1])
	must(w.t, err)
	return n
}
