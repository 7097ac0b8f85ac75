package plan

import (
	"slices"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
)

// A compositeMatch is a composite index that has an order.
type compositeMatch struct {
	ordinal int
	equal   int  // number of fixed columns before those of the order
	reverse bool // the index is read backward
}

// compositeFor finds the composite index with exactly these keys. The schema lists columns up to the first system
// property, so later keys are ignored.
func (b *builder) compositeFor(keys []sortKey) *compositeMatch {
	if added := slices.IndexFunc(keys, func(k sortKey) bool { return system(k.path) }); added >= 0 {
		keys = keys[:added]
	}
	for _, reverse := range []bool{false, true} {
		for i, columns := range b.env.Schema.Composite {
			if len(columns) == len(keys) && follows(columns, keys, reverse) {
				return &compositeMatch{ordinal: i, reverse: reverse}
			}
		}
	}
	return nil
}

// follows reports that columns and keys have the same paths and the same directions, or opposite directions if
// reverse is set.
func follows(columns []access.Column, keys []sortKey, reverse bool) bool {
	for i, key := range keys {
		if !slices.Equal(columns[i].Path, key.path) || columns[i].Descending != (key.descending != reverse) {
			return false
		}
	}
	return true
}

// compositeOrder walks a composite index that has the order of the query: after columns that the filter or the
// partition fixes, or from its start if the filter leaves many documents. In a partition, these columns have to be
// those of the partition key; otherwise sorting in memory is cheaper.
func (b *builder) compositeOrder() bool {
	if b.inMemory || b.chosen() {
		return false
	}
	for _, m := range []*compositeMatch{b.behind, b.matched} {
		if m != nil && m.reverse == b.plan.Order.Ties && !b.fixedBeside(m) && b.walkComposite(m) {
			return true
		}
	}
	return false
}

// fixedBeside reports that another index narrows the filter to single values.
func (b *builder) fixedBeside(m *compositeMatch) bool {
	if m.equal > 0 {
		return false
	}
	first := b.env.Schema.Composite[m.ordinal][0].Path
	if _, ok := b.fixedAt(first); ok {
		return false
	}
	return slices.ContainsFunc(b.usable(), func(c condition) bool { return c.selective() })
}

// behindFixed finds the composite index with the most leading columns that the filter or the partition fixes, and whose
// next columns have the order. One with the whole partition key is better than others.
func (b *builder) behindFixed() *compositeMatch {
	var best *compositeMatch
	bestNamed := 0
	for i, columns := range b.env.Schema.Composite {
		equal := len(columns) - len(b.keys)
		if equal < 1 || slices.ContainsFunc(columns, func(c access.Column) bool { return system(c.Path) }) ||
			!b.fixed(columns[:equal]) {
			continue
		}
		named := b.partitionIn(columns[:equal])
		if best != nil && (named < bestNamed || named == bestNamed && equal <= best.equal) {
			continue
		}
		for _, reverse := range []bool{false, true} {
			if follows(columns[equal:], b.keys, reverse) {
				best, bestNamed = &compositeMatch{ordinal: i, equal: equal, reverse: reverse}, named
			}
		}
	}
	return best
}

// partitionIn is the number of leading paths of the partition key among the columns.
func (b *builder) partitionIn(columns []access.Column) int {
	paths := b.env.Schema.Partition
	n := slices.IndexFunc(paths, func(p access.Path) bool {
		return !slices.ContainsFunc(columns, func(c access.Column) bool { return slices.Equal(c.Path, p) })
	})
	if n < 0 {
		return len(paths)
	}
	return n
}

// fixed reports that the filter or the partition allows only one value in each column.
func (b *builder) fixed(columns []access.Column) bool {
	return !slices.ContainsFunc(columns, func(c access.Column) bool {
		_, ok := b.fixedAt(c.Path)
		return !ok
	})
}

