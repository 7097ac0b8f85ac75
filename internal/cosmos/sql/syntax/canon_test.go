package syntax

import (
	"reflect"
	"testing"
)

// canon has texts and the printed form of their trees. Its cases also seed the fuzzers.
var canon = []struct{ name, text, want string }{
	{"star", "select * from c", "SELECT *\nFROM c"},
	{"no from", "SELECT 1 AS a", "SELECT 1 AS a"},
	{"white space", "SELECT\n\t1\r\nAS\fa\v\n", "SELECT 1 AS a"},
	{"comment", "SELECT 1 -- one\n, 2 -- two", "SELECT 1, 2"},
	{"comment to a carriage return", "SELECT 1 -- one\r, 2", "SELECT 1, 2"},
	{"value", "SELECT VALUE c.a FROM c", "SELECT VALUE c.a\nFROM c"},
	{"distinct top value", "SELECT DISTINCT TOP 5 VALUE c.a FROM c", "SELECT DISTINCT TOP 5 VALUE c.a\nFROM c"},
	{"top parameter", "SELECT TOP @n * FROM c", "SELECT TOP @n *\nFROM c"},
	{"aliases", `SELECT c.a x, c.b AS y, c.c AS "z", c.d 'two words' FROM c`,
		"SELECT c.a AS x, c.b AS y, c.c AS z, c.d AS \"two words\"\nFROM c"},
	{"keyword as quoted alias", `SELECT c.a AS "order" FROM c`, "SELECT c.a AS \"order\"\nFROM c"},

	{"from alias", "SELECT * FROM Root r", "SELECT *\nFROM Root AS r"},
	{"from as", "SELECT * FROM Root AS r", "SELECT *\nFROM Root AS r"},
	{"from path", `SELECT * FROM Families.children[0]["a b"].c d`,
		"SELECT *\nFROM Families.children[0][\"a b\"].c AS d"},
	{"from iterator", "SELECT * FROM t IN c.tags", "SELECT *\nFROM t IN c.tags"},
	{"from subquery", "SELECT * FROM (SELECT VALUE 1) AS x", "SELECT *\nFROM (SELECT VALUE 1) AS x"},
	{"from subquery without alias", "SELECT 1 FROM (SELECT VALUE 1)", "SELECT 1\nFROM (SELECT VALUE 1)"},
	{"from iterated subquery", "SELECT x FROM x IN (SELECT VALUE [1])", "SELECT x\nFROM x IN (SELECT VALUE [1])"},
	{"joins", "SELECT 1 FROM c JOIN a IN c.as JOIN b IN a.bs JOIN (SELECT VALUE 1) d JOIN e IN (SELECT VALUE 2)",
		"SELECT 1\nFROM c\nJOIN a IN c[\"as\"]\nJOIN b IN a.bs\nJOIN (SELECT VALUE 1) AS d\nJOIN e IN (SELECT VALUE " +
			"2)"},
	{"join without in", "SELECT 1 FROM c JOIN c.a x", "SELECT 1\nFROM c\nJOIN c.a AS x"},

	{"where", "SELECT * FROM c WHERE c.a=1", "SELECT *\nFROM c\nWHERE (c.a = 1)"},
	{"group by", "SELECT c.a FROM c GROUP BY c.a, c.b", "SELECT c.a\nFROM c\nGROUP BY c.a, c.b"},
	{"order by", "SELECT * FROM c ORDER BY c.a, c.b asc, c.d DESC",
		"SELECT *\nFROM c\nORDER BY c.a, c.b ASC, c.d DESC"},
	{"order by rank", "SELECT TOP 3 * FROM c ORDER BY RANK RRF(F(c.a), G(c.b))",
		"SELECT TOP 3 *\nFROM c\nORDER BY RANK RRF(F(c.a), G(c.b))"},
	{"order by something named rank", "SELECT * FROM rank ORDER BY rank.a", "SELECT *\nFROM rank\nORDER BY rank.a"},
	{"order by rank alone", "SELECT * FROM c ORDER BY rank DESC", "SELECT *\nFROM c\nORDER BY rank DESC"},
	{"order by a call of rank", "SELECT * FROM c ORDER BY rank(c.a)", "SELECT *\nFROM c\nORDER BY rank(c.a)"},
	{"offset limit", "SELECT * FROM c OFFSET 1 LIMIT 2", "SELECT *\nFROM c\nOFFSET 1 LIMIT 2"},
	{"offset limit parameters", "SELECT * FROM c OFFSET @o LIMIT @l", "SELECT *\nFROM c\nOFFSET @o LIMIT @l"},
	{"all clauses", "SELECT DISTINCT VALUE c FROM c JOIN x IN c.x WHERE c.a GROUP BY c.b ORDER BY c.d OFFSET 0 LIMIT 1",
		"SELECT DISTINCT VALUE c\nFROM c\nJOIN x IN c.x\nWHERE c.a\nGROUP BY c.b\nORDER BY c.d\nOFFSET 0 LIMIT 1"},
	{"condition of a patch", "from c where c.x > 5", "SELECT *\nFROM c\nWHERE (c.x > 5)"},

	{"constants", "SELECT VALUE [undefined, NULL, True, false]", "SELECT VALUE [undefined, null, true, false]"},
	{"whole numbers", "SELECT VALUE [0, 007, 42, -1, - 2, 9223372036854775807, -9223372036854775808]",
		"SELECT VALUE [0, 7, 42, -1, -2, 9223372036854775807, -9223372036854775808]"},
	{"alias of a value", "SELECT VALUE c.x AS y FROM c", "SELECT VALUE c.x\nFROM c"},
	{"alias of a value without AS", "SELECT VALUE 1 + 2 y", "SELECT VALUE (1 + 2)"},
	{"hexadecimal", "SELECT VALUE [0x0, 0x1F, 0Xff, -0xA, 0x7FFFFFFFFFFFFFFF, 0x10000000000000000]",
		"SELECT VALUE [0, 31, 255, -10, 9223372036854775807, 1.8446744073709552e+19]"},
	{"whole numbers that 64 bits hold without a sign",
		"SELECT VALUE [18446744073709551615, 18446744073709551616, -18446744073709551615, 0x8000000000000001]",
		"SELECT VALUE [18446744073709551615, 1.8446744073709552e+19, -1.8446744073709552e+19, 9223372036854775809]"},
	{"fractions", "SELECT VALUE [1.5, .5, 5., -2.25, 1e2, 1E+3, 2.5e-3, 9223372036854775808]",
		"SELECT VALUE [1.5, 0.5, 5.0, -2.25, 100.0, 1000.0, 0.0025, 9223372036854775808]"},
	{"strings", `SELECT VALUE ["a'b", 'a"b', '', "☃"]`, `SELECT VALUE ["a'b", "a\"b", "", "☃"]`},
	{"escapes", `SELECT VALUE "\"\'\\\/\b\f\n\r\t\u0041\u00e9"`, `SELECT VALUE "\"'\\/\b\f\n\r\tAé"`},
	{"surrogates", `SELECT VALUE ["\ud83d\ude00", "\ud83d", "\ude00\u0041"]`,
		"SELECT VALUE [\"😀\", \"\ufffd\", \"\ufffdA\"]"},
	{"control characters", `SELECT VALUE "\u0000\u001f"`, `SELECT VALUE "\u0000\u001f"`},
	{"semicolon in a string", "SELECT ';--'", `SELECT ";--"`},

	{"members", `SELECT VALUE c.a["b"]['c d'].e FROM c`, "SELECT VALUE c.a[\"b\"][\"c d\"].e\nFROM c"},
	{"keywords as members", "SELECT c.value, c.order, c.top, c.group FROM c",
		"SELECT c.value, c.order, c.top, c.group\nFROM c"},
	{"indexes", "SELECT VALUE c[0][@p][c.i + 1] FROM c", "SELECT VALUE c[0][@p][(c.i + 1)]\nFROM c"},
	{"member of a call", "SELECT VALUE F(c).a[0]", "SELECT VALUE F(c).a[0]"},
	{"member of brackets", "SELECT VALUE (c.a ?? c.b).d", "SELECT VALUE (c.a ?? c.b).d"},
	{"member of literals", `SELECT VALUE [{a: 1}.a, [1][0], "x".y, (1).a]`, `SELECT VALUE [{"a": 1}.a, [1][0], "x".y,` +
		` (1).a]`},

	{"multiplication before addition", "SELECT VALUE 1 + 2 * 3 - 4 / 5 % 6",
		"SELECT VALUE ((1 + (2 * 3)) - ((4 / 5) % 6))"},
	{"bits and sums are equals", "SELECT VALUE 1 | 2 + 3 & 4 ^ 5", "SELECT VALUE ((((1 | 2) + 3) & 4) ^ 5)"},
	{"sums before concatenation", "SELECT VALUE a || b + c || d", "SELECT VALUE ((a || (b + c)) || d)"},
	{"concatenation before shifts", "SELECT VALUE a || b << c >> d >>> e",
		"SELECT VALUE ((((a || b) << c) >> d) >>> e)"},
	{"comparisons group to the left", "SELECT VALUE a = b < c", "SELECT VALUE ((a = b) < c)"},
	{"every comparison", "SELECT a = b, a != b, a <> b, a < b, a <= b, a > b, a >= b",
		"SELECT (a = b), (a != b), (a != b), (a < b), (a <= b), (a > b), (a >= b)"},
	{"and before or", "SELECT VALUE a OR b AND c = 1 OR d", "SELECT VALUE ((a OR (b AND (c = 1))) OR d)"},
	{"or before coalesce", "SELECT VALUE a ?? b OR c ?? d", "SELECT VALUE (a ?? ((b OR c) ?? d))"},
	{"coalesce before conditional", "SELECT VALUE a ?? b ? c ?? d : e ? 1 : 2",
		"SELECT VALUE ((a ?? b) ? (c ?? d) : (e ? 1 : 2))"},
	{"conditional in a conditional", "SELECT VALUE a ? b ? 1 : 2 : 3", "SELECT VALUE (a ? (b ? 1 : 2) : 3)"},
	{"prefixes", "SELECT VALUE - + ~ NOT a", "SELECT VALUE (- (+ (~ (NOT a))))"},
	{"prefixes before a number", "SELECT 1 - -1, - -1, -(1), +1, ~1",
		"SELECT (1 - -1), (- (-1)), (- (1)), (+ (1)), (~ (1))"},
	{"not binds as closely as a minus", "SELECT VALUE NOT a = b", "SELECT VALUE ((NOT a) = b)"},
	{"not before in", "SELECT VALUE NOT a IN (1)", "SELECT VALUE ((NOT a) IN (1))"},
	{"minus of a path", "SELECT VALUE -c.a.b", "SELECT VALUE (- c.a.b)"},
	{"minus without spaces", "SELECT c.ab-cd FROM c", "SELECT (c.ab - cd)\nFROM c"},

	{"in", `SELECT VALUE c.a IN (1, "b", @p)`, `SELECT VALUE (c.a IN (1, "b", @p))`},
	{"not in", "SELECT VALUE c.a NOT IN (1)", "SELECT VALUE (c.a NOT IN (1))"},
	{"between", "SELECT VALUE c.a BETWEEN 1 + 1 AND 3", "SELECT VALUE (c.a BETWEEN (1 + 1) AND 3)"},
	{"not between", "SELECT VALUE c.a NOT BETWEEN 1 AND 3", "SELECT VALUE (c.a NOT BETWEEN 1 AND 3)"},
	{"between and and", "SELECT VALUE a BETWEEN 1 AND 2 AND b OR c BETWEEN 3 AND 4",
		"SELECT VALUE (((a BETWEEN 1 AND 2) AND b) OR (c BETWEEN 3 AND 4))"},
	{"like", "SELECT VALUE c.a LIKE 'x%'", `SELECT VALUE (c.a LIKE "x%")`},
	{"not like escape", "SELECT VALUE c.a NOT LIKE @p || '%' ESCAPE '!' AND b",
		`SELECT VALUE ((c.a NOT LIKE (@p || "%") ESCAPE "!") AND b)`},
	{"predicate of a comparison", "SELECT VALUE a = b IN (true)", "SELECT VALUE ((a = b) IN (true))"},

	{"calls", "SELECT count(1), Left(c.a, 1), RIGHT(c.a, 1), F() FROM c",
		"SELECT count(1), Left(c.a, 1), RIGHT(c.a, 1), F()\nFROM c"},
	{"user-defined function", "SELECT VALUE UDF.f(1, c.a).b", "SELECT VALUE udf.f(1, c.a).b"},
	{"arrays", "SELECT VALUE [[], [1, [2]]]", "SELECT VALUE [[], [1, [2]]]"},
	{"objects", `SELECT VALUE {a: 1, "b": {}, 'c d': [2], order: 3}`, `SELECT VALUE {"a": 1, "b": {}, "c d": [2],` +
		` "order": 3}`},
	{"subqueries",
		"SELECT EXISTS(SELECT 1), ARRAY(SELECT 1), ALL(SELECT 1), first(SELECT 1), Last(SELECT 1), (SELECT " +
			"1)",
		"SELECT EXISTS(SELECT 1), ARRAY(SELECT 1), ALL(SELECT 1), FIRST(SELECT 1), LAST(SELECT 1), (SELECT 1)"},
	{"functions named first and last", "SELECT VALUE first(all, last)", "SELECT VALUE first(all, last)"},
	{"subquery as operand", "SELECT VALUE 1 + (SELECT VALUE COUNT(1) FROM x IN c.x)",
		"SELECT VALUE (1 + (SELECT VALUE COUNT(1)\nFROM x IN c.x))"},
	{"redundant brackets", "SELECT VALUE (((a)) + ((1)))", "SELECT VALUE (a + 1)"},
}

