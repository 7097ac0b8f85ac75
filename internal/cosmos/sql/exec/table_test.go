package exec

import (
	"fmt"
	"strings"
	"testing"
)

// TestTables has queries whose values come from an index, and the same rows and numbers of documents as without it. The
// least and the greatest values of a path come from two of its documents.
func TestTables(t *testing.T) {
	var texts []string
	for i := range 40 {
		text := fmt.Sprintf(`{"id":"%d","n":%d,"kind":%q`, i, i*7%40, string('a'+rune(i%3)))
		switch i % 5 {
		case 0:
			text += `,"m":2.5,"s":"text"`
		case 1:
			text += fmt.Sprintf(`,"m":%d,"s":%d,"group":%d`, i, i, i%2)
		case 2:
			text += `,"s":[1],"group":1.0,"deep":{"x":1}`
		case 3:
			text += `,"group":null,"deep":{"x":3}`
		}
		texts = append(texts, text+"}")
	}
	for _, c := range []struct {
		query string
		from  bool // entries, not documents
		ends  int  // paths whose ends are all that is read, 0 if more is
	}{
		{`SELECT VALUE SUM(c.m) FROM c`, true, 0},
		{`SELECT VALUE SUM(c.s) FROM c`, true, 0},
		{`SELECT VALUE SUM(c.m) FROM c WHERE c.n >= 12`, true, 0},
		{`SELECT SUM(c.m), AVG(c.m) AS mean, MIN(c.n), MAX(c.n) AS high, COUNT(1), COUNT(c.m) AS n FROM c`, true, 0},
		{`SELECT VALUE AVG(c.deep.x) + SUM(c.n) FROM c WHERE c.n < 30`, true, 0},
		{`SELECT VALUE MAX(c.kind) FROM c`, true, 1},
		{`SELECT MAX(c.kind) AS k, MIN(c.n) AS low, MAX(c.n) - MIN(c.n) AS spread FROM c`, true, 2},
		{`SELECT VALUE MIN(c.n) FROM c WHERE c.n > 5`, true, 1},
		{`SELECT VALUE MIN(c.none) FROM c`, true, 1},
		{`SELECT VALUE [{"item": MAX(c.n), "item2": {"max": MAX(c.n), "count": COUNT(c.n)}}] FROM c`, true, 1},
		{`SELECT MIN(c.m) AS low, COUNT(c.m) AS n, COUNT(1) AS everyone, MAX(c.kind) AS high FROM c`, true, 2},
		{`SELECT VALUE {first: MIN(c._ts), last: MAX(c._ts)} FROM c`, true, 1},
		{`SELECT VALUE MAX(c._ts) - SUM(c.n) FROM c`, false, 0},
		{`SELECT VALUE MAX(c._ts.x) FROM c`, false, 0},
		{`SELECT VALUE MAX(c.s) FROM c`, true, 1},
		{`SELECT VALUE MIN(c.s) FROM c`, true, 1},
		{`SELECT c.kind, COUNT(1) AS n, SUM(c.m) AS total FROM c GROUP BY c.kind`, true, 0},
		{`SELECT c["group"], COUNT(1) AS n, MAX(c.kind) AS high FROM c GROUP BY c["group"]`, true, 0},
		{`SELECT c["group"], COUNT(1) AS n, SUM(c.n) AS total FROM c WHERE c.n > 5 GROUP BY c["group"]`, true, 0},
		{`SELECT DISTINCT VALUE COUNT(1) FROM c GROUP BY c["group"]`, true, 0},
		{`SELECT VALUE COUNT(1) FROM c WHERE c.n > 100 GROUP BY c.kind`, true, 0},
		{`SELECT VALUE SUM(c.m) FROM c WHERE c.n > 100`, true, 0},
		{`SELECT VALUE {k: c.kind, t: SUM(c.m) / COUNT(1)} FROM c GROUP BY c.kind`, true, 0},

		{`SELECT DISTINCT VALUE c.kind FROM c`, true, 0},
		{`SELECT DISTINCT VALUE c["group"] FROM c`, true, 0},
		{`SELECT DISTINCT c["group"] FROM c`, true, 0},
		{`SELECT DISTINCT c.kind FROM c WHERE c.n > 5`, true, 0},
		{`SELECT DISTINCT c.deep.x FROM c`, true, 0},
		{`SELECT DISTINCT VALUE {a: c.deep.x, b: {c: c.deep.x}} FROM c`, true, 0},
		{`SELECT DISTINCT VALUE c.none FROM c`, true, 0},
		{`SELECT DISTINCT c.none FROM c`, true, 0},
		{`SELECT DISTINCT VALUE c.kind FROM c OFFSET 1 LIMIT 1`, true, 0},
		{`SELECT c["group"] FROM c GROUP BY c["group"]`, true, 0},
		{`SELECT DISTINCT VALUE c.n FROM c ORDER BY c.n DESC`, true, 0},
		{`SELECT DISTINCT c["group"] FROM c ORDER BY c["group"]`, true, 0},
		{`SELECT DISTINCT c["group"] FROM c ORDER BY c["group"] DESC`, true, 0},
		{`SELECT DISTINCT TOP 3 VALUE c.deep.x FROM c WHERE c.deep.x > 0 ORDER BY c.deep.x`, true, 0},
		{`SELECT DISTINCT VALUE c.kind FROM c ORDER BY c.n`, false, 0},

		{`SELECT DISTINCT VALUE c.s FROM c`, false, 0},
		{`SELECT DISTINCT c.kind, c["group"] FROM c`, false, 0},
		{`SELECT DISTINCT c.kind, 1 AS one FROM c`, false, 0},
		{`SELECT DISTINCT VALUE LOWER(c.kind) FROM c`, false, 0},
		{`SELECT DISTINCT VALUE c FROM c`, false, 0},
		{`SELECT DISTINCT VALUE t FROM t IN c.s`, false, 0},
		{`SELECT VALUE SUM(c.m + 1) FROM c`, false, 0},
		{`SELECT VALUE SUM(c.m) FROM c WHERE c.n % 2 = 0`, false, 0},
		{`SELECT VALUE COUNTIF(c.n > 3) FROM c`, false, 0},
		{`SELECT VALUE SUM(c._ts) FROM c`, false, 0},
		{`SELECT VALUE MAKELIST(c.n) FROM c`, false, 0},
		{`SELECT VALUE SUM(x) FROM c JOIN x IN c.s`, false, 0},
		{`SELECT c.kind, SUM(c.n) AS total FROM c GROUP BY c.kind, c["group"]`, false, 0},
		{`SELECT LOWER(c.kind) AS k, SUM(c.n) AS total FROM c GROUP BY LOWER(c.kind)`, false, 0},
		{`SELECT VALUE SUM(x.n) FROM (SELECT DISTINCT c.n FROM c) x`, false, 0},
	} {
		s := newSource(t, texts...)
		for _, rows := range []int{0, 1, 2} {
			s.visited, s.tables, s.noCounts = 0, false, false
			a := asking{query: c.query, limit: Limit{Rows: rows}}
			want, err := a.all(t, s)
			if err != nil {
				t.Fatalf("%s: %v", c.query, err)
			}
			_, page, _ := a.page(t, s, nil)
			s.visited, s.tables, s.noCounts = 0, true, true
			if got, err := a.all(t, s); err != nil || got != want {
				t.Errorf("%s: %s, %v, want %s without counts", c.query, got, err, want)
			}
			s.noCounts = false
			if got, err := a.all(t, s); err != nil || got != want {
				t.Errorf("%s: %s, %v, want %s", c.query, got, err, want)
			}
			if (s.visited == 0) != c.from {
				t.Errorf("%s: %d documents were read", c.query, s.visited)
			}
			_, tabled, _ := a.page(t, s, nil)
			few := c.ends > 0 && tabled.Metrics.Documents <= uint64(2*c.ends) ||
				strings.Contains(c.query, "DISTINCT") && strings.Contains(c.query, "ORDER") // a walk ends with the page
			if !few && tabled.Metrics != page.Metrics {
				t.Errorf("%s: metrics %v, from documents %v", c.query, tabled.Metrics, page.Metrics)
			}
			a.noIndex = true
			s.visited = 0
			if got, err := a.all(t, s); err != nil || got != want || s.visited == 0 {
				t.Errorf("%s: %s, %v, want %s without an index", c.query, got, err, want)
			}
		}
	}
}

