package pipeline

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
	"github.com/mayflydb/mayfly/internal/mongo/work"
	"github.com/mayflydb/mayfly/internal/mongo/work/worktest"
)

// What stages read: many small documents, or the one of worktest again and again.
const (
	manySmall = 50_000
	manyLarge = 6
)

func smallRows() []doc.Doc {
	all := make([]doc.Doc, manySmall)
	for i := range all {
		n := i * 7919 % manySmall
		all[i] = worktest.Object("_id", doc.Int32(int32(i)), "n", doc.Int32(int32(n)), "k", doc.Int32(int32(n%100)),
			"s", doc.String(fmt.Sprint("text ", n)),
			"next", worktest.Array(2, func(j int) doc.Value {
				return doc.Int32(int32(i + j + 1))
			}), "one", doc.Int32(1)).Data
	}
	return all
}

func largeRows() []doc.Doc { return slices.Repeat([]doc.Doc{worktest.Document().Data}, manyLarge) }

// largeStages are pipelines with every stage; those in the first list read small documents.
var largeStages = map[string][2][]string{
	"$addFields": {{`[{$addFields: {x: {$add: ["$n", 1]}}}]`},
		{`[{$addFields: {"objects.v": 1, "numbers.x": {$literal: 2}}}]`,
			`[{$addFields: {objects: {` + names(50, `: 1`) + `}}}]`}},
	"$set": {{`[{$set: {x: "$s"}}]`}, {`[{$set: {object: {` + names(50, `: "$date"`) + `}}}]`}},
	"$bucket": {{`[{$bucket: {groupBy: "$n", boundaries: [0, 100, 10000, 100000]}}]`},
		{`[{$bucket: {groupBy: "$text", boundaries: ["", "b"], output: {x: {$push: "$numbers"}}}}]`}},
	"$bucketAuto": {{`[{$bucketAuto: {groupBy: "$n", buckets: 5}}]`,
		`[{$bucketAuto: {groupBy: "$n", buckets: 5000, granularity: "E192"}}]`,
		`[{$bucketAuto: {groupBy: "$s", buckets: 40000}}]`},
		{`[{$bucketAuto: {groupBy: "$nested", buckets: 5}}]`}},
	"$count": {{`[{$count: "n"}]`}, {`[{$count: "n"}]`}},
	"$densify": {{`[{$densify: {field: "n", range: {step: 0.1, bounds: "full"}}}]`,
		`[{$densify: {field: "n", partitionByFields: ["k"], range: {step: 1, bounds: "partition"}}}]`},
		{`[{$densify: {field: "date", partitionByFields: ["text"], range: {step: 1, unit: "second", bounds: [{$date: ` +
			`"1969-12-31T00:00:00Z"}, {$date: "1970-01-02T00:00:00Z"}]}}}]`}},
	"$documents": {{`[{$documents: {$map: {input: {$range: [0, 1000000]}, in: {x: "$$this"}}}}]`}, nil},
	"$facet": {{`[{$facet: {a: [{$sort: {s: -1}}], b: [{$group: {_id: "$n"}}], c: [{$match: {n: -1}}]}}]`},
		{`[{$facet: {a: [{$project: {_id: 1}}], b: [{$match: {numbers: -1}}]}}]`}},
	"$fill": {{`[{$fill: {sortBy: {n: 1}, output: {x: {method: "locf"}, n: {method: "linear"}, s: {value: 1}}}}]`,
		`[{$fill: {sortBy: {_id: 1}, partitionByFields: ["k"], output: {one: {method: "linear"}}}}]`},
		{`[{$fill: {sortBy: {nested: 1}, output: {text: {method: "locf"}}}}]`}},
	"$graphLookup": {{`[{$graphLookup: {from: "small", startWith: "$n", connectFromField: "next", connectToField: ` +
		`"_id", as: "x"}}]`},
		{`[{$graphLookup: {from: "large", startWith: "$numbers", connectFromField: "numbers", connectToField: ` +
			`"numbers", as: "x"}}]`}},
	"$group": {{`[{$group: {_id: "$s", x: {$sum: "$n"}}}]`}, {`[{$group: {_id: "$object", x: {$first: "$nested"}}}]`}},
	"$limit": {{`[{$limit: 1000000}]`}, {`[{$limit: 1000000}]`}},
	"$lookup": {{`[{$lookup: {from: "small", localField: "next", foreignField: "_id", as: "x"}}]`,
		`[{$lookup: {from: "small", let: {n: "$n"}, pipeline: [{$match: {$expr: {$gt: ["$n", "$$n"]}}}], as: "x"}}]`},
		{`[{$lookup: {from: "large", localField: "numbers", foreignField: "zeros", as: "x"}}]`,
			`[{$lookup: {from: "small", localField: "numbers", foreignField: "n", as: "x"}}]`,
			`[{$lookup: {from: "small", localField: "ways` + strings.Repeat(".0", 90) +
				`", foreignField: "_id", as: "x"}}]`}},
	"$match": {{`[{$match: {n: -1}}]`}, {`[{$match: {"objects.v": -1}}]`}},
	"$merge": {{`[{$merge: {into: "large", whenNotMatched: "discard"}}]`},
		{`[{$merge: {into: "large", whenMatched: "merge"}}]`,
			`[{$merge: {into: "large", whenMatched: [{$set: {"objects.v": 1}}]}}]`}},
	"$out": {{`[{$out: "into"}]`}, {`[{$out: "into"}]`}},
	"$project": {{`[{$project: {s: 1, x: {$add: ["$n", 1]}}}]`},
		{`[{$project: {"objects.k": 1}}]`, `[{$project: {"objects.k": 0}}]`,
			`[{$project: {objects: {` + names(50, `: "$date"`) + `}}}]`}},
	"$redact": {{`[{$redact: "$$DESCEND"}]`},
		{`[{$redact: "$$DESCEND"}]`, `[{$redact: {$cond: [{$eq: ["$v", 1]}, "$$PRUNE", "$$DESCEND"]}}]`}},
	"$replaceRoot": {{`[{$replaceRoot: {newRoot: {x: "$$ROOT"}}}]`}, {`[{$replaceRoot: {newRoot: "$object"}}]`}},
	"$replaceWith": {{`[{$replaceWith: {x: "$$ROOT"}}]`},
		{`[{$replaceWith: {$mergeObjects: ["$object", "$object2"]}}]`}},
	"$sample": {{`[{$sample: {size: 1000}}]`}, {`[{$sample: {size: 2}}]`}},
	"$setWindowFields": {{`[{$setWindowFields: {sortBy: {n: 1}, output: {x: {$sum: "$n", window: {range: [-1000, ` +
		`1000]}}, y: {$push: "$s", window: {documents: [-500, 500]}}}}}]`},
		{`[{$setWindowFields: {partitionBy: "$text", sortBy: {_id: 1}, output: {x: {$push: "$numbers"}}}}]`}},
	"$skip": {{`[{$skip: 1000000}]`}, {`[{$skip: 1000000}]`}},
	"$sort": {{`[{$sort: {s: 1}}]`, `[{$sort: {next: -1, n: 1}}]`, `[{$sort: {s: 1}}, {$limit: 10000}]`},
		{`[{$sort: {nested: 1, text: 1}}]`, `[{$sort: {"objects.v": 1, "objects.k": -1}}]`}},
	"$sortByCount": {{`[{$sortByCount: "$s"}]`}, {`[{$sortByCount: "$nested"}]`}},
	"$unionWith": {{`[{$unionWith: "small"}]`, `[{$unionWith: {coll: "small", pipeline: [{$match: {n: -1}}]}}]`},
		{`[{$unionWith: "large"}]`}},
	"$unset": {{`[{$unset: "next.x"}]`}, {`[{$unset: ["objects.v", "pairs.x"]}]`}},
	"$unwind": {{`[{$unwind: "$next"}]`},
		{`[{$unwind: "$numbers"}]`,
			`[{$unwind: {path: "$objects", includeArrayIndex: "i", preserveNullAndEmptyArrays: true}}, {$match: ` +
				`{numbers: -1}}]`}},
}

