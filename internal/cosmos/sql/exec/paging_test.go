package exec

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// many makes n documents with few distinct values of each type.
func many(t testing.TB, n int, seed uint64) *sliceSource {
	r := rand.New(rand.NewPCG(seed, 3))
	long := strings.Repeat("long", 80)
	values := []string{`null`, `true`, `false`, `1`, `2.0`, `2`, `-3.5`, `"a"`, `"b"`, `"` + long + `x"`,
		`"` + long + `y"`, `[1]`, `[2]`, `{"x":1}`, `{"y":2}`}
	var texts []string
	for i := range n {
		body := fmt.Sprintf(`{"id":"%d","pk":"p%d"`, i, r.IntN(3))
		for _, name := range []string{"a", "b"} {
			if v := r.IntN(len(values) + 2); v < len(values) {
				body += fmt.Sprintf(`,"%s":%s`, name, values[v])
			}
		}
		body += fmt.Sprintf(`,"n":%d,"tags":[`, r.IntN(5))
		for j := range r.IntN(5) {
			if j > 0 {
				body += ","
			}
			body += fmt.Sprint(r.IntN(3))
		}
		texts = append(texts, body+"]}")
	}
	s := newSource(t, texts...)
	s.schema.Composite = [][]access.Column{{{Path: access.Path{{Name: "a"}}}, {Path: access.Path{{Name: "n"}},
		Descending: true}}}
	return s
}

var pagedQueries = []string{
	`SELECT VALUE c.id FROM c`,
	`SELECT c.id, c.a FROM c WHERE c.n > 1`,
	`SELECT VALUE c.a FROM c`,
	`SELECT c.id, t FROM c JOIN t IN c.tags`,
	`SELECT VALUE t FROM c JOIN t IN c.tags JOIN u IN c.tags WHERE t < u`,
	`SELECT VALUE t FROM t IN c.tags WHERE t > 0`,
	`SELECT VALUE c.id FROM c WHERE c.b > 0`,
	`SELECT VALUE c.id FROM c ORDER BY c.a`,
	`SELECT VALUE c.id FROM c ORDER BY c.a DESC`,
	`SELECT VALUE c.b FROM c ORDER BY c.a`,
	`SELECT c.id, t FROM c JOIN t IN c.tags ORDER BY c.a DESC`,
	`SELECT c.id, t FROM c JOIN t IN c.tags ORDER BY c.n`,
	`SELECT VALUE c.id FROM c ORDER BY c._ts DESC`,
	`SELECT VALUE c.id FROM c ORDER BY c.a ASC, c.n DESC`,
	`SELECT VALUE c.id FROM c ORDER BY c.a DESC, c.n ASC`,
	`SELECT VALUE c.id FROM c WHERE c.a = 2 ORDER BY c.b`,
	`SELECT VALUE c.id FROM c WHERE c.a = 2 ORDER BY c.n`,
	`SELECT VALUE c.id FROM c WHERE c.a = 2 ORDER BY c.n DESC`,
	`SELECT VALUE c.id FROM c WHERE c.a = 2 ORDER BY c.a, c.n DESC`,
	`SELECT DISTINCT VALUE c.n FROM c WHERE c.a = 2 ORDER BY c.n DESC`,
	`SELECT VALUE c.id FROM c WHERE c.pk = "p1" ORDER BY c.n DESC`,
	`SELECT VALUE c.id FROM c WHERE c.pk = "p1" AND c.n > 1 ORDER BY c.n`,
	`SELECT VALUE c.id FROM c WHERE c.pk = "p1" ORDER BY c._ts`,
	`SELECT VALUE c.b FROM c WHERE c.pk = "p1" ORDER BY c.a DESC`,
	`SELECT c.id, t FROM c JOIN t IN c.tags WHERE c.pk = "p1" ORDER BY c.n DESC`,
	`SELECT DISTINCT VALUE c.n FROM c WHERE c.pk = "p1" ORDER BY c.n DESC`,
	`SELECT DISTINCT VALUE c.a FROM c`,
	`SELECT DISTINCT c.a, c.n FROM c`,
	`SELECT DISTINCT VALUE t FROM c JOIN t IN c.tags`,
	`SELECT DISTINCT VALUE c.n FROM c ORDER BY c.n`,
	`SELECT DISTINCT c.a, c.n FROM c ORDER BY c.a DESC`,
	`SELECT DISTINCT VALUE c.n FROM c ORDER BY c.a`,
	`SELECT c.a, COUNT(1) AS n FROM c GROUP BY c.a`,
	`SELECT c.a, c.n, SUM(c.n) AS s, MAKELIST(c.id) AS ids FROM c GROUP BY c.a, c.n`,
	`SELECT VALUE MAX(c.b) FROM c GROUP BY c.a`,
	`SELECT DISTINCT VALUE COUNT(1) FROM c GROUP BY c.a`,
	`SELECT VALUE COUNT(1) FROM c GROUP BY c.n / (c.n - 2), c.n / c.n`,
	`SELECT DISTINCT VALUE TOSTRING(c.n / (c.n - 2)) FROM c`,
	`SELECT VALUE TOSTRING(x.q) FROM (SELECT DISTINCT c.n / (c.n - 2) AS q FROM c) AS x`,
	`SELECT VALUE COUNT(1) FROM c`,
	`SELECT x.a FROM (SELECT DISTINCT c.a FROM c) AS x`,
	`SELECT VALUE t FROM (SELECT c.tags FROM c) AS x JOIN t IN x.tags`,
	`SELECT VALUE t FROM (SELECT DISTINCT c.tags FROM c) AS x JOIN t IN x.tags`,
	`SELECT VALUE c.id FROM c ORDER BY RANK VectorDistance([c.n, 1], [1, 0])`,
}

