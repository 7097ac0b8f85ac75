package rest

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestTotalsOfRanges has aggregates over ranges that few, many and all of the items are in, before and after some of
// them expire. Each total must be right, and only the items of the range are read.
func TestTotalsOfRanges(t *testing.T) {
	const count = 600
	for _, ranges := range []int{1, 4} {
		t.Run(fmt.Sprint(ranges), func(t *testing.T) {
			d := newRanges(t, ranges, `"defaultTtl":-1`)
			for i := range count {
				item := fmt.Sprintf(`{"id":"%d","pk":"p%d","n":%d,"m":%d`, i, i%7, i*7%count, i)
				if i%3 == 0 {
					item += `,"ttl":10`
				}
				d.do("POST", documents, item+"}", hPK, fmt.Sprintf(`["p%d"]`, i%7)).want(201)
			}
			for _, over := range []bool{false, true} {
				if over {
					must(t, d.clock.Advance(10*time.Second))
				}
				for _, from := range []int{0, 100, 300, 500, 590, count} {
					n, sum := 0, 0
					for i := range count {
						if i*7%count >= from && !(over && i%3 == 0) {
							n, sum = n+1, sum+i
						}
					}
					d.totals(fmt.Sprintf(" FROM c WHERE c.n >= %d", from), n, sum)
				}
			}
		})
	}
}

// totals checks aggregates over n items whose members m add up to sum.
func (d *testAPI) totals(from string, n, sum int) {
	d.t.Helper()
	groups := fmt.Sprintf("[[%d %d]]", n, sum)
	if n == 0 {
		groups = "[]"
	}
	for query, want := range map[string]string{
		"SELECT VALUE SUM(c.m)" + from:                                         fmt.Sprintf("[%d]", sum),
		"SELECT VALUE [COUNT(1), SUM(c.m)]" + from:                             fmt.Sprintf("[[%d %d]]", n, sum),
		"SELECT VALUE [COUNT(1), SUM(c.m)]" + from + " GROUP BY c.nothing":     groups,
		"SELECT DISTINCT VALUE [COUNT(1), SUM(c.m)]" + from + " GROUP BY c.no": groups,
	} {
		a := d.do("POST", documents, `{"query":"`+query+`"}`, "x-ms-documentdb-isquery", "true",
			"x-ms-documentdb-query-enablecrosspartition", "true",
			"x-ms-documentdb-populatequerymetrics", "true").want(200)
		if got := fmt.Sprint(a.rows("Documents")); got != want {
			d.t.Errorf("%s: %s, want %s", query, got, want)
		}
		metrics := a.header.Get("x-ms-documentdb-query-metrics")
		if read := fmt.Sprintf("retrievedDocumentCount=%d;", n); !strings.Contains(metrics, read) {
			d.t.Errorf("%s: %s, want %s", query, metrics, read)
		}
	}
}

// TestEnds asks for the least and the greatest values of paths, which are read from the ends of their indexes, before
// and after the items with these values expire.
func TestEnds(t *testing.T) {
	const count = 200
	for _, ranges := range []int{1, 4} {
		t.Run(fmt.Sprint(ranges), func(t *testing.T) {
			d := newRanges(t, ranges, `"defaultTtl":-1`)
			ends := func(least, greatest int) {
				t.Helper()
				query := fmt.Sprintf("SELECT VALUE [MIN(c.n), MAX(c.n), MAX(c.text), MAX(c._ts) - %d] FROM c",
					testStart.Unix())
				a := d.do("POST", documents, `{"query":"`+query+`"}`, "x-ms-documentdb-isquery", "true",
					"x-ms-documentdb-query-enablecrosspartition", "true",
					"x-ms-documentdb-populatequerymetrics", "true").want(200)
				want := fmt.Sprintf("[[%d %d t%03[2]d %[2]d]]", least, greatest)
				if got := fmt.Sprint(a.rows("Documents")); got != want {
					t.Errorf("%s, want %s", got, want)
				}
				if n := retrieved(t, a); n < 1 || n > 6*ranges {
					t.Errorf("%d documents", n)
				}
			}
			for i := range count {
				item := fmt.Sprintf(`{"id":"%d","pk":"p%d","n":%d,"text":"t%03[3]d"`, i, i%7, i)
				if i < 20 || i >= count-20 {
					item += `,"ttl":1000`
				}
				d.do("POST", documents, item+"}", hPK, fmt.Sprintf(`["p%d"]`, i%7)).want(201)
				must(t, d.clock.Advance(time.Second))
			}
			ends(0, count-1)
			must(t, d.clock.Advance(1000*time.Second))
			ends(20, count-21)
		})
	}
}

