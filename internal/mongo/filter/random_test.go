package filter

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

var seed = flag.Uint64("seed", 0, "of the random test; 0 for another each time")

// A maker writes queries and documents of a few names and values, so that they meet.
type maker struct{ *rand.Rand }

func (m maker) pick(list ...string) string { return list[m.IntN(len(list))] }

func (m maker) value(depth int) string {
	switch m.IntN(14 - min(2*depth, 4)) {
	case 0, 1, 2:
		return fmt.Sprint(m.IntN(4))
	case 3:
		return fmt.Sprintf(`{"$numberDecimal":"%d.%d"}`, m.IntN(3), m.IntN(2)*5)
	case 4:
		return fmt.Sprintf(`%d.5`, m.IntN(3))
	case 5, 6:
		return `"` + m.pick("", "x", "xy", "y\\n") + `"`
	case 7:
		return "null"
	case 8:
		return m.pick("true", "false")
	case 9:
		return m.pick(`{"$minKey":1}`, `{"$maxKey":1}`, `{"$numberDouble":"NaN"}`, `{"$date":{"$numberLong":"1"}}`,
			`{"$undefined":true}`)
	case 10, 11:
		return m.list(m.IntN(4), func() string { return m.value(depth + 1) })
	}
	return m.object(depth)
}

func (m maker) list(n int, f func() string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = f()
	}
	return "[" + strings.Join(parts, ",") + "]"
}

func (m maker) object(depth int) string {
	if depth > 3 {
		return "{}"
	}
	var parts []string
	for _, name := range []string{"a", "b", "0", "1"} {
		if m.IntN(2) == 0 {
			parts = append(parts, `"`+name+`":`+m.value(depth+1))
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func (m maker) path() string {
	names := make([]string, 1+m.IntN(3))
	for i := range names {
		names[i] = m.pick("a", "a", "b", "0", "1")
	}
	return strings.Join(names, ".")
}

func (m maker) operator(depth int) string {
	if depth > 3 {
		return `"$gt":1`
	}
	switch m.IntN(9) {
	case 0, 1:
		return `"` + m.pick("$eq", "$ne", "$gt", "$gte", "$lt", "$lte") + `":` + m.value(1)
	case 2:
		return `"` + m.pick("$in", "$nin", "$all") + `":` + m.list(m.IntN(4), func() string { return m.value(2) })
	case 3:
		return `"$not":{` + m.operator(depth+1) + `}`
	case 4:
		return `"$elemMatch":` + m.pick(m.query(depth+1), `{`+m.operator(depth+1)+`}`)
	case 5:
		return m.pick(`"$exists":true`, `"$exists":false`, `"$size":1`, `"$size":2`, `"$type":"number"`,
			`"$type":["array","object"]`)
	case 6:
		return m.pick(`"$mod":[2,1]`, `"$bitsAllSet":[0]`, `"$bitsAnyClear":3`)
	case 7:
		return m.pick(`"$regex":"^x"`, `"$regex":"y$"`, `"$regex":"(?=x)x"`, `"$regex":"X","$options":"i"`)
	}
	return `"$gte":` + m.value(1) + `,"$lte":` + m.value(1)
}

func (m maker) query(depth int) string {
	if depth <= 3 {
		switch m.IntN(8) {
		case 0:
			return `{"` + m.pick("$or", "$and", "$nor") + `":` + m.list(1+m.IntN(3), func() string {
				return m.query(depth + 1)
			}) + `}`
		case 1:
			return `{"` + m.path() + `":` + m.value(1) + `,"` + m.path() + `":{` + m.operator(depth+1) + `}}`
		}
	}
	return `{"` + m.path() + `":{` + m.operator(depth+1) + `}}`
}

// TestRandom asks queries that mean the same, or the contrary, and compares the answers.
func TestRandom(t *testing.T) {
	with := *seed
	if with == 0 {
		with = rand.Uint64()
	}
	m := maker{rand.New(rand.NewPCG(with, 0))}
	for range 4000 {
		query, path, operator, values := m.query(0), m.path(), m.operator(0), m.list(m.IntN(4), func() string {
			return m.value(2)
		})
		document := m.object(0)
		equals := strings.TrimPrefix(alternatives(path, values), ",")
		for _, pair := range []struct {
			one, other string
			same       bool
		}{
			{query, `{"$nor":[` + query + `]}`, false},
			{query, `{"$and":[` + query + `,{}]}`, true},
			{query, `{"$or":[` + query + `,{"$alwaysFalse":1}]}`, true},
			{`{"` + path + `":{` + operator + `}}`, `{"` + path + `":{"$not":{` + operator + `}}}`, false},
			{`{"` + path + `":{"$in":` + values + `}}`, `{"$or":[{"$alwaysFalse":1},` + equals + `]}`, true},
			{`{"` + path + `":{"$in":` + values + `}}`, `{"` + path + `":{"$nin":` + values + `}}`, false},
			{`{"` + path + `":{"$all":` + values + `}}`, `{"$and":[{"$alwaysTrue":1},` + equals + `]}`, true},
		} {
			if strings.HasSuffix(pair.other, ",]}") {
				continue // no values
			}
			one, ok := m.ask(t, pair.one, document)
			other, valid := m.ask(t, pair.other, document)
			if ok != valid || ok && (one == other) != pair.same {
				t.Fatalf("-seed %d: %s is %v, %s is %v (compiled: %v, %v) of %s", with, pair.one, one, pair.other,
					other, ok, valid, document)
			}
		}
	}
}

// alternatives asks for each value of an array that path be equal to it.
func alternatives(path, values string) (list string) {
	var v struct{ V []bson.RawValue }
	if err := bson.UnmarshalExtJSON([]byte(`{"v":`+values+`}`), false, &v); err != nil {
		panic(err)
	}
	for _, e := range v.V {
		list += `,{"` + path + `":{"$eq":` + e.String() + `}}`
	}
	return list
}

// ask compiles and matches; valid is false when the query is refused.
func (m maker) ask(t *testing.T, query, document string) (ok, valid bool) {
	t.Helper()
	f, err := Compile(fromJSON(t, query), Options{})
	if err != nil {
		return false, false
	}
	d := fromJSON(t, document)
	ok, err = f.Match(d, nil)
	if err != nil {
		t.Fatal(query, document, err)
	}
	located, w, _ := f.Locate(d, nil)
	if located != ok || w.Found && !ok {
		t.Fatal("Match and Locate do not agree on", query, document)
	}
	return ok, true
}
