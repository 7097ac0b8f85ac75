package exec

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/cosmos/sql/function"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
)

// These tests give every function, operator and clause its largest possible input, and stop the query after a tenth
// of a second. The time until it ends is logged (-v); that it ends is checked, with tolerance for a machine under
// load.
const (
	stopAfter  = 100 * time.Millisecond
	stopWithin = 2 * time.Second
)

var errStopped = errors.New("stopped")

// stops runs a query over items, and fails the test if it ignores its Stop twice: a machine under load may not let it
// run.
func stops(t *testing.T, query string, s Source) {
	t.Helper()
	if late := stopped(t, query, s); late > stopWithin {
		if late = stopped(t, query, s); late > stopWithin {
			t.Errorf("the query ends %v after its stop", late)
		}
	}
}

// stopped runs a query, and returns how long after the stop it has ended.
func stopped(t *testing.T, query string, s Source) (late time.Duration) {
	t.Helper()
	end := time.Now().Add(stopAfter)
	last, gap := time.Now(), time.Duration(0)
	stop := func() error {
		now := time.Now()
		gap, last = max(gap, now.Sub(last)), now
		if now.After(end) {
			return errStopped
		}
		return nil
	}
	tree, err := syntax.Parse(query)
	if err != nil {
		t.Fatal(err)
	}
	parsed := time.Since(last)
	env := Environment{NoIndex: true, Now: testNow, Parameters: giantParameters(), Stop: stop}
	end, last = time.Now().Add(stopAfter), time.Now()
	q, err := Prepare(tree, env, nil)
	if err == nil {
		_, _, err = q.Run(context.Background(), s, Limit{Stop: stop, Bytes: 4 << 20, Rows: 1000}, nil)
	}
	gap = max(gap, time.Since(last))
	late = time.Since(end)
	t.Logf("parsed in %v, unasked for %v, ended %v after its stop: %.80v", parsed.Round(time.Millisecond),
		gap.Round(time.Millisecond), late.Round(time.Millisecond), err)
	return late
}

// The members of items of nearly two megabytes, by what is in v; and w, another value of the kind.
var giants = map[string]string{
	"number": `"v":-12345.678,"w":3`,
	"date":   `"v":"2026-10-01T12:30:00.1234567Z","w":"2019-02-28T00:00:00Z"`,
	"text":   `"v":` + longText("A", 1_900_000) + `,"w":` + longText("A", 30_000),
	"runes":  `"v":` + longText("ÄΣİ😀", 1_800_000) + `,"w":` + longText("äσi😀", 30_000),
	"spaces": `"v":` + longText(" ", 1_900_000) + `,"w":" x "`,
	"nearly": `"v":` + longText("aaaaaaaaaaaaaaab", 1_900_000) + `,"w":` + longText("a", 15) + `,"x":"aaaaaaaaaaaaaac"`,
	"words":  `"v":` + longText("running foxes jumped over lazy dogs; ", 1_800_000) + `,"w":"fox"`,
	"ints":   `"v":` + wholes(120_000) + `,"w":` + wholes(120_000),
	"floats": `"v":[` + several(80_000, "#.25") + `],"w":[` + several(80_000, "#.75") + `]`,
	"zeros":  `"v":[` + several(400_000, "0") + `],"w":[` + several(400_000, "1") + `]`,
	"texts":  `"v":[` + several(60_000, `"t#"`) + `],"w":[` + several(60_000, `"t#x"`) + `]`,
	"things": `"v":[` + several(30_000, `{"a":#,"b":{"c":1}}`) + `],"w":{"b":{"c":2},"a":1}`,
	"equals": `"v":[` + several(9, object(9_000, 0)) + `],"w":` + object(9_000, 1),
	"object": `"v":` + object(60_000, 1) + `,"w":` + turned(60_000),
	"nested": `"v":` + strings.Repeat(`{"a":[`, 55) + several(200_000, "1.5") + strings.Repeat("]}", 55) + `,"w":0`,
	"json":   `"v":` + longText("[1,{},", 0) + `,"w":0`,
	"array":  `"v":"[` + several(300_000, "1.5") + `]","w":0`,
	"member": `"v":"{` + strings.ReplaceAll(several(60_000, `"m#":#`), `"`, `\"`) + `}","w":0`,
	"digits": `"v":` + longText("9", 1_900_000) + `,"w":0`,
	"line":   `"v":` + line(0) + `,"w":` + line(0.01),
	"shape":  `"v":` + star(0, 4090) + `,"w":` + star(0.001, 4090),
	"shapes": `"v":` + squares(800) + `,"w":` + star(0.001, 4090),
	"point":  `"v":` + star(0, 4090) + `,"w":{"type":"Point","coordinates":[0.1,0.1]}`,
}

