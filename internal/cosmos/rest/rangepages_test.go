package rest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestRangePages asks for the same rows at once and by pages of three, over containers of different numbers of ranges,
// with an index and without, and with one after the other. All items have one stamp, and the first ones of each range
// one sequence: neither tells them apart.
func TestRangePages(t *testing.T) {
	queries := []string{
		"SELECT VALUE c.id FROM c ORDER BY c._ts",
		"SELECT VALUE c.id FROM c ORDER BY c._ts DESC",
		"SELECT VALUE c.id FROM c WHERE c.third = 1 ORDER BY c._ts",
		"SELECT VALUE c.id FROM c WHERE c.third >= 1 ORDER BY c._ts DESC",
		"SELECT VALUE c.id FROM c WHERE c._ts > 0 AND c.third = 1",
		"SELECT DISTINCT VALUE c.id FROM c ORDER BY c._ts",
		"SELECT DISTINCT VALUE c.id FROM c ORDER BY c.third",
		"SELECT VALUE c.id FROM c JOIN x IN c.two ORDER BY c._ts",
		"SELECT VALUE c.id FROM c JOIN x IN c.two ORDER BY c.third DESC",
		"SELECT VALUE c.id FROM c ORDER BY c._ts OFFSET 7 LIMIT 30",
		"SELECT VALUE c.id FROM c ORDER BY c.third OFFSET 7 LIMIT 30",
	}
	for _, n := range []int{1, 4} {
		d := newRanges(t, n)
		for i := range 60 {
			item := fmt.Sprintf(`{"id":"%d","pk":"p%[1]d","third":%d,"two":[1,2]}`, i, i%3)
			d.do("POST", documents, item, hPK, fmt.Sprintf(`["p%d"]`, i)).want(201)
		}
		for _, q := range queries {
			want := slices.Clone(d.page(q, "", []string{"x-ms-max-item-count", "1000"}).ids)
			slices.Sort(want)
			for _, scan := range [][]bool{{false}, {true}, {true, false}} { // turn by turn
				var got []string
				token := ""
				for page := 0; page == 0 || token != "" && page < 100; page++ {
					headers := []string{"x-ms-max-item-count", "3"}
					if scan[page%len(scan)] {
						headers = append(headers, "x-ms-documentdb-force-query-scan", "true")
					}
					p := d.page(q, token, headers)
					got, token = append(got, p.ids...), p.token
				}
				if slices.Sort(got); !slices.Equal(got, want) {
					t.Errorf("%d ranges, scans %v, %s: pages have %d rows, want %d:\n%s\n%s", n, scan, q,
						len(got), len(want), strings.Join(got, " "), strings.Join(want, " "))
				}
			}
		}
	}
}
