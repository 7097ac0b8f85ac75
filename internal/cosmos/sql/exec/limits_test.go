package exec

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/fault"
)

// Each of these would take minutes, or all memory, without limits. The clock reports that the time is up when it is
// read for the third time, which is so early that the test stays fast.

// chained joins n copies of a part, in which # is replaced by its number, in groups that the grammar allows.
func chained(n int, part, with string) string {
	var b strings.Builder
	for i := range n {
		switch {
		case i == 0:
			b.WriteString("(")
		case i%1500 == 0:
			b.WriteString(") " + with + " (")
		default:
			b.WriteString(" " + with + " ")
		}
		b.WriteString(strings.ReplaceAll(part, "#", fmt.Sprint(i)))
	}
	return b.String() + ")"
}

func several(n int, part string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = strings.ReplaceAll(part, "#", fmt.Sprint(i))
	}
	return strings.Join(parts, ",")
}

func longText(part string, bytes int) string {
	return `"` + strings.Repeat(part, bytes/len(part)) + `"`
}

func wholes(n int) string { return "[" + several(n, "#") + "]" }

// object has n members, and one more that makes it unique.
func object(n, last int) string { return "{" + several(n, `"m#":#`) + fmt.Sprintf(`,"z":%d}`, last) }

type heavyCase struct {
	name, item, query, parameter string
	want                         fault.Kind
}