// cuts are the clauses that are added to each query.
var cuts = []struct{ top, limit string }{{}, {top: "TOP 7 "}, {top: "TOP 1 "}, {limit: " OFFSET 3 LIMIT 5"},
	{limit: " OFFSET 0 LIMIT 100"}, {limit: " OFFSET 12 LIMIT 1000"}}

// TestPaging checks that pages of every size add up to the whole answer, with and without indexes, and with any
// amount of memory.
func TestPaging(t *testing.T) {
	s := many(t, 40, 1)
	for _, query := range pagedQueries {
		for _, cut := range cuts {
			start := "SELECT "
			if strings.HasPrefix(query, "SELECT DISTINCT ") {
				start = "SELECT DISTINCT "
			}
			query := start + cut.top + strings.TrimPrefix(query, start) + cut.limit
			t.Run(query, func(t *testing.T) {
				for _, noIndex := range []bool{false, true} {
					a := asking{query: query, noIndex: noIndex}
					want, err := a.all(t, s)
					if err != nil {
						t.Fatal(err)
					}
					for i, limit := range []Limit{{Rows: 1}, {Rows: 2}, {Rows: 3}, {Rows: 7}, {Bytes: 1}, {Bytes: 60},
						{Rows: 5, Memory: 1}, {Memory: 2000}} {
						a.limit, s.short = limit, i*3%8
						got, err := a.all(t, s)
						if limit.Memory > 0 && fault.KindOf(err) == fault.TooLarge && keeps(query) {
							continue
						}
						if err != nil {
							t.Fatalf("noIndex %v, %+v: %v", noIndex, limit, err)
						}
						if got != want {
							t.Fatalf("noIndex %v, %+v\n got %s\nwant %s", noIndex, limit, got, want)
						}
					}
				}
			})
		}
	}
}

// keeps reports that a query needs memory for more than one row.
func keeps(query string) bool {
	return strings.Contains(query, "GROUP") || strings.Contains(query, "FROM (") || strings.Contains(query, "RANK") ||
		strings.Contains(query, "DISTINCT") && strings.Contains(query, "VALUE c.n FROM c ORDER BY c.a")
}

// TestPlansAgree checks that the same rows come with and without indexes, in the same order if the query has one.
func TestPlansAgree(t *testing.T) {
	for seed := range uint64(5) {
		s := many(t, 60, seed)
		for _, query := range pagedQueries {
			with, err := asking{query: query, limit: Limit{Rows: 9}}.all(t, s)
			if err != nil {
				t.Fatalf("%s: %v", query, err)
			}
			without, err := asking{query: query, limit: Limit{Rows: 9}, noIndex: true}.all(t, s)
			if err != nil {
				t.Fatalf("%s: %v", query, err)
			}
			if with != without && !(unordered(query) && rearranged(with, without)) {
				t.Fatalf("seed %d: %s\n   with %s\nwithout %s", seed, query, with, without)
			}
		}
	}
}

