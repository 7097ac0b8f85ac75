package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/function"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
)

// TestSound compares the access of a plan with the filter on random documents: the access must not miss a document,
// and an exact plan must not select other documents.
func TestSound(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	docs := make([]doc.Doc, 60)
	for i := range docs {
		docs[i] = randomDoc(t, rng, i)
	}
	selected := 0
	for range 4000 {
		s := newSetting()
		s.env.Schema.Partition = []access.Path{{{Name: "p"}}}
		if rng.IntN(3) == 0 {
			s.excluded = []access.Path{{{Name: "b"}}}
		}
		if rng.IntN(3) == 0 {
			s.env.Schema.Composite = [][]access.Column{{{Path: access.Path{{Name: "a"}}},
				{Path: access.Path{{Name: "b"}}, Descending: true}, {Path: access.Path{{Name: "o"}, {Name: "x"}}}}}
		}
		filter := randomFilter(rng, 3)
		order := []string{"", "", " ORDER BY c.a", " ORDER BY c.a", " ORDER BY c.p DESC"}[rng.IntN(5)]
		text := "SELECT VALUE c.id FROM c WHERE " + filter + order
		if order == "" && rng.IntN(2) == 0 {
			text = "SELECT VALUE COUNT(1) FROM c WHERE " + filter
		}
		q, err := syntax.Parse(text)
		if err != nil {
			t.Fatal(text, err)
		}
		p, err := Build(q, s.environment())
		if err != nil {
			t.Fatal(text, err)
		}
		if _, scope := p.Access.Of.(access.Scope); p.Access.Of != nil && !scope || p.Nothing {
			selected++
		}
		for _, d := range docs {
			want := (&truth{s: s}).of(q.Where, d) == 1
			got := !p.Nothing && chosen(s, p.Access, d)
			if want && !got || p.Exact && want != got {
				t.Fatalf("%s\n%s\nholds %v, selected %v, for %s", text, p.Explain(), want, got, doc.AppendJSON(nil, d))
			}
		}
	}
	if selected < 2000 {
		t.Errorf("only %d of the filters chose documents", selected)
	}
}

var scalars = strings.Fields(`1 2 2.5 -1 "x" "xy" "y" "" null true false`)

func randomValue(rng *rand.Rand) string {
	if rng.IntN(8) == 0 {
		return []string{`{}`, `[]`, `{"x":1}`, `[1,"x"]`, `[{"x":2}]`, `{"x":"y","z":null}`, `[1,1]`,
			`[["x"],1]`}[rng.IntN(8)]
	}
	return scalars[rng.IntN(len(scalars))]
}

func randomDoc(t *testing.T, rng *rand.Rand, i int) doc.Doc {
	text := fmt.Sprintf(`{"id":"d%d","p":%s`, i%7, scalars[rng.IntN(len(scalars))])
	for _, name := range []string{"a", "b"} {
		if rng.IntN(4) > 0 {
			text += fmt.Sprintf(`,"%s":%s`, name, randomValue(rng))
		}
	}
	if rng.IntN(3) > 0 {
		text += fmt.Sprintf(`,"o":{"x":%s}`, randomValue(rng))
	}
	if rng.IntN(3) > 0 {
		text += fmt.Sprintf(`,"l":[%s,%s]`, randomValue(rng), randomValue(rng))
	}
	d, err := doc.FromJSON(nil, []byte(text+"}"), doc.ParseOptions{})
	if err != nil {
		t.Fatal(text, err)
	}
	return d
}

func randomPath(rng *rand.Rand) string {
	return []string{"c.a", "c.a", "c.b", "c.b", "c.o.x", "c.p", "c.id", "c.l[0]", "c.l", "c.none"}[rng.IntN(10)]
}

// randomOperand may be a number that no document has.
func randomOperand(rng *rand.Rand) string {
	switch rng.IntN(12) {
	case 0:
		return []string{"SQRT(-1)", "LOG(0)", "EXP(1000)"}[rng.IntN(3)]
	case 1:
		return []string{"[SQRT(-1)]", `{"x":SQRT(-1)}`, `{"x":EXP(1000)}`}[rng.IntN(3)]
	}
	return randomValue(rng)
}

