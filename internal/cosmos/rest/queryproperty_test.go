package rest

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

var querySeed = flag.Uint64("query-seed", 0, "replay one random test of queries; 0 takes a new seed")

// A quizzer makes up items and queries.
type quizzer struct{ *rand.Rand }

func (q quizzer) pick(list ...string) string { return list[q.IntN(len(list))] }

// scalar is a value that occurs often enough to be found.
func (q quizzer) scalar() string {
	switch q.IntN(9) {
	case 0:
		return "null"
	case 1:
		return q.pick("true", "false")
	case 2, 3:
		return fmt.Sprintf("%q", q.pick("", "a", "ab", "abc", "b", "ß", "zz", strings.Repeat("long", 64), strings.Repeat("long", 64)+"er"))
	case 4:
		return q.pick("1.5", "-2.25", "1e3", "0.1")
	default:
		return fmt.Sprint(q.IntN(8) - 2)
	}
}

func (q quizzer) value() string {
	switch q.IntN(10) {
	case 0:
		return `{"d":` + q.scalar() + `,"e":` + q.scalar() + `}`
	case 1:
		return `[` + q.scalar() + `,` + q.scalar() + `]`
	}
	return q.scalar()
}

// item is one item of partition pk; some have a short life.
func (q quizzer) item(id int) (pk, body string) {
	pk = q.pick("p", "q", "r")
	b := fmt.Sprintf(`{"id":"%d","pk":%q`, id, pk)
	for _, name := range []string{"a", "b", "c"} {
		if q.IntN(5) > 0 {
			b += fmt.Sprintf(`,%q:%s`, name, q.value())
		}
	}
	if q.IntN(2) == 0 {
		b += `,"o":{"d":` + q.scalar() + `,"list":[` + q.scalar() + `,{"d":` + q.scalar() + `}]}`
	}
	if q.IntN(2) == 0 {
		b += `,"tags":[` + q.scalar() + `,` + q.scalar() + `,` + q.scalar() + `]`
	}
	if q.IntN(4) == 0 {
		b += fmt.Sprintf(`,"ttl":%d`, 1+q.IntN(100))
	}
	return pk, b + "}"
}

func (q quizzer) path() string {
	return q.pick("c.a", "c.b", "c.c", "c.o.d", `c["a"]`, "c.pk", "c.id", "c._ts", "c.a.d", "c.unindexed")
}

// filter is a random predicate of some depth.
func (q quizzer) filter(depth int) string {
	if depth > 0 {
		switch q.IntN(6) {
		case 0, 1:
			return "(" + q.filter(depth-1) + " AND " + q.filter(depth-1) + ")"
		case 2:
			return "(" + q.filter(depth-1) + " OR " + q.filter(depth-1) + ")"
		case 3:
			return "NOT (" + q.filter(depth-1) + ")"
		}
	}
	p := q.path()
	switch q.IntN(16) {
	case 0:
		return p + " IN (" + q.scalar() + ", " + q.scalar() + ", " + q.scalar() + ")"
	case 1:
		return p + " BETWEEN " + q.scalar() + " AND " + q.scalar()
	case 2:
		return "STARTSWITH(" + p + ", " + q.pick(`"a"`, `"ab"`, `""`, `"long"`) + ")"
	case 3:
		return "ARRAY_CONTAINS(c.tags, " + q.scalar() + ")"
	case 4:
		return q.pick("IS_DEFINED", "IS_NULL", "IS_NUMBER", "IS_STRING", "IS_BOOL", "IS_ARRAY", "IS_OBJECT", "IS_PRIMITIVE") + "(" + p + ")"
	case 5:
		return "EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t = " + q.scalar() + ")"
	case 6:
		return p + " LIKE " + q.pick(`"a%"`, `"%b"`, `"a_c"`, `"long%"`, `"ab"`)
	case 7:
		return p
	case 8:
		return p + " = " + q.path()
	case 9:
		return q.scalar() + q.pick(" = ", " < ", " >= ") + p
	case 10:
		return p + " = " + q.value()
	default:
		return p + q.pick(" = ", " = ", " = ", " != ", " < ", " <= ", " > ", " >= ") + q.scalar()
	}
}

