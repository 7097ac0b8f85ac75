package syntax

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestWalk(t *testing.T) {
	q := parse(t, `SELECT TOP @n c.a AS x, {"k": [c[0]]} FROM c JOIN (SELECT VALUE 1) AS s
		WHERE NOT (a IN (1) OR b LIKE "x" ESCAPE "!") AND F(a BETWEEN 1 AND 2 ? 3 : 4)
		GROUP BY c.g ORDER BY c.o DESC OFFSET 1 LIMIT @l`)
	var kinds []string
	Walk(q, func(n Node) bool {
		kinds = append(kinds, strings.TrimPrefix(fmt.Sprintf("%T", n), "*syntax."))
		return true
	})
	want := "Query Select Parameter Item Member Name Item Object ObjectMember Array Index Name Literal " +
		"Source Source Query Select Literal " +
		"Binary Unary Binary In Name Literal Like Name Literal Literal " +
		"Call Conditional Between Name Literal Literal Literal Literal " +
		"Member Name SortKey Member Name Literal Parameter"
	if got := strings.Join(kinds, " "); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

func TestWalkNoDeeper(t *testing.T) {
	q := parse(t, "SELECT c.a, (SELECT VALUE d.b FROM d IN c.d) FROM c")
	names := 0
	Walk(q, func(n Node) bool {
		if _, ok := n.(*Name); ok {
			names++
		}
		_, nested := n.(*Subquery)
		return !nested
	})
	if names != 1 {
		t.Errorf("saw %d names", names)
	}
}

func TestWalkRank(t *testing.T) {
	q := parse(t, "SELECT * FROM c ORDER BY RANK F(c.a)")
	calls := 0
	Walk(q, func(n Node) bool {
		if _, ok := n.(*Call); ok {
			calls++
		}
		return true
	})
	if calls != 1 {
		t.Errorf("saw %d calls", calls)
	}
}

func TestEqual(t *testing.T) {
	same := [][2]string{
		{"c.x", `c["x"]`}, {"c.x", " ( c . x ) "}, {"count(1)", "COUNT(1)"}, {"1", "1.0"}, {"1", "1e0"}, {"'a'", `"a"`},
		{"a <> b", "a != b"}, {"{a: 1}", `{"a": 1}`}, {"(SELECT * FROM c ORDER BY c.a)",
			"(SELECT * FROM c ORDER BY c.a ASC)"},
		{"EXISTS(SELECT 1 FROM x.y z)", "EXISTS(SELECT 1 FROM x['y'] AS z)"}, {"null", "NULL"},
	}
	for _, c := range same {
		if !Equal(expression(t, c[0]), expression(t, c[1])) {
			t.Errorf("%s and %s differ", c[0], c[1])
		}
	}
	distinct := []string{
		"c", "d", "c.x", "c.X", "c.x.x", "d.x", "c[0]", "c[1]", "c[@p]", "@p", "@q", "1", "2", "1.5", "'1'", "null",
		"undefined", "true", "false",
		"9223372036854775807", "9223372036854775806", "NOT a", "~a", "-a", "a + b", "b + a", "a - b", "a ? b : c",
		"a ? c : b",
		"a BETWEEN 1 AND 2", "a NOT BETWEEN 1 AND 2", "a IN (1)", "a NOT IN (1)", "a IN (1, 2)", "a LIKE 'x'",
		"a NOT LIKE 'x'",
		"a LIKE 'x' ESCAPE '!'", "F(a)", "F(a, b)", "G(a)", "udf.F(a)", "udf.f(a)", "[]", "[1]", "{}", "{a: 1}",
		"{b: 1}", "{a: 2}",
		"(SELECT 1)", "EXISTS(SELECT 1)", "ARRAY(SELECT 1)", "(SELECT VALUE 1)", "(SELECT DISTINCT 1)",
		"(SELECT 1 AS a)", "(SELECT TOP 1 1)",
		"(SELECT * FROM c)", "(SELECT * FROM d)", "(SELECT * FROM c d)", "(SELECT * FROM d IN c)",
		"(SELECT * FROM c.a)", "(SELECT * FROM c JOIN c)",
		"(SELECT * FROM (SELECT 1))", "(SELECT * FROM c WHERE a)", "(SELECT * FROM c GROUP BY a)",
		"(SELECT * FROM c ORDER BY a)",
		"(SELECT * FROM c ORDER BY a DESC)", "(SELECT * FROM c ORDER BY RANK F(a))",
		"(SELECT * FROM c OFFSET 1 LIMIT 2)", "(SELECT * FROM c OFFSET 1 LIMIT 3)",
	}
	for i, a := range distinct {
		for j, b := range distinct {
			if Equal(expression(t, a), expression(t, b)) != (i == j) {
				t.Errorf("%s and %s", a, b)
			}
		}
	}
	if !Equal(nil, nil) || Equal(nil, expression(t, "1")) || Equal(expression(t, "1"), nil) {
		t.Error("nil")
	}
}

func expression(t *testing.T, text string) Expr {
	t.Helper()
	return parse(t, "SELECT VALUE "+text).Select.Value
}

func TestClone(t *testing.T) {
	for _, c := range canon {
		q := parse(t, c.text)
		copied := Clone(q)
		if !reflect.DeepEqual(q, copied) {
			t.Errorf("%s: the copy differs", c.name)
		}
		shared := map[Node]bool{}
		Walk(q, func(n Node) bool { shared[n] = true; return true })
		Walk(copied, func(n Node) bool {
			if shared[n] {
				t.Errorf("%s: the copy shares a %T", c.name, n)
			}
			return true
		})
	}
	if Clone(nil) != nil || ReplaceExpr(nil, nil) != nil {
		t.Error("nil")
	}
}

func TestCloneIsApart(t *testing.T) {
	q := parse(t, "SELECT c.a, F(1) FROM c.p JOIN t IN c.t GROUP BY c.g ORDER BY c.o")
	text := Print(q)
	c := Clone(q)
	c.Select.Items[0].Alias = "changed"
	c.Select.Items[1].Expr.(*Call).Args[0] = &Name{Name: "changed"}
	c.From[1].Alias = "changed"
	c.From[0].Path[0].(*Literal).Text = "changed"
	c.GroupBy[0] = nil
	c.OrderBy[0].Descending = true
	if got := Print(q); got != text {
		t.Errorf("a change of the copy shows in the original: %s", got)
	}
}