// TestIndexesComeAndGo checks that a page continues after the previous one although indexes were created or dropped
// in between.
func TestIndexesComeAndGo(t *testing.T) {
	s := many(t, 40, 2)
	for _, query := range pagedQueries {
		for _, first := range []bool{false, true} {
			var rows []string
			a := asking{query: query, limit: Limit{Rows: 3}, noIndex: first}
			want, err := a.all(t, s)
			if err != nil {
				t.Fatal(err)
			}
			for token := []byte(nil); ; a.noIndex = !a.noIndex {
				out, page, err := a.page(t, s, token)
				if err != nil {
					t.Fatalf("%s: %v", query, err)
				}
				if out != "" {
					rows = append(rows, out)
				}
				if token = page.Next; token == nil {
					break
				}
			}
			if got := strings.Join(rows, ","); got != want {
				t.Fatalf("%s, first %v\n got %s\nwant %s", query, first, got, want)
			}
		}
	}
}

// TestChangesBetweenPages checks that unchanged documents are returned exactly once while others change.
func TestChangesBetweenPages(t *testing.T) {
	for _, query := range []string{
		`SELECT VALUE c.id FROM c`,
		`SELECT VALUE c.id FROM c ORDER BY c.a`,
		`SELECT VALUE c.id FROM c ORDER BY c.a DESC`,
		`SELECT VALUE c.id FROM c WHERE c.n >= 0`,
		`SELECT DISTINCT VALUE c.id FROM c`,
		`SELECT VALUE c.id FROM c GROUP BY c.id`,
		`SELECT DISTINCT c.id, c.a FROM c ORDER BY c.a`,
		`SELECT c.id, t FROM c JOIN t IN [1, 2, 3]`,
		`SELECT VALUE x FROM (SELECT DISTINCT VALUE c.id FROM c) x`,
		`SELECT x.id, t FROM (SELECT DISTINCT c.id, c.tags FROM c) x JOIN t IN x.tags`,
		`SELECT VALUE y FROM (SELECT VALUE x.id FROM (SELECT c.id, COUNT(1) AS n FROM c GROUP BY c.id) x) y`,
		`SELECT VALUE y FROM (SELECT x.id, t FROM (SELECT DISTINCT VALUE {id: c.id,` +
			` tags: c.tags} FROM c) x JOIN t IN x.tags) y`,
	} {
		if strings.Contains(query, "[1") {
			query = `SELECT c.id, t FROM c JOIN t IN c.tags`
		}
		for _, noIndex := range []bool{true, false} {
			s := many(t, 30, 4)
			a := asking{query: query, noIndex: noIndex}
			whole, err := a.all(t, s)
			if err != nil {
				t.Fatal(err)
			}
			a.limit.Rows = 4
			gone := map[uint64]bool{}
			var rows []string
			var token []byte
			for n := uint64(1); ; n++ {
				out, page, err := a.page(t, s, token)
				if err != nil {
					t.Fatal(err)
				}
				rows = append(rows, out)
				if token = page.Next; token == nil {
					break
				}
				for _, number := range []uint64{n * 4, n*4 + 1} {
					s.remove(number)
					gone[number] = true
				}
				s.add(mustDoc(t, fmt.Sprintf(`{"id":"new%d","a":%d,"n":1,"tags":[9]}`, n, n)))
			}
			got := strings.Join(rows, ",")
			for i := range uint64(30) {
				id := fmt.Sprintf(`"%d"`, i)
				before, after := strings.Count(","+whole+",", id), strings.Count(","+got+",", id)
				if after > before || !gone[i+1] && after != before {
					t.Errorf("%s, noIndex %v: %s came %d times, not %d: %s", query, noIndex, id, after, before, got)
				}
			}
		}
	}
}

// TestOrderWithinADocument checks that a page that ends between two rows of a document is followed by the other row,
// even if documents were inserted before that one.
func TestOrderWithinADocument(t *testing.T) {
	for _, c := range []struct {
		order string
		late  int
	}{{"", 3}, {" DESC", 7}} {
		for _, noIndex := range []bool{true, false} {
			s := newSource(t, `{"a":5,"tags":[1,2,3]}`)
			a := asking{query: `SELECT VALUE [c.a, t] FROM c JOIN t IN c.tags ORDER BY c.a` + c.order,
				noIndex: noIndex, limit: Limit{Rows: 2}}
			_, page, err := a.page(t, s, nil)
			if err != nil {
				t.Fatal(err)
			}
			s.add(mustDoc(t, fmt.Sprintf(`{"a":%d,"tags":[9]}`, c.late)))
			s.add(mustDoc(t, fmt.Sprintf(`{"a":%d,"tags":[9]}`, 10-c.late)))
			a.noIndex = false
			if out, _, err := a.page(t, s, page.Next); err != nil || out != fmt.Sprintf("[5,3],[%d,9]", 10-c.late) {
				t.Errorf("order%s, noIndex %v: %s, %v", c.order, noIndex, out, err)
			}
		}
	}
}