// largeAccumulators are the arguments of every accumulator.
var largeAccumulators = map[string]string{
	"$addToSet": `%s`, "$avg": `%s`, "$first": `%s`, "$last": `%s`, "$max": `%s`, "$min": `%s`, "$push": `%s`,
	"$stdDevPop": `%s`, "$stdDevSamp": `%s`, "$sum": `%s`,
	"$count": `{}`, "$mergeObjects": `"$$ROOT"`,
	"$bottom": `{sortBy: {s: 1}, output: %s}`, "$top": `{sortBy: {s: 1, text: 1}, output: %s}`,
	"$bottomN": `{n: 1000, sortBy: {s: 1}, output: %s}`, "$topN": `{n: 10000, sortBy: {s: 1, numbers: 1}, output: %s}`,
	"$firstN": `{n: 10000, input: %s}`, "$lastN": `{n: 10000, input: %s}`, "$maxN": `{n: 10000, input: %s}`,
	"$minN":   `{n: 10000, input: %s}`,
	"$median": `{input: %s, method: "approximate"}`, "$percentile": `{input: %s, p: [0.5, 0.9], method: "approximate"}`,
}

// largeWindows are calls of the window functions that are no accumulators.
var largeWindows = map[string]string{
	"$documentNumber": `{$documentNumber: {}}`, "$rank": `{$rank: {}}`, "$denseRank": `{$denseRank: {}}`,
	"$shift":        `{$shift: {output: "$s", by: -5, default: 1}}`,
	"$expMovingAvg": `{$expMovingAvg: {input: "$n", N: 5}}`,
	"$locf":         `{$locf: "$x"}`, "$linearFill": `{$linearFill: "$n"}`,
	"$derivative":     `{$derivative: {input: "$n"}, window: {range: [-1000, 1000]}}`,
	"$integral":       `{$integral: {input: "$n"}, window: {documents: [-1000, 1000]}}`,
	"$covariancePop":  `{$covariancePop: ["$n", "$k"], window: {documents: [-1000, 1000]}}`,
	"$covarianceSamp": `{$covarianceSamp: ["$n", "$next"], window: {range: [-1000, 1000]}}`,
}

