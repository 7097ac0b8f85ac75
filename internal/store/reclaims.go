package store

import (
	"context"
	"sync"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/keys"
)

// reclaims are where the reclaiming of one container stands, range by range.
type reclaims struct {
	step sync.Mutex // held during a step of Reclaim or Sweep: they go through the ranges in turn
	turn int        // the range with which the next step of Reclaim begins
	round

	mu   sync.Mutex // of what follows; held for a moment only
	list []*reclaim // by the number of the range
}

// A round is a pass over the documents of all ranges of a container whose deadlines are in no order. It takes as many
// steps of Reclaim as it needs, each of which goes on in the ranges that are not passed yet. Its end is that of what
// there is to do: without it, the first range would have grown old again when the last one is passed.
type round struct {
	number uint64 // from 1; 0 before the first
	under  bool   // way

	// The rules that were closed when the round began. Its passes leave no document that they have ended. Rules that
	// are closed later may have ended documents that are passed already.
	closed      []expiry.Past
	closedDates []expiry.PastDates
}

// begin begins a round unless one is under way.
func (x *round) begin(v catalog.View) {
	if v.Policy.Ordered() {
		x.under = false
		return
	}
	if !x.under {
		x.number, x.under = x.number+1, true
		x.closed, x.closedDates = v.Policy.Past, v.Policy.PastDates
	}
}

// endRound ends the round if all ranges are passed: the rules that were closed when it began are forgotten. more says
// that a range is not passed.
//
// While a range is being split, the round stays open: what the closed rules have ended is still in that range.
func (s *Store) endRound(ctx context.Context, v catalog.View, rs *reclaims) (more bool, err error) {
	if v.Splitting != nil {
		return false, nil
	}
	for _, x := range v.Ranges() {
		r := rs.of(x.Number)
		r.mu.Lock()
		passed := r.round == rs.round.number && r.passed
		r.mu.Unlock()
		if !passed { // it has begun anew, because the lease was lost in between
			return true, nil
		}
	}
	if len(rs.closed) > 0 {
		if err := s.catalog.ForgetPast(ctx, v.Container, rs.closed); err != nil {
			return false, err
		}
	}
	if len(rs.closedDates) > 0 {
		if err := s.catalog.ForgetDates(ctx, v.Container, rs.closedDates); err != nil {
			return false, err
		}
	}
	rs.under = false
	return false, nil
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
