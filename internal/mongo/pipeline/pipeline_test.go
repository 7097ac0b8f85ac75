package pipeline

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
)

// repeated gives n documents, {_id: i, pad: ...} of about so many bytes, in one memory.
func repeated(n, size int) Rows {
	return func(yield func(doc.Doc, error) bool) {
		pad := strings.Repeat("x", size)
		d := bsoncore.BuildDocument(nil, bsoncore.AppendInt64Element(nil, "_id", 0),
			bsoncore.AppendStringElement(nil, "pad", pad))
		for i := range n {
			copy(d[9:], doc.Int(int64(i)).Data)
			if !yield(d, nil) {
				return
			}
		}
	}
}

func TestMemoryIsLimited(t *testing.T) {
	for _, c := range []struct{ name, stages string }{
		{"sort", `[{$sort: {_id: -1}}]`},
		{"sort with a large limit", `[{$sort: {_id: -1}}, {$limit: 1000000000}]`},
		{"group", `[{$group: {_id: "$_id", p: {$first: "$pad"}}}]`},
		{"keys of groups", `[{$group: {_id: {$concat: ["$pad", {$toString: "$_id"}]}}}]`},
		{"push", `[{$group: {_id: null, p: {$push: "$pad"}}}]`},
		{"addToSet", `[{$group: {_id: null, p: {$addToSet: "$$ROOT"}}}]`},
		{"topN", `[{$group: {_id: null, p: {$topN: {n: 1000000, sortBy: {_id: -1}, output: "$pad"}}}}]`},
		{"lastN", `[{$group: {_id: null, p: {$lastN: {n: 1000000, input: "$pad"}}}}]`},
		{"bucketAuto", `[{$bucketAuto: {groupBy: "$_id", buckets: 2}}]`},
		{"facet", `[{$facet: {a: [], b: []}}]`},
		{"sample", `[{$sample: {size: 1000000}}]`},
		{"window", `[{$setWindowFields: {sortBy: {_id: 1}, output: {p: {$first: "$pad"}}}}]`},
		{"densify", `[{$densify: {field: "_id", range: {step: 1, bounds: "full"}}}]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows := 0
			for _, err := range compile(t, c.stages).Run(context.Background(), repeated(1200, 100<<10),
				(&memory{}).env()) {
				rows++
				if err != nil {
					if !code.Is(err, code.QueryExceededMemoryLimitNoDiskUseAllowed) {
						t.Errorf("fails with %v", err)
					}
					return
				}
			}
			t.Errorf("%d rows, and no error", rows)
		})
	}
}

func TestFirstOfManyNeedsLittleMemory(t *testing.T) {
	p := compile(t, `[{$sort: {_id: -1}}, {$skip: 1}, {$limit: 2}, {$project: {_id: 1}}]`)
	got := lines(t, p.Run(context.Background(), repeated(1200, 100<<10), (&memory{}).env()))
	want := []string{`{_id: {$numberLong: "1198"}}`, `{_id: {$numberLong: "1197"}}`}
	if !slices.Equal(got, want) {
		t.Errorf("gives %q", got)
	}
}

// TestGroupsTakeNoMemoryPerDocument counts what more documents cost once all groups exist.
func TestGroupsTakeNoMemoryPerDocument(t *testing.T) {
	p := compile(t,
		`[{$group: {_id: {k: "$k", odd: {$mod: ["$n", 2]}}, sum: {$sum: "$n"}, avg: {$avg: "$n"}, max: {$max: "$s"},
		last: {$last: "$s"}, set: {$addToSet: "$k"}, count: {$count: {}}}}]`)
	run := func(n int) float64 {
		in := orders(n)
		return testing.AllocsPerRun(3, func() {
			for range p.Run(context.Background(), in, (&memory{}).env()) {
			}
		})
	}
	few, many := run(1000), run(11000)
	if many-few > 100 {
		t.Errorf("%v allocations for 1,000 documents, %v for 11,000", few, many)
	}
}

func TestGrowthIsLimited(t *testing.T) {
	var stages []string
	for range 30 {
		stages = append(stages, `{$set: {a: "$$ROOT", b: "$$ROOT"}}`)
	}
	p := compile(t, "["+strings.Join(stages, ",")+"]")
	got := lines(t, p.Run(context.Background(), repeated(1, 1000), &Env{Now: now}))
	if len(got) != 1 || !strings.HasPrefix(got[0], "error 10334: ") {
		t.Errorf("gives %.200q", got)
	}
	_, err := Compile(make([]doc.Value, MaxStages+1), Options{})
	if !code.Is(err, 7749501) {
		t.Errorf("too many stages give %v", err)
	}
}

func TestSubPipelinesNestSoDeep(t *testing.T) {
	nested := func(n int) string {
		inner := `{$limit: 1}`
		for range n {
			inner = `{$unionWith: {coll: "c", pipeline: [` + inner + `]}}`
		}
		return "[" + inner + "]"
	}
	if _, err := Compile(stagesOf(t, nested(MaxDepth)), Options{}); err != nil {
		t.Error(err)
	}
	if _, err := Compile(stagesOf(t, nested(MaxDepth+1)), Options{}); !code.Is(err, 232) {
		t.Errorf("one more gives %v", err)
	}
}

// TestRunsStopEarly leaves each stage in the middle; nothing may be asked of it afterwards.
func TestRunsStopEarly(t *testing.T) {
	m := &memory{containers: map[string][]doc.Doc{"c": slices.Collect(docsOf(orders(5)))}}
	for _, stages := range []string{
		`[]`, `[{$match: {}}]`, `[{$sort: {_id: 1}}]`, `[{$group: {_id: "$_id"}}]`,
		`[{$unwind: {path: "$tags", includeArrayIndex: "i"}}]`,
		`[{$limit: 3}]`, `[{$skip: 1}]`, `[{$facet: {a: [{$limit: 1}], b: []}}]`,
		`[{$lookup: {from: "c", pipeline: [], as: "x"}}]`,
		`[{$unionWith: "c"}]`, `[{$sample: {size: 3}}]`, `[{$bucketAuto: {groupBy: "$n", buckets: 3}}]`,
		`[{$densify: {field: "n", range: {step: 1, bounds: [0, 99]}}}]`,
		`[{$setWindowFields: {output: {n: {$sum: 1}}}}]`,
		`[{$graphLookup: {from: "c", startWith: 1, connectFromField: "n", connectToField: "n", as: "x"}}]`,
		`[{$documents: [{a: 1}, {a: 2}]}]`, `[{$unionWith: {coll: "c", pipeline: [{$facet: {a: []}}]}}]`,
	} {
		for _, err := range compile(t, stages).Run(context.Background(), orders(5), m.env()) {
			if err != nil {
				t.Errorf("%s: %v", stages, err)
			}
			break
		}
	}
}

func docsOf(in Rows) iter.Seq[doc.Doc] {
	return func(yield func(doc.Doc) bool) {
		for d := range in {
			if !yield(slices.Clone(d)) {
				return
			}
		}
	}
}

func TestErrorsOfTheSourceComeThrough(t *testing.T) {
	broken := code.New(code.OperationFailed, "the source is broken")
	in := func(yield func(doc.Doc, error) bool) {
		if yield(doc.Empty, nil) {
			yield(nil, broken)
		}
	}
	m := &memory{containers: map[string][]doc.Doc{}}
	for _, stages := range []string{
		`[]`, `[{$match: {}}]`, `[{$sort: {_id: 1}}]`, `[{$sort: {_id: 1}}, {$limit: 1}]`, `[{$group: {_id: null}}]`,
		`[{$count: "n"}]`,
		`[{$unwind: "$x"}]`, `[{$limit: 2}]`, `[{$skip: 2}]`, `[{$facet: {a: []}}]`,
		`[{$lookup: {from: "c", pipeline: [], as: "x"}}]`,
		`[{$unionWith: "c"}]`, `[{$sample: {size: 3}}]`, `[{$bucketAuto: {groupBy: "$n", buckets: 3}}]`,
		`[{$out: "x"}]`, `[{$merge: "x"}]`,
		`[{$densify: {field: "n", range: {step: 1, bounds: "full"}}}]`,
		`[{$setWindowFields: {output: {n: {$sum: 1}}}}]`,
		`[{$densify: {field: "n", partitionByFields: ["k"], range: {step: 1, bounds: "full"}}}]`,
		`[{$graphLookup: {from: "c", startWith: 1, connectFromField: "n", connectToField: "n", as: "x"}}]`,
		`[{$redact: "$$KEEP"}]`,
	} {
		var last error
		for _, err := range compile(t, stages).Run(context.Background(), in, m.env()) {
			last = err
		}
		if last != broken {
			t.Errorf("%s ends with %v", stages, last)
		}
	}
}

func TestCancelledRunsEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p := compile(t, `[{$densify: {field: "_id", range: {step: 1, bounds: [0, 400000]}}}, {$match: {_id: -1}}]`)
	got := lines(t, p.Run(ctx, empty, &Env{Now: now}))
	if len(got) != 1 || !strings.HasPrefix(got[0], "error 11601: ") {
		t.Errorf("gives %q", got)
	}
}

func TestPipelinesRunSideBySide(t *testing.T) {
	p := compile(t, `[{$match: {n: {$gte: 0}}}, {$set: {m: {$let: {vars: {v: "$n"}, in: {$multiply: ["$$v", 2]}}}}},
		{$lookup: {from: "c", let: {n: "$n"}, pipeline: [{$match: {$expr: {$eq: ["$n", "$$n"]}}}, {$count: "same"}], as: "l"}},
		{$facet: {g: [{$group: {_id: "$k", n: {$sum: "$m"}}}], s: [{$sort: {n: -1}}, {$limit: 2}]}}]`)
	m := func() *memory {
		return &memory{containers: map[string][]doc.Doc{"c": slices.Collect(docsOf(orders(50)))}, indexes: true}
	}
	want := lines(t, p.Run(context.Background(), orders(50), m().env()))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if got := lines(t, p.Run(context.Background(), orders(50), m().env())); !slices.Equal(got, want) {
				t.Errorf("gives %.300q", got)
			}
		})
	}
	wg.Wait()
}

func TestJoinsReadOnce(t *testing.T) {
	for _, c := range []struct {
		name, stages string
		indexes      bool
		reads        int
	}{
		{"equal values, by a table", `[{$lookup: {from: "c", localField: "n", foreignField: "n", as: "l"}}]`, false, 1},
		{"equal values, by an index", `[{$lookup: {from: "c", localField: "n", foreignField: "n", as: "l"}}]`, true,
			20},
		{"the same for all", `[{$lookup: {from: "c", pipeline: [{$match: {n: 3}}], as: "l"}}]`, true, 1},
		{"an equal variable",
			`[{$lookup: {from: "c", let: {n: "$n"}, pipeline: [{$match: {$expr: {$eq: ["$n", "$$n"]}}}], as: "l"}}]`,
			false, 1},
		{"another condition",
			`[{$lookup: {from: "c", let: {n: "$n"}, pipeline: [{$match: {$expr: {$lt: ["$n", "$$n"]}}}], as: "l"}}]`,
			true, 20},
		{"a search",
			`[{$graphLookup: {from: "c", startWith: "$n", connectFromField: "n", connectToField: "n", as: "l"}}]`,
			false, 1},
	} {
		m := &memory{containers: map[string][]doc.Doc{"c": slices.Collect(docsOf(orders(20)))}, indexes: c.indexes}
		for _, err := range compile(t, c.stages).Run(context.Background(), orders(20), m.env()) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if m.reads != c.reads {
			t.Errorf("%s: %d reads, not %d", c.name, m.reads, c.reads)
		}
	}
}

func TestEach(t *testing.T) {
	p := compile(t, `[{$match: {n: {$gt: 1}}}, {$set: {m: "$n"}}, {$project: {_id: 0, m: 1}}]`)
	each, err := p.Each(context.Background(), &Env{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for d := range orders(4) {
		out, keep, err := each(d)
		got = append(got, fmt.Sprint(keep, err, string(appendValue(nil, doc.Object(out)))))
	}
	want := []string{"false <nil>{}", "false <nil>{}", "true <nil>{m: 2}", "true <nil>{m: 3}"}
	if !slices.Equal(got, want) {
		t.Errorf("gives %q", got)
	}
	if _, err := compile(t, `[{$sort: {a: 1}}]`).Each(context.Background(), &Env{}); !code.Is(err,
		code.IllegalOperation) {
		t.Errorf("$sort gives %v", err)
	}
}

func TestContainers(t *testing.T) {
	p := compile(t,
		`[{$lookup: {from: "a", pipeline: [{$unionWith: "b"}], as: "x"}}, {$facet: {f: [{$lookup: {from: "a", localField: "x", foreignField: "x", as: "x"}}]}},
		{$graphLookup: {from: "d", startWith: 1, connectFromField: "n", connectToField: "n", as: "x"}}, {$merge: {into: {db: "e", coll: "f"}}}]`)
	reads, writes := p.Containers()
	if fmt.Sprint(reads) != "[{ a} { b} { d}]" || writes == nil || *writes != (Namespace{"e", "f"}) {
		t.Errorf("reads %v, writes %v", reads, writes)
	}
	if _, writes := compile(t, `[{$match: {}}]`).Containers(); writes != nil {
		t.Errorf("$match writes %v", writes)
	}
}

func TestSource(t *testing.T) {
	for stages, want := range map[string]string{
		`[]`: "", `[{$match: {}}]`: "", `[{$collStats: {count: {}}}]`: "$collStats", `[{$documents: []}]`: "$documents",
	} {
		if name, arg := compile(t, stages).Source(); name != want || (name == "") != (arg.Type == 0) {
			t.Errorf("%s begins with %q %v", stages, name, arg)
		}
	}
}

func TestStagesNeedAServer(t *testing.T) {
	for _, stages := range []string{
		`[{$out: "x"}]`, `[{$merge: "x"}]`, `[{$unionWith: "x"}]`, `[{$collStats: {}}]`,
		`[{$lookup: {from: "c", pipeline: [], as: "x"}}]`,
		`[{$graphLookup: {from: "c", startWith: 1, connectFromField: "n", connectToField: "n", as: "x"}}]`,
	} {
		got := lines(t, compile(t, stages).Run(context.Background(), orders(1), &Env{Now: now}))
		if len(got) == 0 || !strings.HasPrefix(got[len(got)-1], "error 20: ") {
			t.Errorf("%s gives %q", stages, got)
		}
	}
}

func TestCompareIsTheOrderOfRows(t *testing.T) {
	s, err := CompileSort(document(t, `{k: 1, "o.n": -1}`))
	if err != nil {
		t.Fatal(err)
	}
	var sorted []doc.Doc
	for d := range s.Rows(orders(100), 0) {
		sorted = append(sorted, d)
	}
	if len(sorted) != 100 || !slices.IsSortedFunc(sorted, s.Compare) {
		t.Error("rows are not in order")
	}
	top := slices.Collect(docsOf(s.Rows(orders(100), 7)))
	if len(top) != 7 || !slices.EqualFunc(top, sorted[:7], func(a, b doc.Doc) bool { return string(a) == string(b) }) {
		t.Error("the first rows are others with a limit")
	}
}

func TestProjectionsAppend(t *testing.T) {
	p, err := CompileProjection(document(t, `{a: 1}`), ProjectionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	before := []byte("before")
	out, err := p.Apply(before, document(t, `{a: 1, b: 2}`), filter.Where{}, nil)
	if err != nil || string(appendValue(nil, doc.Object(out))) != "{a: 1}" || string(before) != "before" {
		t.Errorf("gives %x, %v", []byte(out), err)
	}
	if p.NeedsScope() || p.NeedsWhere() || !p.inclusion {
		t.Error("{a: 1} is a plain inclusion")
	}
}

// orders gives n small documents: {_id, k, n, s, o: {n}, tags}.
func orders(n int) Rows {
	var docs []doc.Doc
	for i := range n {
		id := int32(i)
		docs = append(docs, bsoncore.BuildDocument(nil,
			bsoncore.AppendInt32Element(nil, "_id", id),
			bsoncore.AppendStringElement(nil, "k", string(rune('a'+i%10))),
			bsoncore.AppendInt32Element(nil, "n", id),
			bsoncore.AppendStringElement(nil, "s", fmt.Sprintf("customer %03d", i*7919%1000)),
			bsoncore.AppendDocumentElement(nil, "o",
				bsoncore.BuildDocument(nil, bsoncore.AppendDoubleElement(nil, "n", float64(i*31%97)))),
			bsoncore.AppendArrayElement(nil, "tags", bsoncore.BuildArray(nil, doc.Int32(id), doc.String("tag"))),
		))
	}
	return rowsOf(docs)
}

// isRefused reports whether a stage is in the table only to name it in an error.
func isRefused(name string) bool {
	_, err := Compile([]doc.Value{doc.Object(bsoncore.BuildDocument(nil, bsoncore.AppendNullElement(nil, name)))},
		Options{})
	return code.Is(err, code.CommandNotSupported) || code.Is(err, code.SearchNotEnabled)
}

func TestServerStagesAreSources(t *testing.T) {
	for name, parse := range parsers {
		if isRefused(name) {
			continue
		}
		s, err := parse(&compiler{names: expression.NewNames(), parsers: parsers}, doc.Null())
		_, isSource := s.(*source)
		if isSource != isServerStage(name) {
			t.Errorf("%s is parsed to a source: %v (%v), is a stage of the server: %v", name, isSource, err,
				isServerStage(name))
		}
	}
}

// TestCounted compares stages that only count with what they give for documents.
func TestCounted(t *testing.T) {
	for _, c := range []struct {
		stages string
		ok     bool
	}{
		{`[{$count: "n"}]`, true},
		{`[{$group: {_id: 1, n: {$sum: 1}}}]`, true},
		{`[{$group: {n: {$sum: 1}, _id: null, m: {$sum: 1}}}, {$project: {_id: 0}}]`, true},
		{`[{$group: {_id: "all"}}, {$count: "groups"}]`, true},
		{`[{$group: {_id: "$n", n: {$sum: 1}}}]`, false},
		{`[{$group: {_id: {a: "$n"}, n: {$sum: 1}}}]`, false},
		{`[{$group: {_id: 1, n: {$sum: 2}}}]`, false},
		{`[{$group: {_id: 1, n: {$sum: 1.0}}}]`, false},
		{`[{$group: {_id: 1, n: {$sum: "$n"}}}]`, false},
		{`[{$group: {_id: 1, n: {$sum: 1}, m: {$max: "$n"}}}]`, false},
		{`[{$group: {_id: 1, n: {$avg: 1}}}]`, false},
		{`[{$match: {}}, {$count: "n"}]`, false},
		{`[{$sortByCount: "$n"}, {$limit: 5}]`, false},
		{`[{$sortByCount: "$n"}]`, false},
		{`[{$bucket: {groupBy: "$n", boundaries: [0, 9], default: 10}}, {$limit: 5}]`, false},
		{`[{$count: "n"}, {$sortByCount: "$n"}]`, true},
		{`[]`, false},
	} {
		p := compile(t, c.stages)
		made, rest, ok := p.Counted()
		if ok != c.ok {
			t.Errorf("%s: %v", c.stages, ok)
		}
		for _, n := range []int{0, 1, 70} {
			if !ok {
				continue
			}
			one := func(yield func(doc.Doc, error) bool) {
				if n > 0 {
					yield(made(int64(n)), nil)
				}
			}
			want := textOf(t, p.Run(context.Background(), repeated(n, 10), (&memory{}).env()))
			if got := textOf(t, rest.Run(context.Background(), one, (&memory{}).env())); got != want {
				t.Errorf("%s of %d: %s, want %s", c.stages, n, got, want)
			}
		}
	}
}

// textOf is the rows as extended JSON.
func textOf(t *testing.T, rows Rows) (text string) {
	t.Helper()
	for d, err := range rows {
		if err != nil {
			t.Fatal(err)
		}
		text += bsoncore.Document(d).String() + "\n"
	}
	return text
}