// walkComposite walks a composite index, unless it has documents of many partitions and the query is about one. Other
// indexes with single values narrow the walk.
func (b *builder) walkComposite(m *compositeMatch) bool {
	columns, equal := b.env.Schema.Composite[m.ordinal], m.equal
	for equal < len(columns)-1 && b.fixed(columns[equal:equal+1]) {
		equal++
	}
	if partition, ok := b.partition(); ok && b.partitionIn(columns[:equal]) < len(partition) {
		return false
	}
	w := &access.Walk{Scope: b.in(), Range: b.compositeRange(m.ordinal, equal), Reverse: m.reverse}
	if beside := slices.DeleteFunc(b.usable(), func(c condition) bool { return !c.selective() }); len(beside) > 0 {
		narrow := b.take(beside)
		w.Set = narrow.set()
	}
	b.plan.Access.Of = w
	b.plan.Indexes.UsedComposite = append(b.plan.Indexes.UsedComposite, columnTexts(columns))
	return true
}

// compositeRange is a range in a composite index whose first columns the filter fixes. The filter's range on the next
// column bounds it, and is used up.
func (b *builder) compositeRange(ordinal, equal int) access.Range {
	columns := b.env.Schema.Composite[ordinal]
	r := access.Range{Composite: ordinal + 1}
	for _, c := range columns[:equal] {
		v, _ := b.fixedAt(c.Path)
		r.Equal = append(r.Equal, v)
	}
	if next, ok := b.rangeAt(columns[equal].Path); ok {
		r.Low, r.High = next.leaf.Low, next.leaf.High
		if r.Low == nil {
			// The index also has undefined, which is not in the range.
			r.Low = &access.Bound{Value: doc.Null()}
		}
	}
	b.use(func(c *condition) bool {
		if c.kind != within {
			return false
		}
		at := slices.IndexFunc(columns[:equal+1], func(column access.Column) bool {
			return slices.Equal(column.Path, c.leaf.Path)
		})
		if at < 0 || at == equal {
			return at == equal
		}
		_, point := b.pointAt(c.leaf.Path) // not a range that may lack the value of the partition
		return point
	})
	return r
}

// rangeAt is the range that the filter allows at a path.
func (b *builder) rangeAt(path access.Path) (condition, bool) {
	for _, c := range b.parts {
		if c.kind == within && slices.Equal(c.leaf.Path, path) {
			return c, true
		}
	}
	return condition{}, false
}

// compositeFilter uses the composite index that covers most of the filter: values of its first columns and a range of
// the next.
func (b *builder) compositeFilter() bool {
	if b.chosen() || b.resumes(ByPartition) {
		return false
	}
	ordinal, width := 0, 1
	for i, columns := range b.env.Schema.Composite {
		if n := b.told(columns); n > width {
			ordinal, width = i, n
		}
	}
	if width < 2 {
		return false
	}
	r := b.compositeRange(ordinal, width-1)
	var set access.Set = &r
	if rest := b.narrowing(); len(rest) > 0 {
		b.take(rest)
		set = access.Intersection(append([]access.Set{set}, sets(rest)...))
	}
	b.plan.Access.Of = &access.Filter{Scope: b.in(), Set: set}
	b.plan.Indexes.UsedComposite = append(b.plan.Indexes.UsedComposite, columnTexts(b.env.Schema.Composite[ordinal]))
	return true
}

// told is the number of leading columns that the partition and the filter restrict: fixed ones, then a range. It is 0
// if the partition alone does.
func (b *builder) told(columns []access.Column) int {
	n, filtered := 0, false
	for _, c := range columns {
		if system(c.Path) {
			break
		}
		_, point := b.pointAt(c.Path)
		_, fixed := b.fixedAt(c.Path)
		_, ranged := b.rangeAt(c.Path)
		filtered = filtered || point || ranged
		if fixed || ranged {
			n++
		}
		if !fixed {
			break
		}
	}
	if !filtered {
		return 0
	}
	return n
}
