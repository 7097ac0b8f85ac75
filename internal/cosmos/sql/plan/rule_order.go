package plan

import (
	"slices"

	"github.com/mayflydb/mayfly/internal/access"
)

// ordered reports that the query has an order. A single row of aggregates has none, even if the service allows an
// ORDER BY.
func (b *builder) ordered() bool {
	q := b.query
	return (len(q.OrderBy) > 0 || q.Rank != nil) && (len(q.GroupBy) > 0 || !aggregates(q))
}

// resumes reports that the previous page had an order of this kind.
func (b *builder) resumes(kind OrderKind) bool {
	return b.env.Resume != nil && b.env.Resume.Kind == kind
}

// indexOrder walks the index of the only sort key, unless sorting in memory is cheaper: in a partition, or if
// equality leaves few documents.
func (b *builder) indexOrder() bool {
	if len(b.keys) != 1 || b.inMemory || b.chosen() || b.inPartition() {
		return false
	}
	path := b.keys[0].path
	if b.filtersBeside(path) || b.plan.Order.Ties != b.keys[0].descending {
		return false
	}
	b.walk(path, b.keys[0].descending)
	return true
}

// filtersBeside reports that an index on another path narrows the filter to single values.
func (b *builder) filtersBeside(path access.Path) bool {
	return slices.ContainsFunc(b.usable(), func(c condition) bool {
		return c.selective() && !(c.kind == within && slices.Equal(c.leaf.Path, path))
	})
}

// shortcut offers the index of the only sort key to a query of one partition, or with a filter by other indexes, that
// is sorted in memory: the first rows may be among the first entries.
func (b *builder) shortcut() bool {
	partition, one := b.partition()
	if len(b.keys) != 1 || b.inMemory || b.chosen() || !b.exact ||
		b.in() != nil && (!one || len(partition) < len(b.env.Schema.Partition)) {
		return false
	}
	path, descending := b.keys[0].path, b.keys[0].descending
	if b.plan.Order.Ties != descending {
		return false
	}
	var beside []condition
	for _, c := range b.parts {
		if c.kind == within && slices.Equal(c.leaf.Path, path) {
			continue
		}
		if served := b.served(c); !sameCondition(&served, &c) {
			return false
		}
		beside = append(beside, c)
	}
	w := b.along(path, descending)
	if len(beside) > 0 {
		c := both(beside...)
		w.Set = c.set()
	}
	b.plan.Shortcut = w
	return true
}

// along is a walk over the values at a path within the range that the filter allows. Without such a range, documents
// without the value are included. All documents have a stamp.
func (b *builder) along(path access.Path, reverse bool) *access.Walk {
	w := &access.Walk{Scope: b.in(), Range: access.Range{Path: path}, Reverse: reverse, Absent: !isStamp(path)}
	if around := hull(condition{kind: all, parts: b.parts}, path); around.kind == within {
		w.Range, w.Absent = around.leaf, false
	}
	return w
}

// walk reads the values at a path in their order. Tests of strings narrow it, unless all rows make one or few, when the
// order does not matter.
func (b *builder) walk(path access.Path, reverse bool) {
	w := b.along(path, reverse)
	if _, tests := b.untested(); len(tests) > 0 && !aggregates(b.query) && len(b.query.GroupBy) == 0 {
		set := both(tests...)
		w.Set = set.set()
		b.usedSingle(set)
	}
	b.use(func(c *condition) bool { return c.kind == within && slices.Equal(c.leaf.Path, path) })
	b.plan.Access.Of = w
	if !isStamp(path) {
		b.plan.Indexes.UsedSingle = appendNew(b.plan.Indexes.UsedSingle, path)
	}
}

// resumedWalk continues in the implied order of the previous page, so that its position stays valid.
func (b *builder) resumedWalk() bool {
	if b.ordered() || !b.resumes(ByValue) || len(b.env.Resume.Keys) != 1 || b.plan.Nothing {
		return false
	}
	b.plan.Order = *b.env.Resume
	path, ok := pathOf(b.env.Resume.Keys[0].Expr)
	if !ok || b.chosen() || b.in() != nil || !isStamp(path) && (system(path) || !b.indexed(path)) {
		return false
	}
	b.walk(path, false)
	return true
}

// sort sets the order if no rule has, and whether to sort in memory.
func (b *builder) sort() bool {
	natural := b.natural()
	if !b.ordered() && b.plan.Order.Kind != ByValue {
		b.plan.Order = Order{Kind: natural}
		if b.env.Resume != nil && b.env.Resume.Kind != ByValue {
			b.plan.Order.Kind = b.env.Resume.Kind
		}
	}
	if b.env.NoIndex && !b.ordered() && b.resumes(ByValue) {
		b.plan.Order = *b.env.Resume
	}
	b.plan.Sort = b.plan.Order.Kind != natural && !b.plan.Nothing
	return b.plan.Sort
}