// Rewritten queries of the service's planner, from the .NET SDK's public baselines (QueryPlanBaselineTests), with
// their placeholder replaced as clients do.
var rewritten = []string{
	"SELECT VALUE [{\"item\": {\"sum\": SUM(c.blah), \"count\": COUNT(c.blah)}}]\nFROM c",
	"SELECT {\"$1\": {\"item\": MIN(c.blah), \"item2\": {\"min\": MIN(c.blah), \"count\": COUNT(c.blah)}}} AS " +
		"payload\nFROM c",
	"SELECT VALUE [{\"item\": MIN((c.blah + 1)), \"item2\": {\"min\": MIN((c.blah + 1)), \"count\": COUNT((c.blah + " +
		"1))}}]\nFROM c\nWHERE (c.key = 1)",
	"SELECT r._rid, [{\"item\": r.key}] AS orderByItems, r AS payload\nFROM Root AS r\nWHERE ((r.key IN (1, 2, 3)) " +
		"AND true)\nORDER BY r.key",
	"SELECT TOP 70 r._rid, [{\"item\": r.key}] AS orderByItems, {\"a\": r[\"a\"]} AS payload\nFROM Root AS r\nWHERE " +
		"true\nORDER BY r.key DESC",
	"SELECT c._rid, [{\"item\": c.key}] AS orderByItems, c.blah AS payload\nFROM Root AS c\nWHERE (true AND " +
		"IS_DEFINED(c.blah))\nORDER BY c.key ASC",
	"SELECT TOP 50 r._rid, [{\"item\": r.key}] AS orderByItems, {\"$1\": r[0]} AS payload\nFROM r\nWHERE true\nORDER " +
		"BY r.key",
	"SELECT [{\"item\": c.k}] AS groupByItems, {\"k\": c.k, \"n\": {\"item\": COUNT(1)}} AS payload\nFROM c\nGROUP BY " +
		"c.k",
}

