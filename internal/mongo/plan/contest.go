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
	maxSorted  = 1000    // documents that are sorted although an index has the order
)

// A rival is a candidate in a contest.
type rival struct {
	candidate
	scan    access.IndexScan // once its entries are counted
	entries int              // so many at least
	counted bool             // no more than these
}

// contest decides between candidates for the same conditions by how many index entries each of them would read: scores
// tell equality from ranges, not values that few documents have from values of many. favourite, the candidate with the
// highest score, wins if no index has few entries. A candidate, of the same index too, takes part if it bounds a
// condition that the favourite does not. The entries of all are counted in turns, each time four times as many, until
// the one that reads least is known, so a contest costs about as much as the scan of its winner.
func (p *planner) contest(all *conjunction, favourite candidate, ordered bool) candidate {
	if p.count == nil || p.hinted >= 0 || favourite.score == 0 || favourite.score >= scoreFew || favourite.below {
		return favourite
	}
	rivals := p.rivals(all, favourite, ordered)
	if len(rivals) == 0 {
		return favourite
	}
	c := rivals[p.race(rivals, ordered && len(p.query.Sort) > 0)].candidate
	p.avoidable = p.avoidable || ordered && favourite.sorted && !c.sorted
	c.score = favourite.score // against other branches, the filter counts, not the index
	return c
}

// rivals are the favourite and the candidates that it competes with, none if it has no competitor.
func (p *planner) rivals(all *conjunction, favourite candidate, ordered bool) []rival {
	list := []rival{{candidate: favourite}}
	add := func(c candidate) {
		if c.score != 0 && len(c.bounds) != 0 && c.uses(favourite.used) {
			list = append(list, rival{candidate: c})
		}
	}
	for i := range p.indexes {
		ix := &p.indexes[i]
		if ix.Hidden || !ix.Wildcard && !all.asksOf(ix.Columns[0].Path) {
			continue
		}
		c := favourite
		if i != favourite.index {
			p.budget -= len(all.list) * len(ix.Columns)
			c = p.fit(i, all, ordered)
			add(c)
		}
		for _, by := range all.others(ix, &c) {
			p.budget -= len(all.list) * len(ix.Columns)
			add(p.fitBy(i, all, by, ordered))
		}
	}
	switch {
	case len(list) == 1:
		return nil
	case len(list) > maxRivals:
		slices.SortStableFunc(list[1:], func(a, b rival) int { return b.score - a.score })
		list = list[:maxRivals]
	}
	return list
}

// others lists conditions that an index could look up instead of those of a candidate for it, counted from 1: where one
// of several has to be chosen because a document has several entries.
func (a *conjunction) others(ix *access.NamedIndex, c *candidate) (list []int) {
	if !ix.Multikey && !ix.Wildcard {
		return nil
	}
	for i, x := range a.list {
		fits := ix.Wildcard && takes(ix, x.path) && x.bindWildcard() ||
			!ix.Wildcard && x.bind(ix, ix.Columns[0].Path) && weight(x.spans) > 0
		if fits && !slices.Contains(c.used, x) && len(list) < maxRivals {
			list = append(list, i+1)
		}
	}
	return list
}

// fitBy is fit for one of the conditions, counted from 1, and those that hold for the same entry; 0 is fit.
func (p *planner) fitBy(index int, all *conjunction, by int, ordered bool) candidate {
	if by == 0 || by > len(all.list) {
		return p.fit(index, all, ordered)
	}
	ix, x := &p.indexes[index], all.list[by-1]
	some := conjunction{list: make([]*condition, 0, len(all.list))}
	for _, y := range all.list {
		apart := y.path != x.path
		if ix.Wildcard {
			apart = !apart && !ix.Multikey
		}
		if y == x || apart || y.isBeside(x) {
			some.list = append(some.list, y)
		}
	}
	c := p.fit(index, &some, ordered)
	c.by = by
	return c
}

// uses reports whether the bounds of c come from a condition that is not among those.
func (c *candidate) uses(others []*condition) bool {
	return slices.ContainsFunc(c.used, func(x *condition) bool { return !slices.Contains(others, x) })
}

// race counts entries until it is known which rival reads least, and returns that one; the first, if none has few.
// Without an order, a scan ends as soon as it has found what is wanted, so less is counted if that is little.
func (p *planner) race(rivals []rival, sorts bool) (won int) {
	limit := maxEntries
	if wanted := p.query.Limit; !sorts && wanted > 0 && wanted < maxEntries/(4*fewEntries) {
		limit = 4 * fewEntries * int(wanted)
	}
	for most := fewEntries; most <= limit; most *= 4 {
		matches := math.MaxInt
		for i := range rivals {
			r := &rivals[i]
			if !r.counted {
				if err := p.countUpTo(r, most); err != nil || p.counted > maxCounted {
					return 0 // an error comes again when the scan begins
				}
			}
			if r.counted {
				matches = min(matches, r.entries)
			}
		}
		if matches == math.MaxInt {
			continue
		}
		won = 0
		for i := range rivals {
			if few := rivals[i].entries <= maxSorted; sorts && rivals[0].sorted && !rivals[i].sorted && !few {
				continue // sorts have a limit of memory
			}
			if p.cost(&rivals[i], matches, sorts) < p.cost(&rivals[won], matches, sorts) {
				won = i
			}
		}
		if rivals[won].counted {
			break
		}
	}
	return won
}

// countUpTo counts entries of a rival. Its intervals are as many at least.
func (p *planner) countUpTo(r *rival, most int) (err error) {
	if r.intervalCount() >= most {
		r.entries = most
		return nil
	}
	if r.scan.Intervals == nil {
		r.scan = r.candidate.scan(&p.indexes[r.index])
	}
	r.entries, err = p.count(&r.scan, most)
	p.counted += r.entries
	r.counted = r.entries < most
	return err
}

// intervalCount is how many intervals the bounds make.
func (c *candidate) intervalCount() int {
	n := 1
	for _, spans := range c.bounds {
		n *= len(spans)
	}
	return n
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