func TestBytesEndAPage(t *testing.T) {
	s := newSource(t, `{"s":"`+strings.Repeat("x", 500)+`"}`, `{"s":"y"}`, `{"s":"z"}`)
	for _, query := range []string{`SELECT VALUE c.s FROM c`, `SELECT VALUE c.s FROM c ORDER BY c.s`,
		`SELECT DISTINCT VALUE c.s FROM c`} {
		_, page, err := asking{query: query, limit: Limit{Bytes: 100}}.page(t, s, nil)
		if err != nil || page.Rows != 1 || page.Next == nil {
			t.Errorf("%s: %d rows, next %v, %v", query, page.Rows, page.Next, err)
		}
	}
}

// lateAfter is a Stop that fails after that many calls.
func lateAfter(asked *int, often int) func() error {
	return func() error {
		if *asked++; *asked > often {
			return ErrLate
		}
		return nil
	}
}

func TestLate(t *testing.T) {
	s := many(t, 200, 5)
	stop := func() error { return ErrLate }
	a := asking{query: `SELECT VALUE c.id FROM c WHERE c.nope = 1`, noIndex: true, limit: Limit{Stop: stop}}
	_, page, err := a.page(t, s, nil)
	if err != nil || page.Next == nil || page.Metrics.Documents > 64 {
		t.Errorf("a stream that is late: %+v, %v", page, err)
	}
	if got, err := a.all(t, s); err != nil || got != "" {
		t.Errorf("all pages: %q, %v", got, err)
	}
	for _, query := range []string{`SELECT VALUE COUNT(1) FROM c WHERE c.n > 0`,
		`SELECT VALUE c.id FROM c ORDER BY c.a`, `SELECT DISTINCT c.a FROM c`, `SELECT c.a FROM c GROUP BY c.a`} {
		a := asking{query: query, noIndex: true, limit: Limit{Stop: stop}}
		if _, _, err := a.page(t, s, nil); fault.KindOf(err) != fault.Timeout {
			t.Errorf("%s: %v", query, err)
		}
	}
}

// TestLateInside checks that a page ends within a document with many rows, or fails.
func TestLateInside(t *testing.T) {
	numbers := "[" + strings.Repeat("1,", 999) + "1]"
	s := newSource(t, `{"id":"1","l":`+numbers+`}`)
	calls := 0
	a := asking{noIndex: true, limit: Limit{Stop: lateAfter(&calls, 3)}}
	a.query = `SELECT VALUE 1 FROM c JOIN a IN c.l JOIN b IN c.l WHERE a + b = 2`
	_, page, err := a.page(t, s, nil)
	if err != nil || page.Next == nil || page.Rows == 0 {
		t.Errorf("rows of one document: %d, %v", page.Rows, err)
	}
	for _, query := range []string{
		`SELECT VALUE 1 FROM c JOIN a IN c.l JOIN b IN c.l WHERE a + b = 3`,
		`SELECT VALUE c.id FROM c WHERE EXISTS(SELECT VALUE a FROM a IN c.l JOIN b IN c.l WHERE a + b = 3)`,
	} {
		calls, a.query = 0, query
		if _, _, err := a.page(t, s, nil); fault.KindOf(err) != fault.Timeout {
			t.Errorf("%s: %v", query, err)
		}
	}
	a = asking{noIndex: true, query: `SELECT VALUE COUNT(1) FROM c JOIN a IN c.l JOIN b IN c.l JOIN d IN c.l`}
	if _, _, err := a.page(t, s, nil); fault.KindOf(err) != fault.TooLarge {
		t.Errorf("a thousand million rows of one document: %v", err)
	}
}

func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	tree, err := syntax.Parse(`SELECT VALUE a FROM c JOIN a IN c.l JOIN b IN c.l JOIN d IN c.l`)
	if err != nil {
		t.Fatal(err)
	}
	s := newSource(t, `{"l":[`+strings.Repeat("1,", 99)+`1]}`)
	q, err := Prepare(tree, asking{noIndex: true}.environment(t, s), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := q.Run(ctx, s, Limit{}, nil); err != context.Canceled {
		t.Errorf("got %v", err)
	}
}

