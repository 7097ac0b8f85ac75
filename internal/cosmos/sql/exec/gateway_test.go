package exec

import (
	"regexp"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/plan"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
)

// statistics are values with which a client replaces placeholders.
var statistics = []struct {
	placeholder *regexp.Regexp
	with        string
}{
	{regexp.MustCompile(`\{documentdb-formattableorderbyquery-filter\}`), `true`},
	{regexp.MustCompile(`\{documentdb-formattablehybridsearchquery-totaldocumentcount\}`), `5`},
	{regexp.MustCompile(`\{documentdb-formattablehybridsearchquery-totalwordcount-\d\}`), `20`},
	{regexp.MustCompile(`\{documentdb-formattablehybridsearchquery-hitcountsarray-\d\}`), `[1]`},
}

// TestGatewayForms runs the queries that clients send after they have received a plan.
func TestGatewayForms(t *testing.T) {
	s := family(t)
	env := asking{}.environment(t, s)
	run := func(query string) string {
		for _, p := range statistics {
			query = p.placeholder.ReplaceAllString(query, p.with)
		}
		out, err := asking{query: query, limit: Limit{Rows: 2}}.all(t, s)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		return out
	}
	cases := []struct{ query, want string }{
		{`SELECT c.id FROM c ORDER BY c.n`, `{"_rid":"rid5","orderByItems":[{"item":null}],"payload":{"id":"5"}}`},
		{`SELECT VALUE c.nil FROM c ORDER BY c.n OFFSET 0 LIMIT 3`,
			`{"_rid":"rid2","orderByItems":[{"item":1.5}],"payload":null}`},
		{`SELECT VALUE COUNT(1) FROM c`, `[{"item":5}]`},
		{`SELECT VALUE AVG(c.n) FROM c WHERE IS_NUMBER(c.n)`, `[{"item":{"sum":14.5,"count":3}}]`},
		{`SELECT VALUE MAX(c.s) FROM c`, `[{"item":"cherry","item2":{"max":"cherry","count":4}}]`},
		{`SELECT MIN(c.s) AS lo, COUNT(1) AS n FROM c`,
			`{"payload":{"lo":{"item":"Banana","item2":{"min":"Banana","count":4}},"n":{"item":5}}}`},
		{`SELECT c.pk, COUNT(1) AS n FROM c GROUP BY c.pk`,
			`{"groupByItems":[{"item":"a"}],"payload":{"pk":"a","n":{"item":2}}}`},
		{`SELECT TOP 5 VALUE c.id FROM c ORDER BY RANK RRF(FullTextScore(c.s, "apple"), VectorDistance(c.v, [1]))`,
			`"payload"`},
	}
	for _, c := range cases {
		tree, err := syntax.Parse(c.query)
		if err != nil {
			t.Fatal(err)
		}
		p, err := plan.Gateway(tree, plan.GatewayEnvironment{
			Constant: Constants(env), Partition: []access.Path{{{Name: "pk"}}},
			EPK: func([]doc.Value) string { return "00" },
		})
		if err != nil {
			t.Fatalf("%s: %v", c.query, err)
		}
		if p.Hybrid != nil {
			run(p.Hybrid.GlobalStatisticsQuery)
			for _, q := range p.Hybrid.Components {
				if out := run(q.Rewritten); !strings.Contains(out, c.want) {
					t.Errorf("%s\n  gives %s", q.Rewritten, out)
				}
			}
			continue
		}
		if out := run(p.Query.Rewritten); !strings.HasPrefix(out, c.want) {
			t.Errorf("%s\n  gives %s\n  not %s", p.Query.Rewritten, out, c.want)
		}
	}
}

// TestEqualRowsAreNeighbours checks the order of DISTINCT rows: clients drop a row if it equals the previous one,
// even if the order does not distinguish the values.
func TestEqualRowsAreNeighbours(t *testing.T) {
	long := strings.Repeat("long", 80)
	var texts []string
	for i := range 30 {
		texts = append(texts, `{"a":`+[]string{`{"x":1}`, `[1]`, `"` + long + `1"`, `{"x":2}`, `[2]`,
			`"` + long + `2"`, `1`}[i%7]+`}`)
	}
	s := newSource(t, texts...)
	for _, order := range []string{"ASC", "DESC"} {
		query := `SELECT DISTINCT c._rid, [{"item": c.a}] AS orderByItems,` +
			` c.a AS payload FROM c WHERE ((true) AND IS_DEFINED(c.a)) ORDER BY c.a ` + order
		for _, rows := range []int{1, 4, 100} {
			out, err := asking{query: query, limit: Limit{Rows: rows}}.all(t, s)
			if err != nil {
				t.Fatal(err)
			}
			runs, last := 0, ""
			for _, row := range strings.Split(out, `{"_rid"`)[1:] {
				_, payload, _ := strings.Cut(row, `"payload":`)
				if payload = strings.TrimSuffix(payload, ","); payload != last {
					runs, last = runs+1, payload
				}
			}
			if runs != 7 {
				t.Errorf("%s, pages of %d: 7 values come in %d runs: %s", order, rows, runs, out)
			}
		}
	}
}