func randomFilter(rng *rand.Rand, depth int) string {
	if depth > 0 && rng.IntN(3) > 0 {
		a, b := randomFilter(rng, depth-1), randomFilter(rng, depth-1)
		switch rng.IntN(5) {
		case 0:
			return "NOT (" + a + ")"
		case 1, 2:
			return "(" + a + " AND " + b + ")"
		}
		return "(" + a + " OR " + b + ")"
	}
	path, v, w := randomPath(rng), randomOperand(rng), randomOperand(rng)
	switch rng.IntN(16) {
	case 13, 14:
		return randomTextFilter(rng, path, v)
	case 0, 1:
		return path + " = " + v
	case 2:
		return v + " " + []string{"<", "<=", ">", ">=", "!="}[rng.IntN(5)] + " " + path
	case 3, 4:
		return path + " " + []string{"<", "<=", ">", ">=", "!="}[rng.IntN(5)] + " " + v
	case 5:
		return path + []string{"", " NOT"}[rng.IntN(2)] + " BETWEEN " + v + " AND " + w
	case 6:
		return path + []string{"", " NOT"}[rng.IntN(2)] + " IN (" + v + ", " + w + ", undefined)"
	case 7:
		return path
	case 8:
		return []string{"IS_DEFINED", "IS_NULL", "IS_BOOL", "IS_NUMBER", "IS_STRING", "IS_ARRAY", "IS_OBJECT",
			"IS_PRIMITIVE", "IS_INTEGER"}[rng.IntN(9)] + "(" + path + ")"
	case 9:
		return "STARTSWITH(" + path + `, ` + []string{`"x"`, `""`, `"xy"`, `1`}[rng.IntN(4)] + []string{"", ", false",
			", true"}[rng.IntN(3)] + ")"
	case 10:
		return "ARRAY_CONTAINS(c.l, " + v + []string{"", ", true"}[rng.IntN(2)] + ")"
	case 11:
		return "ARRAY_CONTAINS([" + v + ", " + w + "], " + path + ")"
	case 12:
		return []string{"true", "false", "undefined", "1"}[rng.IntN(4)]
	}
	return "c.a = c.b"
}

// randomTextFilter is a condition on what a function makes of a string.
func randomTextFilter(rng *rand.Rand, path, v string) string {
	text := []string{`"x"`, `"Y"`, `"xy"`, `""`, v}[rng.IntN(5)]
	of := []string{path, "LOWER(" + path + ")", "REVERSE(TRIM(" + path + "))", "TOSTRING(" + path + ")",
		"c.a"}[rng.IntN(5)]
	switch rng.IntN(5) {
	case 0:
		return []string{"CONTAINS", "ENDSWITH", "STARTSWITH", "STRINGEQUALS", "CONTAINS_ANY_CI"}[rng.IntN(5)] +
			"(" + of + ", " + text + []string{")", ", true)", ", c.b)"}[rng.IntN(3)]
	case 1:
		return "UPPER(" + of + ") " + []string{"=", "!=", "<", ">="}[rng.IntN(4)] + " " + text
	case 2:
		return text + " <= RIGHT(" + of + ", 1)"
	case 3:
		return "LENGTH(" + of + ")" + []string{"", " NOT"}[rng.IntN(2)] + " BETWEEN 1 AND 1"
	}
	return "REPLACE(" + of + `, "x", "z")` + []string{"", " NOT"}[rng.IntN(2)] + " IN (" + text + `, "zy", undefined)`
}

// A truth evaluates filters slowly: 1 is true, 0 false, -1 undefined.
type truth struct {
	s    *setting
	text doc.Value // TextName
}

func (x *truth) of(e syntax.Expr, d doc.Doc) int {
	switch e := e.(type) {
	case *syntax.Unary:
		if v := x.of(e.X, d); v >= 0 && e.Op == syntax.Not {
			return 1 - v
		}
		return -1
	case *syntax.Binary:
		switch e.Op {
		case syntax.And:
			return x.and(x.of(e.X, d), x.of(e.Y, d))
		case syntax.Or:
			return not(x.and(not(x.of(e.X, d)), not(x.of(e.Y, d))))
		}
		return compareSlowly(e.Op, x.value(e.X, d), x.value(e.Y, d))
	case *syntax.Between:
		v := x.and(compareSlowly(syntax.Ge, x.value(e.X, d), x.value(e.Low, d)), compareSlowly(syntax.Le, x.value(e.X,
			d), x.value(e.High, d)))
		if e.Not {
			return not(v)
		}
		return v
	case *syntax.In:
		result := x.in(e, d)
		if e.Not {
			return not(result)
		}
		return result
	}
	b, ok := doc.AsBool(x.value(e, d))
	switch {
	case !ok:
		return -1
	case b:
		return 1
	}
	return 0
}

func (x *truth) in(e *syntax.In, d doc.Doc) int {
	v := x.value(e.X, d)
	if doc.IsUndefined(v) {
		return -1
	}
	for _, item := range e.List {
		if compareSlowly(syntax.Eq, v, x.value(item, d)) == 1 {
			return 1
		}
	}
	return 0
}

func (x *truth) and(a, b int) int {
	switch {
	case a == 0 || b == 0:
		return 0
	case a == 1 && b == 1:
		return 1
	}
	return -1
}

func not(v int) int {
	if v < 0 {
		return v
	}
	return 1 - v
}

