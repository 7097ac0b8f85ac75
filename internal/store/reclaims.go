package store

import (
	"context"
	"slices"
	"sync"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/keys"
)

// reclaims are where the reclaiming of one container stands, range by range.
type reclaims struct {
	step sync.Mutex // held during a step of Reclaim or Sweep: they go through the ranges in turn
	turn int        // the range with which the next step of Reclaim begins

	mu        sync.Mutex // of what follows; held for a moment only
	list      []*reclaim // by the number of the range
	forgotten int        // closed policies that were forgotten since the start
}

func (s *Store) reclaimsOf(c *catalog.Container) *reclaims {
	if known, ok := s.reclaims.Load(c); ok {
		return known.(*reclaims)
	}
	rs, _ := s.reclaims.LoadOrStore(c, &reclaims{})
	return rs.(*reclaims)
}

// of gives the reclaiming of a range.
func (rs *reclaims) of(number uint16) *reclaim {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for len(rs.list) <= int(number) {
		rs.list = append(rs.list, &reclaim{})
	}
	return rs.list[number]
}

// reclaimOf is where the reclaiming of a range stands.
func (s *Store) reclaimOf(c *catalog.Container, number uint16) *reclaim {
	return s.reclaimsOf(c).of(number)
}

// A rangeMarks says how far a range is reclaimed.
type rangeMarks struct {
	rng keys.Range
	queueMarks
	pending uint64 // documents reclaimed whose index entries are not swept
}

// whileNotReclaiming calls do at a moment at which nothing of some ranges is being reclaimed, and appends how far they
// are reclaimed then to marks.
func (s *Store) whileNotReclaiming(
	ctx context.Context, c *catalog.Container, ranges []catalog.Range, marks []rangeMarks, do func() error,
) ([]rangeMarks, error) {
	// By number, like everybody who holds several.
	held := byNumber(ranges)
	for i := range held {
		r := s.reclaimOf(c, held[i].Number)
		r.mu.Lock()
		defer r.mu.Unlock()
		if err := s.loadReclaim(ctx, c.KeysOf(held[i].Number), r); err != nil {
			return nil, err
		}
	}
	for i := range ranges {
		rng := c.KeysOf(ranges[i].Number)
		r := s.reclaimOf(c, rng.Range)
		marks = append(marks, rangeMarks{rng: rng, queueMarks: r.queueMarks, pending: r.pending})
	}
	return marks, do()
}

// forgets notes that nothing is left of the closed policies that were there when the pass over a range began, and
// returns how many of the present ones have nothing left in any range.
func (rs *reclaims) forgets(r *reclaim, ranges []catalog.Range) (count int) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	r.free = r.closed
	least := slices.MinFunc(ranges, func(a, b catalog.Range) int { return rs.freeOf(a) - rs.freeOf(b) })
	return max(0, rs.freeOf(least)-rs.forgotten)
}

// freeOf is how many closed policies have nothing left in a range, of all since the start.
func (rs *reclaims) freeOf(x catalog.Range) int {
	if int(x.Number) >= len(rs.list) {
		return 0
	}
	return rs.list[x.Number].free
}
