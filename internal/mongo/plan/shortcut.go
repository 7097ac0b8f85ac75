package plan

import (
	"slices"

	"github.com/mayflydb/mayfly/internal/access"
)

// shortcut finds an index in the order of the sort for a plan that sorts although the client wants few documents. Rules
// prefer values to orders, because a walk in order may have to go far: how far, entries do not tell. If no index has
// all of the order, one with the first paths of the sort will do: few documents are equal in many of these, such as a
// time before an _id.
func (p *planner) shortcut(made *Plan, all *conjunction) {
	limit := p.query.Limit
	back := func(l leg) bool { return l.reverse }
	if p.hinted >= 0 || made.Sorted || limit <= 0 || limit > smallLimit ||
		slices.ContainsFunc(made.legs, back) {
		return
	}
	sort, fits := p.query.Sort, p.fits(all, p.query.Sort[0].Path)
	for n := len(sort); n > 0; n-- {
		if best := p.inOrder(made, fits, sort[:n], n < len(sort)); best.sorted {
			s := &Plan{query: made.query, indexes: made.indexes, Sorted: n == len(sort), SortedBy: n}
			p.follow(s, []candidate{best})
			made.Shortcut = s
			return
		}
	}
}

// fits lists the candidates that may have the order of a path, and all documents that the filter accepts.
func (p *planner) fits(all *conjunction, path string) (list []candidate) {
	for i := range p.indexes {
		ix := &p.indexes[i]
		column := func(c access.NamedColumn) bool { return c.Path == path }
		if ix.Hidden || !ix.Wildcard && !slices.ContainsFunc(ix.Columns, column) ||
			ix.Partial != nil && !implies(all, ix.Partial) {
			continue
		}
		c := p.fit(i, all, false)
		whole := len(c.bounds) == 0 && !c.below
		if whole && (ix.Wildcard || ix.Sparse && !excludesAll(ix, all)) {
			continue
		}
		list = append(list, c)
	}
	return list
}

// inOrder finds the best of the candidates with an order, or that of the plan itself.
func (p *planner) inOrder(made *Plan, fits []candidate, sort []access.NamedColumn, own bool) (best candidate) {
	if own && len(made.legs) == 1 {
		c := made.legs[0].candidate
		if c.order(made.legs[0].index, sort); c.sorted {
			return c
		}
	}
	for _, c := range fits {
		ix := &p.indexes[c.index]
		// Whoever follows a shortcut gives it up by the documents that come, and entries that fail a check give none.
		c.checks, c.checked = nil, nil
		if c.order(ix, sort); !c.sorted {
			c.orderMerged(ix, sort)
		}
		if c.sorted && (!best.sorted || c.score > best.score) {
			best = c
		}
	}
	return best
}
