package exec

import (
	"fmt"
	"strings"
	"testing"
)

// TestLateRows sorts documents that together exceed what is copied to write rows late, in pages that end for each
// reason. Rows are compared with the order that the documents have by themselves.
func TestLateRows(t *testing.T) {
	const count = 40
	for _, size := range []int{10, 30 << 10, maxLateBody + 1} {
		var texts, want []string
		for i := range count {
			texts = append(texts, fmt.Sprintf(`{"id":"%d","pk":"p","n":%d,"text":%q}`, i, i*77%count,
				strings.Repeat("x", size)))
			want = append(want, fmt.Sprint(`"`, i*53%count, `"`)) // 77 times 53 is 1 above a multiple of 40
		}
		s := newSource(t, texts...)
		for _, limit := range []Limit{{}, {Rows: 1}, {Rows: 25}, {Rows: 100, Bytes: 20},
			{Rows: 100, Memory: 200 << 10}} {
			for _, query := range []string{
				"SELECT c.id FROM c ORDER BY c.n",
				"SELECT c.id FROM c ORDER BY c.n OFFSET 3 LIMIT 30",
				"SELECT TOP 30 c.id FROM c ORDER BY c.n",
			} {
				rows := want
				switch {
				case strings.Contains(query, "OFFSET"):
					rows = want[3:33]
				case strings.Contains(query, "TOP"):
					rows = want[:30]
				}
				got, err := asking{query: query, noIndex: true, limit: limit}.all(t, s)
				if err != nil {
					t.Fatal(err)
				}
				if all := `{"id":` + strings.Join(rows, `},{"id":`) + `}`; got != all {
					t.Fatalf("%s with %d bytes, %+v\n got %s\nwant %s", query, size, limit, got, all)
				}
			}
		}
	}
}

// TestLateError has a row that cannot be computed. Only a page with that row fails.
func TestLateError(t *testing.T) {
	var texts []string
	for i := range 20 {
		texts = append(texts, fmt.Sprintf(`{"id":"%d","pk":"p","n":%d}`, i, i))
	}
	s := newSource(t, texts...)
	for _, c := range []struct {
		query string
		rows  string
		fails bool
	}{
		{"SELECT TOP 2 c.id, 1 / (c.n - 3) AS q FROM c ORDER BY c.n DESC", `{"id":"19","q":0.0625},{"id":"18",` +
			`"q":0.066666666666666666}`, false},
		{"SELECT TOP 4 c.id, 1 / (c.n - 3) AS q FROM c ORDER BY c.n", "", true},
		{"SELECT c.id, 1 / (c.n - 3) AS q FROM c ORDER BY c.n OFFSET 4 LIMIT 1", `{"id":"4","q":1}`, false},
	} {
		got, err := asking{query: c.query, noIndex: true}.all(t, s)
		if (err != nil) != c.fails || got != c.rows {
			t.Errorf("%s: %s, %v", c.query, got, err)
		}
	}
}
