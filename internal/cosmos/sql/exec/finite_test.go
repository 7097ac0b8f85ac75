package exec

import (
	"bytes"
	"testing"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
)

// zeros is numbers to divide by.
func zeros(t testing.TB) *sliceSource {
	return newSource(t, `{"id":"1","n":0,"list":[1,0]}`, `{"id":"2","n":2,"list":[4,2]}`, `{"id":"3","n":-1}`,
		`{"id":"4","n":"text"}`)
}

// Numbers that are not finite are valid values as long as they are not in a row.
func TestNotFinite(t *testing.T) {
	for _, c := range []struct{ name, query, want string }{
		{"division in a filter", `SELECT VALUE c.id FROM c WHERE 4 / c.n > 1`, `"1","2"`},
		{"remainder in a filter", `SELECT VALUE c.id FROM c WHERE 4 % c.n = 0`, `"2","3"`},
		{"a negative infinity", `SELECT VALUE c.id FROM c WHERE -4 / c.n < -1e308`, `"1"`},
		{"logarithm in a filter", `SELECT VALUE c.id FROM c WHERE LOG(c.n) < 0`, `"1"`},
		{"logarithm of less than nothing", `SELECT VALUE c.id FROM c WHERE LOG(c.n) != LOG(c.n)`, `"3"`},
		{"a constant that is an infinity", `SELECT VALUE c.id FROM c WHERE c.n < 1 / 0`, `"1","2","3"`},
		{"above the least number", `SELECT VALUE c.id FROM c WHERE c.n > -Infinity`, `"1","2","3"`},
		{"equal to an infinity", `SELECT VALUE c.id FROM c WHERE c.n = Infinity`, ``},
		{"in a list of infinities", `SELECT VALUE c.id FROM c WHERE c.n / 0 IN (Infinity, NaN)`, `"2"`},
		{"long in", `SELECT VALUE c.id FROM c WHERE c.n / 0 IN (1, 2, 3, 4, 5, 6, 7, -Infinity, NaN)`, `"3"`},
		{"infinities are equal", `SELECT VALUE [1 / 0 = Infinity, -1 / 0 = -Infinity, Infinity > -Infinity,` +
			` Infinity = -Infinity]`, `[true,true,true,false]`},

		{"NaN is equal to nothing", `SELECT VALUE [NaN = NaN, NaN != NaN, NaN = 1, NaN != 1, NaN = "NaN",` +
			` NaN != "NaN"]`, `[false,true,false,true,false,true]`},
		{"NaN is in no order", `SELECT VALUE [NaN < 1, NaN <= NaN, NaN > 1, 1 >= NaN, NOT (NaN < 1)]`,
			`[false,false,false,false,true]`},
		{"NaN and other types have no order", `SELECT VALUE [NaN < "a", 1]`, `[1]`},
		{"NaN beside a member", `SELECT c.id, c.n < NaN AS below, c.n = NaN AS same, c.n != NaN AS other FROM c`,
			`{"id":"1","below":false,"same":false,"other":true},{"id":"2","below":false,"same":false,"other":true},` +
				`{"id":"3","below":false,"same":false,"other":true},{"id":"4","same":false,"other":true}`},
		{"computed NaN beside a constant", `SELECT VALUE [0 / c.n < 1, 0 / c.n >= 1, 0 / c.n = 0, 0 / c.n != 0,` +
			` 0 / c.n < 1e300] FROM c WHERE c.id = "1"`, `[false,false,false,true,false]`},
		{"computed NaN beside computed", `SELECT VALUE [0 / c.n < c.n, 0 / c.n = 0 / c.n,` +
			` 0 / c.n != c.n] FROM c WHERE c.id = "1"`, `[false,false,true]`},
		{"not between", `SELECT VALUE [c.n BETWEEN NaN AND 5, c.n NOT BETWEEN NaN AND 5,` +
			` c.n NOT IN (NaN)] FROM c WHERE c.id = "2"`, `[false,true,true]`},
		{"not a comparison with NaN", `SELECT VALUE c.id FROM c WHERE NOT (c.n < 0 / 0)`, `"1","2","3"`},
		{"not unequal to NaN", `SELECT VALUE c.id FROM c WHERE NOT (c.n != 0 / 0)`, ``},
		{"NaN inside", `SELECT VALUE [[0 / c.n] = [0 / c.n], {"a": [0 / c.n]} != {"a": [NaN]},` +
			` [1 / c.n] = [Infinity]] FROM c WHERE c.id = "1"`, `[false,true,true]`},
		{"NaN is no condition", `SELECT VALUE [NaN ? 1 : 2, IS_DEFINED(NaN), IS_NUMBER(NaN), IS_FINITE_NUMBER(NaN),` +
			` IS_INTEGER(Infinity)]`, `[2,true,true,false,false]`},
		{"coalesce", `SELECT VALUE IS_FINITE_NUMBER(NaN ?? 3)`, `false`},
		{"bits", `SELECT VALUE [NaN | 5, Infinity & 7, ~NaN, 1 << Infinity]`, `[5,0,-1,1]`},
		{"no place in an array", `SELECT VALUE [[1, 2][NaN], [1, 2][Infinity], 3]`, `[3]`},
		{"text", `SELECT VALUE [TOSTRING(NaN), TOSTRING(Infinity), TOSTRING(-1 / 0)]`,
			`["NaN","Infinity","-Infinity"]`},
		{"such text is no such number", `SELECT VALUE ["NaN", ["Infinity"], {"a": "-Infinity"},` +
			` ARRAY(SELECT VALUE "NaN")]`, `["NaN",["Infinity"],{"a":"-Infinity"},["NaN"]]`},

		{"an alias of that name", `SELECT VALUE NaN.id FROM NaN WHERE NaN.n = 2`, `"2"`},
		{"an alias of that name in a join", `SELECT VALUE Infinity FROM c JOIN Infinity IN c.list WHERE c.id = "2"`,
			`4,2`},
		{"the name around a subquery",
			`SELECT VALUE c.id FROM c WHERE EXISTS(SELECT VALUE x FROM x IN c.list WHERE c.n / x = Infinity)`, ``},
		{"an infinity in a subquery",
			`SELECT VALUE c.id FROM c WHERE EXISTS(SELECT VALUE x FROM x IN c.list WHERE 1 / x = Infinity)`, `"1"`},

		{"count", `SELECT VALUE COUNT(1 / c.n) FROM c`, `3`},
		{"count of a name", `SELECT VALUE COUNT(NaN) FROM c`, `4`},
		{"names beside aggregates", `SELECT IS_NUMBER(NaN) AS a, COUNT(1) AS n FROM c WHERE c.n = 77`,
			`{"a":true,"n":0}`},
		{"sum and average", `SELECT VALUE [TOSTRING(SUM(1 / c.n)), TOSTRING(AVG(1 / c.n)), TOSTRING(SUM(LOG(c.n))),` +
			` TOSTRING(SUM(-1 / ABS(c.n)))] FROM c WHERE IS_NUMBER(c.n)`, `["Infinity","Infinity","NaN","-Infinity"]`},
		{"least and greatest", `SELECT VALUE [TOSTRING(MAX(1 / c.n)), MIN(1 / c.n), TOSTRING(MIN(LOG(c.n)))] FROM c`,
			`["Infinity",-1,"NaN"]`},
		{"groups", `SELECT COUNT(1) AS n, MIN(c.id) AS id FROM c WHERE IS_NUMBER(c.n) GROUP BY 0 / c.n`,
			`{"n":1,"id":"1"},{"n":2,"id":"2"}`},
		{"groups in order", `SELECT VALUE MIN(c.id) FROM c GROUP BY c.n / ABS(c.n - 2)`, `"4","3","1","2"`},
		{"distinct counts", `SELECT VALUE COUNT(1) FROM (SELECT DISTINCT VALUE c.n / 0 FROM c)`, `3`},
		{"distinct NaN",
			`SELECT VALUE ARRAY_LENGTH(ARRAY(SELECT DISTINCT VALUE x FROM x IN (SELECT VALUE [NaN, 0 / 0,` +
				` 1]))) FROM c WHERE c.id = "1"`, `2`},
		{"a row that OFFSET skips", `SELECT VALUE 1 / c.n FROM c OFFSET 1 LIMIT 1`, `0.5`},
		{"a row that OFFSET skips in order",
			`SELECT VALUE 1 / ABS(c.n) FROM c WHERE c.n >= 0 ORDER BY c.n OFFSET 1 LIMIT 1`, `0.5`},
		{"a row that TOP leaves out", `SELECT TOP 1 VALUE 1 / c.n FROM c WHERE c.n != 0 ORDER BY c.n DESC`, `0.5`},
		{"a member that nobody asks for", `SELECT x.id FROM (SELECT c.id, 1 / c.n AS q FROM c) AS x WHERE x.q > 100`,
			`{"id":"1"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, noIndex := range []bool{true, false} {
				got, err := asking{query: c.query, noIndex: noIndex}.all(t, zeros(t))
				if err != nil || got != c.want && !(!noIndex && unordered(c.query) && rearranged(got, c.want)) {
					t.Errorf("noIndex %v: %v\n got %s\nwant %s", noIndex, err, got, c.want)
				}
			}
		})
	}
}

// A row with such a number ends the query, wherever it is in the row and however the rows are computed.
func TestRowsAreFinite(t *testing.T) {
	for _, query := range []string{
		`SELECT VALUE 1 / 0`, `SELECT VALUE 1 % 0`, `SELECT VALUE NaN`, `SELECT VALUE -Infinity`,
		`SELECT VALUE LOG(0)`, `SELECT VALUE 1e308 * 10`,
		`SELECT 1 / c.n FROM c`, `SELECT VALUE {"a": [{"b": 1 / c.n}]} FROM c`, `SELECT VALUE [SQRT(c.n)] FROM c`,
		`SELECT c.id, LOG10(c.n) AS l FROM c`,
		`SELECT VALUE ARRAY(SELECT VALUE 1 / x FROM x IN c.list) FROM c`,
		`SELECT VALUE (SELECT VALUE {"q": 1 / c.n}) FROM c`, `SELECT VALUE c.n = 0 ? NaN : c.n FROM c`,
		`SELECT VALUE x FROM c JOIN (SELECT VALUE 1 / c.n) AS x`,
		`SELECT * FROM (SELECT DISTINCT 1 / c.n AS q FROM c) AS x`,
		`SELECT VALUE x.q FROM (SELECT DISTINCT 1 / c.n AS q FROM c) AS x`,
		`SELECT VALUE SUM(1 / c.n) FROM c WHERE c.n >= 0`, `SELECT VALUE MAX(1 / c.n) FROM c`,
		`SELECT VALUE MAKELIST(1 / c.n) FROM c`, `SELECT VALUE MAKESET(LOG(c.n)) FROM c`,
		`SELECT 1 / c.n AS q, COUNT(1) AS n FROM c GROUP BY 1 / c.n`,
		`SELECT DISTINCT VALUE MAX(1 / c.n) FROM c GROUP BY c.id`, `SELECT DISTINCT VALUE 1 / c.n FROM c`,
		`SELECT DISTINCT 1 / c.n AS q, c.n FROM c ORDER BY c.n`, `SELECT DISTINCT VALUE 1 / c.n FROM c ORDER BY c.n`,
		`SELECT VALUE 1 / c.n FROM c ORDER BY c.n DESC`,
		`SELECT VALUE ARRAY_SUM([1, Infinity])`, `SELECT VALUE SETUNION([NaN], [1])`,
		`SELECT VALUE ARRAY_CONCAT([1], [1 / 0])`,
	} {
		for _, a := range []asking{{query: query, noIndex: true}, {query: query}, {query: query, noIndex: true,
			limit: Limit{Rows: 1}}} {
			if got, err := a.all(t, zeros(t)); err != ErrNotFinite {
				t.Errorf("%s: %v, %s", query, err, got)
			}
		}
	}
}

// Positions can have such values.
func TestPositionsBeyondFinite(t *testing.T) {
	for _, v := range keyValues(t) {
		values, _, ok := access.ValuePosition(nil, []doc.Value{v}, 1).Values()
		for _, descending := range []bool{false, true} {
			if !ok || !bytes.Equal(appendSortKey(nil, values[0], descending), appendSortKey(nil, v, descending)) {
				t.Errorf("%v became %v", v, values)
			}
		}
	}
}