var heavyCases = []heavyCase{
	{"calls on a long text", `{"a":` + longText("A", 1<<20) + `}`, "SELECT * FROM c WHERE " + chained(20_000,
		"LOWER(c.a) = 'x'", "OR"), "", fault.Timeout},
	{"comparisons of large objects", `{"a":` + object(20_000, 1) + `,"b":` + object(20_000, 2) + `}`,
		"SELECT * FROM c WHERE " + chained(20_000, "c.a = c.b", "OR"), "", fault.Timeout},
	{"members of a long document", `{` + strings.Trim(object(50_000, 1), "{}") + `}`,
		"SELECT * FROM c WHERE " + chained(20_000, "c.y = #", "OR"), "", fault.Timeout},
	{"elements of a long array", `{"a":` + wholes(100_000) + `}`, "SELECT * FROM c WHERE " + chained(20_000,
		"c.a[99999] = -1", "OR"), "", fault.Timeout},
	{"arrays of large values", `{"a":` + longText("A", 1<<20) + `}`, "SELECT * FROM c WHERE " + chained(8_000,
		"ARRAY_LENGTH([c.a, c.a, c.a]) = 1", "OR"), "", fault.Timeout},
	{"a pattern of another row", `{"a":` + longText("_", 1<<20) + `}`, "SELECT * FROM c WHERE " + chained(8_000,
		"c.id LIKE c.a", "OR"), "", fault.Timeout},
	{"expressions that backtrack", `{"a":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"}`,
		"SELECT * FROM c WHERE " + chained(8_000, "REGEXMATCH(c.a, '^(a|a)+$#')", "OR"), "", fault.Timeout},
	{"constants that backtrack", `{}`, "SELECT * FROM c WHERE " + chained(5_000,
		"REGEXMATCH('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!', '^(a|a)+$#')", "OR"), "", fault.Timeout},
	{"constants that compare", `{}`, "SELECT * FROM c WHERE " + chained(20_000, "@p = {z: @p}", "OR"), object(20_000,
		1), fault.Timeout},
	{"many needles", `{"z":-1,"a":` + wholes(50_000) + `}`,
		"SELECT * FROM c WHERE ARRAY_CONTAINS_ANY(c.a, " + several(30_000, "c.z") + ")", "", fault.Timeout},
	{"a set of unlike objects", `{"a":[` + strings.Repeat(`{"m1":1},`, 20_000) + object(20_000, 1) + `]}`,
		"SELECT VALUE SETUNION(c.a, c.a) FROM c", "", fault.Timeout},
	{"a phrase in a long text", `{"a":` + longText("abcdefghijklm ", 1<<20) + `}`,
		"SELECT * FROM c WHERE FULLTEXTCONTAINSANY(c.a, " +
			several(1000, "{term: 'abcdefgh#ij', distance: 2}") + ")", "", fault.Timeout},
	{"a rank of a long text", `{"a":` + longText("abcdefghijklm ", 1<<20) + `}`,
		"SELECT * FROM c ORDER BY RANK FULLTEXTSCORE(c.a, " +
			several(1000, "{term: 'abcdefgh#ij', distance: 2}") + ")", "", fault.Timeout},
	{"crossing lines", `{"a":{"type":"LineString","coordinates":[` + several(4000,
		"[#e-2, 60],[#e-2, -60]")[:50_000] + `0,0]]}}`,
		"SELECT * FROM c WHERE " + chained(8_000, "ST_WITHIN(c.a, {type: 'Point', coordinates: [1, #e-6]})", "OR"),
		"", fault.Timeout},
	{"rows that compute much", `{"a":` + wholes(1000) + `}`,
		"SELECT VALUE 1 FROM c JOIN x IN c.a JOIN y IN c.a WHERE " + chained(20_000, "y = # + 0.5", "OR"), "",
		fault.Timeout},
	{"equal rows that are long", `{"b":` + longText("b", 1<<20) + `,"a":` + wholes(100_000) + `}`,
		"SELECT VALUE ARRAY(SELECT DISTINCT VALUE c.b FROM x IN c.a) FROM c", "", fault.Timeout},
	{"sums in a loop", `{"a":` + wholes(100_000) + `}`, "SELECT VALUE (SELECT VALUE SUM(x" + strings.Repeat(" + 1",
		1900) + ") FROM x IN c.a JOIN y IN c.a) FROM c", "", fault.Timeout},
	{"loops in one another", `{"a":` + wholes(1000) + `}`,
		"SELECT VALUE COUNT(1) FROM c JOIN x IN c.a JOIN y IN c.a JOIN z IN c.a", "", fault.Timeout},

	{"results of many calls", `{"a":` + longText("A", 1<<20) + `}`, "SELECT VALUE CONCAT(" + several(8_000,
		"LOWER(c.a)") + ") FROM c", "", fault.TooLarge},
	{"results of calls in one another", `{"a":` + longText("A", 1<<20) + `}`,
		"SELECT VALUE " + strings.Repeat("CONCAT(LOWER(c.a), LOWER(c.a), ", 190) + "''" + strings.Repeat(")",
			190) + " FROM c", "", fault.TooLarge},
	{"results side by side", `{"a":` + longText("A", 1<<20) + `}`,
		"SELECT VALUE " + strings.Repeat("(LOWER(c.a) = ", 1900) + "1" + strings.Repeat(")", 1900) + " FROM c", "",
		fault.TooLarge},
	{"arrays in one another", `{"a":` + longText("A", 1<<20) + `}`,
		"SELECT VALUE ARRAY_LENGTH(" + strings.Repeat("[c.a, c.a, c.a, ", 190) + "1" + strings.Repeat("]",
			190) + ") FROM c", "", fault.TooLarge},
	{"a row of many values", `{"a":` + longText("A", 1<<20) + `}`, "SELECT VALUE [" + several(8_000,
		"c.a") + "] FROM c", "", fault.TooLarge},
	{"a row of many members", `{"a":` + longText("A", 1<<20) + `}`, "SELECT " + several(8_000,
		"c.a AS a#") + " FROM c", "", fault.TooLarge},
	{"groups in a subquery", `{"a":` + wholes(3000) + `}`,
		"SELECT VALUE ARRAY_LENGTH(ARRAY(SELECT x, y, COUNT(1) AS n FROM x IN c.a JOIN y IN c.a GROUP BY x, y)) FROM " +
			"c", "", fault.TooLarge},
	{"rows in a subquery", `{"a":` + wholes(3000) + `}`,
		"SELECT VALUE ARRAY_LENGTH(ARRAY(SELECT DISTINCT x, y FROM x IN c.a JOIN y IN c.a)) FROM c", "",
		fault.TooLarge},
	{"groups of a query in FROM", `{"a":` + wholes(10_000) + `}`,
		"SELECT VALUE COUNT(1) FROM (SELECT x, REPLICATE('x', 9000) AS r FROM c JOIN x IN c.a GROUP BY x) AS d", "",
		fault.TooLarge},
	{"constants", `{}`, "SELECT * FROM c WHERE " + chained(8_000, "c.x = CONCAT(@p, '#')", "OR"), longText("p",
		1<<20), fault.TooLarge},
	{"patterns", `{}`, "SELECT * FROM c WHERE " + chained(8_000, "c.x LIKE @p", "OR"), longText("_", 1<<19),
		fault.TooLarge},
	{"scores", `{}`, "SELECT * FROM c ORDER BY RANK RRF(" + several(8_000, "FULLTEXTSCORE(c.a, 'a')") + ")", "",
		fault.Invalid},
	{"terms", `{}`, "SELECT * FROM c WHERE FULLTEXTCONTAINS(c.id, " + several(8_000, "'a#'") + ")", "", fault.Invalid},
}

func TestHeavyQueriesEnd(t *testing.T) {
	for _, c := range heavyCases {
		t.Run(c.name, func(t *testing.T) {
			item := `{"id":"i"` + strings.Replace(c.item, "{", ",", 1)
			s := newSource(t, strings.Replace(item, ",}", "}", 1))
			a := asking{query: c.query, noIndex: true}
			if c.parameter != "" {
				a.parameters = map[string]string{"@p": c.parameter}
			}
			tree, err := syntax.Parse(c.query)
			if err != nil {
				t.Fatal(err)
			}
			asked := 0
			stop := lateAfter(&asked, 2)
			if c.want != fault.Timeout {
				stop = nil
			}
			env := a.environment(t, s)
			env.Stop = stop
			q, err := Prepare(tree, env, nil)
			if err == nil {
				_, _, err = q.Run(context.Background(), s, Limit{Stop: stop}, nil)
			}
			if got := fault.KindOf(err); got != c.want {
				t.Errorf("%v (%v), want %v", got, err, c.want)
			}
		})
	}
}

