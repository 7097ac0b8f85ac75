package exec

import (
	"slices"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/fault"
)

// family is the documents of most tests.
func family(t testing.TB) *sliceSource {
	return newSource(t,
		`{"id":"1","pk":"a","n":3,"s":"cherry","b":true,"tags":["x","y"],"kids":[{"name":"Ann","age":5},{"name":"Bob","age":7}],"o":{"p":{"q":1}}}`,
		`{"id":"2","pk":"a","n":1.5,"s":"apple","b":false,"tags":[],"nil":null}`,
		`{"id":"3","pk":"b","n":"text","s":"Banana","tags":["y","z","y"],"kids":[{"name":"Cid","age":5}]}`,
		`{"id":"4","pk":"b","s":"apple","b":true,"n":10,"o":{"p":{"q":[1,2,{"r":"deep"}]}}}`,
		`{"id":"5","pk":"c","n":null,"tags":"none","a b":1}`,
	)
}

func TestQueries(t *testing.T) {
	cases := []struct {
		name, query, want string
	}{
		{"value path", `SELECT VALUE c.id FROM c`, `"1","2","3","4","5"`},
		{"undefined rows vanish", `SELECT VALUE c.kids[1].name FROM c`, `"Bob"`},
		{"members vanish", `SELECT c.id, c.b FROM c`,
			`{"id":"1","b":true},{"id":"2","b":false},{"id":"3"},{"id":"4","b":true},{"id":"5"}`},
		{"names", `SELECT c.id AS k, c["a b"], c.n + 1, c.tags[0], {"x": 1} FROM c WHERE c.id = "5"`,
			`{"k":"5","a b":1,"$3":{"x":1}}`},
		{"star", `SELECT * FROM c WHERE c.id = "5"`,
			`{"id":"5","pk":"c","n":null,"tags":"none","a ` +
				`b":1,"_rid":"rid5","_self":"self5","_etag":"etag5","_attachments":"attachments/","_ts":1005}`},
		{"whole", `SELECT c FROM c WHERE c.id = "5"`,
			`{"c":{"id":"5","pk":"c","n":null,"tags":"none","a ` +
				`b":1,"_rid":"rid5","_self":"self5","_etag":"etag5","_attachments":"attachments/","_ts":1005}}`},
		{"value whole", `SELECT VALUE {"d": c}.d._rid FROM c WHERE c.id = "5"`, `"rid5"`},
		{"system member", `SELECT c._rid, c["_etag"], c._ts FROM c WHERE c._ts = 1002`,
			`{"_rid":"rid2","_etag":"etag2","_ts":1002}`},
		{"whole equality", `SELECT VALUE c.id FROM c WHERE c = {"id":"5","pk":"c","n":null,"tags":"none","a b":1}`, ``},

		{"equal", `SELECT VALUE c.id FROM c WHERE c.s = "apple"`, `"2","4"`},
		{"equal null", `SELECT VALUE c.id FROM c WHERE c.n = null`, `"5"`},
		{"not equal across types", `SELECT VALUE c.id FROM c WHERE c.n != 3`, `"2","3","4","5"`},
		{"less", `SELECT VALUE c.id FROM c WHERE c.n < 4`, `"1","2"`},
		{"less mirrored", `SELECT VALUE c.id FROM c WHERE 4 > c.n`, `"1","2"`},
		{"strings by code point", `SELECT VALUE c.id FROM c WHERE c.s < "a"`, `"3"`},
		{"between", `SELECT VALUE c.id FROM c WHERE c.n BETWEEN 1.5 AND 3`, `"1","2"`},
		{"not between", `SELECT VALUE c.id FROM c WHERE c.n NOT BETWEEN 1.5 AND 3`, `"4"`},
		{"in", `SELECT VALUE c.id FROM c WHERE c.n IN (10, "text", null)`, `"3","4","5"`},
		{"not in", `SELECT VALUE c.id FROM c WHERE c.n NOT IN (10, "text")`, `"1","2","5"`},
		{"long in", `SELECT VALUE c.id FROM c WHERE c.n IN (1, 2, 4, 5, 6, 7, 8, 9, 10.0, 1.5, null, "text")`,
			`"2","3","4","5"`},
		{"like", `SELECT VALUE c.id FROM c WHERE c.s LIKE "%an%"`, `"3"`},
		{"and or not", `SELECT VALUE c.id FROM c WHERE NOT (c.b OR c.n = 1.5)`, ``},
		{"not undefined", `SELECT VALUE c.id FROM c WHERE NOT c.b`, `"2"`},
		{"or with undefined", `SELECT VALUE c.id FROM c WHERE c.nope = 1 OR c.s = "apple"`, `"2","4"`},
		{"no boolean is no condition", `SELECT VALUE c.id FROM c WHERE c.n`, ``},
		{"deep equality", `SELECT VALUE c.id FROM c WHERE c.o = {"p":{"q":1.0}}`, `"1"`},
		{"array equality", `SELECT VALUE c.id FROM c WHERE c.tags = ["x","y"]`, `"1"`},
		{"is defined", `SELECT VALUE c.id FROM c WHERE IS_DEFINED(c.kids)`, `"1","3"`},

		{"from elements", `SELECT VALUE t FROM t IN c.tags`, `"x","y","y","z","y"`},
		{"from path", `SELECT VALUE q FROM c.o.p.q`, `1,[1,2,{"r":"deep"}]`},
		{"from path star", `SELECT * FROM c.o.p`, `{"q":1},{"q":[1,2,{"r":"deep"}]}`},
		{"from index", `SELECT VALUE k FROM c.kids[0] k`, `{"name":"Ann","age":5},{"name":"Cid","age":5}`},
		{"join", `SELECT c.id, t FROM c JOIN t IN c.tags WHERE t = "y"`, `{"id":"1","t":"y"},{"id":"3","t":"y"},` +
			`{"id":"3","t":"y"}`},
		{"join two", `SELECT VALUE CONCAT(k.name,` +
			` t) FROM c JOIN k IN c.kids JOIN t IN c.tags WHERE k.age = 5 AND t != "x"`, `"Anny","Cidy","Cidz","Cidy"`},
		{"join value", `SELECT VALUE p FROM c JOIN p IN c.kids WHERE c.id = "1" AND p.age > 5`,
			`{"name":"Bob","age":7}`},
		{"join subquery", `SELECT c.id, k FROM c JOIN (SELECT VALUE k.name FROM k IN c.kids WHERE k.age = 5) AS k`,
			`{"id":"1","k":"Ann"},{"id":"3","k":"Cid"}`},
		{"from subquery", `SELECT x.id FROM (SELECT c.id, c.n FROM c WHERE c.n > 2) AS x WHERE x.n < 5`, `{"id":"1"}`},
		{"from elements of rows", `SELECT VALUE t FROM t IN (SELECT VALUE c.tags FROM c)`, `"x","y","y","z","y"`},
		{"from elements of derived rows", `SELECT * FROM t IN (SELECT DISTINCT VALUE c.tags FROM c)`,
			`"x","y","y","z","y"`},
		{"join elements of rows", `SELECT c.id, r.w FROM c JOIN r IN (SELECT VALUE [{"n": 3, "w": "three"}, {"n": 10,` +
			` "w": "ten"}]) WHERE c.n = r.n`, `{"id":"1","w":"three"},{"id":"4","w":"ten"}`},
		{"from constants", `SELECT VALUE SUM(n) FROM n IN (SELECT VALUE [1, 2, 3])`, `6`},
		{"no from", `SELECT 1 AS a, "x" AS b`, `{"a":1,"b":"x"}`},
		{"no from value", `SELECT VALUE 1 + 1`, `2`},
		{"no from where", `SELECT VALUE 1 WHERE false`, ``},

		{"exists", `SELECT VALUE c.id FROM c WHERE EXISTS(SELECT VALUE k FROM k IN c.kids WHERE k.age > 6)`, `"1"`},
		{"exists of undefined", `SELECT VALUE EXISTS(SELECT VALUE c.nope) FROM c WHERE c.id = "1"`, `false`},
		{"array", `SELECT VALUE ARRAY(SELECT VALUE UPPER(t) FROM t IN c.tags) FROM c`,
			`["X","Y"],[],["Y","Z","Y"],[],[]`},
		{"scalar", `SELECT VALUE (SELECT VALUE COUNT(1) FROM t IN c.tags) FROM c`, `2,0,3,0,0`},
		{"scalar none", `SELECT (SELECT VALUE k FROM k IN c.kids WHERE k.age = 7).name AS n FROM c`,
			`{"n":"Bob"},{},{},{},{}`},
		{"distinct inside", `SELECT VALUE ARRAY(SELECT DISTINCT VALUE t FROM t IN c.tags) FROM c WHERE c.id = "3"`,
			`["y","z"]`},
		{"group inside", `SELECT VALUE ARRAY(SELECT t,` +
			` COUNT(1) AS n FROM t IN c.tags GROUP BY t) FROM c WHERE c.id = "3"`, `[{"t":"y","n":2},{"t":"z","n":1}]`},
		{"aggregates inside", `SELECT VALUE (SELECT SUM(k.age) AS sum,` +
			` MAX(k.name) AS max FROM k IN c.kids) FROM c WHERE IS_DEFINED(c.kids)`,
			`{"sum":12,"max":"Bob"},{"sum":5,"max":"Cid"}`},
		{"all first last", `SELECT ALL(SELECT VALUE k.age = 5 FROM k IN c.kids) AS a,` +
			` FIRST(SELECT VALUE k.name FROM k IN c.kids) AS f,` +
			` LAST(SELECT VALUE k.name FROM k IN c.kids) AS l FROM c WHERE IS_DEFINED(c.kids)`,
			`{"a":false,"f":"Ann","l":"Bob"},{"a":true,"f":"Cid","l":"Cid"}`},

		{"count", `SELECT VALUE COUNT(1) FROM c`, `5`},
		{"count path", `SELECT COUNT(c.b) AS n FROM c`, `{"n":3}`},
		{"count none", `SELECT VALUE COUNT(1) FROM c WHERE c.id = "9"`, `0`},
		{"count expression", `SELECT VALUE COUNT(1) * 2 FROM c`, `10`},
		{"countif", `SELECT VALUE COUNTIF(c.b = true) FROM c`, `2`},
		{"sum of mixed", `SELECT SUM(c.n) AS s FROM c`, `{}`},
		{"sum", `SELECT VALUE SUM(c.n) FROM c WHERE IS_NUMBER(c.n)`, `14.5`},
		{"sum none", `SELECT VALUE SUM(c.nope) FROM c`, `0`},
		{"avg none", `SELECT VALUE AVG(c.nope) FROM c`, ``},
		{"avg", `SELECT VALUE AVG(c.n) FROM c WHERE IS_NUMBER(c.n)`, `4.833333333333333`},
		{"min max across types", `SELECT MIN(c.n) AS lo, MAX(c.n) AS hi FROM c`, `{"lo":null,"hi":"text"}`},
		{"min of arrays", `SELECT MIN(c.tags) AS lo FROM c`, `{}`},
		{"makelist", `SELECT VALUE MAKELIST(c.s) FROM c`, `["cherry","apple","Banana","apple"]`},
		{"makeset", `SELECT VALUE MAKESET(c.s) FROM c`, `["Banana","apple","cherry"]`},
		{"nested aggregates", `SELECT VALUE [{"item": {"sum": SUM(c.n),` +
			` "count": COUNT(c.n)}}] FROM c WHERE IS_NUMBER(c.n)`, `[{"item":{"sum":14.5,"count":3}}]`},
		{"count over distinct", `SELECT VALUE COUNT(1) FROM (SELECT DISTINCT VALUE c.s FROM c)`, `3`},
		{"over groups", `SELECT g.pk, g.n * 10 AS n FROM (SELECT c.pk,` +
			` COUNT(1) AS n FROM c GROUP BY c.pk) AS g WHERE g.n > 1`, `{"pk":"a","n":20},{"pk":"b","n":20}`},

		{"group", `SELECT c.pk, COUNT(1) AS n FROM c GROUP BY c.pk`,
			`{"pk":"a","n":2},{"pk":"b","n":2},{"pk":"c","n":1}`},
		{"group by undefined", `SELECT c.b, COUNT(1) AS n FROM c GROUP BY c.b`,
			`{"n":2},{"b":false,"n":1},{"b":true,"n":2}`},
		{"group value", `SELECT VALUE COUNT(1) FROM c GROUP BY c.s`, `1,1,2,1`},
		{"group of function", `SELECT LENGTH(c.s) AS l, MAX(c.id) AS id FROM c GROUP BY LENGTH(c.s)`,
			`{"id":"5"},{"l":5,"id":"4"},{"l":6,"id":"3"}`},
		{"group for the gateway", `SELECT [{"item": c.pk}] AS groupByItems, {"k": c.pk,` +
			` "n": {"item": COUNT(1)}} AS payload FROM c GROUP BY c.pk`,
			`{"groupByItems":[{"item":"a"}],"payload":{"k":"a","n":{"item":2}}},{"groupByItems":[{"item":"b"}],"payload":{"k":"b","n":{"item":2}}},{"groupByItems":[{"item":"c"}],"payload":{"k":"c","n":{"item":1}}}`},
		{"group without aggregate", `SELECT c.s FROM c GROUP BY c.s`, `{},{"s":"Banana"},{"s":"apple"},{"s":"cherry"}`},
		{"distinct groups", `SELECT DISTINCT VALUE COUNT(1) FROM c GROUP BY c.s`, `1,2`},

		{"distinct", `SELECT DISTINCT VALUE c.s FROM c`, `"Banana","apple","cherry"`},
		{"distinct rows", `SELECT DISTINCT c.b FROM c`, `{},{"b":false},{"b":true}`},
		{"distinct order", `SELECT DISTINCT VALUE c.s FROM c ORDER BY c.s DESC`, `"cherry","apple","Banana"`},
		{"distinct of others in order", `SELECT DISTINCT VALUE c.s FROM c ORDER BY c.id DESC`,
			`"apple","Banana","cherry"`},
		{"order", `SELECT VALUE c.id FROM c ORDER BY c.n`, `"5","2","1","4","3"`},
		{"order descending", `SELECT VALUE c.id FROM c ORDER BY c.n DESC`, `"3","4","1","2","5"`},
		{"order with ties", `SELECT VALUE c.id FROM c ORDER BY c.s`, `"5","3","2","4","1"`},
		{"order with ties descending", `SELECT VALUE c.id FROM c ORDER BY c.s DESC`, `"1","4","2","3","5"`},
		{"order of stamps", `SELECT VALUE c.id FROM c ORDER BY c._ts DESC`, `"5","4","3","2","1"`},
		{"order for the gateway", `SELECT c._rid, [{"item": c.nil}] AS orderByItems,` +
			` c.id AS payload FROM c WHERE (true) ORDER BY c.nil`,
			`{"_rid":"rid1","orderByItems":[{}],"payload":"1"},{"_rid":"rid3","orderByItems":[{}],"payload":"3"},` +
				`{"_rid":"rid4","orderByItems":[{}],"payload":"4"},{"_rid":"rid5","orderByItems":[{}],"payload":"5"},` +
				`{"_rid":"rid2","orderByItems":[{"item":null}],"payload":"2"}`},
		{"top", `SELECT TOP 2 VALUE c.id FROM c`, `"1","2"`},
		{"top none", `SELECT TOP 0 VALUE c.id FROM c`, ``},
		{"offset limit", `SELECT VALUE c.id FROM c OFFSET 1 LIMIT 2`, `"2","3"`},
		{"offset limit order", `SELECT VALUE c.id FROM c ORDER BY c.n DESC OFFSET 1 LIMIT 2`, `"4","1"`},
		{"offset beyond", `SELECT VALUE c.id FROM c OFFSET 9 LIMIT 2`, ``},
		{"parameter", `SELECT VALUE c.id FROM c WHERE c.s = @s AND c[@m] = @v`, `"2"`},
		{"absent parameter", `SELECT VALUE IS_DEFINED(@nope)`, `false`},
		{"order join", `SELECT VALUE t FROM c JOIN t IN c.tags ORDER BY c.s`, `"y","z","y","x","y"`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, noIndex := range []bool{true, false} {
				for _, rows := range []int{0, 1, 2, 3} {
					a := asking{query: c.query, noIndex: noIndex, limit: Limit{Rows: rows},
						parameters: map[string]string{"@s": `"apple"`, "@m": `"b"`, "@v": `false`}}
					got, err := a.all(t, family(t))
					if err != nil {
						t.Fatalf("pages of %d, noIndex %v: %v", rows, noIndex, err)
					}
					if got != c.want && !(!noIndex && unordered(c.query) && rearranged(got, c.want)) {
						t.Fatalf("pages of %d, noIndex %v\n got %s\nwant %s", rows, noIndex, got, c.want)
					}
				}
			}
		})
	}
}

