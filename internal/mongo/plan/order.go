package plan

import "github.com/mayflydb/mayfly/internal/access"

// order decides whether an index scan returns documents in the order of a sort. It does if the columns of the index are
// those of the sort in the same sequence, all in the same direction or all in the opposite one. Columns with a single
// value do not matter.
//
// A document with several entries appears at its first entry. That is the value that it sorts by only if the sorted
// columns have no bounds and the array is not on the path of a column that has bounds.
// https://www.mongodb.com/docs/v7.0/tutorial/sort-results-with-indexes/
func (c *candidate) order(ix *access.NamedIndex, sort []access.NamedColumn) {
	if len(sort) == 0 {
		return
	}
	if ix.Wildcard {
		c.orderWildcard(ix, sort)
		return
	}
	if ix.Sparse && ix.Multikey {
		return // elements without a value have no entry, but sort as null
	}
	at, begun, reverse := 0, false, false
	for i, s := range sort {
		if hasNumber(s.Path) || ix.Multikey && !c.isApartFrom(ix, s.Path) {
			return
		}
		if !ix.Multikey && c.isConstant(ix, s.Path) {
			continue
		}
		for at < len(ix.Columns) && ix.Columns[at].Path != s.Path && c.hasOneValue(at) {
			at++
		}
		if at == len(ix.Columns) || ix.Columns[at].Path != s.Path {
			return
		}
		backward := ix.Columns[at].Descending != s.Descending
		if begun && backward != reverse || repeats(sort[:i], s.Path) {
			return
		}
		begun, reverse = true, backward
		at++
		if ix.Index == access.Identity {
			break // no two documents have the same values
		}
	}
	c.sorted, c.reverse = true, reverse
	c.single = c.single || !ix.Multikey && ix.Index != access.Identity
}

func repeats(sort []access.NamedColumn, path string) bool {
	for _, s := range sort {
		if s.Path == path {
			return true
		}
	}
	return false
}

func (c *candidate) hasOneValue(column int) bool {
	spans := c.spans(column)
	return len(spans) == 1 && spans[0].point
}

// spans are the values that entries have in a column, nil for all.
func (c *candidate) spans(column int) []span {
	switch {
	case column < len(c.bounds):
		return c.bounds[column]
	case column < len(c.checks):
		return c.checks[column]
	}
	return nil
}

// isConstant reports whether all documents of the scan have the same value at a path.
func (c *candidate) isConstant(ix *access.NamedIndex, path string) bool {
	for i := range ix.Columns {
		if ix.Columns[i].Path == path && c.hasOneValue(i) {
			return true
		}
	}
	return false
}

// isApartFrom reports whether no column with bounds or a check can have its values in the same array as the path.
func (c *candidate) isApartFrom(ix *access.NamedIndex, path string) bool {
	for i := range ix.Columns {
		if c.spans(i) != nil && firstName(ix.Columns[i].Path) == firstName(path) {
			return false
		}
	}
	return true
}
