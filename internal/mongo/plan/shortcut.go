package plan

// shortcut finds an index in the order of the sort for a plan that sorts although the client wants few documents. Rules
// prefer values to orders, because a walk in order may have to go far: how far, entries do not tell.
func (p *planner) shortcut(made *Plan, all *conjunction) {
	limit := p.query.Limit
	if p.hinted >= 0 || made.Sorted || len(made.legs) != 1 || limit <= 0 || limit > smallLimit ||
		!made.legs[0].hasOneKey() {
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

// hasOneKey reports whether all entries of a scan have the same key, so that their documents come in order of creation.
// A sort keeps that order for documents of equal keys, and the shortcut can, too.
func (l *leg) hasOneKey() bool {
	for i := range l.index.Columns {
		if !l.hasOneValue(i) {
			return false
		}
	}
	return !l.index.Wildcard
}
