package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
)

func TestAfterPrefix(t *testing.T) {
	cases := []struct{ prefix, want string }{
		{"a", "b"},
		{"az", "a{"},
		{"a\x7f", "a\u0080"},
		{"é", "ê"},
		{"\uD7FF", "\uE000"},
		{"a\U0010FFFF", "b"},
		{"\U0010FFFF\U0010FFFF", ""},
		{"a\xff", ""},
		{"\uFFFD", "\uFFFE"},
	}
	for _, c := range cases {
		got, ok := after(c.prefix)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("after(%q) = %q %v, want %q", c.prefix, got, ok, c.want)
		}
		if ok && (strings.Compare(c.prefix+"\U0010FFFF\U0010FFFF", got) >= 0 || strings.Compare(c.prefix, got) >= 0) {
			t.Errorf("%q is not behind everything that begins with %q", got, c.prefix)
		}
	}
}

func TestLikePrefix(t *testing.T) {
	cases := []struct{ pattern, escape, prefix, rest string }{
		{"abc", "", "abc", ""},
		{"a%c", "", "a", "%c"},
		{"a_c", "", "a", "_c"},
		{"a[bc]", "", "a", "[bc]"},
		{"%", "", "", "%"},
		{"", "", "", ""},
		{"a!%b%", "!", "a%b", "%"},
		{"a!", "!", "a!", ""},
		{"aéé%b%", "é", "aé", "%b%"},
		{"é%", "!", "é", "%"},
	}
	for _, c := range cases {
		if prefix, rest := likePrefix(c.pattern, c.escape); prefix != c.prefix || rest != c.rest {
			t.Errorf("likePrefix(%q, %q) = %q, %q, want %q, %q", c.pattern, c.escape, prefix, rest, c.prefix, c.rest)
		}
	}
}

// TestLongTexts checks bounds on long strings: an index has only their beginning, so a bound includes all strings
// with the same beginning, and is never exact.
func TestLongTexts(t *testing.T) {
	long := strings.Repeat("x", access.MaxSortBytes+1)
	fits := long[:access.MaxSortBytes]
	p := place{known: true, path: access.Path{{Name: "a"}}}
	cases := []struct {
		name string
		got  condition
		open bool
		want bool // exact
	}{
		{"equal", equals(p, doc.String(long)), false, false},
		{"above", compares(p, syntax.Gt, doc.String(long)), false, false},
		{"below", compares(p, syntax.Lt, doc.String(long)), false, false},
		{"begins", begins(p, long), false, false},
		{"equal, fits", equals(p, doc.String(fits)), false, true},
		{"above, fits", compares(p, syntax.Gt, doc.String(fits)), true, true},
		{"begins, fits", begins(p, fits), true, true},
		{"begins, and the next text is longer", begins(p, fits[1:]+"\x7f"), false, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			open := c.got.leaf.Low.Open || c.got.leaf.High.Open
			if c.got.exact != c.want || open != c.open {
				t.Errorf("exact %v, open %v: %s", c.got.exact, open, new(explainer).ranged(&c.got.leaf))
			}
		})
	}
}

// TestManyAlternatives checks that an IN longer than the limit is left to the filter.
func TestManyAlternatives(t *testing.T) {
	for _, n := range []int{10, maxAlternatives, maxAlternatives + 1} {
		items := make([]string, n)
		for i := range items {
			items[i] = fmt.Sprint(i)
		}
		s := newSetting()
		text := s.explain("SELECT * FROM c WHERE c.a IN (" + strings.Join(items, ",") + ")")
		if got, want := strings.HasPrefix(text, "index /a/? in (0, 1, 2, 3, 4, 5, 6, 7, and "),
			n <= maxAlternatives; got != want {
			t.Errorf("%d alternatives: %.80s", n, text)
		}
	}
}

func TestAggregate(t *testing.T) {
	for _, name := range []string{"COUNT", "count", "Sum", "AVG", "MIN", "MAX", "COUNTIF", "MAKELIST", "MAKESET",
		"ARRAY_AGG"} {
		if !Aggregate(name) {
			t.Errorf("%s is an aggregate", name)
		}
	}
	for _, name := range []string{"", "ABS", "ARRAY_LENGTH", "COUNT_"} {
		if Aggregate(name) {
			t.Errorf("%s is no aggregate", name)
		}
	}
}

func FuzzBuild(f *testing.F) {
	for _, text := range []string{
		"SELECT * FROM c WHERE c.a = 1 AND (c.b > 'x' OR NOT c.d) ORDER BY c.a DESC",
		"SELECT c.a, COUNT(1) FROM c JOIN t IN c.tags WHERE t.x LIKE 'a%' GROUP BY c.a",
		"SELECT VALUE x.k FROM (SELECT c.a AS k FROM c WHERE c.p = @p) AS x WHERE x.k IN (1, 2) OFFSET 1 LIMIT @p",
		"SELECT VALUE EXISTS(SELECT VALUE t FROM t IN c.l WHERE ARRAY_CONTAINS(t, {'a': 1}, true)) FROM c.x[0].y",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := syntax.Parse(text)
		if err != nil {
			return
		}
		s := newSetting()
		s.parameters["@p"] = doc.Int(3)
		s.env.Schema.Partition = []access.Path{{{Name: "p"}}}
		s.env.Schema.Composite = [][]access.Column{{{Path: access.Path{{Name: "a"}}}, {Path: access.Path{{Name: "b"}},
			Descending: true}}, {}}
		before := syntax.Print(q)
		if p, err := Build(q, s.environment()); err == nil {
			p.Explain()
		}
		if syntax.Print(q) != before {
			t.Errorf("%s was changed", text)
		}
	})
}

func BenchmarkBuild(b *testing.B) {
	s := newSetting()
	s.env.Schema.Partition = []access.Path{{{Name: "pk"}}}
	env := s.environment()
	q, err := syntax.Parse("SELECT TOP 20 c.id, c.name FROM c WHERE c.pk = 'p' AND c.a = 1 AND c.b > 2 ORDER BY c.b " +
		"DESC")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Build(q, env); err != nil {
			b.Fatal(err)
		}
	}
}

// TestUnitedTests: tests of one path become one, which is only exact if all of them are: a condition that the index
// knows nothing of may be beside one of them.
func TestUnitedTests(t *testing.T) {
	test := condition{kind: tested, exact: true, test: &access.Tested{
		Test: func(doc.Value) (passes, certain bool) { return true, true },
	}}
	for _, c := range []struct {
		name  string
		got   condition
		exact bool
	}{
		{"two", either(test, test), true},
		{"one beside what is unknown", either(both(unknown, test), test), false},
		{"the other one", either(test, both(unknown, test)), false},
		{"alone", either(both(unknown, test)), false},
	} {
		if c.got.kind != tested || c.got.exact != c.exact {
			t.Errorf("%s: kind %v, exact %v", c.name, c.got.kind, c.got.exact)
		}
	}
}
