package pipeline

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/doc"
)

var (
	orderRounds = flag.Int("orders", 2000, "how many random pipelines TestRandomOrders compares")
	orderSeed   = flag.Uint64("order-seed", 1, "of TestRandomOrders")
)

// TestRandomOrders compares the rows of random pipelines with those of the order given.
func TestRandomOrders(t *testing.T) {
	r := rand.New(rand.NewPCG(*orderSeed, 2))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	value := func() string {
		return pick("1", "2", "null", `"x"`, "[1, 2]", "[[1], 2]", "{b: 1}", "[{b: 1}, {b: 2}]", "[]")
	}
	name := func() string { return pick("a", "b", "c", "_id") }
	path := func() string { return pick(`"a"`, `"b"`, `"c"`, `"_id"`, `"a.b"`, `"b.a"`, `"b.b"`) }
	test := func() string {
		return pick(value(), value(), "{$gt: 1}", "{$exists: false}", "{$ne: "+value()+"}", "{$elemMatch: {b: 1}}",
			"{$in: [1, null]}", "{$not: {$gte: 1}}", "{$type: \"array\"}", "{$size: 2}")
	}
	query := func() string {
		one, two := path()+": "+test(), path()+": "+test()
		field := strings.Trim(path(), `"`)
		return pick("{"+one+"}", "{"+one+", "+two+"}", "{$or: [{"+one+"}, {"+two+"}]}",
			"{$nor: [{"+one+"}]}", "{$nor: [{}]}", "{"+one+", $comment: \"x\"}", "{$comment: \"x\"}",
			"{"+one+", $expr: {$gt: [\"$"+field+"\", 1]}}")
	}
	computed := func() string {
		return pick(`"$a"`, `"$b"`, `"$a.b"`, "{$literal: 1}", `{$ifNull: ["$b", 3]}`, `["$a", "$c"]`)
	}
	stage := func() string {
		switch r.IntN(15) {
		case 0, 1, 2, 3, 4:
			return "{$match: " + query() + "}"
		case 5:
			return "{$addFields: {" + path() + ": " + computed() + "}}"
		case 6:
			fields := pick(`_id: 0, a: 1, c: "$b"`, "a: 1, b: 1", "a: "+computed(), "b: 0", `"b.a": 1`)
			return "{$project: {" + fields + "}}"
		case 7:
			return "{$unset: " + pick(`"a"`, `"b.b"`) + "}"
		case 8:
			return "{$unwind: {path: \"$" + name() + "\", preserveNullAndEmptyArrays: " + pick("true", "false") + "}}"
		case 9:
			return "{$lookup: {from: \"o\", localField: " + path() + ", foreignField: \"a\", as: " + path() + "}}"
		case 10:
			return "{$sort: {" + path() + ": " + pick("1", "-1") + "}}"
		case 11:
			return "{$skip: 1}"
		case 12:
			return pick(`{$unionWith: "o"}`, "{$facet: {a: [{$match: "+query()+"}]}}",
				"{$group: {_id: "+computed()+"}}")
		}
		return "{$limit: " + pick("1", "2", "5") + "}"
	}
	moved, failed := 0, 0
	for range *orderRounds {
		var docs, others []string
		for i := range 6 {
			docs = append(docs, fmt.Sprintf("{_id: %d, a: %s, b: %s}", i, value(), value()))
			others = append(others, fmt.Sprintf("{_id: %d, a: %s}", i, value()))
		}
		docs = append(docs, "{_id: 6}", "{_id: 7, b: 1}")
		var stages []string
		for range 2 + r.IntN(4) {
			stages = append(stages, stage())
		}
		asked := "[" + strings.Join(stages, ", ") + "]"
		containers := map[string][]doc.Doc{"c": documentsOf(t, docs), "o": documentsOf(t, others)}
		rows := func(asGiven bool) (*Pipeline, []string) {
			p, err := Compile(stagesOf(t, asked), Options{asGiven: asGiven})
			if err != nil {
				return p, []string{describeError(err)}
			}
			m := &memory{containers: containers}
			return p, lines(t, p.Run(context.Background(), rowsOf(containers["c"]), m.env()))
		}
		given, want := rows(true)
		reordered, got := rows(false)
		if len(want) > 0 && strings.HasPrefix(want[len(want)-1], "error") {
			failed++ // it may have failed for a document that a stage leaves out
			continue
		}
		if !slices.EqualFunc(given.Stages(), reordered.Stages(), slices.Equal) {
			moved++
		}
		if !slices.Equal(got, want) {
			var order []string
			for _, spec := range reordered.Stages() {
				order = append(order, string(appendValue(nil, doc.Object(spec))))
			}
			t.Fatalf("%s\nruns as\n%s\nand gives\n%s\nnot\n%s\nof\n%s", asked, strings.Join(order, "\n"),
				strings.Join(got, "\n"), strings.Join(want, "\n"), strings.Join(docs, "\n"))
		}
	}
	if moved < *orderRounds/8 || failed > *orderRounds/4 {
		t.Errorf("%d of %d pipelines are reordered, %d fail", moved, *orderRounds, failed)
	}
}

// TestLongPipelinesCompile has a pipeline whose stages could be compared for minutes: some of them stay where they are.
func TestLongPipelinesCompile(t *testing.T) {
	var names []string
	for i := range 500 {
		names = append(names, fmt.Sprintf("a%d: 1", i))
	}
	var stages []string
	for i := range 400 {
		stages = append(stages, fmt.Sprintf("{$addFields: {x%d: 1}}", i), "{$match: {"+strings.Join(names, ", ")+"}}")
	}
	ahead := 0
	for _, spec := range compile(t, "["+strings.Join(stages, ", ")+"]").Stages() {
		if doc.Lookup(spec, "$match").Type == 0 {
			break
		}
		ahead++
	}
	if ahead == 0 || ahead > namesCompared/len(names) {
		t.Errorf("%d of 400 stages go ahead of all others", ahead)
	}
}

// TestSafeOrder: a pipeline that holds more documents than it must have room for can run in another order, unless it
// writes.
func TestSafeOrder(t *testing.T) {
	for asked, want := range map[string]bool{
		`[{$project: {a: 1}}, {$sort: {a: 1}}, {$limit: 5}]`:                                         false,
		`[{$project: {a: 1}}, {$sort: {a: 1}}, {$limit: 50}]`:                                        true,
		`[{$project: {a: 1}}, {$sort: {a: 1}}, {$limit: 50}, {$merge: "o"}]`:                         false,
		`[{$facet: {x: [{$project: {a: 1}}, {$sort: {a: 1}}, {$limit: 50}]}}]`:                       false,
		`[{$sort: {a: 1}}, {$project: {a: 1}}, {$limit: 50}, {$match: {a: 1}}]`:                      false,
		`[{$lookup: {from: "o", localField: "a", foreignField: "a", as: "found"}}, {$sort: {a: 1}}]`: false,
	} {
		if got := compile(t, asked).Safe() != nil; got != want {
			t.Errorf("%s: %v, want %v", asked, got, want)
		}
	}
}

func documentsOf(t *testing.T, lines []string) (list []doc.Doc) {
	for _, line := range lines {
		list = append(list, document(t, line))
	}
	return list
}
