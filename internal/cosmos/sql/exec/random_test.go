package exec

import (
	"context"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
)

// A maker makes random trees.
type maker struct{ *rand.Rand }

func newMaker(seed uint64) maker { return maker{rand.New(rand.NewPCG(seed, 7))} }

func pick[T any](m maker, list ...T) T { return list[m.IntN(len(list))] }

var comparisons = []syntax.Op{syntax.Eq, syntax.Ne, syntax.Lt, syntax.Le, syntax.Gt, syntax.Ge}

func num(f float64) *syntax.Literal {
	return &syntax.Literal{Kind: syntax.Number, Float: f, Int: int64(f), Whole: f == float64(int64(f)) && f >= 0}
}

func text(s string) *syntax.Literal { return &syntax.Literal{Kind: syntax.String, Text: s} }

func (m maker) literal() syntax.Expr {
	switch m.IntN(13) {
	case 0:
		return &syntax.Literal{Kind: syntax.Undefined}
	case 1:
		return &syntax.Literal{Kind: syntax.Null}
	case 2:
		return &syntax.Literal{Kind: syntax.True}
	case 3:
		return &syntax.Literal{Kind: syntax.False}
	case 4, 5, 6:
		return num(float64(m.IntN(6)))
	case 7:
		return num(pick(m, 0.5, 1.5, 2.25))
	case 8:
		return &syntax.Name{Name: pick(m, "NaN", "Infinity")}
	}
	return text(pick(m, "", "a", "b", "ab", "aé", "abc", "%", "text"))
}

func (m maker) path() syntax.Expr {
	var e syntax.Expr = &syntax.Name{Name: "c"}
	e = &syntax.Member{Of: e, Name: pick(m, "a", "b", "d", "e", "nope")}
	for m.IntN(3) == 0 {
		if m.IntN(2) == 0 {
			e = &syntax.Member{Of: e, Name: pick(m, "x", "y")}
		} else {
			e = &syntax.Index{Of: e, Index: num(float64(m.IntN(3)))}
		}
	}
	return e
}

func (m maker) expr(depth int) syntax.Expr {
	if depth == 0 || m.IntN(8) == 0 {
		if m.IntN(3) == 0 {
			return m.literal()
		}
		return m.path()
	}
	next := func() syntax.Expr { return m.expr(depth - 1) }
	switch m.IntN(13) {
	case 0:
		return &syntax.Unary{Op: pick(m, syntax.Not, syntax.Minus, syntax.Plus, syntax.BitNot), X: next()}
	case 1, 2:
		return &syntax.Binary{Op: pick(m, syntax.And, syntax.Or), X: next(), Y: next()}
	case 3, 4, 5:
		return &syntax.Binary{Op: pick(m, comparisons...), X: next(), Y: next()}
	case 6:
		return &syntax.Binary{Op: pick(m, syntax.Add, syntax.Sub, syntax.Mul, syntax.BitOr, syntax.BitAnd,
			syntax.BitXor,
			syntax.ShiftLeft, syntax.ShiftRight, syntax.ShiftZero), X: next(), Y: next()}
	case 7:
		return &syntax.Binary{Op: pick(m, syntax.Div, syntax.Mod), X: next(), Y: pick[syntax.Expr](m,
			num(pick(m, 0, 2.0, 3, 4)), next())}
	case 8:
		return &syntax.Binary{Op: pick(m, syntax.Coalesce, syntax.Concat), X: next(), Y: next()}
	case 9:
		return &syntax.Conditional{Cond: next(), Then: next(), Else: next()}
	case 10:
		return &syntax.Between{Not: m.IntN(2) == 0, X: next(), Low: next(), High: next()}
	case 11:
		in := &syntax.In{Not: m.IntN(2) == 0, X: next()}
		for range 1 + m.IntN(9) {
			in.List = append(in.List, pick(m, m.literal(), next()))
		}
		return in
	}
	switch m.IntN(3) {
	case 0:
		return &syntax.Like{Not: m.IntN(2) == 0, X: next(), Pattern: text(pick(m, "a%", "%b", "_", "a_", "%a%",
			"[a-b]%", "[^a]%", "", "%%", "a%c"))}
	case 1:
		return &syntax.Array{Items: []syntax.Expr{next(), next()}}
	}
	return &syntax.Object{Members: []syntax.ObjectMember{{Name: "x", X: next()}, {Name: "y", X: next()}}}
}