func TestPrint(t *testing.T) {
	for _, c := range canon {
		t.Run(c.name, func(t *testing.T) {
			q := parse(t, c.text)
			if got := Print(q); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestPrintGivesTheFormOfPlans(t *testing.T) {
	for _, text := range rewritten {
		if got := Print(parse(t, text)); got != text {
			t.Errorf("\n got %s\nwant %s", got, text)
		}
	}
}

func TestPrintAnExpression(t *testing.T) {
	q := parse(t, "SELECT VALUE c.a + 1 FROM c")
	if got := Print(q.Select.Value); got != "(c.a + 1)" {
		t.Error(got)
	}
	placeholder := &Name{Name: "({documentdb-formattableorderbyquery-filter})"}
	q.Where = &Binary{Op: And, X: placeholder, Y: &Call{Name: "IS_DEFINED", Args: []Expr{q.Select.Value}}}
	want := "(({documentdb-formattableorderbyquery-filter}) AND IS_DEFINED((c.a + 1)))"
	if got := Print(q.Where); got != want {
		t.Error(got)
	}
	odd := &Member{Of: &Name{Name: "c"}, Name: "two words"}
	if got := Print(odd); got != `c["two words"]` {
		t.Error(got)
	}
	if got := Print(&q.Select); got != "" {
		t.Errorf("a Select prints %q", got)
	}
}

func TestParsingThePrintedTextGivesTheSameTree(t *testing.T) {
	texts := append([]string(nil), rewritten...)
	for _, c := range canon {
		texts = append(texts, c.text)
	}
	for _, text := range texts {
		roundTrip(t, text)
	}
}

// roundTrip checks that Parse undoes Print.
func roundTrip(t *testing.T, text string) {
	t.Helper()
	q, err := Parse(text)
	if err != nil {
		return
	}
	printed := Print(q)
	again, err := Parse(printed)
	if err != nil {
		t.Fatalf("%q prints as %q: %v", text, printed, err)
	}
	if !EqualQueries(q, again) {
		t.Errorf("%q and %q are not equal", text, printed)
	}
	bare(reflect.ValueOf(q))
	bare(reflect.ValueOf(again))
	if !reflect.DeepEqual(q, again) {
		t.Errorf("%q and %q have different trees", text, printed)
	}
}

// bare sets every span of a tree to zero.
func bare(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			bare(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			bare(v.Index(i))
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[Span]() {
			v.SetZero()
			return
		}
		for i := range v.NumField() {
			bare(v.Field(i))
		}
	}
}

func parse(t *testing.T, text string) *Query {
	t.Helper()
	q, err := Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return q
}
