package exec

import (
	"fmt"
	"testing"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
)

// TestConditionsOnStrings answers conditions that depend on the string at one path by testing the strings of the index.
// The rows are those of reading everything.
func TestConditionsOnStrings(t *testing.T) {
	var texts []string
	for i, name := range []string{`"Anna"`, `"Bernd"`, `"ANNA"`, `"an%na"`, `""`, `null`, `1`, `true`, `["Anna"]`,
		`{"x":"Anna"}`, `"Süß"`, `"a\u0000b"`, ""} {
		if name != "" {
			name = `,"name":` + name
		}
		texts = append(texts, fmt.Sprintf(`{"id":"%d","pk":"p","n":%d,"o":{"text":"t%d"}%s}`, i, i, i, name))
	}
	s := newSource(t, texts...)
	for _, c := range []struct {
		where string
		given int // documents that are tested for the rows
	}{
		{`CONTAINS(c.name, "nn")`, 1},
		{`CONTAINS(c.name, @part, true)`, 1},
		{`NOT CONTAINS(c.name, "n")`, 4},
		{`ENDSWITH(c["name"], "na")`, 2},
		{`STARTSWITH(c.name, "AN", true)`, 3},
		{`STRINGEQUALS(c.name, "anna", true)`, 2},
		{`LOWER(c.name) = "anna"`, 2},
		{`"anna" = LOWER(c.name)`, 2},
		{`LOWER(c.name) != "anna"`, 5},
		{`NOT (LOWER(c.name) = "anna")`, 5},
		{`UPPER(LEFT(c.name, 2)) IN ("AN", @part)`, 4},
		{`UPPER(LEFT(c.name, 2)) NOT IN ("AN", undefined)`, 4},
		{`LENGTH(c.name) BETWEEN 4 AND 5`, 4},
		{`NOT (LENGTH(c.name) > 3)`, 3},
		{`c.name LIKE "%n_"`, 3},
		{`c.name LIKE "%!%%" ESCAPE "!"`, 1},
		{`c.name NOT LIKE "%n%"`, 4},
		{`LOWER(c.name) LIKE "an%"`, 3},
		{`REGEXMATCH(c.name, "^an", "i")`, 13},
		{`CONTAINS(c.name, undefined)`, 0},
		{`CONTAINS(c.o.text, "1")`, 4},
		{`CONTAINS(c.name, "nn") OR ENDSWITH(c.o.text, "11")`, 2},
		{`CONTAINS(c.name, "nn") OR CONTAINS(c.name, "rnd") OR LOWER(c.name) = "anna"`, 3},
		{`CONTAINS(c.name, "n") AND NOT CONTAINS(c.name, "nn") AND LENGTH(c.name) > 4`, 2},
		{`NOT (CONTAINS(c.name, "nn") OR LOWER(c.name) = "anna" OR c.name LIKE "%s")`, 5},
		{`CONTAINS(c.name, "nn") OR c.n = 4`, 2},
		{`CONTAINS(c.name, "n") AND c.n > 1 AND ENDSWITH(c.o.text, "3")`, 1},
		// These depend on something else, too, or may be true of what is no string.
		{`CONTAINS(c.name, c.o.text)`, 13},
		{`CONTAINS(c.name, "n", c.n = 1)`, 13},
		{`TOSTRING(c.name) = "1"`, 13},
		{`LENGTH(c.name) = c.n`, 13},
		{`IS_DEFINED(LOWER(c.name))`, 13},
		{`CONTAINS(c._etag, "1")`, 13},
		{`CONTAINS(c.name[0], "nn")`, 13},
	} {
		for _, query := range []string{"SELECT VALUE c.id FROM c WHERE ", "SELECT c.id FROM c WHERE ",
			"SELECT VALUE COUNT(1) FROM c WHERE ", "SELECT VALUE MAX(c.n) FROM c WHERE "} {
			a := asking{query: query + c.where, parameters: map[string]string{"@part": `"BE"`}, limit: Limit{Rows: 3}}
			got, err := a.all(t, s)
			plain := a
			plain.noIndex = true
			want, wrong := plain.all(t, s)
			if err != nil || wrong != nil || got != want {
				t.Errorf("%s: %s, %v, want %s, %v", a.query, got, err, want, wrong)
			}
		}
		tree, err := syntax.Parse("SELECT VALUE c.id FROM c WHERE " + c.where)
		if err != nil {
			t.Fatal(err)
		}
		q, err := Prepare(tree, asking{parameters: map[string]string{"@part": `"BE"`}}.environment(t, s), nil)
		if err != nil {
			t.Fatal(err)
		}
		given := 0
		for range s.Scan(t.Context(), q.Plan().Access) {
			given++
		}
		if q.Plan().Nothing {
			given = 0
		}
		if given != c.given {
			t.Errorf("%s: %d documents are read, want %d\n%s", c.where, given, c.given, q.Plan().Explain())
		}
	}
}

// TestUncertainTests has a test of which nothing is certain, because the query must stop.
func TestUncertainTests(t *testing.T) {
	s := newSource(t, `{"id":"1","pk":"p","name":"a"}`)
	tree, err := syntax.Parse(`SELECT * FROM c WHERE CONTAINS(c.name, "b")`)
	if err != nil {
		t.Fatal(err)
	}
	q, err := Prepare(tree, asking{}.environment(t, s), nil)
	if err != nil {
		t.Fatal(err)
	}
	set, ok := q.Plan().Access.Of.(*access.Filter).Set.(*access.Tested)
	if !ok {
		t.Fatal(q.Plan().Explain())
	}
	if passes, certain := set.Test(doc.String("ab")); !passes || !certain {
		t.Errorf("ab: %v, %v", passes, certain)
	}
	if passes, certain := set.Test(doc.String("a")); passes || !certain {
		t.Errorf("a: %v, %v", passes, certain)
	}
	q.compiler.meter.Err = errWork
	if passes, certain := set.Test(doc.String("a")); !passes || certain {
		t.Errorf("when the query must stop: %v, %v", passes, certain)
	}
	q.Release()
	if passes, certain := set.Test(doc.String("a")); passes || !certain {
		t.Errorf("when it was let go: %v, %v", passes, certain)
	}
}