// turned is an object like those of the function object, with its members in reverse order.
func turned(n int) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = fmt.Sprintf(`"m%d":%d`, n-1-i, n-1-i)
	}
	return `{"z":1,` + strings.Join(parts, ",") + "}"
}

// line goes to and fro over the equator.
func line(by float64) string {
	return `{"type":"LineString","coordinates":[` + points(4090, func(i int) (x,
		y float64) {
		return float64(i%2)*170 - 85, float64(i)/60 - 34 + by
	}) + "]}"
}

// star is a polygon of many points, n of them, whose edges are long and near each other.
func star(by float64, n int) string {
	corner := func(i int) (x, y float64) {
		angle, out := 2*math.Pi*float64(i%n)/float64(n), 40+20*float64(i%2)
		return out*math.Cos(angle) + by, out*math.Sin(angle) + by
	}
	return `{"type":"Polygon","coordinates":[[` + points(n+1, corner) + "]]}"
}

// squares is a multipolygon.
func squares(n int) string {
	return `{"type":"MultiPolygon","coordinates":[` + strings.Join(func() (all []string) {
		for i := range n {
			x, y := float64(i%30)*2-30, float64(i/30)*2-30
			all = append(all, "[["+points(5, func(k int) (float64, float64) {
				return x + float64(k%4/2^k%4%2), y + float64(k%4/2)
			})+"]]")
		}
		return all
	}(), ",") + "]}"
}

func points(n int, at func(i int) (x, y float64)) string {
	all := make([]string, n)
	for i := range all {
		x, y := at(i)
		all[i] = fmt.Sprintf("[%.6f,%.6f]", x, y)
	}
	return strings.Join(all, ",")
}

// A giantCall is a call with arguments of the largest size, from an item of giants or @p.
type giantCall struct{ item, args string }

var giantCalls = map[string][]giantCall{}

// mostOf lists calls of functions; several functions may have the same.
func mostOf(names string, calls ...giantCall) {
	for name := range strings.FieldsSeq(names) {
		giantCalls[name] = append(giantCalls[name], calls...)
	}
}

