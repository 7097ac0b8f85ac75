package exec

import (
	"math"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/plan"
	"github.com/mayflydb/mayfly/internal/doc"
)

// Positions in tokens have only the values of the order's keys, whichever index served the page. Positions of a walk
// over an index with columns fixed by the filter also have the values of those columns.

// fixed is the values of the columns before the order's keys in the plan's walk.
func (r *run) fixed() []doc.Value {
	walk, ok := r.plan.Access.Of.(*access.Walk)
	if r.order.Kind != plan.ByValue || r.plan.Sort || r.inner != nil || !ok || walk.Range.Composite == 0 {
		return nil
	}
	n := len(r.schema.Composite[walk.Range.Composite-1]) - len(r.order.Keys)
	if n < 0 || n > len(walk.Range.Equal) {
		return nil
	}
	return walk.Range.Equal[:n]
}

// toWalk converts a position of a token to one of the plan's walk.
func (r *run) toWalk(p access.Position) access.Position {
	fixed := r.fixed()
	values, number, ok := p.Values()
	if len(fixed) == 0 || !ok {
		return p
	}
	return access.ValuePosition(nil, append(fixed[:len(fixed):len(fixed)], values...), number)
}

// fromWalk converts a position of the plan's walk to one for a token.
func (r *run) fromWalk(p access.Position) access.Position {
	fixed := r.fixed()
	values, number, ok := p.Values()
	if len(fixed) == 0 || !ok || len(values) < len(fixed) {
		return p
	}
	return access.ValuePosition(nil, values[len(fixed):], number)
}

// before is a position before the document of the last row, which may have more rows. If documents have only one row,
// it is that document's own position.
func (r *run) before(t token) access.Position {
	if t.done == 0 || len(r.sel.sources) == 1 && r.sel.sources[0].kind <= fromRow {
		return t.after
	}
	step := ^uint64(0) // -1
	if r.order.Ties {
		step = 1
	}
	switch r.order.Kind {
	case plan.ByValue:
		values, number, _ := t.after.Values()
		return access.ValuePosition(nil, values, number+step)
	case plan.ByPartition:
		return t.after.InFront()
	}
	number, _ := t.after.Number()
	return access.NumberPosition(nil, number+step)
}

// inFront is a position before all documents with the same values.
func (r *run) inFront(p access.Position) access.Position {
	values, _, ok := p.Values()
	if !ok {
		return nil
	}
	number := uint64(0)
	if r.order.Ties {
		number = math.MaxUint64
	}
	return access.ValuePosition(nil, values, number)
}

// positionOf is a copy of a document's position.
func positionOf(dst access.Position, d *access.Document) access.Position {
	return append(dst[:0], d.Position...)
}
