package pipeline

import (
	"context"
	"slices"
	"testing"

	"github.com/mayflydb/mayfly/internal/doc"
)

func benchmark(b *testing.B, documents int, stages string) {
	p := compile(b, stages)
	in := orders(documents)
	m := &memory{containers: map[string][]doc.Doc{"c": slices.Collect(docsOf(orders(1000)))}, indexes: false}
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range p.Run(context.Background(), in, m.env()) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*documents), "ns/document")
}

func BenchmarkGroup(b *testing.B) {
	benchmark(b, 100_000,
		`[{$group: {_id: "$k", n: {$sum: "$n"}, avg: {$avg: "$o.n"}, max: {$max: "$s"}, count: {$count: {}}}}]`)
}

func BenchmarkGroupOfMany(b *testing.B) {
	benchmark(b, 100_000, `[{$group: {_id: "$_id", n: {$sum: "$n"}}}]`)
}

func BenchmarkMatch(b *testing.B)   { benchmark(b, 100_000, `[{$match: {n: {$gte: 50000}, k: "c"}}]`) }
func BenchmarkProject(b *testing.B) { benchmark(b, 100_000, `[{$project: {k: 1, "o.n": 1}}]`) }
func BenchmarkExclude(b *testing.B) { benchmark(b, 100_000, `[{$project: {tags: 0, "o.n": 0}}]`) }
func BenchmarkSet(b *testing.B)     { benchmark(b, 100_000, `[{$set: {m: {$add: ["$n", 1]}}}]`) }
func BenchmarkUnwind(b *testing.B)  { benchmark(b, 100_000, `[{$unwind: "$tags"}]`) }
func BenchmarkSort(b *testing.B)    { benchmark(b, 100_000, `[{$sort: {s: 1, n: -1}}]`) }
func BenchmarkSortLimit(b *testing.B) {
	benchmark(b, 100_000, `[{$sort: {s: 1, n: -1}}, {$limit: 10}]`)
}
func BenchmarkFacet(b *testing.B) {
	benchmark(b, 100_000, `[{$facet: {a: [{$count: "n"}], b: [{$match: {n: 5}}]}}]`)
}
func BenchmarkLookup(b *testing.B) {
	benchmark(b, 1000, `[{$lookup: {from: "c", localField: "n", foreignField: "n", as: "l"}}]`)
}
func BenchmarkLookupPipeline(b *testing.B) {
	benchmark(b, 1000,
		`[{$lookup: {from: "c", let: {n: "$n"}, pipeline: [{$match: {$expr: {$eq: ["$n", "$$n"]}}}, {$project: {k: `+
			`1}}], as: "l"}}]`)
}
