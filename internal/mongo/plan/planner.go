package plan

import (
	"math"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
)

// Limits on a plan.
const (
	maxLegs      = 64      // scans of one plan: a document of the last one is checked against all others
	maxProduct   = 1000    // intervals from combining several columns
	maxWork      = 1 << 20 // conditions examined before the branches of an $or are given up
	smallLimit   = 1000    // documents: up to this limit, order is worth more than narrow bounds
	noExecutable = code.Code(291)
)

// A planner compares the indexes of a container for one query.
type planner struct {
	query   *Query
	indexes []access.NamedIndex
	hinted  int // the only index that may be used, -1 for any
	budget  int
	count   CountEntries
	counted int      // entries
	like    *Plan    // whose walk goes on, nil if there is none
	winners []winner // of the calls of bestCandidate so far

	merging   bool // the branches of an $or are to be in the order of the sort, each
	avoidable bool // a contest was won without the order of the sort, which its favourite has
}

// A winner is the best candidate of a call of bestCandidate.
type winner struct {
	index uint32 // noIndex for none
	by    int    // see candidate
	score int
	spent int // of the budget
}

const noIndex = math.MaxUint32

func (p *planner) hasIdentity() bool {
	return len(p.indexes) > 0 && p.indexes[0].Index == access.Identity
}

func (p *planner) choose(made *Plan, all *conjunction) (*Plan, error) {
	best := p.bestCandidate(all, true)
	var legs []candidate
	score, merged := 0, false
	for _, or := range all.ors {
		if p.hinted >= 0 && best.score > scoreWhole {
			break
		}
		if found, least, ok := p.mergedBranches(or, all); ok {
			if least > score {
				legs, score, merged = found, least, true
			}
			continue
		}
		found, least, ok := p.branches(or, all)
		if !ok {
			continue
		}
		if whole, ok := p.merge(found); ok {
			if whole.score > best.score {
				best = whole
			}
		} else if least > score {
			legs, score, merged = found, least, false
		}
	}
	if best.score == 0 && score == 0 && p.hinted < 0 {
		best = p.complement(all)
	}
	made.winners = p.winners
	switch {
	case score > best.score:
		made.rooted = made.query.Filter.Tree().Kind == filter.Or
		made.Sorted = made.Sorted || merged
	case best.score > 0:
		legs = []candidate{best}
		made.Sorted = made.Sorted || best.sorted
	case p.hinted >= 0:
		return nil, p.planError(noExecutable, "No query solutions")
	default:
		p.shortcut(made, all)
		return made, nil
	}
	made.SortAvoidable = !made.Sorted && (p.avoidable || p.like != nil && p.like.SortAvoidable)
	made.identity = isIdentity(made, legs)
	p.follow(made, legs)
	p.shortcut(made, all)
	return made, nil
}

// follow makes the plan one of the scans of candidates.
func (p *planner) follow(made *Plan, legs []candidate) {
	made.together = len(legs) == 1
	made.legs, made.scans = made.leg[:0], made.scan[:0]
	for i := range legs {
		ix := &p.indexes[legs[i].index]
		for _, c := range legs[i].apart(ix) {
			made.legs = append(made.legs, leg{c, ix})
			made.scans = append(made.scans, c.scan(ix))
		}
	}
	made.Access.Of, made.Access.Merged = &made.scans, len(made.legs) > 1 && made.legs[0].merged
}

// isIdentity reports whether the filter is {_id: value} and the plan finds the document by it.
func isIdentity(made *Plan, legs []candidate) bool {
	f := made.query.Filter
	if f == nil || len(legs) != 1 || made.indexes[legs[0].index].Index != access.Identity {
		return false
	}
	n := f.Tree()
	return n.Kind == filter.Equal && n.Path == "_id" && isPoint(n.Value) && made.query.Hint.Type == 0
}