// The work of a patch's condition counts too.
func TestHeavyMatchEnds(t *testing.T) {
	tree, err := syntax.Parse("FROM c WHERE " + chained(3000, "LOWER(c.a) = 'x'", "OR"))
	if err != nil {
		t.Fatal(err)
	}
	asked := -1 << 30
	q, err := Prepare(tree, Environment{NoIndex: true, Stop: lateAfter(&asked, 2)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := &access.Document{Number: 1, Body: mustDoc(t, `{"a":`+longText("A", 1<<20)+`}`)}
	asked = 0
	if _, err := q.Match(context.Background(), d, nil); fault.KindOf(err) != fault.Timeout {
		t.Error(err)
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	asked = -1 << 30
	if _, err := q.Match(gone, d, nil); err != context.Canceled {
		t.Error(err)
	}
}

// A cancelled query stops in the middle of a document.
func TestQueryStopsWithItsContext(t *testing.T) {
	s := newSource(t, `{"id":"i","a":`+wholes(1000)+`}`)
	tree, err := syntax.Parse("SELECT VALUE 1 FROM c JOIN x IN c.a JOIN y IN c.a JOIN z IN c.a WHERE z < 0")
	if err != nil {
		t.Fatal(err)
	}
	q, err := Prepare(tree, Environment{NoIndex: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	asked := 0
	stop := func() error {
		if asked++; asked == 3 {
			cancel()
		}
		return nil
	}
	if _, _, err := q.Run(ctx, s, Limit{Stop: stop}, nil); err != context.Canceled || asked > 4 {
		t.Errorf("%v, after %d looks at the clock", err, asked)
	}
}

// With RAND the second walk of a rank sees other rows than the first.
func TestRankOfRowsThatChange(t *testing.T) {
	s := newSource(t)
	for i := range 200 {
		s.add(mustDoc(t, fmt.Sprintf(`{"id":"i%d","t":"word%d"}`, i, i%7)))
	}
	for range 20 {
		a := asking{query: "SELECT c.id FROM c WHERE RAND() < 0.5 ORDER BY RANK FULLTEXTSCORE(c.t, 'word1')"}
		if _, err := a.all(t, s); err != nil {
			t.Fatal(err)
		}
	}
}

// Values kept from an inner loop must outlive the rows of the enclosing loops.
func TestRowsKeptAcrossLoops(t *testing.T) {
	s := newSource(t, `{"id":"i","a":[1,2,3],"b":["x","y"]}`)
	for query, want := range map[string]string{
		"SELECT VALUE (SELECT VALUE y FROM (SELECT VALUE x + 1 FROM x IN c.a) AS y WHERE y = 3) FROM c":                      `3`,
		"SELECT VALUE [(SELECT VALUE MAX(x + 1) FROM x IN c.a), (SELECT VALUE MIN(x + 1) FROM x IN c.a)] FROM c":             `[4,2]`,
		"SELECT VALUE FIRST(SELECT VALUE CONCAT(z, '!') FROM (SELECT VALUE CONCAT(y, '?') FROM y IN c.b) AS z) FROM c":       `"x?!"`,
		"SELECT VALUE LAST(SELECT VALUE z FROM (SELECT VALUE y || '?' FROM y IN c.b) AS z) FROM c":                           `"y?"`,
		"SELECT VALUE ARRAY(SELECT VALUE [x * 2, (SELECT VALUE y || 'z' FROM y IN c.b WHERE y = 'y')] FROM x IN c.a) FROM c": `[[2,"yz"],[4,"yz"],[6,"yz"]]`,
		"SELECT VALUE ARRAY(SELECT DISTINCT VALUE z FROM (SELECT VALUE x * 2 + 1 FROM x IN c.a JOIN y IN c.b) AS z) FROM c":  `[3,5,7]`,
		"SELECT z, x FROM c JOIN (SELECT VALUE y || '?' FROM y IN c.b) AS z JOIN (SELECT VALUE w + 0.5 FROM w IN c.a) AS x": `{"z":"x?","x":1.5},{"z":"x?","x":2.5},{"z":"x?","x":3.5},{"z":"y?","x":1.5},{"z":"y?","x":2.5},` +
			`{"z":"y?","x":3.5}`,
		"SELECT VALUE ARRAY(SELECT VALUE (SELECT VALUE z FROM (SELECT VALUE x + y FROM y IN [10]) AS z) FROM x IN c.a) FROM c":                    ``,
		"SELECT VALUE (SELECT s, COUNT(1) AS n FROM (SELECT VALUE x + 1 > 2 FROM x IN c.a) AS s WHERE s GROUP BY s) FROM c":                       `{"s":true,"n":2}`,
		"SELECT VALUE ARRAY(SELECT VALUE {v: z, m: (SELECT VALUE MAX(q * 2) FROM q IN c.a)} FROM (SELECT VALUE x * 3 FROM x IN c.a) AS z) FROM c": `[{"v":3,"m":6},{"v":6,"m":6},{"v":9,"m":6}]`,
	} {
		got, err := (asking{query: query}).all(t, s)
		if want == "" {
			if err == nil {
				t.Errorf("%s: %s", query, got)
			}
			continue
		}
		if err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", query, got, err, want)
		}
	}
}