// query is a random query that the door must take.
func (q quizzer) query() string {
	where := ""
	if q.IntN(6) > 0 {
		where = " WHERE " + q.filter(q.IntN(3))
	}
	switch q.IntN(12) {
	case 0:
		return "SELECT VALUE COUNT(1) FROM c" + where
	case 1:
		return "SELECT COUNT(c.a) AS n, MIN(c.b) AS low, MAX(c.b) AS high, SUM(c.o.d) AS total FROM c" + where
	case 2:
		return "SELECT c.a, COUNT(1) AS n FROM c" + where + " GROUP BY c.a"
	case 3:
		return "SELECT DISTINCT VALUE " + q.path() + " FROM c" + where
	case 4:
		return "SELECT c.id, t FROM c JOIN t IN c.tags" + where
	case 5:
		return "SELECT c.id, t FROM c JOIN t IN c.tags WHERE t = " + q.scalar() + " ORDER BY " + q.pick("c.a", "c.id", "c._ts") + q.pick("", " DESC")
	}
	tail := ""
	switch q.IntN(4) {
	case 0, 1:
		tail = " ORDER BY " + q.pick("c.a", "c.b", "c.o.d", "c.id", "c.pk", "c._ts", "c.c") + q.pick("", " ASC", " DESC")
	case 2:
		tail = " ORDER BY " + q.pick("c.a, c.b", "c.a DESC, c.b DESC", "c.pk DESC, c.b", "c.pk, c.b DESC")
	}
	top := ""
	if tail != "" {
		switch q.IntN(4) {
		case 0:
			top = fmt.Sprintf("TOP %d ", q.IntN(20))
		case 1:
			tail += fmt.Sprintf(" OFFSET %d LIMIT %d", q.IntN(10), q.IntN(20))
		}
	}
	return "SELECT " + top + q.pick("*", "c.id, c.a", "VALUE c.id", "VALUE c") + " FROM c" + where + tail
}

// TestPlansNeverChangeAnswers asks random queries over random items, some of
// which expire on the way, with indexes and without, at once and in pages.
func TestPlansNeverChangeAnswers(t *testing.T) {
	seed := *querySeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-query-seed=%d", seed)
	q := quizzer{rand.New(rand.NewPCG(seed, 1))}
	d := newDesk(t)
	d.do("POST", "/dbs", `{"id":"d"}`).want(201)
	d.define("c", `"partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}`, `"defaultTtl":60`,
		`"indexingPolicy":{"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/unindexed/?"}],"compositeIndexes":[
			[{"path":"/a"},{"path":"/b"}],[{"path":"/pk","order":"descending"},{"path":"/b"}]]}`)
	write := func(n int) {
		for range n {
			pk, body := q.item(q.IntN(400))
			d.do("POST", collection+"/docs", body, "x-ms-documentdb-is-upsert", "true", hPK, fmt.Sprintf("[%q]", pk))
		}
	}
	write(300)
	rounds := 400
	if testing.Short() {
		rounds = 50
	}
	for round := range rounds {
		if round%20 == 19 {
			must(t, d.clock.Advance(time.Duration(q.IntN(20))*time.Second))
			write(40)
		}
		c := &queryCase{name: "random", query: []string{q.query()}}
		if q.IntN(3) == 0 {
			c.partition = fmt.Sprintf("[%q]", q.pick("p", "q", "none"))
		}
		q.compare(d, c)
		if t.Failed() {
			t.Fatalf("-query-seed=%d, round %d: %s in %s", seed, round, c.query[0], c.partition)
		}
	}
}

// compare asks in several ways; all answers must be the same.
func (q quizzer) compare(d *desk, c *queryCase) {
	scan := []string{"x-ms-documentdb-force-query-scan", "true"}
	want, refused := c.ask(d, 1000, scan...)
	if refused.status != 0 {
		d.t.Errorf("refused: %d %s", refused.status, refused.text)
		return
	}
	ordered := strings.Contains(c.query[0], "ORDER BY")
	same := func(name string, got []string, refused answer, exact bool) {
		a, b := got, want
		if !exact {
			a, b = slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))
		}
		if refused.status != 0 || !slices.Equal(a, b) {
			plan, _ := c.ask(d, 10, "x-mayfly-explain", "true")
			d.t.Errorf("%s: %d %s\n%s\n%s\nwant\n%s", name, refused.status, refused.text, strings.Join(plan, "\n"), strings.Join(a, "\n"), strings.Join(b, "\n"))
		}
	}
	got, refused := c.ask(d, 1000)
	same("with indexes", got, refused, ordered)
	size := 1 + q.IntN(7)
	got, refused = c.ask(d, size)
	same(fmt.Sprintf("in pages of %d", size), got, refused, ordered)
	got, refused = c.ask(d, size, scan...)
	same(fmt.Sprintf("scanned in pages of %d", size), got, refused, true)
}
