package rest

import (
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

const conditionItem = `{"id":"1","n":3,"f":1.5,"s":"Straße","t":true,"z":null,"a":[1,"two",{"k":1,"l":2},[4]],
	"o":{"p":{"q":"deep"},"a b":7},"big":9007199254740993,"ttl":60}`

func conditionDocument(t testing.TB) *access.Document {
	body, err := doc.FromJSON(nil, []byte(conditionItem), doc.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return &access.Document{Version: access.Version{Sequence: 5, Stamp: 1000}, Body: body}
}

// conditionView is an empty container for the items that conditions are tested on.
func conditionView(t testing.TB) catalog.View {
	c, err := newItems(t).api.catalog.ContainerByID(1)
	must(t, err)
	v, err := c.Enter(t.Context(), 1000)
	must(t, err)
	return v
}

func TestCondition(t *testing.T) {
	d, v := conditionDocument(t), conditionView(t)
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
		{`c.n != "3"`, true},
		{`NOT (c.n = "3")`, true},
		{`c.z != 1`, true},
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
		{`NOT (c.n = 4) AND c.t`, true},

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
		{`c.n IN (4)`, false},
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
			p, err := parseCondition(t.Context(), v, doc.String("from c where "+tt.where))
			if err != nil {
				t.Fatal(err)
			}
			if got := holds(t, p, d); got != tt.want {
				t.Fatalf("holds is %v, want %v", got, tt.want)
			}
		})
	}
}

// holds evaluates a condition and fails the test on an error.
func holds(t *testing.T, c *condition, d *access.Document) bool {
	t.Helper()
	verdict, err := c.holds(d)
	if err != nil {
		t.Error(err)
	}
	return verdict
}

func TestConditionForms(t *testing.T) {
	d, v := conditionDocument(t), conditionView(t)
	for _, text := range []string{"from c", "FROM c WHERE c.n=3", "From root r where r.n=3",
		"from items AS x\r\n\twhere x.n=3"} {
		p, err := parseCondition(t.Context(), v, doc.String(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if !holds(t, p, d) {
			t.Errorf("%s does not hold", text)
		}
	}
}

func TestConditionPartialMatch(t *testing.T) {
	d, v := conditionDocument(t), conditionView(t)
	body, err := doc.FromJSON(nil, []byte(`{"list":[{"k":1,"l":2}],"part":{"k":1},"other":{"k":2}}`),
		doc.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	d.Body = body
	for where, want := range map[string]bool{
		`ARRAY_CONTAINS(c.list, c.part, true)`:  true,
		`ARRAY_CONTAINS(c.list, c.part)`:        false,
		`ARRAY_CONTAINS(c.list, c.other, true)`: false,
	} {
		p, err := parseCondition(t.Context(), v, doc.String("from c where "+where))
		if err != nil {
			t.Fatal(err)
		}
		if got := holds(t, p, d); got != want {
			t.Errorf("%s is %v", where, got)
		}
	}
}

func TestConditionRefusals(t *testing.T) {
	v := conditionView(t)
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
		{"two expressions", "from c where c.n c.n", fault.Invalid},
		{"open parenthesis", "from c where (c.n = 3", fault.Invalid},
		{"closing parenthesis", "from c where c.n = 3)", fault.Invalid},
		{"open string", `from c where c.n = "a`, fault.Invalid},
		{"bad escape", `from c where c.n = "\q"`, fault.Invalid},
		{"open bracket", "from c where c[0 = 1", fault.Invalid},
		{"no operand", "from c where c.n =", fault.Invalid},
		{"infinite number", "from c where c.n = 1e999", fault.Invalid},
		{"foreign character", "from c where c.n = ☃", fault.Invalid},
		{"BETWEEN without AND", "from c where c.n between 1", fault.Invalid},
		{"IN without list", "from c where c.n in 3", fault.Invalid},
		{"arguments", "from c where is_defined(c.n, 1)", fault.Invalid},
		{"too long", "from c where c.n = '" + strings.Repeat("x", maxCondition) + "'", fault.Invalid},
		{"too deep", "from c where " + strings.Repeat("(", 5000) + "c.n" + strings.Repeat(")", 5000), fault.Invalid},
		{"too many NOTs", "from c where " + strings.Repeat("not ", 1000) + "c.n", fault.Invalid},
		{"lists in lists", "from c where " + strings.Repeat("c.n in (", 1000) + "1" + strings.Repeat(")", 1000),
			fault.Invalid},
		{"user function", "from c where udf.f(c.n)", fault.Invalid},
		{"JOIN", "from c join d in c.a", fault.Invalid},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := parseCondition(t.Context(), v, doc.String(tt.text))
			if fault.KindOf(err) != tt.kind {
				t.Fatalf("got %v and error %v, want one of kind %v", p, err, tt.kind)
			}
		})
	}
}

func FuzzCondition(f *testing.F) {
	f.Add(`from c where c.n = 3 and not (c["s"] in ("a", 'b') or c.a[0] between -1 and 1e3)`)
	f.Add(`from root AS r where ARRAY_CONTAINS(r.a, r.o.p, true) OR STARTSWITH(r.s, "\ud83d\ude00")`)
	f.Add("from c where ((((")
	d, v := conditionDocument(f), conditionView(f)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseCondition(t.Context(), v, doc.String(text))
		if err == nil {
			c.holds(d) // no panic
		} else if k := fault.KindOf(err); k != fault.Invalid && k != fault.Unsupported {
			t.Fatal(err)
		}
	})
}