// TestMemory checks that the memory of a page does not grow with the number of documents.
func TestMemory(t *testing.T) {
	s := many(t, 300, 6)
	for _, query := range []string{`SELECT * FROM c ORDER BY c.a`, `SELECT * FROM c ORDER BY c.a OFFSET 200 LIMIT 20`,
		`SELECT DISTINCT * FROM c`, `SELECT c.id, MAX(c.a) AS m FROM c GROUP BY c.id`} {
		want, err := asking{query: query, noIndex: true}.all(t, s)
		if err != nil {
			t.Fatal(err)
		}
		got, err := asking{query: query, noIndex: true, limit: Limit{Memory: 10_000}}.all(t, s)
		if err != nil || got != want {
			t.Errorf("%s: %v\n got %s\nwant %s", query, err, got, want)
		}
	}
	for _, query := range []string{`SELECT VALUE MAKELIST(c) FROM c`,
		`SELECT c.pk, MAKESET(c) AS l FROM c GROUP BY c.pk`, `SELECT VALUE COUNT(1) FROM (SELECT DISTINCT * FROM c)`} {
		if _, err := (asking{query: query, noIndex: true, limit: Limit{Memory: 10_000}}).all(t,
			s); fault.KindOf(err) != fault.TooLarge {
			t.Errorf("%s: %v", query, err)
		}
	}
}

func TestTokens(t *testing.T) {
	s := many(t, 20, 7)
	for _, query := range pagedQueries {
		a := asking{query: query, limit: Limit{Rows: 2}}
		_, page, err := a.page(t, s, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Next) > 900 {
			t.Errorf("%s: a token of %d bytes", query, len(page.Next))
		}
		for i := range page.Next {
			for _, forged := range [][]byte{page.Next[:i], append(slices.Clone(page.Next[:i]), page.Next[i:]...),
				flipped(page.Next, i)} {
				_, _, err := a.page(t, s, forged)
				if k := fault.KindOf(err); err != nil && k != fault.Invalid {
					t.Errorf("%s: forged token %x: %v", query, forged, err)
				}
			}
		}
	}
	far := token{mode: modeStream, take: -1, after: access.NumberPosition(nil, ^uint64(0)), inside: true, number: 1,
		done: 1}
	for _, query := range pagedQueries {
		if _, _, err := (asking{query: query}).page(t, s, far.encode()); err != nil &&
			fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: a token far behind the end: %v", query, err)
		}
	}
	for _, bad := range [][]byte{{}, {9}, {1, 99, 0, 0, 0}, {1, 0, tokenInside | tokenRows, 0, 0, 1, 1}, {1, 0, 0x80,
		0, 0}, []byte("hello")} {
		if _, _, err := (asking{query: pagedQueries[0]}).page(t, s, bad); fault.KindOf(err) != fault.Invalid ||
			fault.Message(err) != "Invalid Continuation Token" {
			t.Errorf("token %q: %v", bad, err)
		}
	}
}

func flipped(b []byte, i int) []byte {
	b = slices.Clone(b)
	b[i] ^= 0x55
	return b
}