func init() {
	mostOf("PI RAND GETCURRENTDATETIME GETCURRENTDATETIMESTATIC GETCURRENTTICKS GETCURRENTTICKSSTATIC "+
		"GETCURRENTTIMESTAMP "+
		"GETCURRENTTIMESTAMPSTATIC NOW", giantCall{"number", ""})
	mostOf("ABS ACOS ASIN ATAN CEILING COS COT DEGREES EXP FLOOR LOG LOG10 RADIANS SIGN SIN SQRT SQUARE TAN TRUNC "+
		"ROUND NUMBERBIN INTBITNOT "+
		"TICKSTODATETIME TIMESTAMPTODATETIME", giantCall{"number", "c.v"})
	mostOf("ATN2 POWER LOG ROUND NUMBERBIN INTADD INTBITAND INTBITLEFTSHIFT INTBITOR INTBITRIGHTSHIFT INTBITXOR "+
		"INTDIV INTMOD INTMUL INTSUB",
		giantCall{"number", "c.w, 2"})
	mostOf("DATETIMETOTICKS DATETIMETOTIMESTAMP DAY MONTH YEAR", giantCall{"date", "c.v"}, giantCall{"text", "c.v"})
	mostOf("AGO", giantCall{"date", "'d', 3"}, giantCall{"text", "c.v, 3"})
	mostOf("DATETIMEADD", giantCall{"date", "'mm', 3, c.v"})
	mostOf("DATETIMEDIFF", giantCall{"date", "'ns', c.w, c.v"})
	mostOf("DATETIMEBIN", giantCall{"date", "c.v, 'hh', 7, c.w"})
	mostOf("DATETIMEPART", giantCall{"date", "'ns', c.v"})
	mostOf("DATETIMEFORMAT", giantCall{"date", "c.v, 'yyyy-MM-dd HH:mm:ss.fffffff'"}, giantCall{"date", "c.v, @text"})
	mostOf("DATETIMEFROMPARTS", giantCall{"number", "2026, 10, 1, 12, 30, 0, 1"})
	mostOf("IS_ARRAY IS_BOOL IS_DATETIME IS_DEFINED IS_FINITE_NUMBER IS_INTEGER IS_NULL IS_NUMBER IS_OBJECT "+
		"IS_PRIMITIVE IS_STRING",
		giantCall{"text", "c.v"}, giantCall{"object", "c.v"}, giantCall{"ints", "c.v"})
	mostOf("ARRAY_AVG ARRAY_LENGTH ARRAY_MAX ARRAY_MEDIAN ARRAY_MIN ARRAY_SUM", giantCall{"ints", "c.v"},
		giantCall{"zeros", "c.v"}, giantCall{"texts", "c.v"})
	mostOf("ARRAY_CONCAT", giantCall{"zeros", "c.v, c.w, c.v, c.w"}, giantCall{"texts", "c.v, c.w, c.v"})
	mostOf("ARRAY_CONTAINS", giantCall{"zeros", "c.v, 1"}, giantCall{"things", "c.v, c.w"}, giantCall{"things",
		"c.v, c.w, true"}, giantCall{"equals", "c.v, c.w, true"}, giantCall{"texts", "c.v, 't'"})
	mostOf("ARRAY_CONTAINS_ALL ARRAY_CONTAINS_ANY", giantCall{"zeros", "c.v, " + several(300, "1.#")},
		giantCall{"equals", "c.v, c.w, @object, c.w"})
	mostOf("ARRAY_SLICE", giantCall{"zeros", "c.v, 1"}, giantCall{"texts", "c.v, 2, 50000"})
	mostOf("CHOOSE", giantCall{"zeros", "1, c.v, c.w"})
	mostOf("IIF", giantCall{"zeros", "false, c.v, c.w"})
	mostOf("OBJECTTOARRAY", giantCall{"object", "c.v"}, giantCall{"object", "c.v, 'name', 'value'"})
	mostOf("SETDIFFERENCE SETEQUAL SETINTERSECT SETUNION", giantCall{"ints", "c.v, c.w"}, giantCall{"floats",
		"c.v, c.w"}, giantCall{"zeros", "c.v, c.w"}, giantCall{"texts", "c.v, c.w"},
		giantCall{"things", "c.v, c.v"}, giantCall{"equals", "c.v, [c.w, @object]"})
	mostOf("DOCUMENTID", giantCall{"object", "c"})

	mostOf("CONCAT", giantCall{"text", "c.v, c.v"}, giantCall{"text", several(1000, "c.w")})
	mostOf("CONTAINS INDEX_OF STARTSWITH ENDSWITH STRINGEQUALS LASTINDEXOF", giantCall{"nearly", "c.v, c.x"},
		giantCall{"text", "c.v, c.w"}, giantCall{"nearly", "c.v, @almost"}, giantCall{"text", "c.v, c.v"})
	mostOf("CONTAINS STARTSWITH ENDSWITH STRINGEQUALS", giantCall{"nearly", "c.v, c.x, true"}, giantCall{"runes",
		"c.v, c.w, true"}, giantCall{"runes", "c.v, c.v, true"}, giantCall{"nearly", "c.v, @almost, true"})
	mostOf("INDEX_OF LASTINDEXOF", giantCall{"runes", "c.v, 'x', 900000"})
	mostOf("CONTAINS_ALL_CI CONTAINS_ALL_CS CONTAINS_ANY_CI CONTAINS_ANY_CS", giantCall{"nearly",
		"c.v, " + several(1000, "'aaaaaaaaaaaaaac#'")}, giantCall{"runes", "c.v, c.w, c.w, c.w, c.v"})
	mostOf("LASTSUBSTRINGAFTER LASTSUBSTRINGBEFORE SUBSTRINGAFTER SUBSTRINGBEFORE", giantCall{"nearly", "c.v, c.x"},
		giantCall{"nearly", "c.v, c.w"}, giantCall{"nearly", "c.v, @almost"})
	mostOf("LEFT RIGHT", giantCall{"runes", "c.v, 1000000"})
	mostOf("SUBSTRING", giantCall{"runes", "c.v, 100000, 500000"})
	mostOf("LENGTH LOWER UPPER REVERSE TOSTRING", giantCall{"runes", "c.v"}, giantCall{"text", "c.v"})
	mostOf("TOSTRING", giantCall{"ints", "c.v"}, giantCall{"floats", "c.v"}, giantCall{"nested", "c.v"})
	mostOf("LTRIM RTRIM TRIM", giantCall{"spaces", "c.v"}, giantCall{"runes", "c.v, c.v"}, giantCall{"nearly",
		"c.v, 'ab'"})
	mostOf("REGEXMATCH", regexes("")...)
	mostOf("REGEXEXTRACT", regexes(", '', 0")...)
	mostOf("REGEXEXTRACTALL", append(regexes(", '', 0"), giantCall{"text", "c.v, 'A', '', 0"})...)
	mostOf("REGEXREPLACE REGEXREPLACEALL", append(regexes(", 'x'"), giantCall{"text", "c.v, 'A', 'x'"},
		giantCall{"text", "c.v, 'A*', @text"})...)
	mostOf("REPLACE", giantCall{"text", "c.v, 'A', 'BC'"}, giantCall{"nearly", "c.v, @almost, 'x'"}, giantCall{"text",
		"c.v, 'A', @text"})
	mostOf("REPLICATE", giantCall{"number", "'ab', 5000"}, giantCall{"text", "c.v, 0"}, giantCall{"number",
		"'', 1e300"})
	mostOf("STRINGJOIN", giantCall{"texts", "c.v, ','"}, giantCall{"texts", "c.v, @text"})
	mostOf("STRINGSPLIT", giantCall{"text", "c.v, 'A'"}, giantCall{"nearly", "c.v, @almost"}, giantCall{"text",
		"c.v, ''"})
	mostOf("STRINGTOARRAY STRINGTOOBJECT STRINGTOBOOLEAN STRINGTONULL STRINGTONUMBER", giantCall{"array", "c.v"},
		giantCall{"member", "c.v"}, giantCall{"digits", "c.v"}, giantCall{"spaces", "c.v"})

	mostOf("FULLTEXTCONTAINS FULLTEXTCONTAINSALL FULLTEXTCONTAINSANY", giantCall{"words", "c.v, 'cat'"},
		giantCall{"words", "c.v, " + several(500, "'running foxes x#'")},
		giantCall{"words", "c.v, " + several(300, "{term: 'runnink fexes x#', distance: 2}")}, giantCall{"text",
			"c.v, 'cat'"}, giantCall{"runes", "c.v, c.w"})
	mostOf("FULLTEXTSCORE RRF", giantCall{"words", "c.v, 'cat'"})
	mostOf("_FULLTEXTSCORE", giantCall{"words", "c.v, ['running foxes', 'jump'], 100, 1000, [3, 4]"})
	mostOf("_FULLTEXTWORDCOUNT", giantCall{"words", "c.v"}, giantCall{"runes", "c.v"})

	mostOf("VECTORDISTANCE _VECTORSCORE", giantCall{"floats", "c.v, c.w"}, giantCall{"zeros",
		"c.v, c.w, true, {distanceFunction: 'euclidean'}"})
	mostOf("ST_AREA ST_ISVALID ST_ISVALIDDETAILED", giantCall{"line", "c.v"}, giantCall{"shape", "c.v"},
		giantCall{"shapes", "c.v"}, giantCall{"object", "c.v"})
	mostOf("ST_DISTANCE ST_INTERSECTS ST_WITHIN", giantCall{"line", "c.v, c.w"}, giantCall{"shape", "c.v, c.w"},
		giantCall{"shapes", "c.v, c.w"}, giantCall{"shapes", "c.w, c.v"}, giantCall{"point", "c.w, c.v"})
}

