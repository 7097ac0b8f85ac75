package update

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
	"github.com/mayflydb/mayfly/internal/mongo/work"
	"github.com/mayflydb/mayfly/internal/mongo/work/worktest"
)

// A largeUpdate is applied to the document of worktest, or to its own.
type largeUpdate struct {
	name    string
	update  doc.Value
	filters []doc.Doc
	on      func() doc.Value
}

const (
	manyFields = 100_000
	manyValues = 200_000
)

// large are updates with every operator that do as much as can be.
func large() map[string][]largeUpdate {
	obj, arr := worktest.Object, worktest.Array
	one := doc.Int32(1)
	zero := func(int) doc.Value { return doc.Int32(0) }
	op := func(name string, members ...any) doc.Value { return obj(name, obj(members...)) }
	fields := func(name, prefix string, v func(i int) doc.Value) doc.Value {
		return obj(name, worktest.Fields(manyFields, func(i int) (string, doc.Value) {
			return fmt.Sprint(prefix, i), v(i)
		}))
	}
	ints := func(n int) doc.Value { return arr(n, func(i int) doc.Value { return doc.Int32(int32(i * 7919 % n)) }) }
	// What does nothing to each element.
	arrays := func() doc.Value {
		return obj("a", arr(100_000, func(int) doc.Value { return obj("x", arr(3, zero)) }))
	}
	each := func(v doc.Value, more ...any) doc.Value { return obj(append([]any{"$each", v}, more...)...) }
	small := func(name string, v doc.Value) doc.Value { return obj(name, obj("objects.$[].v", v)) }
	condition := func(text string) []doc.Doc {
		return []doc.Doc{obj("x", obj("$regex", doc.String(text))).Data}
	}
	return map[string][]largeUpdate{
		"$addToSet": {{update: op("$addToSet", "numbers", each(ints(manyValues)))},
			{update: op("$addToSet", "objects", obj("k", one))}, {update: op("$addToSet", "nested", doc.String("x"))}},
		"$bit": {{update: op("$bit", "zeros.$[]", worktest.Fields(manyValues, func(int) (string, doc.Value) {
			return "xor", one
		}))},
			{update: small("$bit", obj("or", doc.Int32(3)))}},
		"$currentDate": {{update: small("$currentDate", doc.Bool(true))},
			{update: fields("$currentDate", "f", func(int) doc.Value { return doc.Bool(true) })}},
		"$inc": {{update: small("$inc", one)}, {update: fields("$inc", "f", zero)},
			{update: op("$inc", "decimals.$[]", doc.Double(0.5))}},
		"$max": {{update: op("$max", "nested", doc.Lookup(worktest.Document().Data, "nested2"))},
			{update: op("$max", "words.$[]", doc.String("zz"))}},
		"$min": {{update: op("$min", "nested2", doc.Lookup(worktest.Document().Data, "nested"))},
			{update: op("$min", "numbers.$[]", one)}},
		"$mul": {{update: small("$mul", one)}, {update: op("$mul", "decimals.$[]", doc.Double(0.5))}},
		"$pop": {{update: op("$pop", "numbers", one)}, {update: op("$pop", "objects", doc.Int32(-1))},
			{update: op("$pop", "pairs.$[]", one)}},
		"$pull": {{update: op("$pull", "numbers", obj("$in", ints(manyValues)))},
			{update: op("$pull", "words", obj("$regex", doc.String("(?<!x)q")))},
			{update: op("$pull", "objects", obj("v", obj("$gte", doc.Int32(5)), "k", doc.String("k1")))},
			{update: op("$pull", "numbers", doc.Int32(5))}},
		"$pullAll": {{update: op("$pullAll", "numbers", ints(manyValues))},
			{update: op("$pullAll", "words", arr(1, zero))}},
		"$push": {{update: op("$push", "numbers",
			each(ints(manyValues), "$sort", doc.Int32(-1), "$slice", doc.Int32(-5)))},
			{update: op("$push", "objects", each(arr(1, func(int) doc.Value {
				return obj("k", one)
			}), "$sort", obj("v", one, "k", doc.Int32(-1))))},
			{update: op("$push", "a.$[].x", each(ints(manyValues), "$slice", doc.Int32(0))), on: arrays},
			{update: op("$push", "numbers", one)},
			{update: op("$push", "numbers", each(ints(10), "$position", doc.Int32(0)))}},
		"$rename": {{update: fields("$rename", "f", func(i int) doc.Value { return doc.String(fmt.Sprint("g", i)) })},
			{update: op("$rename", "object", doc.String("object2"))},
			{update: op("$rename", "object.last", doc.String("object2.z"))}},
		"$set": {{update: fields("$set", "f", zero)}, {update: fields("$set", "object.m", zero)},
			{update: small("$set", one)},
			{update: op("$set", "numbers.1100000", one)},
			{name: "arrayFilters", update: op("$set", "words.$[x]", one), filters: condition("(?<!x)q")},
			{name: "arrayFilters", update: op("$set", "numbers.$[x]", one),
				filters: []doc.Doc{obj("x", obj("$in", ints(manyValues))).Data}},
			{name: "the same element", update: obj("$set", obj("objects.$[].v", one, "objects.$[x].k", one)),
				filters: []doc.Doc{obj("x.v", obj("$gt", one)).Data}},
			{name: "positional", update: obj("$set", worktest.Fields(manyFields, func(i int) (string, doc.Value) {
				if i == 0 {
					return "numbers.$", zero(i)
				}
				return fmt.Sprint("numbers.1", i), zero(i)
			}))}},
		"$setOnInsert": {{update: fields("$setOnInsert", "f", zero)}},
		"$unset": {{update: fields("$unset", "numbers.$[].f", zero)},
			{update: fields("$unset", "object.m", zero)}, {update: fields("$unset", "objects.$[].f", zero)}},
	}
}

// TestEveryOperatorStops applies updates again and again, and has them stopped after a while; and the same while they
// are compiled.
func TestEveryOperatorStops(t *testing.T) {
	table := large()
	for _, name := range Operators() {
		updates, known := table[name]
		if !known {
			t.Errorf("%s is not in the table of this test: add its largest arguments", name)
		}
		for i, u := range updates {
			on := worktest.Document()
			if u.on != nil {
				on = u.on()
			}
			what := strings.TrimSpace(fmt.Sprint(name, " ", i+1, " ", u.name))
			compiled, err := Compile(u.update.Data, Options{ArrayFilters: u.filters})
			if err != nil {
				t.Errorf("%s: %v", what, err)
				continue
			}
			var room []byte
			worktest.Stops(t, what, func(m *work.Meter) error {
				out, changed, err := compiled.Apply(room[:0], on.Data,
					filter.Where{Path: "numbers", Element: 7, Found: true},
					Input{Now: now.Now, Meter: m})
				if changed {
					room = out
				}
				return err
			})
			if len(u.update.Data) < 64<<10 {
				continue
			}
			var stop func() error
			worktest.Stops(t, what+", compiled", func(m *work.Meter) error {
				names := expression.NewNames()
				stop = m.Ask
				names.StopBy(func() error { return stop() })
				_, err := Compile(u.update.Data, Options{ArrayFilters: u.filters, Names: names})
				return err
			})
		}
	}
}