func compareSlowly(op syntax.Op, a, b doc.Value) int {
	if doc.IsUndefined(a) || doc.IsUndefined(b) {
		return -1
	}
	order := doc.Compare(a, b)
	switch op {
	case syntax.Eq:
		return truthOf(order == 0 && !function.HasNaN(a))
	case syntax.Ne:
		return truthOf(order != 0 || function.HasNaN(a))
	}
	kind := func(v doc.Value) doc.Rank { // truth values are one type
		return max(doc.RankOf(v), min(doc.RankOf(v)*2, doc.RankTrue))
	}
	if rank := doc.RankOf(a); rank >= doc.RankArray || kind(a) != kind(b) {
		return -1
	}
	if function.IsNaN(a) || function.IsNaN(b) {
		return 0
	}
	return truthOf(map[syntax.Op]bool{syntax.Lt: order < 0, syntax.Le: order <= 0, syntax.Gt: order > 0,
		syntax.Ge: order >= 0}[op])
}

func truthOf(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (x *truth) value(e syntax.Expr, d doc.Doc) doc.Value {
	switch e := e.(type) {
	case *syntax.Name:
		if e.Name == TextName {
			return x.text
		}
		return doc.Object(d)
	case *syntax.Member:
		if of, ok := doc.AsDoc(x.value(e.Of, d)); ok {
			return doc.Lookup(of, e.Name)
		}
		return doc.Value{}
	case *syntax.Index:
		at := 0
		for v := range doc.Elements(x.value(e.Of, d)) {
			if i, _ := doc.AsInt(x.value(e.Index, d)); int(i) == at {
				return v
			}
			at++
		}
		return doc.Value{}
	case *syntax.Call:
		f, _ := function.Lookup(e.Name)
		args := make([]doc.Value, len(e.Args))
		for i := range args {
			args[i] = x.value(e.Args[i], d)
		}
		return f.Run(&function.Call{}, args)
	}
	v, _ := x.s.constant(e)
	return v
}

// chosen reports whether an access selects a document.
func chosen(s *setting, a access.Access, d doc.Doc) bool {
	if p, ok := access.ScopeOf(a.Of).(access.Partition); ok && !doc.Equal(p[0], doc.Lookup(d, "p")) {
		return false
	}
	switch of := a.Of.(type) {
	case *access.Lookup:
		id, _ := doc.AsString(doc.Lookup(d, "id"))
		return slices.Contains(of.IDs, id)
	case *access.Walk:
		in := ranged2(s, &of.Range, d)
		if of.Absent {
			in = in || len(valuesAt(doc.Object(d), of.Range.Path)) == 0
		}
		return in && inSet(s, of.Set, d)
	case *access.Filter:
		return inSet(s, of.Set, d)
	}
	return true
}

func inSet(s *setting, set access.Set, d doc.Doc) bool {
	in := func(part access.Set) bool { return inSet(s, part, d) }
	switch set := set.(type) {
	case *access.Range:
		return ranged2(s, set, d)
	case *access.Tested:
		at := valuesAt(doc.Object(d), set.Range.Path)
		if len(at) == 0 || !ranged2(s, &set.Range, d) {
			return false
		}
		passes, _ := set.Test(at[0])
		return passes
	case access.Intersection:
		return !slices.ContainsFunc(set, func(part access.Set) bool { return !in(part) })
	case access.Union:
		return slices.ContainsFunc(set, in)
	}
	return true
}

func ranged2(s *setting, r *access.Range, d doc.Doc) bool {
	within := func(v doc.Value) bool {
		at := edge{rank: doc.RankOf(v), value: v}
		return compareEdges(lowEdge(r.Low), at) < 0 && compareEdges(at, highEdge(r.High)) < 0
	}
	if r.Composite == 0 {
		if slices.ContainsFunc(s.excluded, func(x access.Path) bool { return slices.Equal(x, r.Path[:len(x)]) }) {
			return false // a plan must not ask for it
		}
		return slices.ContainsFunc(valuesAt(doc.Object(d), r.Path), within)
	}
	columns := s.env.Schema.Composite[r.Composite-1]
	column := func(i int) doc.Value {
		if vs := valuesAt(doc.Object(d), columns[i].Path); len(vs) > 0 {
			return vs[0]
		}
		return doc.Value{}
	}
	for i, v := range r.Equal {
		if access.Compare(column(i), v) != 0 {
			return false
		}
	}
	return within(column(len(r.Equal)))
}

// valuesAt lists the values that have index entries under a path.
func valuesAt(v doc.Value, path access.Path) (values []doc.Value) {
	if len(path) == 0 {
		return []doc.Value{v}
	}
	if path[0].Element {
		for e := range doc.Elements(v) {
			values = append(values, valuesAt(e, path[1:])...)
		}
		return values
	}
	if of, ok := doc.AsDoc(v); ok {
		if member := doc.Lookup(of, path[0].Name); !doc.IsUndefined(member) {
			return valuesAt(member, path[1:])
		}
	}
	return nil
}
