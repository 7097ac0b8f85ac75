package syntax

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/fault"
)

func TestMistakes(t *testing.T) {
	const near, invalid, text, ends = "SC1001", "SC1010", "SC1012", "SC1002"
	cases := []struct {
		name, query, code, at string
		start                 int
	}{
		{"empty", "", ends, "", 0},
		{"only white space", "  \n", ends, "", 3},
		{"only a comment", "-- SELECT 1", ends, "", 11},
		{"no selection", "SELECT", ends, "", 6},
		{"no condition", "SELECT * FROM c WHERE", ends, "", 21},
		{"no source", "SELECT * FROM ", ends, "", 14},
		{"bracket left open", "SELECT (1", ends, "", 9},
		{"offset without limit", "SELECT * FROM c OFFSET 1", ends, "", 24},
		{"misspelt keyword", "SELECT * FORM c", near, "FORM", 9},
		{"no query", "hello", near, "hello", 0},
		{"a statement that writes", "DELETE FROM c", near, "DELETE", 0},
		{"trailing semicolon", "SELECT * FROM c;", invalid, ";", 15},
		{"two statements", "SELECT 1 AS a; SELECT 2 AS b", invalid, ";", 13},
		{"block comment", "SELECT 1 AS a /* comment */", near, "/", 14},
		{"character of no token", "SELECT #", invalid, "#", 7},
		{"character beyond ASCII", "SELECT ☃", invalid, "☃", 7},
		{"parameter without name", "SELECT @", invalid, "@", 7},
		{"number that becomes a word", "SELECT 12ab", invalid, "12ab", 7},
		{"hexadecimal without digits", "SELECT 0x", invalid, "0x", 7},
		{"hexadecimal that becomes a word", "SELECT 0x1Fg", invalid, "0x1Fg", 7},
		{"number beyond range", "SELECT 1e999", invalid, "1e999", 7},
		{"negative number beyond range", "SELECT -1e999", invalid, "1e999", 8},
		{"string without end", `SELECT "hello`, text, `"hello`, 7},
		{"string that escapes its end", `SELECT 'a\'`, text, `'a\'`, 7},
		{"unknown escape", `SELECT 'a\d'`, text, `'a\d'`, 7},
		{"short unicode escape", `SELECT '\u12'`, text, `'\u12'`, 7},
		{"escape at the end", `SELECT '\`, text, `'\`, 7},
		{"exclamation mark", "SELECT !a", near, "!", 7},
		{"keyword as alias", "SELECT c.a AS value FROM c", near, "value", 14},
		{"keyword as name", "SELECT VALUE order", near, "order", 13},
		{"reserved word as source", "SELECT * FROM set", near, "set", 14},
		{"empty alias", `SELECT 1 AS ""`, near, `""`, 12},
		{"star with more", "SELECT *, 1 FROM c", near, ",", 8},
		{"value of star", "SELECT VALUE * FROM c", near, "*", 13},
		{"comma at the end of a list", "SELECT 1, FROM c", near, "FROM", 10},
		{"top of an expression", "SELECT TOP (1) * FROM c", near, "(", 11},
		{"offset of a fraction", "SELECT * FROM c OFFSET 1.5 LIMIT 1", near, "1.5", 23},
		{"limit of a negative number", "SELECT * FROM c OFFSET 0 LIMIT -1", near, "-", 31},
		{"limit alone", "SELECT * FROM c LIMIT 1", near, "LIMIT", 16},
		{"clauses out of order", "SELECT * FROM c ORDER BY c.a WHERE c.b", near, "WHERE", 29},
		{"order without by", "SELECT * FROM c ORDER c.a", near, "c", 22},
		{"comma between sources", "SELECT * FROM a, b", near, ",", 15},
		{"parameter in a path", "SELECT * FROM c[@p]", near, "@p", 16},
		{"rank of a path", "SELECT * FROM c ORDER BY RANK c.a", near, "c", 30},
		{"rank with a direction", "SELECT * FROM c ORDER BY RANK F(c.a) DESC", near, "DESC", 37},
		{"empty in", "SELECT VALUE a IN ()", near, ")", 19},
		{"in twice", "SELECT VALUE a IN (1) IN (2)", near, "IN", 22},
		{"escape that is no string", "SELECT VALUE a LIKE b ESCAPE 1", near, "1", 29},
		{"not after an operand", "SELECT VALUE a NOT b", near, "NOT", 15},
		{"empty brackets", "SELECT ()", near, ")", 8},
		{"exists of an expression", "SELECT EXISTS(1)", near, "1", 14},
		{"udf alone", "SELECT udf", ends, "", 10},
		{"member that begins with a digit", "SELECT c.12a FROM c", invalid, ".12a", 8},
		{"object without colon", "SELECT VALUE {a 1}", near, "1", 16},
		{"object of a number", "SELECT VALUE {1: 2}", near, "1", 14},
		{"conditional without else", "SELECT VALUE a ? b", ends, "", 18},
		{"more after a patch condition", "FROM c WHERE c.a ORDER BY c.b", near, "ORDER", 17},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := mistake(t, c.query)
			want := Mistake{c.code, "", Span{c.start, c.start + len(c.at)}}
			if m.Code != want.Code || m.Span != want.Span {
				t.Errorf("%q: got %+v, want %+v", c.query, m, want)
			}
			if c.code != ends && !strings.Contains(m.Message, "'"+c.at+"'.") {
				t.Errorf("message %q does not name %q", m.Message, c.at)
			}
		})
	}
}

