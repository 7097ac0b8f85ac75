package plan

import (
	"strings"

	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
)

// counting returns the argument of a query that is one COUNT over documents.
func (b *builder) counting() (syntax.Expr, bool) {
	q := b.query
	if len(q.From) != 1 || q.From[0].Query != nil || q.From[0].In || len(q.From[0].Path) > 0 || len(q.GroupBy) > 0 ||
		q.Rank != nil || q.Select.Distinct || q.Select.Top != nil || q.Limit != nil {
		return nil, false
	}
	row := rowExprs(q)
	if len(row) != 1 {
		return nil, false
	}
	call, ok := row[0].(*syntax.Call)
	if !ok || call.UDF || strings.ToUpper(call.Name) != "COUNT" {
		return nil, false
	}
	return call.Args[0], true
}

// countable reports that a query needs only the number of documents that its filter selects, if indexes tell it. The
// documents of a part of the container are sooner read than the entries of a range that most documents are in.
func (b *builder) countable() bool {
	arg, ok := b.counting()
	if !ok || b.env.Base != nil {
		return false
	}
	if v, ok := b.constant(arg); ok {
		return !doc.IsUndefined(v)
	}
	c := defined(b.place(arg, b.scope))
	return c.exact && (c.kind == everything || c.kind == within && b.indexed(c.leaf.Path))
}

// countedPath converts COUNT(path) to a filter on documents with the path, if nothing else has to be checked.
func (b *builder) countedPath() bool {
	arg, ok := b.counting()
	if !ok || !b.exact || b.plan.Nothing {
		return false
	}
	if _, ok := b.constant(arg); ok {
		return false
	}
	c := defined(b.place(arg, b.scope))
	if c.kind != within || !c.exact || !b.indexed(c.leaf.Path) {
		return false
	}
	b.parts, b.countsPath = conjoin(b.parts, c), true
	b.plan.Exact = false
	return true
}

// countOnly detects that documents need only be counted.
func (b *builder) countOnly() bool {
	arg, ok := b.counting()
	if !ok || !b.plan.Exact {
		return false
	}
	if v, ok := b.constant(arg); ok {
		b.plan.Count = !doc.IsUndefined(v)
		return b.plan.Count
	}
	c := defined(b.place(arg, b.scope))
	b.plan.Count = b.countsPath || c.exact && c.kind == everything
	return b.plan.Count
}