// TestDistinctValues asks for the different values of a path, of which few items are read, before and after all items
// with some of them expire.
func TestDistinctValues(t *testing.T) {
	for _, ranges := range []int{1, 4} {
		t.Run(fmt.Sprint(ranges), func(t *testing.T) {
			d := newRanges(t, ranges, `"defaultTtl":-1`)
			for i := range 300 {
				item := fmt.Sprintf(`{"id":"%d","pk":"p%d"`, i, i%7)
				switch {
				case i%10 == 3:
					item += fmt.Sprintf(`,"kind":"short-%d","ttl":10`, i%4)
				case i%10 == 4:
					item += `,"ttl":10` // and no kind
				default:
					item += fmt.Sprintf(`,"kind":"k%d"`, i%3)
				}
				d.do("POST", documents, item+"}", hPK, fmt.Sprintf(`["p%d"]`, i%7)).want(201)
			}
			for _, over := range []bool{false, true} {
				short, none := " short-1 short-3", "map[] "
				if over {
					must(t, d.clock.Advance(10*time.Second))
					short, none = "", ""
				}
				values, rows := "[k0 k1 k2"+short+"]", kinds(short)
				for query, want := range map[string]string{
					"SELECT DISTINCT VALUE c.kind FROM c":                     values,
					"SELECT DISTINCT VALUE c.kind FROM c ORDER BY c.kind":     values,
					"SELECT DISTINCT VALUE c.kind FROM c WHERE c.kind > 'k1'": "[k2" + short + "]",
					"SELECT c.kind FROM c GROUP BY c.kind":                    "[" + none + rows + "]",
					"SELECT DISTINCT c.kind FROM c":                           "[" + none + rows + "]",
					"SELECT DISTINCT c.kind FROM c WHERE IS_DEFINED(c.kind)":  "[" + rows + "]",
				} {
					a := d.do("POST", documents, `{"query":"`+query+`"}`, "x-ms-documentdb-isquery", "true",
						"x-ms-documentdb-query-enablecrosspartition", "true").want(200)
					if got := fmt.Sprint(a.rows("Documents")); got != want {
						t.Errorf("over %v, %s: %s, want %s", over, query, got, want)
					}
				}
				a := d.do("POST", documents, `{"query":"SELECT DISTINCT VALUE c.kind FROM c"}`,
					"x-ms-documentdb-isquery", "true", "x-ms-documentdb-query-enablecrosspartition", "true",
					"x-ms-documentdb-populatequerymetrics", "true").want(200)
				if n := retrieved(t, a); n < 3 || n > 5*ranges {
					t.Errorf("over %v: %d documents", over, n)
				}
			}
		})
	}
}

// kinds are rows with the kinds k0 to k2 and more.
func kinds(more string) string {
	var rows []string
	for _, kind := range strings.Fields("k0 k1 k2" + more) {
		rows = append(rows, "map[kind:"+kind+"]")
	}
	return strings.Join(rows, " ")
}

// retrieved is how many documents a query has read.
func retrieved(t testing.TB, a answer) (n int) {
	t.Helper()
	metrics := a.header.Get("x-ms-documentdb-query-metrics")
	_, after, _ := strings.Cut(metrics, "retrievedDocumentCount=")
	if _, err := fmt.Sscan(strings.ReplaceAll(after, ";", " "), &n); err != nil {
		t.Errorf("%s: %v", metrics, err)
	}
	return n
}

