package plan

import "slices"

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
	sort := p.query.Sort
	defer func() { p.query.Sort = sort }()
	for n := len(sort); n > 0; n-- {
		p.query.Sort = sort[:n]
		if best := p.inOrder(made, all, n < len(sort)); best.sorted {
			s := &Plan{query: made.query, indexes: made.indexes, Sorted: n == len(sort), SortedBy: n}
			p.follow(s, []candidate{best})
			made.Shortcut = s
			return
		}
	}
}

// inOrder finds the best candidate with the order of the sort: that of the plan itself, if it may have it.
func (p *planner) inOrder(made *Plan, all *conjunction, own bool) (best candidate) {
	if own && len(made.legs) == 1 {
		c := made.legs[0].candidate
		if c.order(made.legs[0].index, p.query.Sort); c.sorted {
			return c
		}
	}
	for i := range p.indexes {
		if p.indexes[i].Hidden {
			continue
		}
		if c := p.fit(i, all, true); c.sorted && c.score > best.score {
			best = c
		}
	}
	return best
}