func regexes(more string) []giantCall {
	return []giantCall{{"nearly", "c.v, '^(a|a)+$'" + more}, {"text", "c.v, '(A+)+B'" + more},
		{"words", "c.v, '[a-z]+@[a-z]+'" + more}, {"words", "c.v, '(?:(?:x?){999}){14}y'" + more}}
}

var giantParameters = sync.OnceValue(func() map[string]doc.Value {
	made := map[string]doc.Value{}
	for name, text := range map[string]string{
		"@text":   longText("y", 1_500_000),
		"@almost": longText("aaaaaaaaaaaaaaab", 600_000)[:600_000] + `c"`,
		"@object": turned(9_000),
	} {
		made[name], _ = doc.ValueFromJSON([]byte(text))
	}
	return made
})

var giantBodies sync.Map // of name: doc.Doc

// giant is a source of one item.
func giant(t *testing.T, name string) *sliceSource {
	members, ok := giants[name]
	if !ok {
		t.Fatalf("there is no item %s", name)
	}
	body, ok := giantBodies.Load(name)
	if !ok {
		body, _ = giantBodies.LoadOrStore(name, mustDoc(t, `{"id":"i",`+members+"}"))
	}
	s := newSource(t)
	s.add(body.(doc.Doc))
	return s
}

func TestEveryFunctionStops(t *testing.T) {
	for _, f := range function.All() {
		calls := giantCalls[f.Name]
		if len(calls) == 0 {
			t.Errorf("the function %s has no largest call in this test", f.Name)
		}
		for _, c := range calls {
			t.Run(fmt.Sprintf("%s(%s %.40s)", f.Name, c.item, c.args), func(t *testing.T) {
				t.Parallel()
				call := f.Name + "(" + c.args + ")"
				n := min(8000, syntax.MaxText*9/10/(len(call)+20))
				if c.item == "number" || c.item == "date" {
					n = min(n, 500) // they are small
				}
				query := "SELECT VALUE 1 FROM c WHERE " + chained(n, call+" = 'x#'", "OR")
				if f.Name == "FULLTEXTSCORE" || f.Name == "RRF" {
					query = "SELECT VALUE 1 FROM c ORDER BY RANK RRF(" + several(20, "FULLTEXTSCORE(c.v, 'x#')") + ")"
				}
				stops(t, query, giant(t, c.item))
			})
		}
	}
}