func TestMistakesHaveTheServicesWords(t *testing.T) {
	for query, want := range map[string]string{
		"":                "Syntax error, unexpected end-of-file.",
		"SELECT * FORM c": "Syntax error, incorrect syntax near 'FORM'.",
		"SELECT 1;":       "Syntax error, invalid token ';'.",
		`SELECT "`:        `Syntax error, invalid string literal token '"'.`,
	} {
		if got := mistake(t, query).Message; got != want {
			t.Errorf("%q: got %q, want %q", query, got, want)
		}
	}
}

// mistake is the only mistake of a query.
func mistake(t *testing.T, query string) Mistake {
	t.Helper()
	_, err := Parse(query)
	var e *Error
	if !errors.As(err, &e) || len(e.Mistakes) != 1 {
		t.Fatalf("%.100q: %v", query, err)
	}
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Invalid {
		t.Errorf("%.100q is not Invalid: %v", query, err)
	}
	return e.Mistakes[0]
}

func TestLimits(t *testing.T) {
	many := func(n int, s string) string { return strings.Repeat(s, n) }
	for name, c := range map[string]struct{ within, beyond string }{
		"text": {
			"SELECT 1" + many(MaxText-8, " "),
			"SELECT 1" + many(MaxText-7, " "),
		},
		"brackets":  {"SELECT " + many(2208, "(") + "1" + many(2208, ")"), "SELECT " + many(100000, "(")},
		"calls":     {"SELECT " + many(190, "F(") + many(190, ")"), "SELECT " + many(100000, "F(")},
		"indexes":   {"SELECT " + many(190, "a[") + "1" + many(190, "]"), "SELECT " + many(100000, "a[")},
		"in":        {"SELECT " + many(190, "a IN (") + "1" + many(190, ")"), "SELECT " + many(60000, "a IN (")},
		"arrays":    {"SELECT " + many(190, "[") + many(190, "]"), "SELECT " + many(100000, "[")},
		"prefixes":  {"SELECT " + many(190, "NOT ") + "a", "SELECT " + many(100000, "NOT ") + "a"},
		"minuses":   {"SELECT " + many(190, "- ") + "1", "SELECT " + many(100000, "- ") + "1"},
		"coalesce":  {"SELECT a" + many(190, " ?? a"), "SELECT a" + many(100000, " ?? a")},
		"ternaries": {"SELECT 1" + many(190, " ? 1 : 1"), "SELECT 1" + many(50000, " ? 1 : 1")},
		"queries":   {many(90, "SELECT (") + "SELECT 1" + many(90, ")"), many(50000, "SELECT (")},
		"sources": {"SELECT 1 FROM " + many(180, "(SELECT 1 FROM ") + "c" + many(180, ")"),
			"SELECT 1 FROM " + many(30000, "(SELECT 1 FROM ")},
		"or":    {"SELECT 1" + many(2000, " OR 1"), "SELECT 1" + many(2001, " OR 1")},
		"sums":  {"SELECT 1" + many(2000, "+1"), "SELECT 1" + many(200000, "+1")},
		"path":  {"SELECT c" + many(2000, ".a"), "SELECT c" + many(200000, ".a")},
		"joins": {"SELECT 1 FROM c" + many(10, " JOIN c"), "SELECT 1 FROM c" + many(11, " JOIN c")},
		"height": {
			"SELECT " + chains(1),
			"SELECT " + chains(2),
		},
	} {
		t.Run(name, func(t *testing.T) {
			parse(t, c.within)
			roundTrip(t, c.within)
			if m := mistake(t, c.beyond); m.Code != "SC1030" && m.Code != "SC3020" {
				t.Errorf("not a limit but %+v", m)
			}
		})
	}
}

