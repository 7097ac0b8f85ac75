package plan

import (
	"math"
	"slices"

	"github.com/mayflydb/mayfly/internal/access"
)

// CountEntries counts the index entries that a scan reads, up to most. Each interval counts one more, for its seek.
type CountEntries func(scan *access.IndexScan, most int) (int, error)

// Limits of a contest.
const (
	maxRivals  = 8 // candidates, those of the highest scores
	fewEntries = 32
	maxEntries = 8192    // counted of each candidate; among indexes that all have more, scores decide
	maxCounted = 1 << 17 // entries counted for one plan, which may have many branches
	sortFactor = 2       // what a document costs that is read and sorted, in documents that are read
)

// A rival is a candidate in a contest.
type rival struct {
	candidate
	scan    access.IndexScan
	entries int  // so many at least
	counted bool // no more than these
}

// contest decides between candidates for the same conditions by how many index entries each of them would read: scores
// tell equality from ranges, not values that few documents have from values of many. favourite, the candidate with the
// highest score, wins if no index has few entries. A candidate takes part if it bounds a condition that the favourite
// does not. The entries of all are counted in turns, each time four times as many, until the one that reads least is
// known, so a contest costs about as much as the scan of its winner.
func (p *planner) contest(all *conjunction, favourite candidate, ordered bool) candidate {
	if p.count == nil && !p.again || p.hinted >= 0 || favourite.score == 0 || favourite.score >= scoreFew ||
		favourite.below {
		return favourite
	}
	rivals := p.rivals(all, favourite, ordered)
	if len(rivals) == 0 {
		return favourite
	}
	winner := 0
	if p.again {
		winner = max(0, slices.IndexFunc(rivals, p.wonBefore()))
	} else {
		winner = p.race(rivals, ordered && len(p.query.Sort) > 0)
	}
	c := rivals[winner].candidate
	p.winners = append(p.winners, p.indexes[c.index].Index)
	c.score = favourite.score // against other branches, the filter counts, not the index
	return c
}

// wonBefore finds the winner that the same contest of an earlier plan had.
func (p *planner) wonBefore() func(rival) bool {
	if len(p.before) == 0 {
		return func(rival) bool { return false }
	}
	id := p.before[0]
	p.before = p.before[1:]
	return func(r rival) bool { return p.indexes[r.index].Index == id }
}

// rivals are the favourite and the candidates that it competes with, none if it has no competitor.
func (p *planner) rivals(all *conjunction, favourite candidate, ordered bool) []rival {
	var list []rival
	for i := range p.indexes {
		ix := &p.indexes[i]
		if i == favourite.index || ix.Hidden || !ix.Wildcard && !all.asksOf(ix.Columns[0].Path) {
			continue
		}
		p.budget -= len(all.list)
		c := p.fit(i, all, ordered)
		if c.score == 0 || len(c.bounds) == 0 || !c.uses(favourite.used) {
			continue
		}
		if list == nil {
			list = append(list, rival{candidate: favourite})
		}
		list = append(list, rival{candidate: c})
	}
	if len(list) > maxRivals {
		slices.SortStableFunc(list[1:], func(a, b rival) int { return b.score - a.score })
		list = list[:maxRivals]
	}
	return list
}

// uses reports whether the bounds of c come from a condition that is not among those.
func (c *candidate) uses(others []*condition) bool {
	return slices.ContainsFunc(c.used, func(x *condition) bool { return !slices.Contains(others, x) })
}

// race counts entries until it is known which rival reads least, and returns that one; the first, if none has few.
func (p *planner) race(rivals []rival, sorts bool) (winner int) {
	for i := range rivals {
		rivals[i].scan = rivals[i].candidate.scan(&p.indexes[rivals[i].index])
	}
	for most := fewEntries; most <= maxEntries; most *= 4 {
		matches := math.MaxInt
		for i := range rivals {
			r := &rivals[i]
			if !r.counted {
				n, err := p.count(&r.scan, most)
				if p.counted += n; err != nil || p.counted > maxCounted {
					return 0 // an error comes again when the scan begins
				}
				r.entries, r.counted = n, n < most
			}
			if r.counted {
				matches = min(matches, r.entries)
			}
		}
		if matches == math.MaxInt {
			continue
		}
		winner = 0
		for i := range rivals {
			if p.cost(&rivals[i], matches, sorts) < p.cost(&rivals[winner], matches, sorts) {
				winner = i
			}
		}
		if rivals[winner].counted {
			break
		}
	}
	return winner
}

// cost is how many documents a rival is expected to read, at least, if so many match the query. A scan in the order of
// the sort ends at the limit.
func (p *planner) cost(r *rival, matches int, sorts bool) float64 {
	n := float64(r.entries)
	switch limit := float64(p.query.Limit); {
	case sorts && !r.sorted:
		return sortFactor * n
	case sorts && limit > 0 && matches > 0:
		return min(n, limit*n/float64(matches))
	}
	return n
}