// TestOffsetIsMeasured: items that OFFSET passes over count as read, and are found by the index.
func TestOffsetIsMeasured(t *testing.T) {
	d := newRanges(t, 1)
	for i := range 100 {
		d.do("POST", documents, fmt.Sprintf(`{"id":"%d","pk":"p","n":%d}`, i, i), hPK, `["p"]`).want(201)
	}
	for query, want := range map[string]string{
		"SELECT * FROM c ORDER BY c.n OFFSET 90 LIMIT 5":                      "95",
		"SELECT c.id FROM c WHERE c.n >= 50 ORDER BY c.n OFFSET 20 LIMIT 5":   "25",
		"SELECT * FROM c ORDER BY c._ts DESC OFFSET 90 LIMIT 50":              "100",
		"SELECT * FROM c WHERE c.id != 'x' ORDER BY c.n OFFSET 90 LIMIT 5":    "95",
		"SELECT * FROM c WHERE c.n >= 0 ORDER BY c.n DESC OFFSET 200 LIMIT 5": "100",
	} {
		a := d.do("POST", documents, `{"query":"`+query+`"}`, "x-ms-documentdb-isquery", "true",
			"x-ms-documentdb-query-enablecrosspartition", "true",
			"x-ms-documentdb-populatequerymetrics", "true").want(200)
		metrics := a.header.Get("x-ms-documentdb-query-metrics") + ";"
		for _, part := range []string{"retrievedDocumentCount=" + want + ";", "indexUtilizationRatio=1.00;"} {
			if !strings.Contains(metrics, part) {
				t.Errorf("%s: %s, want %s", query, metrics, part)
			}
		}
	}
}

// TestCountsBesideAComposite: a range of the partition key that its value is not in is no range of a composite index
// that begins with it.
func TestCountsBesideAComposite(t *testing.T) {
	d := newTestAPI(t)
	d.do("POST", "/dbs", `{"id":"d"}`).want(201)
	d.do("POST", "/dbs/d/colls", `{"id":"c","partitionKey":{"paths":["/u"],"kind":"Hash","version":2},"indexingPolicy":{
		"includedPaths":[{"path":"/*"}],"compositeIndexes":[[{"path":"/u"},{"path":"/a"}]]}}`).want(201)
	for i := range 3 {
		d.do("POST", documents, fmt.Sprintf(`{"id":"%d","u":2,"a":%d}`, i, i), hPK, `[2]`).want(201)
	}
	for query, want := range map[string]string{
		"SELECT VALUE COUNT(1) FROM c WHERE c.u > 5 AND c.a > 0": "[0]",
		"SELECT VALUE COUNT(c.a) FROM c WHERE c.u > 5":           "[0]",
		"SELECT VALUE COUNT(1) FROM c WHERE c.u > 1 AND c.a > 0": "[2]",
		"SELECT VALUE COUNT(1) FROM c WHERE c.u = 2 AND c.a > 0": "[2]",
		"SELECT VALUE COUNT(1) FROM c WHERE c.u = 3 AND c.a > 0": "[0]",
		"SELECT VALUE c.a FROM c WHERE c.u > 5 ORDER BY c.a":     "[]",
	} {
		a := d.do("POST", documents, `{"query":"`+query+`"}`, "x-ms-documentdb-isquery", "true", hPK, `[2]`).want(200)
		if got := fmt.Sprint(a.rows("Documents")); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

// TestNestedFilters: conditions in one another are looked at a few times each, not twice as often on each level.
func TestNestedFilters(t *testing.T) {
	d := newRanges(t, 1)
	for i := range 600 {
		item := fmt.Sprintf(`{"id":"%d","pk":"p","n":%d,"m":%d}`, i, i, i%300)
		d.do("POST", documents, item, hPK, `["p"]`).want(201)
	}
	filter, want := "c.n < 10", 10
	for level := range 40 {
		filter = fmt.Sprintf("((%s OR c.n > %d) AND c.m < 290)", filter, 599-level%3)
	}
	for _, query := range []string{"SELECT VALUE COUNT(1)", "SELECT VALUE c.n"} {
		a := d.do("POST", documents, `{"query":"`+query+" FROM c WHERE "+filter+`"}`, "x-ms-documentdb-isquery", "true",
			"x-ms-documentdb-query-enablecrosspartition", "true").want(200)
		rows := a.rows("Documents")
		if n := fmt.Sprint(rows); len(rows) != want && n != fmt.Sprintf("[%d]", want) {
			t.Errorf("%s: %s", query, n)
		}
	}
}
