package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
)

func compile(t testing.TB, d bson.D) *filter.Filter {
	t.Helper()
	f, err := filter.Compile(bsonOf(d), filter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func choose(t testing.TB, f *filter.Filter, indexes ...access.NamedIndex) *Plan {
	t.Helper()
	p, err := Choose(Query{Filter: f}, append([]access.NamedIndex{identity}, indexes...), nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func onPath(path string) access.NamedIndex {
	return access.NamedIndex{Index: 1, Name: "x", Columns: []access.NamedColumn{{Path: path}}}
}

func TestPoint(t *testing.T) {
	cases := []struct{ name, filter, want string }{
		{"number", `{"_id": 5}`, `5`},
		{"operator", `{"_id": {"$eq": "x"}}`, `"x"`},
		{"object", `{"_id": {"a": 1}}`, `{ a: 1 }`},
		{"beside others", `{"a": 1, "_id": 5}`, `5`},
		{"in an $and", `{"a": 1, "$and": [{"b": 1}, {"$and": [{"_id": 6}]}]}`, `6`},
		{"array", `{"_id": [5]}`, `none`},
		{"null", `{"_id": null}`, `none`},
		{"regular expression", `{"_id": {"$regex": "^x"}}`, `none`},
		{"regular expression as a value", `{"_id": {"$eq": {"$regularExpression": {"pattern": "x", "options": ""}}}}`,
			`none`},
		{"range", `{"_id": {"$gte": 5, "$lte": 5}}`, `none`},
		{"in an $or", `{"$or": [{"_id": 5}, {"_id": 6}]}`, `none`},
		{"other path", `{"_id.a": 5, "id": 5}`, `none`},
		{"empty", `{}`, `none`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f, err := filter.Compile(document(t, c.filter), filter.Options{})
			if err != nil {
				t.Fatal(err)
			}
			got := "none"
			if id, ok := Point(f); ok {
				got = string(appendText(nil, id))
			}
			if got != c.want {
				t.Errorf("%s gives %s, want %s", c.filter, got, c.want)
			}
		})
	}
	if _, ok := Point(nil); ok {
		t.Error("no filter has a point")
	}
}

func TestNoIndexes(t *testing.T) {
	for _, text := range []string{`{}`, `{"_id": 1}`, `{"a": {"$in": []}}`, `{"$or": [{"a": 1}, {"b": 1}]}`} {
		f, err := filter.Compile(document(t, text), filter.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := Choose(Query{Filter: f}, nil, nil)
		if err != nil || p.Scans() != nil || !p.Sorted || p.Summary() != "COLLSCAN" {
			t.Errorf("%s: %v, %+v", text, err, p)
		}
	}
	if p, err := Choose(Query{}, nil, nil); err != nil || p.Scans() != nil {
		t.Errorf("without a filter: %v, %+v", err, p)
	}
}

func TestSummaries(t *testing.T) {
	cases := []struct {
		filter, want string
		indexes      []uint32
	}{
		{`{}`, "COLLSCAN", nil},
		{`{"_id": 1}`, "IDHACK", []uint32{0}},
		{`{"a": {"$in": []}}`, "EOF", nil},
		{`{"a": 1}`, "IXSCAN { a: 1 }", []uint32{1}},
		{`{"$or": [{"a": 1, "b": 1}, {"b": 1, "_id": 1}, {"a": {"$lt": 3}}]}`,
			"IXSCAN { a: 1 }, IXSCAN { _id: 1 }, IXSCAN { a: 1 }", []uint32{1, 0}},
	}
	for _, c := range cases {
		f, err := filter.Compile(document(t, c.filter), filter.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p := choose(t, f, onPath("a"))
		if got := p.Summary(); got != c.want {
			t.Errorf("%s gives %s, want %s", c.filter, got, c.want)
		}
		if got := p.Indexes(); !slices.Equal(got, c.indexes) {
			t.Errorf("%s walks %v, want %v", c.filter, got, c.indexes)
		}
	}
}

func TestExecuted(t *testing.T) {
	q, _ := readQuery(t, `{"a": 1, "b": 2}`)
	p, err := Choose(q, []access.NamedIndex{onPath("a")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := relaxed(t, p.Executed(Run{Returned: 2, Millis: 7, Stats: access.Stats{Keys: 5, Documents: 4}}))
	for _, want := range []string{
		`{"stage":"FETCH","nReturned":2,"executionTimeMillisEstimate":7,"docsExamined":4,"filter":{"b":{"$eq":2}}`,
		`"inputStage":{"stage":"IXSCAN","nReturned":2,"executionTimeMillisEstimate":7,"keysExamined":5,`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
}

// Entries keep only the beginning of large values, so that several may share one.
func TestLargeValuesShareAnInterval(t *testing.T) {
	large := strings.Repeat("x", 2000)
	for _, f := range []bson.D{
		{{Key: "a", Value: bson.D{{Key: "$in", Value: bson.A{large + "1", large + "2", 5}}}}},
		{{Key: "a", Value: bson.A{large, large}}},
	} {
		p := choose(t, compile(t, f), onPath("a"))
		if v := p.Scans(); len(v) != 1 || len(v[0].Intervals) != 1 || v[0].Intervals[0].Equal != nil {
			t.Errorf("%v", v)
		}
	}
}

func TestLimits(t *testing.T) {
	numbers := func(n int) bson.A {
		list := make(bson.A, n)
		for i := range list {
			list[i] = int32(i)
		}
		return list
	}
	in := func(path string, n int) bson.E {
		return bson.E{Key: path, Value: bson.D{{Key: "$in", Value: numbers(n)}}}
	}
	two := onPath("a")
	two.Columns = append(two.Columns, access.NamedColumn{Path: "b"})
	many := onPath("a")
	many.Multikey = true
	branches := func(n int) bson.D {
		list := bson.A{}
		for i := range n {
			list = append(list, bson.D{{Key: []string{"a", "_id"}[i%2], Value: bson.D{{Key: "$gt", Value: i}}}})
		}
		return bson.D{{Key: "$or", Value: list}}
	}
	cases := []struct {
		name             string
		filter           bson.D
		index            access.NamedIndex
		scans, intervals int // of the first
	}{
		{"values of one column", bson.D{in("a", 5000)}, onPath("a"), 1, 5000},
		{"too many values", bson.D{in("a", maxPoints+2)}, onPath("a"), 1, 2},
		{"too many values where each document is looked for in them", bson.D{in("a", maxProduct+1)}, many, 1, 1},
		{"values of two columns", bson.D{in("a", 20), in("b", 50)}, two, 1, 1000},
		{"too many of two columns", bson.D{in("a", 20), in("b", 51)}, two, 1, 20},
		{"branches", branches(maxLegs), onPath("a"), maxLegs, 1},
		{"too many branches", branches(maxLegs + 1), onPath("a"), 0, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			v := choose(t, compile(t, c.filter), c.index).Scans()
			if len(v) != c.scans || len(v) > 0 && len(v[0].Intervals) != c.intervals {
				t.Errorf("%d scans, the first with %d intervals", len(v), len(v[0].Intervals))
			}
		})
	}
}

// Filters that offer very many ways are planned in little time.
func TestManyConditions(t *testing.T) {
	var list bson.A
	for i := range 60 {
		list = append(list, bson.D{{Key: "a", Value: bson.D{{Key: "$gt", Value: i}}}, {Key: "b", Value: i}})
	}
	inner := bson.D{{Key: "$or", Value: list}}
	all := bson.A{}
	for i := range 300 {
		all = append(all, inner, bson.D{{Key: "c", Value: bson.D{{Key: "$lt", Value: i}}}})
	}
	f := compile(t, bson.D{{Key: "$and", Value: all}})
	var indexes []access.NamedIndex
	for i := range 63 {
		ix := onPath(string(rune('a' + i%5)))
		ix.Columns = append(ix.Columns, access.NamedColumn{Path: fmt.Sprint("x", i)})
		indexes = append(indexes, ix)
	}
	if p := choose(t, f, indexes...); len(p.Scans()) == 0 {
		t.Error("no index used")
	}
}

// A plan that has given up an $or because it takes too long gives it up again when it goes on.
func TestPlansThatGiveUpGoOn(t *testing.T) {
	all := bson.A{}
	for i := range 400 {
		all = append(all, bson.D{{Key: "a", Value: bson.D{{Key: "$gt", Value: i}}}})
	}
	or := bson.A{}
	for i := range 60 {
		or = append(or, bson.D{{Key: "x", Value: i}, {Key: "y", Value: i}})
	}
	or = append(or, bson.D{{Key: "y", Value: 1}})
	f := compile(t, bson.D{{Key: "$and", Value: append(all, bson.D{{Key: "$or", Value: or}})}})
	indexes := []access.NamedIndex{identity}
	for i := range 63 {
		ix := onPath([]string{"a", "x", "y", fmt.Sprint("z", i)}[min(i, 3)])
		ix.Index = uint32(i + 1)
		indexes = append(indexes, ix)
	}
	some := func(of *access.IndexScan, _ int) (int, error) { return int(of.Index), nil }
	p, err := Choose(Query{Filter: f}, indexes, some)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Choose(Query{Filter: f, Like: p}, indexes, nil)
	if err != nil || len(again.Scans()) != len(p.Scans()) {
		t.Errorf("%d scans, then %d, %v", len(p.Scans()), len(again.Scans()), err)
	}
}

// TestLargeCheckIsOneInterval: each of many merged scans has its own check, so one of many values is not kept apart.
func TestLargeCheckIsOneInterval(t *testing.T) {
	ix := onPath("a")
	ix.Columns = append(ix.Columns, access.NamedColumn{Path: "b"}, access.NamedColumn{Path: "c"})
	for _, n := range []int{maxProduct, maxProduct + 1} {
		var few, many bson.A
		for i := range n {
			few, many = append(few, i%maxMerged), append(many, 2*i)
		}
		f := compile(t, bson.D{{Key: "a", Value: bson.D{{Key: "$in", Value: few}}},
			{Key: "c", Value: bson.D{{Key: "$in", Value: many}}}})
		q := Query{Filter: f, Sort: []access.NamedColumn{{Path: "b"}}}
		p, err := Choose(q, []access.NamedIndex{identity, ix}, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := n
		if n > maxProduct {
			want = 1
		}
		scans := p.Scans()
		if len(scans) != maxMerged || len(scans[0].Checks) != 1 {
			t.Fatalf("%d values: %d scans", n, len(scans))
		}
		if got := len(scans[0].Checks[0].Within); got != want || p.legs[0].wider != (want == 1) {
			t.Errorf("%d values: a check of %d intervals, want %d", n, got, want)
		}
	}
}

// TestShortcutHasNoChecks: whoever follows a shortcut counts the documents that come, and gives it up by them.
func TestShortcutHasNoChecks(t *testing.T) {
	ix := onPath("at")
	ix.Columns = append(ix.Columns, access.NamedColumn{Path: "u"})
	f := compile(t, bson.D{{Key: "kind", Value: 1}, {Key: "u", Value: 2}})
	q := Query{Filter: f, Sort: []access.NamedColumn{{Path: "at"}}, Limit: 10}
	p, err := Choose(q, []access.NamedIndex{identity, onPath("kind"), ix}, nil)
	if err != nil || p.Shortcut == nil {
		t.Fatalf("no shortcut: %v", err)
	}
	if scans := p.Shortcut.Scans(); len(scans) != 1 || len(scans[0].Checks) != 0 {
		t.Errorf("%s", bson.Raw(p.Shortcut.Explain()))
	}
}

func TestReadingTwiceGivesTheSame(t *testing.T) {
	f := compile(t, bson.D{{Key: "b", Value: 1}, {Key: "a", Value: bson.D{{Key: "$in", Value: bson.A{3, 1}}}}})
	indexes := []access.NamedIndex{onPath("b"), onPath("a")}
	first := choose(t, f, indexes...).Explain()
	for range 3 {
		if again := choose(t, f, indexes...).Explain(); !slices.Equal(again, first) {
			t.Errorf("%s, then %s", bson.Raw(first), bson.Raw(again))
		}
	}
}

var benchmarked = []access.NamedIndex{
	identity, onPath("d"), onPath("c"), onPath("b"), onPath("a"),
}

func BenchmarkChoose(b *testing.B) {
	cases := []struct {
		name   string
		filter bson.D
		sort   []access.NamedColumn
	}{
		{"value", bson.D{{Key: "a", Value: 1}}, nil},
		{"range", bson.D{{Key: "a", Value: bson.D{{Key: "$gt", Value: 1}, {Key: "$lt", Value: 5}}}}, nil},
		{"or", bson.D{{Key: "$or", Value: bson.A{bson.D{{Key: "a", Value: 1}}, bson.D{{Key: "b", Value: 1}}}}}, nil},
		{"sort", bson.D{{Key: "a", Value: 1}}, []access.NamedColumn{{Path: "b"}}},
	}
	for _, c := range cases {
		b.Run(c.name, func(b *testing.B) {
			q := Query{Filter: compile(b, c.filter), Sort: c.sort}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Choose(q, benchmarked, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