// bestCandidate returns the candidate with the highest score for a conjunction, or one that has won a contest with it,
// and one with score 0 if no index helps. The query's sort matters only if ordered is set. Of equal candidates it takes
// the first index.
func (p *planner) bestCandidate(all *conjunction, ordered bool) (best candidate) {
	budget := p.budget
	if c, ok := p.bestBefore(all, ordered); ok {
		return p.note(c, budget)
	}
	for i := range p.indexes {
		ix := &p.indexes[i]
		if p.hinted >= 0 && i != p.hinted || ix.Hidden {
			continue
		}
		p.budget -= len(all.list) * len(ix.Columns)
		c := p.fit(i, all, ordered)
		if c.score > best.score ||
			c.score == best.score && c.score > 0 && len(ix.Columns) < len(p.indexes[best.index].Columns) {
			best = c
		}
	}
	return p.note(p.contest(all, best, ordered), budget)
}

// bestBefore is the candidate that the same call of the plan has given that is to go on, even if there is a better
// index now. It is not ok if the index is gone.
func (p *planner) bestBefore(all *conjunction, ordered bool) (c candidate, ok bool) {
	if p.like == nil || len(p.winners) >= len(p.like.winners) {
		return c, false
	}
	before := p.like.winners[len(p.winners)]
	if before.index == noIndex {
		p.budget -= before.spent
		return c, true
	}
	for i := range p.indexes {
		if p.indexes[i].Index == before.index {
			if c = p.fitBy(i, all, before.by, ordered); c.score == 0 {
				return c, false
			}
			c.score = before.score
			p.budget -= before.spent
			return c, true
		}
	}
	return c, false
}

// note remembers what bestCandidate gives, which has begun with that budget.
func (p *planner) note(best candidate, budget int) candidate {
	w := winner{index: noIndex, by: best.by, score: best.score, spent: budget - p.budget}
	if best.score > 0 {
		w.index = p.indexes[best.index].Index
	}
	p.winners = append(p.winners, w)
	return best
}

// branches finds candidates for each branch of an $or inside of outer conditions. least is the lowest of their scores.
func (p *planner) branches(or *filter.Node, outer *conjunction) (legs []candidate, least int, ok bool) {
	if len(or.Children) > maxLegs {
		return nil, 0, false
	}
	least = scoreOr
	for _, branch := range or.Children {
		if p.budget -= len(outer.list); p.budget < 0 {
			return nil, 0, false
		}
		all := conjunction{list: append([]*condition(nil), outer.list...)}
		all.add(branch, nil)
		if all.nothing {
			continue
		}
		found, score, ok := p.branch(&all)
		if !ok || len(legs)+len(found) > maxLegs {
			return nil, 0, false
		}
		legs, least = append(legs, found...), min(least, score-1)
	}
	return legs, least, len(legs) > 0
}

// merge joins candidates that bound the first column of the same index into one.
func (p *planner) merge(legs []candidate) (whole candidate, ok bool) {
	ix := &p.indexes[legs[0].index]
	whole = candidate{index: legs[0].index, wider: true}
	var spans []span
	for i := range legs {
		c := &legs[i]
		if c.index != whole.index || len(c.bounds) != 1 || ix.Wildcard || len(legs) == 1 {
			return whole, false
		}
		spans = append(spans, c.bounds[0]...)
		whole.used, whole.single = append(whole.used, c.used...), whole.single || c.single
	}
	whole.bounds = [][]span{distinct(unite(spans))}
	whole.rate(ix)
	whole.order(ix, p.query.Sort)
	if whole.sorted {
		whole.score += p.orderScore()
	}
	return whole, true
}

// orderScore is the score for the order of the sort.
func (p *planner) orderScore() int {
	if p.query.Limit > 0 && p.query.Limit <= smallLimit {
		return scoreFirst
	}
	return scoreSorted
}

// branch finds candidates for one branch, which may contain an $or itself.
func (p *planner) branch(all *conjunction) (legs []candidate, score int, ok bool) {
	if best := p.bestCandidate(all, p.merging); best.score >= scoreWhole {
		return []candidate{best}, best.score, true
	}
	for _, or := range all.ors {
		found, least, ok := p.branches(or, all)
		if ok && least > score {
			legs, score = found, least
		}
	}
	return legs, score, score > 0
}