// unordered reports that a query leaves the order of its rows to the plan.
func unordered(query string) bool {
	return !strings.Contains(query, "ORDER BY") && !strings.Contains(query, "DISTINCT") && !strings.Contains(query,
		"GROUP BY")
}

// rearranged reports that two lists of simple rows differ in order only.
func rearranged(a, b string) bool {
	return slices.Equal(slices.Sorted(strings.SplitSeq(a, ",")), slices.Sorted(strings.SplitSeq(b, ",")))
}

func TestQueryErrors(t *testing.T) {
	cases := []struct {
		name, query string
		kind        fault.Kind
	}{
		{"unknown name", `SELECT VALUE d.x FROM c`, fault.Invalid},
		{"unknown function", `SELECT VALUE NOPE(1)`, fault.Invalid},
		{"unknown user function", `SELECT VALUE udf.nope(1)`, fault.Invalid},
		{"several rows of a scalar", `SELECT VALUE (SELECT VALUE t FROM t IN c.tags) FROM c`, fault.Invalid},
		{"aggregate in a filter", `SELECT VALUE 1 FROM c WHERE COUNT(1) > 1`, fault.Invalid},
		{"negative limit", `SELECT VALUE 1 FROM c OFFSET 0 LIMIT @v`, fault.Invalid},
		{"work", `SELECT VALUE COUNT(1) FROM c JOIN a IN c.kids JOIN b IN [1]`, fault.Invalid},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := asking{query: c.query, noIndex: true, parameters: map[string]string{"@v": "-1"}}.all(t, family(t))
			if err == nil || fault.KindOf(err) != c.kind {
				t.Errorf("got %v, want %v", err, c.kind)
			}
		})
	}
}
