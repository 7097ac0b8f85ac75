package exec

import (
	"testing"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
)

func TestRank(t *testing.T) {
	docs := []string{
		`{"id":"1","text":"the quick brown fox","v":[1,0]}`,
		`{"id":"2","text":"a lazy dog sleeps","v":[0,1]}`,
		`{"id":"3","text":"fox and fox and dog","v":[0.7,0.7]}`,
		`{"id":"4","text":"nothing of interest"}`,
		`{"id":"5","n":1,"v":[-1,0]}`,
	}
	cases := []struct{ name, query, want string }{
		{"text", `SELECT TOP 10 VALUE c.id FROM c ORDER BY RANK FullTextScore(c.text, "fox")`, `"3","1","2","4","5"`},
		{"text of two terms", `SELECT TOP 10 VALUE c.id FROM c ORDER BY RANK FullTextScore(c.text, "fox", "dog")`,
			`"3","1","2","4","5"`},
		{"vector", `SELECT TOP 10 VALUE c.id FROM c ORDER BY RANK VectorDistance(c.v, [1, 0])`, `"1","3","2","5","4"`},
		{"vector without rank", `SELECT TOP 3 VALUE c.id FROM c ORDER BY VectorDistance(c.v, [1, 0])`, `"1","3","2"`},
		{"nearest", `SELECT VALUE c.id FROM c ORDER BY RANK VectorDistance(c.v, [1, 0], true,` +
			` {"distanceFunction": "euclidean"})`, `"1","3","2","5","4"`},
		{"fused", `SELECT TOP 10 VALUE c.id FROM c WHERE IS_DEFINED(c.text) ORDER BY RANK RRF(FullTextScore(c.text,` +
			` "dog"), VectorDistance(c.v, [0, 1]))`, `"2","3","1","4"`},
		{"weighted", `SELECT TOP 10 VALUE c.id FROM c ORDER BY RANK RRF(FullTextScore(c.text, "dog"),` +
			` VectorDistance(c.v, [1, 0]), [0, 1])`, `"1","3","2","5","4"`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, rows := range []int{0, 1, 2} {
				got, err := asking{query: c.query, limit: Limit{Rows: rows}}.all(t, newSource(t, docs...))
				if err != nil {
					t.Fatal(err)
				}
				if got != c.want {
					t.Fatalf("pages of %d\n got %s\nwant %s", rows, got, c.want)
				}
			}
		})
	}
}

func TestDistanceOfThePolicy(t *testing.T) {
	s := newSource(t, `{"id":"1","v":[3,0]}`, `{"id":"2","v":[1,1]}`, `{"id":"3","v":[9,8]}`)
	for policy, want := range map[string]string{"": `"2","3","1"`, "cosine": `"2","3","1"`,
		"euclidean": `"2","1","3"`, "dotproduct": `"3","1","2"`} {
		for _, query := range []string{`SELECT VALUE c.id FROM c ORDER BY VectorDistance(c.v, [1, 1])`,
			`SELECT VALUE c.id FROM c ORDER BY RANK VectorDistance([1, 1], c.v, true)`} {
			tree, err := syntax.Parse(query)
			if err != nil {
				t.Fatal(err)
			}
			env := asking{noIndex: true}.environment(t, s)
			env.Distance = func(p access.Path) string {
				if len(p) != 1 || p[0].Name != "v" {
					t.Errorf("asked for %v", p)
				}
				return policy
			}
			q, err := Prepare(tree, env, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := q.Run(t.Context(), s, Limit{}, nil)
			if err != nil || string(got) != want {
				t.Errorf("%s, policy %q: %s, %v, not %s", query, policy, got, err, want)
			}
		}
	}
}
