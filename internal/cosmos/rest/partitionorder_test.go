package rest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestOrderInPartition asks for the first items of a large partition, and for all in pages, before and after some of
// them expire. The items of a page are found in an index, without reading the partition.
func TestOrderInPartition(t *testing.T) {
	const count = 600
	for _, c := range []struct {
		name, indexing, query string
		descending            bool
		from                  int
	}{
		{"path", "", "SELECT VALUE c.n FROM c ORDER BY c.n DESC", true, 0},
		{"range of a path", "", "SELECT VALUE c.n FROM c WHERE c.n >= 100 ORDER BY c.n", false, 100},
		{"stamp", "", "SELECT VALUE c.n FROM c ORDER BY c._ts DESC", true, 0},
		{"composite", `"indexingPolicy":{"compositeIndexes":[[{"path":"/pk"},{"path":"/n"}]]}`,
			"SELECT VALUE c.n FROM c ORDER BY c.n", false, 0},
	} {
		for _, ranges := range []int{1, 4} {
			t.Run(fmt.Sprint(c.name, "/", ranges), func(t *testing.T) {
				more := []string{`"defaultTtl":-1`}
				if c.indexing != "" {
					more = append(more, c.indexing)
				}
				d := newRanges(t, ranges, more...)
				for i := range count {
					n := i
					if c.name != "stamp" {
						n = i * 7 % count
					}
					for _, pk := range []string{"p", "q"} {
						item := fmt.Sprintf(`{"id":"%d","pk":%q,"n":%d`, i, pk, n)
						if n%3 == 0 {
							item += `,"ttl":5000`
						}
						d.do("POST", documents, item+"}", hPK, fmt.Sprintf("[%q]", pk)).want(201)
					}
					must(t, d.clock.Advance(time.Second))
				}
				for _, over := range []bool{false, true} {
					if over {
						must(t, d.clock.Advance(5000*time.Second))
					}
					var want []string
					for n := c.from; n < count; n++ {
						if !over || n%3 != 0 {
							want = append(want, fmt.Sprint(n))
						}
					}
					if c.descending {
						slices.Reverse(want)
					}
					d.firstInPartition(strings.Replace(c.query, "SELECT", "SELECT TOP 20", 1), want[:20])
					d.allInPartition(c.query, want)
				}
			})
		}
	}
}

// firstInPartition asks for the first items of the partition p, of which no others must be read.
func (d *testAPI) firstInPartition(query string, want []string) {
	d.t.Helper()
	a := d.do("POST", documents, `{"query":"`+query+`"}`, "x-ms-documentdb-isquery", "true", hPK, `["p"]`,
		"x-ms-documentdb-populatequerymetrics", "true").want(200)
	if got := fmt.Sprint(a.rows("Documents")); got != fmt.Sprint(want) {
		d.t.Errorf("%s: %s, want %s", query, got, want)
	}
	metrics := a.header.Get("x-ms-documentdb-query-metrics")
	if !strings.Contains(metrics, fmt.Sprintf("retrievedDocumentCount=%d;", len(want))) {
		d.t.Errorf("%s: %s, want %d documents", query, metrics, len(want))
	}
}

// allInPartition reads all pages of a query in the partition p.
func (d *testAPI) allInPartition(query string, want []string) {
	d.t.Helper()
	var got []string
	for token := ""; ; {
		a := d.do("POST", documents, `{"query":"`+query+`"}`, "x-ms-documentdb-isquery", "true", hPK, `["p"]`,
			"x-ms-max-item-count", "30", "x-ms-continuation", token).want(200)
		for _, row := range a.rows("Documents") {
			got = append(got, fmt.Sprint(row))
		}
		if token = a.header.Get("x-ms-continuation"); token == "" {
			break
		}
	}
	if !slices.Equal(got, want) {
		d.t.Errorf("%s: %s, want %s", query, got, want)
	}
}
