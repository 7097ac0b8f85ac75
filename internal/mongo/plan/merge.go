package plan

import (
	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
)

// maxMerged limits the scans that one candidate becomes, as in MongoDB: internalQueryMaxScansToExplode.
const maxMerged = 200

// orderMerged decides whether an index returns documents in the order of a sort by a scan for each of several values of
// its first columns, with the scans merged. The columns of the sort follow on them, in the same sequence, and no
// document has several entries.
// https://www.mongodb.com/docs/v7.0/reference/explain-results/
func (c *candidate) orderMerged(ix *access.NamedIndex, sort []access.NamedColumn) {
	if len(sort) == 0 || len(c.bounds) == 0 || ix.Multikey || ix.Wildcard || ix.Index == access.Identity {
		return
	}
	scans := 1
	for fixed := 0; fixed+len(sort) <= len(ix.Columns); fixed++ {
		reverse, fits := follows(ix.Columns[fixed:], sort)
		if fits && c.hasOneInterval(fixed) {
			c.sorted, c.merged, c.single, c.fixed, c.reverse = true, true, true, fixed, reverse
			return
		}
		if fixed >= len(c.bounds) || len(c.bounds[fixed]) == 0 || !allPoints(c.bounds[fixed]) {
			return
		}
		if scans *= len(c.bounds[fixed]); scans > maxMerged {
			return
		}
	}
}

// follows reports whether columns begin with those of a sort, all in the same direction or all in the opposite one.
func follows(columns, sort []access.NamedColumn) (reverse, ok bool) {
	for i, s := range sort {
		backward := columns[i].Descending != s.Descending
		if columns[i].Path != s.Path || hasNumber(s.Path) || i > 0 && backward != reverse {
			return false, false
		}
		reverse = backward
	}
	return reverse, true
}

// hasOneInterval reports whether the bounds behind the first columns are one interval, once those have one value each.
func (c *candidate) hasOneInterval(fixed int) bool {
	for i := fixed; i < len(c.bounds); i++ {
		if len(c.bounds[i]) != 1 {
			return false
		}
	}
	return true
}

// apart lists the candidates that each have one value of the columns that are fixed; c itself if it is not merged.
func (c *candidate) apart(ix *access.NamedIndex) []candidate {
	list := []candidate{*c}
	if !c.merged {
		return list
	}
	for column := range c.fixed {
		var longer []candidate
		for _, x := range list {
			for i := range c.bounds[column] {
				one := x
				one.bounds = append([][]span(nil), x.bounds...)
				one.bounds[column] = []span{*inOrder(c.bounds[column], i, ix.Columns[column].Descending)}
				longer = append(longer, one)
			}
		}
		list = longer
	}
	return list
}

// mergedBranches is branches if the order of the sort comes of merging their scans.
func (p *planner) mergedBranches(or *filter.Node, outer *conjunction) (legs []candidate, least int, ok bool) {
	if len(p.query.Sort) == 0 {
		return nil, 0, false
	}
	p.merging = true
	legs, least, ok = p.branches(or, outer)
	p.merging = false
	scans := 0
	for i := range legs {
		c := &legs[i]
		if !c.merged || c.reverse != legs[0].reverse {
			return nil, 0, false
		}
		scans += len(c.apart(&p.indexes[c.index]))
	}
	return legs, least, ok && scans <= maxMerged
}