// Queries in which every operator and clause has the most work. Those over many items read one item repeatedly.
var giantQueries = []struct {
	item  string
	items int
	query string
}{
	{"text", 1, "SELECT VALUE 1 FROM c WHERE " + chained(20_000, "c.v = c.w", "OR")},
	{"text", 1, "SELECT VALUE 1 FROM c WHERE " + chained(4_000,
		"(c.v != @text AND c.v < c.v AND c.v >= c.w OR NOT (c.v > @text AND c.v <= c.v))", "OR")},
	{"equals", 1, "SELECT VALUE 1 FROM c WHERE " + chained(20_000, "c.w = @object", "OR")},
	{"object", 1, "SELECT VALUE 1 FROM c WHERE " + chained(20_000, "c.v = c.w", "OR")},
	{"nested", 1, "SELECT VALUE 1 FROM c WHERE " + chained(20_000, "c.v = [c.v]", "OR")},
	{"text", 1, "SELECT VALUE 1 FROM c WHERE " + chained(10_000, "(c.v || c.v || c.v) = '#'", "OR")},
	{"text", 1, "SELECT VALUE 1 FROM c WHERE " + chained(8_000, "c.v LIKE '%A_[^A]%B#%'", "OR")},
	{"text", 1, "SELECT VALUE 1 FROM c WHERE " + chained(8_000, "@text NOT LIKE c.v ESCAPE '!'", "AND")},
	{"nearly", 1, "SELECT VALUE 1 FROM c WHERE " + chained(8_000, "c.v LIKE @almost", "OR")},
	{"text", 1, "SELECT VALUE 1 FROM c WHERE " + chained(8_000,
		"(c.v BETWEEN c.v AND 'A' OR c.v NOT BETWEEN c.v AND c.v)", "OR")},
	{"object", 1, "SELECT VALUE 1 FROM c WHERE " + chained(8_000,
		"c.v IN (c.w, @object, '#') AND c.w NOT IN ('a', @object)", "OR")},
	{"zeros", 1, "SELECT VALUE 1 FROM c WHERE " + chained(8_000, "(c.v[399999] > 0 ? c.v : c.w)[c.v[39999#]] = 1",
		"OR")},
	{"object", 1, "SELECT VALUE 1 FROM c WHERE " + chained(8_000, "(c.v.nope ?? c.v['m59999']) = -#", "OR")},
	{"zeros", 1, "SELECT VALUE 1 FROM c JOIN x IN c.v JOIN y IN c.w WHERE " + chained(4_000,
		"x + # * y - -x / 3 % 7 + +y = -1", "OR")},
	{"zeros", 1, "SELECT VALUE COUNT(1) FROM c JOIN x IN c.v WHERE " + chained(4_000,
		"(x | # ^ x & 3 << 2 >> 1 >>> 1) + ~x = 'a'", "OR")},
	{"zeros", 1, "SELECT VALUE (SELECT VALUE SUM(x + y) FROM x IN c.v JOIN y IN c.w) FROM c"},
	{"zeros", 1, "SELECT VALUE EXISTS(SELECT VALUE x FROM x IN c.v JOIN y IN c.w WHERE x > y) FROM c"},
	{"zeros", 1, "SELECT VALUE ARRAY_LENGTH(ARRAY(SELECT x, y FROM x IN c.v JOIN y IN c.w WHERE x > y)) FROM c"},
	{"zeros", 1, "SELECT VALUE ALL(SELECT VALUE x <= y FROM x IN c.v JOIN y IN c.w) FROM c"},
	{"zeros", 1, "SELECT VALUE [FIRST(SELECT VALUE x FROM x IN c.v JOIN y IN c.w WHERE x > y), LAST(SELECT VALUE x " +
		"FROM x IN c.v JOIN y IN c.w)] FROM c"},
	{"ints", 1, "SELECT VALUE ARRAY_LENGTH(ARRAY(SELECT DISTINCT VALUE x + y FROM x IN c.v JOIN y IN c.w)) FROM c"},
	{"texts", 1,
		"SELECT VALUE ARRAY(SELECT x, COUNT(1) AS n, MIN(y) AS low, MAX(y) AS high, AVG(x) AS a, COUNTIF(x > " +
			"y) AS i FROM x IN c.v JOIN y IN c.w GROUP BY x) FROM c"},
	{"texts", 1, "SELECT VALUE ARRAY(SELECT VALUE x FROM x IN c.v ORDER BY x DESC, LOWER(x)) FROM c"},
	{"texts", 1, "SELECT VALUE [ARRAY_LENGTH((SELECT VALUE MAKELIST(x) FROM x IN c.v)), ARRAY_LENGTH((SELECT VALUE " +
		"MAKESET(x) FROM x IN c.v))] FROM c"},
	{"text", 1, "SELECT VALUE {" + several(30, "a#: [c.v]") + "} FROM c"},
	{"object", 100_000, "SELECT * FROM c"},
	{"object", 100_000, "SELECT c.id, c.w, {a: c.v} AS o FROM c ORDER BY c.nope"},
	{"nested", 100_000, "SELECT TOP 5 VALUE c.v FROM c WHERE c.nope = 1"},
	{"texts", 100_000, "SELECT c.v, x FROM c JOIN x IN c.v ORDER BY x DESC OFFSET 5 LIMIT 10"},
	{"texts", 100_000, "SELECT DISTINCT VALUE c.v FROM c"},
	{"texts", 100_000, "SELECT DISTINCT x, c.w FROM c JOIN x IN c.v"},
	{"texts", 100_000, "SELECT DISTINCT VALUE x FROM c JOIN x IN c.v ORDER BY c.id"},
	{"texts", 100_000, "SELECT x, MAKELIST(y) AS l, MAKESET(x) AS s FROM c JOIN x IN c.v JOIN y IN c.w GROUP BY x"},
	{"object", 100_000, "SELECT c.v, COUNT(1) AS n FROM c GROUP BY c.v"},
	{"texts", 100_000, "SELECT VALUE COUNT(1) FROM (SELECT x, COUNT(1) AS n FROM c JOIN x IN c.v GROUP BY x) AS g"},
	{"texts", 100_000, "SELECT VALUE g FROM (SELECT DISTINCT VALUE x FROM c JOIN x IN c.v) AS g ORDER BY g"},
	{"texts", 100_000, "SELECT VALUE [MIN(x), MAX(x), COUNT(x), MAKESET(x)] FROM c JOIN x IN c.v"},
	{"words", 100_000, "SELECT c.id FROM c ORDER BY RANK RRF(FULLTEXTSCORE(c.v, 'fox', 'cat'), FULLTEXTSCORE(c.w, " +
		"'dog'))"},
	{"floats", 100_000, "SELECT c.id FROM c ORDER BY RANK VECTORDISTANCE(c.v, c.w)"},
	{"number", 1, "SELECT VALUE 1 FROM c WHERE " + chained(10_000, "@object = {z: @object, a: [@object, #]}", "OR")},
	{"number", 1, "SELECT VALUE 1 FROM c WHERE " + chained(10_000, "SETUNION([@object], [@object])[0] = '#'", "OR")},
	{"number", 1, "SELECT VALUE 1 FROM c WHERE " + chained(6_000,
		"(c.a# > # AND c.b# IN (#, 'x#') OR c.a# < 0 AND c.b# = null)", "OR")},
	{"number", 1, "SELECT VALUE 1 FROM c WHERE " + strings.Repeat("NOT (c.v = 1 AND (c.w = 2 OR ",
		60) + "true" + strings.Repeat("))", 60)},
	{"number", 1, "SELECT VALUE c.v IN (" + several(25_000, "#, 'x#'") + ") FROM c"},
	{"number", 1, "SELECT " + several(15_000, "c.v + # AS a#") + " FROM c"},
	{"number", 1, "SELECT VALUE [" + several(15_000, "COUNT(c.v + #)") + "] FROM c GROUP BY " + several(5_000,
		"c.v# + 1")},
}