var randomDocuments = []string{
	`{"a":1,"b":"a","d":{"x":1,"y":[1,2]},"e":[0,"b",{"x":2}]}`,
	`{"a":null,"b":"ab","d":{"x":"aé","y":true},"e":[]}`,
	`{"a":true,"b":2.25,"e":{"y":{"x":1.5}}}`,
	`{"a":[1,2],"b":{"x":1,"y":2},"d":false}`,
	`{"a":4.0,"b":"abc","d":{"y":1,"x":1},"e":{"x":1,"y":1}}`,
	`{}`,
}

// TestRandomExpressions compares random expressions with the reference.
func TestRandomExpressions(t *testing.T) {
	n := 4000
	if testing.Short() {
		n = 500
	}
	for seed := range uint64(n) {
		checkExpression(t, seed)
	}
}

func FuzzExpressions(f *testing.F) {
	f.Add(uint64(1))
	f.Add(uint64(1 << 40))
	f.Fuzz(func(t *testing.T, seed uint64) { checkExpression(t, seed) })
}

func checkExpression(t *testing.T, seed uint64) {
	t.Helper()
	e := newMaker(seed).expr(4)
	query := &syntax.Query{Select: syntax.Select{Value: &syntax.Array{Items: []syntax.Expr{e}}},
		From: []syntax.Source{{Root: "c"}}}
	printed := syntax.Print(query)
	tree, err := syntax.Parse(printed)
	if err != nil {
		t.Fatalf("seed %d: %s: %v", seed, printed, err)
	}
	s := newSource(t, randomDocuments...)
	filtered := &syntax.Query{Select: syntax.Select{Value: &syntax.Member{Of: &syntax.Name{Name: "c"}, Name: "_ts"}},
		From: query.From, Where: e}
	var rows, accepted []string
	unwritable := false
	for i, body := range randomDocuments {
		rows = append(rows, encode([]any{reference(e, decode(body))}))
		unwritable = unwritable || !referenceFinite(reference(e, decode(body)))
		if reference(e, decode(body)) == true {
			accepted = append(accepted, encode(float64(1001+i)))
		}
	}
	got, err := runTree(t, tree, s)
	if unwritable != (err == ErrNotFinite) || err != nil && !unwritable {
		t.Fatalf("seed %d: %s: %v, but numbers that JSON cannot write: %v", seed, printed, err, unwritable)
	}
	if want := strings.Join(rows, ","); !unwritable && !reflect.DeepEqual(decode("["+got+"]"), decode("["+want+"]")) {
		t.Fatalf("seed %d: %s\n got %s\nwant %s", seed, printed, got, want)
	}
	if got, err = runTree(t, filtered, s); err != nil || got != strings.Join(accepted, ",") {
		t.Fatalf("seed %d: %s: %v\n got %s\nwant %s", seed, syntax.Print(filtered), err, got, accepted)
	}
}

func encode(v any) string {
	if list, ok := v.([]any); ok {
		parts := []string{}
		for _, item := range list {
			if item != undefined {
				parts = append(parts, encode(item))
			}
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	if object, ok := v.(map[string]any); ok {
		parts := []string{}
		for name, item := range object {
			parts = append(parts, string(doc.AppendJSONString(nil, name))+":"+encode(item))
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	switch x := v.(type) {
	case nil:
		return "null"
	case bool:
		return string(doc.AppendJSONValue(nil, doc.Bool(x)))
	case float64:
		return string(doc.Query.AppendJSONValue(nil, doc.Float(x)))
	}
	return string(doc.AppendJSONString(nil, v.(string)))
}

func runTree(t testing.TB, tree *syntax.Query, s *sliceSource) (string, error) {
	t.Helper()
	q, err := Prepare(tree, asking{noIndex: true}.environment(t, s), nil)
	if err != nil {
		return "", err
	}
	out, _, err := q.Run(context.Background(), s, Limit{}, nil)
	return string(out), err
}