func names(n int, rest string) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprint("x", i, rest))
	}
	return strings.Join(list, ", ")
}

// TestEveryStageStops runs each stage, accumulator and window function again and again over many documents and over
// large ones, and has it stopped after a while.
func TestEveryStageStops(t *testing.T) {
	v := doc.Int32(1)
	for range 40 { // each 0 is an index and a name
		v = worktest.Array(1, func(int) doc.Value { return worktest.Object("0", v) })
	}
	small, large := smallRows(), largeRows()
	for i, d := range large {
		b, at := beginDoc(nil)
		large[i] = endDoc(doc.AppendElement(append(b, d[4:len(d)-1]...), "ways", v), at)
	}
	for _, name := range Names() {
		if isServerStage(name) || isRefused(name) {
			continue
		}
		texts, known := largeStages[name]
		if !known {
			t.Errorf("%s is not in the table of this test: add its largest arguments", name)
		}
		for i, rows := range [][]doc.Doc{small, large} {
			for _, text := range texts[i] {
				stops(t, text, rows, small, large)
			}
		}
	}
	for _, name := range Accumulators() {
		argument, known := largeAccumulators[name]
		if !known {
			t.Errorf("%s is not in the table of this test: add its largest argument", name)
		}
		with := func(v string) string { return fmt.Sprintf(`{%s: %s`, name, strings.ReplaceAll(argument, "%s", v)) }
		stops(t, `[{$group: {_id: "$one", x: `+with(`"$n"`)+`}}}]`, small, small, large)
		stops(t, `[{$group: {_id: "$n", x: `+with(`"$s"`)+`}}}]`, small, small, large)
		stops(t, `[{$group: {_id: null, x: `+with(`"$decimal"`)+`}}}]`, large, small, large)
		stops(t, `[{$group: {_id: null, x: `+with(`"$nested"`)+`}}}]`, large, small, large)
		stops(t,
			`[{$setWindowFields: {sortBy: {n: 1}, output: {x: `+with(`"$n"`)+
				`, window: {documents: [-5000, 5000]}}}}}]`, small, small, large)
	}
	for _, name := range slices.Sorted(maps.Keys(windowFunctions)) {
		call, known := largeWindows[name]
		if !known {
			t.Errorf("%s is not in the table of this test: add its largest argument", name)
		}
		stops(t, `[{$setWindowFields: {sortBy: {_id: 1}, output: {x: `+call+`}}}]`, small, small, large)
	}
}

func stops(t *testing.T, text string, rows, small, large []doc.Doc) {
	t.Helper()
	p := compile(t, text)
	worktest.Stops(t, text, func(m *work.Meter) error {
		server := &memory{containers: map[string][]doc.Doc{"small": small, "large": large}}
		env := server.env()
		env.Meter = m
		for _, err := range p.Run(t.Context(), rowsOf(rows), env) {
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// TestCompilingStops compiles stages that are about as large as can be.
func TestCompilingStops(t *testing.T) {
	const n = 100_000
	fields := func(v func(i int) doc.Value) doc.Value {
		return worktest.Fields(n, func(i int) (string, doc.Value) { return fmt.Sprint("f", i), v(i) })
	}
	one := func(int) doc.Value { return doc.Int32(1) }
	texts := worktest.Array(n, func(i int) doc.Value { return doc.String(fmt.Sprint("f", i)) })
	for name, stage := range map[string]doc.Value{
		"$match":   worktest.Object("$match", worktest.Object("a", worktest.Object("$in", texts))),
		"$project": worktest.Object("$project", fields(one)),
		"$set":     worktest.Object("$set", fields(func(int) doc.Value { return doc.String("$a") })),
		"$group": worktest.Object("$group", worktest.Object("_id", fields(func(int) doc.Value {
			return doc.String("$a")
		}))),
		"$merge": worktest.Object("$merge", worktest.Object("into", doc.String("c"), "on", texts)),
		"$setWindowFields": worktest.Object("$setWindowFields", worktest.Object("output", fields(func(int) doc.Value {
			return worktest.Object("$sum", doc.Int32(1))
		}))),
	} {
		worktest.Stops(t, name, func(m *work.Meter) error {
			names := expression.NewNames()
			names.StopBy(m.Ask)
			_, err := Compile([]doc.Value{stage}, Options{Names: names})
			return err
		})
	}
}

// TestProjectionsStop projects as find does.
func TestProjectionsStop(t *testing.T) {
	for _, text := range []string{`{numbers: {$elemMatch: {$gt: 1000000}}}`,
		`{words: {$slice: [-5, 3]}, x: {$size: "$numbers"}}`, `{objects: {$elemMatch: {v: -1}}, _id: 0}`} {
		p, err := CompileProjection(document(t, text), ProjectionOptions{Find: true})
		if err != nil {
			t.Fatal(err)
		}
		worktest.Stops(t, text, func(m *work.Meter) error {
			s := &expression.Scope{Meter: m}
			s.Reset(worktest.Document())
			_, err := p.Apply(nil, worktest.Document().Data, filter.Where{}, s)
			return err
		})
	}
}
