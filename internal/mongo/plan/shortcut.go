package plan

import "slices"

// shortcut finds an index in the order of the sort for a plan that sorts although the client wants few documents. Rules
// prefer values to orders, because a walk in order may have to go far: how far, entries do not tell.
func (p *planner) shortcut(made *Plan, all *conjunction) {
	limit := p.query.Limit
	back := func(l leg) bool { return l.reverse }
	if p.hinted >= 0 || made.Sorted || limit <= 0 || limit > smallLimit ||
		slices.ContainsFunc(made.legs, back) {
		return
	}
	var best candidate
	for i := range p.indexes {
		if p.indexes[i].Hidden {
			continue
		}
		if c := p.fit(i, all, true); c.sorted && c.score > best.score {
			best = c
		}
	}
	if !best.sorted {
		return
	}
	s := &Plan{query: made.query, indexes: made.indexes, Sorted: true}
	p.follow(s, []candidate{best})
	made.Shortcut = s
}
