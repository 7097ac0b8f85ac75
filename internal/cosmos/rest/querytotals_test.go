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