func FuzzTokens(f *testing.F) {
	s := many(f, 10, 8)
	for i, query := range pagedQueries {
		_, page, err := asking{query: query, limit: Limit{Rows: 1}}.page(f, s, nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(i, page.Next)
	}
	f.Fuzz(func(t *testing.T, i int, token []byte) {
		if token == nil || i < 0 {
			return
		}
		_, _, err := asking{query: pagedQueries[i%len(pagedQueries)], limit: Limit{Rows: 3}}.page(t, s, token)
		if err != nil && fault.KindOf(err) != fault.Invalid {
			t.Error(err)
		}
	})
}

func TestMetrics(t *testing.T) {
	s := many(t, 50, 9)
	var now time.Duration
	limit := Limit{Clock: func() time.Duration { now += time.Millisecond; return now }}
	_, page, err := asking{query: `SELECT VALUE c.id FROM c WHERE c.n = 1`, noIndex: true, limit: limit}.page(t, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := page.Metrics
	bytes := uint64(0)
	for _, d := range s.docs {
		bytes += uint64(len(d.Body))
	}
	if m.Documents != 50 || m.DocumentBytes != bytes || m.Rows != uint64(page.Rows) || m.IndexHits != m.Rows ||
		m.RowBytes == 0 {
		t.Errorf("counts: %+v", m)
	}
	if m.Lookup <= 0 || m.Load <= 0 || m.Execute <= 0 || m.Write <= 0 {
		t.Errorf("times: %+v", m)
	}
	_, page, err = asking{query: `SELECT VALUE COUNT(1) FROM c`}.page(t, s, nil)
	if err != nil || page.Metrics.Documents != 0 || page.Metrics.Load != 0 {
		t.Errorf("a count: %+v, %v", page.Metrics, err)
	}
	s.noCounter = true
	_, page, err = asking{query: `SELECT VALUE COUNT(1) FROM c`}.page(t, s, nil)
	if err != nil || page.Metrics.Documents != 50 {
		t.Errorf("a count that has to look: %+v, %v", page.Metrics, err)
	}
}

// TestSystemOnDemand checks that system properties are only computed if needed.
func TestSystemOnDemand(t *testing.T) {
	for query, want := range map[string]int{
		`SELECT VALUE c.id FROM c WHERE c._ts > 0`: 0,
		`SELECT c._ts, c.id FROM c`:                0,
		`SELECT VALUE c.id FROM c ORDER BY c._ts`:  0,
		`SELECT VALUE c._rid FROM c`:               3,
		`SELECT * FROM c WHERE c.id = "1"`:         1,
		`SELECT VALUE c.id FROM c WHERE c._etag = "etag1" OR c._rid = "rid2" OR c._self = "x"`: 3,
	} {
		s := newSource(t, `{"id":"1"}`, `{"id":"2"}`, `{"id":"3"}`)
		if _, err := (asking{query: query, noIndex: true}).all(t, s); err != nil || s.systems != want {
			t.Errorf("%s: %d calls, not %d, %v", query, s.systems, want, err)
		}
	}
}

func TestMatch(t *testing.T) {
	d := &access.Document{Number: 1, Version: access.Version{Stamp: 7},
		Body: mustDoc(t, `{"id":"1","n":5,"tags":["x"]}`)}
	system := mustDoc(t, `{"_rid":"r","_ts":7}`)
	for query, want := range map[string]bool{
		`FROM c WHERE c.n = 5`:                    true,
		`FROM c WHERE c.n > 5`:                    false,
		`FROM c WHERE c._ts = 7 AND c._rid = "r"`: true,
		`FROM c`:                       true,
		`SELECT * FROM c WHERE c.nope`: false,
		`FROM x WHERE ARRAY_CONTAINS(x.tags, "x")`:   true,
		`FROM ROOT r WHERE r.id IN ("1","2") AND @p`: true,
	} {
		tree, err := syntax.Parse(query)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		q, err := Prepare(tree, Environment{Parameters: map[string]doc.Value{"@p": doc.Bool(true)}}, nil)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		for range 2 {
			if got, err := q.Match(t.Context(), d, system); err != nil || got != want {
				t.Errorf("%s: %v, %v", query, got, err)
			}
		}
	}
}

func TestUserFunctions(t *testing.T) {
	s := newSource(t, `{"n":1}`, `{"n":2}`)
	env := Environment{Function: func(name string) (func([]doc.Value) (doc.Value, error), error) {
		if name != "twice" {
			return nil, fault.New(fault.NotFound, "no %s", name)
		}
		return func(args []doc.Value) (doc.Value, error) {
			f, ok := doc.AsFloat(args[0])
			if !ok {
				return doc.Value{}, fault.New(fault.Invalid, "not a number")
			}
			return doc.Float(2 * f), nil
		}, nil
	}}
	run := func(query string) (string, error) {
		tree, err := syntax.Parse(query)
		if err != nil {
			t.Fatal(err)
		}
		q, err := Prepare(tree, env, nil)
		if err != nil {
			return "", err
		}
		out, _, err := q.Run(t.Context(), s, Limit{}, nil)
		return string(out), err
	}
	if got, err := run(`SELECT VALUE udf.twice(c.n) FROM c WHERE udf.twice(c.n) > 1`); err != nil || got != "2,4" {
		t.Errorf("got %s, %v", got, err)
	}
	if _, err := run(`SELECT VALUE udf.Twice(c.n) FROM c`); fault.KindOf(err) != fault.NotFound {
		t.Errorf("names compare with case: %v", err)
	}
	if _, err := run(`SELECT VALUE udf.twice("x") FROM c`); fault.KindOf(err) != fault.Invalid {
		t.Errorf("an error of the function: %v", err)
	}
}
