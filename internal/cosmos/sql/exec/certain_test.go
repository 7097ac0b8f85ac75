package exec

import (
	"testing"

	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
)

// A condition that the partition or the id fulfils is not checked for each document. All others are, above all those
// that the walk over an index or the partition of a large number leaves open.
func TestCertainConditions(t *testing.T) {
	s := newSource(t, `{"id":"1","pk":"p","n":1,"tags":[{"pk":"q"}]}`, `{"id":"2","pk":"p","n":2}`,
		`{"id":"3","pk":"q","n":1}`, `{"id":"4","pk":9007199254740992,"n":1}`)
	for _, c := range []struct {
		where, rows string
		checked     bool
	}{
		{`c.pk = "p"`, `"1","2"`, false},
		{`c.pk = "p" AND c.id = "2"`, `"2"`, false},
		{`c.pk = "p" AND c.n = 1`, `"1"`, true},
		{`c.pk = "p" AND c.pk = "q"`, ``, false},
		{`c.pk = "p" AND c.n != 1`, `"2"`, true},
		{`c.pk = "p" AND LENGTH(c.id) = 2`, ``, true},
		{`c.pk IN ("p", "q")`, `"1","2","3"`, true},
		{`c.pk = 9007199254740993`, ``, true},
		{`c.n = 1`, `"1","3","4"`, true},
		{`false`, ``, true},
	} {
		a := asking{query: "SELECT VALUE c.id FROM c WHERE " + c.where + " ORDER BY c.id"}
		got, err := a.all(t, s)
		if err != nil || got != c.rows {
			t.Errorf("%s: %s, %v, want %s", c.where, got, err, c.rows)
		}
		tree, err := syntax.Parse(a.query)
		if err != nil {
			t.Fatal(err)
		}
		q, err := Prepare(tree, a.environment(t, s), nil)
		if err != nil {
			t.Fatal(err)
		}
		if checked := len(q.sel.filters[0]) > 0; checked != c.checked && !q.plan.Nothing {
			t.Errorf("%s: each document is checked: %v, want %v", c.where, checked, c.checked)
		}
	}
	for query, want := range map[string]string{
		`SELECT VALUE c.id FROM c JOIN t IN c.tags WHERE c.pk = "p"`:                      `"1"`,
		`SELECT VALUE c.id FROM c JOIN t IN c.tags WHERE c.pk = "p" AND t.pk = "p"`:       ``,
		`SELECT VALUE t.pk FROM t IN c.tags WHERE t.pk = "p"`:                             ``,
		`SELECT VALUE s.pk FROM (SELECT c.pk FROM c WHERE c.pk = "p") s WHERE s.pk = "q"`: ``,
	} {
		if got, err := (asking{query: query}).all(t, s); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", query, got, err, want)
		}
	}
}