func TestEveryClauseStops(t *testing.T) {
	ops, kinds, subqueries := map[syntax.Op]bool{}, map[string]bool{}, map[syntax.SubqueryKind]bool{}
	for _, c := range giantQueries {
		tree, err := syntax.Parse(c.query)
		if err != nil {
			t.Fatalf("%.200s: %v", c.query, err)
		}
		syntax.Walk(tree, func(n syntax.Node) bool {
			kinds[fmt.Sprintf("%T", n)] = true
			switch n := n.(type) {
			case *syntax.Binary:
				ops[n.Op] = true
			case *syntax.Unary:
				ops[n.Op] = true
			case *syntax.Subquery:
				subqueries[n.Kind] = true
			}
			return true
		})
		t.Run(fmt.Sprintf("%s %.60s", c.item, c.query), func(t *testing.T) {
			t.Parallel()
			stops(t, c.query, repeated{giant(t, c.item), c.items})
		})
	}
	for op := syntax.Coalesce; op <= syntax.BitNot; op++ {
		if !ops[op] {
			t.Errorf("no query has the operator %d", op)
		}
	}
	for kind := syntax.Scalar; kind <= syntax.Last; kind++ {
		if !subqueries[kind] {
			t.Errorf("no query has a subquery of the kind %d", kind)
		}
	}
	for _, n := range []syntax.Node{&syntax.Literal{}, &syntax.Parameter{}, &syntax.Name{}, &syntax.Member{},
		&syntax.Index{}, &syntax.Unary{}, &syntax.Binary{}, &syntax.Conditional{},
		&syntax.Between{}, &syntax.In{}, &syntax.Like{}, &syntax.Call{}, &syntax.Array{}, &syntax.Object{},
		&syntax.Subquery{}} {
		if name := fmt.Sprintf("%T", n); !kinds[name] {
			t.Errorf("no query has a %s", name)
		}
	}
}