// chains is n chains of operators, each the first operand of the next.
func chains(n int) string {
	s := "1"
	for range n {
		s = "(" + s + strings.Repeat("+1", 1900) + ")"
	}
	return s
}

func TestLongListsAreNoDepth(t *testing.T) {
	q := parse(t, "SELECT * FROM c WHERE c.a IN (1"+strings.Repeat(",1", 100000)+")")
	if n := len(q.Where.(*In).List); n != 100001 {
		t.Error(n)
	}
}

func TestSpans(t *testing.T) {
	const text = `SELECT TOP 5 (c.a + 1) * 2 AS x,` +
		` -3 FROM Root c JOIN t IN c.t["u"] WHERE NOT (EXISTS(SELECT 1)) ORDER BY c.z DESC`
	q := parse(t, text)
	product := q.Select.Items[0].Expr.(*Binary)
	for _, c := range []struct {
		node Node
		want string
	}{
		{q, text},
		{&q.Select, `SELECT TOP 5 (c.a + 1) * 2 AS x, -3`},
		{q.Select.Top, `5`},
		{&q.Select.Items[0], `(c.a + 1) * 2 AS x`},
		{product, `(c.a + 1) * 2`},
		{product.X, `c.a + 1`},
		{q.Select.Items[1].Expr, `-3`},
		{&q.From[0], `Root c`},
		{&q.From[1], `t IN c.t["u"]`},
		{q.From[1].Path[0], `t`},
		{q.From[1].Path[1], `"u"`},
		{q.Where, `NOT (EXISTS(SELECT 1))`},
		{q.Where.(*Unary).X, `EXISTS(SELECT 1)`},
		{&q.OrderBy[0], `c.z DESC`},
		{q.OrderBy[0].Expr, `c.z`},
	} {
		s := c.node.Pos()
		if got := text[s.Start:s.End]; got != c.want {
			t.Errorf("%T: got %q, want %q", c.node, got, c.want)
		}
	}
}

func TestTree(t *testing.T) {
	q := parse(t, `FROM c WHERE c["a"][0] > 5`)
	bare(reflect.ValueOf(q))
	five := &Literal{Kind: Number, Int: 5, Float: 5, Whole: true}
	zero := &Literal{Kind: Number, Whole: true}
	want := &Query{
		Select: Select{Star: true},
		From:   []Source{{Root: "c"}},
		Where: &Binary{Op: Gt, Y: five, X: &Index{
			Of: &Member{Of: &Name{Name: "c"}, Name: "a", Quoted: true}, Index: zero,
		}},
	}
	if !reflect.DeepEqual(q, want) {
		t.Errorf("got %s", Print(q))
	}
}

func TestNames(t *testing.T) {
	for name, plain := range map[string]bool{
		"a": true, "_a1": true, "rank": true, "First": true,
		"": false, "1a": false, "a b": false, "é": false, "order": false, "Value": false,
	} {
		if Plain(name) != plain {
			t.Errorf("Plain(%q) is not %v", name, plain)
		}
	}
	if !Reserved("ORDER") || !Reserved("end") || Reserved("total") {
		t.Error("Reserved")
	}
}
