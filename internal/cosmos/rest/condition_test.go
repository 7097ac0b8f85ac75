package rest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/store"
)

const conditionItem = `{"id":"1","n":3,"f":1.5,"s":"Straße","t":true,"z":null,"a":[1,"two",{"k":1,"l":2},[4]],
	"o":{"p":{"q":"deep"},"a b":7},"big":9007199254740993,"ttl":60}`

func conditionDocument(t testing.TB) *store.Document {
	body, err := doc.FromJSON(nil, []byte(conditionItem), doc.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return &store.Document{Version: store.Version{Sequence: 5, Stamp: 1000}, Body: body}
}

func TestPredicate(t *testing.T) {
	d := conditionDocument(t)
	for _, tt := range []struct {
		where string
		want  bool
	}{
		{`c.n = 3`, true},
		{`c.n=3.0`, true},
		{`c.n != 3`, false},
		{`c.n <> 4`, true},
		{`c.n < 3`, false},
		{`c.n <= 3`, true},
		{`c.n > -1`, true},
		{`c.n >= 3.0001`, false},
		{`c.f = 15e-1`, true},
		{`c.f = .15E+1`, true},
		{`c.big = 9007199254740993`, true},
		{`c.big = 9007199254740992`, false},
		{`c.s = "Straße"`, true},
		{`c.s = 'Stra\u00dfe'`, true},
		{`c.s > "A"`, true},
		{`c.t`, true},
		{`c.t = true`, true},
		{`c.t > false`, true},
		{`NOT c.t`, false},
		{`not not c.t`, true},
		{`c.z = null`, true},
		{`c.z != null`, false},

		// undefined: neither true nor false
		{`c.gone = 1`, false},
		{`c.gone != 1`, false},
		{`NOT (c.gone = 1)`, false},
		{`c.gone = undefined`, false},
		{`c.n = "3"`, false},
		{`c.n != "3"`, false},
		{`NOT c.n = "3"`, false},
		{`c.z != 1`, false},
		{`c.n`, false},
		{`NOT c.n`, false},
		{`c.gone = 1 OR c.n = 3`, true},
		{`c.n = 3 OR c.gone = 1`, true},
		{`c.gone = 1 OR c.n = 4`, false},
		{`NOT (c.gone = 1 OR c.n = 4)`, false},
		{`NOT (c.gone = 1 AND c.n = 4)`, true},
		{`NOT (c.n = 4 AND c.gone = 1)`, true},
		{`NOT (c.gone = 1 AND c.n = 3)`, false},

		// precedence
		{`c.n = 4 AND c.n = 4 OR c.n = 3`, true},
		{`c.n = 4 AND (c.n = 4 OR c.n = 3)`, false},
		{`NOT c.n = 4 AND c.t`, true},

		// paths
		{`c.o.p.q = "deep"`, true},
		{`c["o"]["p"].q = "deep"`, true},
		{`c['o']['a b'] = 7`, true},
		{`c.a[0] = 1`, true},
		{`c.a[1] = "two"`, true},
		{`c.a[2].k = 1`, true},
		{`c.a[3][0] = 4`, true},
		{`c.a[9] = 1`, false},
		{`c.o[0] = 1`, false},
		{`c.n.p = 1`, false},
		{`c._ts = 1000`, true},
		{`c["_ts"] > 999`, true},
		{`c._etag = "\"00000005-0000-0100-0000-000003e80000\""`, true},
		{`c.o._ts = 1000`, false},

		// whole values
		{`c.a = c.a`, true},
		{`c.o != c.o.p`, true},
		{`c.o < c.o`, false},
		{`c.o.p = c.a[2]`, false},

		// IN, BETWEEN
		{`c.n IN (1, 2, 3)`, true},
		{`c.n in (1, "3")`, false},
		{`c.n NOT IN (1, 2)`, true},
		{`c.n IN ()`, false},
		{`c.gone IN (1)`, false},
		{`c.gone NOT IN (1)`, false},
		{`c.n BETWEEN 1 AND 3`, true},
		{`c.n BETWEEN 4 AND 9 OR c.t`, true},
		{`c.n NOT BETWEEN 4 AND 9`, true},
		{`c.s BETWEEN 1 AND 3`, false},

		// functions
		{`IS_DEFINED(c.n)`, true},
		{`IS_DEFINED(c.gone)`, false},
		{`NOT IS_DEFINED(c.gone)`, true},
		{`IS_NULL(c.z) AND NOT IS_NULL(c.n)`, true},
		{`IS_NULL(c.gone)`, false},
		{`IS_STRING(c.s) AND IS_NUMBER(c.n) AND IS_BOOL(c.t) AND IS_ARRAY(c.a) AND IS_OBJECT(c.o)`, true},
		{`IS_STRING(c.n) OR IS_NUMBER(c.s) OR IS_BOOL(c.n) OR IS_ARRAY(c.o) OR IS_OBJECT(c.a)`, false},
		{`STARTSWITH(c.s, "Str")`, true},
		{`startswith(c.s, "str")`, false},
		{`startswith(c.s, "STR", true)`, true},
		{`ENDSWITH(c.s, "ße")`, true},
		{`CONTAINS(c.s, "raß")`, true},
		{`CONTAINS(c.n, "3")`, false},
		{`NOT CONTAINS(c.n, "3")`, false},
		{`ARRAY_CONTAINS(c.a, "two")`, true},
		{`ARRAY_CONTAINS(c.a, 2)`, false},
		{`ARRAY_CONTAINS(c.a, c.a[2])`, true},
		{`ARRAY_CONTAINS(c.n, 3)`, false},
	} {
		t.Run(tt.where, func(t *testing.T) {
			p, err := parsePredicate("from c where " + tt.where)
			if err != nil {
				t.Fatal(err)
			}
			if got := holds(t, p, d); got != tt.want {
				t.Fatalf("holds is %v, want %v", got, tt.want)
			}
		})
	}
}

// holds is the verdict of a condition that is not too expensive.
func holds(t *testing.T, p *predicate, d *store.Document) bool {
	t.Helper()
	verdict, err := p.holds(t.Context(), d)
	if err != nil {
		t.Error(err)
	}
	return verdict
}

func TestPredicateForms(t *testing.T) {
	d := conditionDocument(t)
	for _, text := range []string{"from c", "FROM c WHERE c.n=3", "From root r where r.n=3", "from items AS x\r\n\twhere x.n=3"} {
		p, err := parsePredicate(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if !holds(t, p, d) {
			t.Errorf("%s does not hold", text)
		}
	}
}

func TestPredicatePartialMatch(t *testing.T) {
	d := conditionDocument(t)
	body, err := doc.FromJSON(nil, []byte(`{"list":[{"k":1,"l":2}],"part":{"k":1},"other":{"k":2}}`), doc.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	d.Body = body
	for where, want := range map[string]bool{
		`ARRAY_CONTAINS(c.list, c.part, true)`:  true,
		`ARRAY_CONTAINS(c.list, c.part)`:        false,
		`ARRAY_CONTAINS(c.list, c.other, true)`: false,
	} {
		p, err := parsePredicate("from c where " + where)
		if err != nil {
			t.Fatal(err)
		}
		if got := holds(t, p, d); got != want {
			t.Errorf("%s is %v", where, got)
		}
	}
}

// What a condition costs has a limit, whatever it is made of.
func TestPredicateWorkHasALimit(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"list":[`)
	for i := range 20_000 {
		fmt.Fprintf(&b, `{"k%d":1,"l":"x"},`, i)
	}
	b.WriteString(`{}],"none":{"q":1},"text":"` + strings.Repeat("ß", 500_000) + `"}`)
	body, err := doc.FromJSON(nil, []byte(b.String()), doc.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	d := &store.Document{Body: body}
	nested := "1"
	for range 30 {
		nested = "(" + nested + " between 0 and 2)"
	}
	for _, tt := range []struct {
		name, where string
		kind        fault.Kind
	}{
		{"many members", strings.Repeat("c.absent = 1 or ", 3_500) + "false", fault.Invalid},
		{"many elements", strings.Repeat("c.list[9] = 1 or ", 3_500) + "false", fault.Invalid},
		{"many arrays", strings.Repeat("ARRAY_CONTAINS(c.list, 1) or ", 2_000) + "false", fault.Invalid},
		{"arrays of objects", strings.Repeat("ARRAY_CONTAINS(c.list, c.none, true) or ", 1_500) + "false", fault.Invalid},
		{"the item with itself", strings.Repeat("c = c and ", 6_000) + "true", fault.Invalid},
		{"long strings", strings.Repeat("CONTAINS(c.text, 'SS', true) or ", 1_900) + "false", fault.Invalid},
		{"a list of items", "c in (" + strings.Repeat("c.none,", 9_000) + "c)", fault.Invalid},
		{"BETWEEN in BETWEEN", nested, 0},
		{"a few", "c.absent = 1 or ARRAY_CONTAINS(c.list, 1) or c.list[3].l = 'x'", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := parsePredicate("from c where " + tt.where)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.holds(t.Context(), d); err != nil != (tt.kind != 0) || err != nil && fault.KindOf(err) != tt.kind {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestPredicateEndsWithItsRequest(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	body, err := doc.FromJSON(nil, []byte(`{"t":"`+strings.Repeat("x", 300<<10)+`"}`), doc.ParseOptions{})
	must(t, err)
	p, err := parsePredicate("from c where CONTAINS(c.t, 'y')")
	must(t, err)
	if _, err := p.holds(ctx, &store.Document{Body: body}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestPredicateRefusals(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		kind       fault.Kind
	}{
		{"empty", "", fault.Invalid},
		{"no FROM", "c.n = 3", fault.Invalid},
		{"no alias", "from where c.n", fault.Invalid},
		{"SELECT", "select * from c", fault.Invalid},
		{"nothing after WHERE", "from c where", fault.Invalid},
		{"other alias", "from c where d.n = 3", fault.Invalid},
		{"alias replaced", "from root r where root.n = 3", fault.Invalid},
		{"two expressions", "from c where c.n c.n", fault.Unsupported},
		{"open parenthesis", "from c where (c.n = 3", fault.Invalid},
		{"closing parenthesis", "from c where c.n = 3)", fault.Invalid},
		{"open string", `from c where c.n = "a`, fault.Invalid},
		{"bad escape", `from c where c.n = "\q"`, fault.Invalid},
		{"open bracket", "from c where c[0 = 1", fault.Invalid},
		{"fractional index", "from c where c.a[1.5] = 1", fault.Invalid},
		{"no operand", "from c where c.n =", fault.Invalid},
		{"infinite number", "from c where c.n = 1e999", fault.Invalid},
		{"foreign character", "from c where c.n = ☃", fault.Invalid},
		{"BETWEEN without AND", "from c where c.n between 1", fault.Invalid},
		{"IN without list", "from c where c.n in 3", fault.Invalid},
		{"arguments", "from c where is_defined(c.n, 1)", fault.Invalid},
		{"no UTF-8", "from c where c.n = '\xff'", fault.Invalid},
		{"too long", "from c where c.n = '" + strings.Repeat("x", maxCondition) + "'", fault.Invalid},
		{"too deep", "from c where " + strings.Repeat("(", 1000) + "c.n" + strings.Repeat(")", 1000), fault.Invalid},
		{"too many NOTs", "from c where " + strings.Repeat("not ", 1000) + "c.n", fault.Invalid},
		{"lists in lists", "from c where " + strings.Repeat("c.n in (", 1000) + "1" + strings.Repeat(")", 1000), fault.Invalid},
		{"LIKE", "from c where c.s like 'a%'", fault.Unsupported},
		{"arithmetic", "from c where c.n + 1 = 4", fault.Unsupported},
		{"concatenation", "from c where c.s || 'a' = 'b'", fault.Unsupported},
		{"conditional", "from c where c.t ? true : false", fault.Unsupported},
		{"parameter", "from c where c.n = @n", fault.Unsupported},
		{"array", "from c where c.n in ([1], 2)", fault.Unsupported},
		{"object", "from c where c.o = {}", fault.Unsupported},
		{"function", "from c where abs(c.n) = 3", fault.Unsupported},
		{"user function", "from c where udf.f(c.n)", fault.Invalid},
		{"subquery", "from c where exists(select 1)", fault.Unsupported},
		{"system property", "from c where c._rid = 'a'", fault.Unsupported},
		{"JOIN", "from c join d in c.a", fault.Invalid},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := parsePredicate(tt.text)
			if fault.KindOf(err) != tt.kind {
				t.Fatalf("got %v and error %v, want one of kind %v", p, err, tt.kind)
			}
		})
	}
}

func FuzzPredicate(f *testing.F) {
	f.Add(`from c where c.n = 3 and not (c["s"] in ("a", 'b') or c.a[0] between -1 and 1e3)`)
	f.Add(`from root AS r where ARRAY_CONTAINS(r.a, r.o.p, true) OR STARTSWITH(r.s, "\ud83d\ude00")`)
	f.Add("from c where ((((")
	d := conditionDocument(f)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parsePredicate(text)
		if (p == nil) == (err == nil) {
			t.Fatalf("%v with error %v", p, err)
		}
		if err == nil {
			p.holds(t.Context(), d) // no panic
		} else if k := fault.KindOf(err); k != fault.Invalid && k != fault.Unsupported {
			t.Fatal(err)
		}
	})
}