// TestManyValues sorts more distinct values than a page in order takes from a table.
func TestManyValues(t *testing.T) {
	var texts []string
	for i := range 2*maxSortedValues + 1 {
		texts = append(texts, fmt.Sprintf(`{"id":"%d","n":%d}`, i, i/2))
	}
	s := newSource(t, texts...)
	s.tables = true
	for query, tabled := range map[string]bool{
		`SELECT DISTINCT VALUE c.n FROM c`:                              true,
		`SELECT DISTINCT VALUE c.n FROM c ORDER BY c.n`:                 false,
		`SELECT DISTINCT VALUE c.n FROM c WHERE c.n > 700 ORDER BY c.n`: true,
	} {
		s.visited = 0
		_, page, err := asking{query: query, limit: Limit{Rows: 10}}.page(t, s, nil)
		if err != nil || page.Rows != 10 || (s.visited == 0) != tabled || s.visited > 30 {
			t.Errorf("%s: %d rows, %v, %d documents were read", query, page.Rows, err, s.visited)
		}
	}
}

// TestTableMemory ends a query whose groups need more memory than it may use.
func TestTableMemory(t *testing.T) {
	var texts []string
	for i := range 200 {
		texts = append(texts, fmt.Sprintf(`{"id":"%d","s":"%0300d"}`, i, i))
	}
	s := newSource(t, texts...)
	for _, tables := range []bool{false, true} {
		s.tables = tables
		_, _, err := asking{query: `SELECT DISTINCT VALUE MAX(c.s) FROM c GROUP BY c.id`, limit: Limit{Memory: 20_000}}.
			page(t, s, nil)
		if err != errGroup {
			t.Errorf("%v: %v", tables, err)
		}
	}
}
