package store

import (
	"context"
	"slices"
	"sort"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/lease"
)

// A sweep is one pass over everything that leads to documents by number: lookups, postings, unique keys and index
// entries. It removes what leads to numbers that were reclaimed before it began. Numbers are never reused, so such an
// entry cannot belong to a living document.
type sweep struct {
	runs  []run
	kind  int // index in sweptKinds
	rng   keys.Range
	next  []byte // key to go on from, nil at the start of a kind
	count uint64 // documents that the runs were counted with
}

var sweptKinds = []keys.Kind{
	keys.KindLookup, keys.KindPosting, keys.KindUnique, keys.KindEntry, keys.KindComposite, keys.KindNamed,
}

// sweepShare is the share of reclaimed documents among all that the indexes know from which a pass over the indexes is
// worth its cost. It bounds the space and the useless lookups, and the cost for each reclaimed document stays constant.
const sweepShare = 0.15

// SweepDue reports whether a sweep is under way or worth starting. waiting is how many documents are known to wait for
// their reclaim; no sweep starts before as many are reclaimed. A sweep in the middle of a wave would find little, and
// leave the rest to another one.
func (s *Store) SweepDue(ctx context.Context, c *catalog.Container, waiting uint64) bool {
	pending, documents := uint64(0), uint64(0)
	st := c.State()
	for _, x := range st.Ranges() {
		left, under, err := s.sweepState(ctx, c, x.Number)
		// A sweep that has begun goes on in any case: its runs are in memory.
		if err != nil || st.Deleted || under {
			return err == nil && !st.Deleted
		}
		pending += left
	}
	if pending == 0 || pending < waiting {
		return false
	}
	for _, x := range st.Ranges() {
		counter, err := counterOf(ctx, s.engine, c.KeysOf(x.Number))
		if err != nil {
			return false
		}
		documents += counter.Documents
	}
	return float64(pending) >= sweepShare*float64(pending+documents)
}

// sweepState is how many documents of a range are reclaimed and not swept, and whether a sweep of it is under way.
func (s *Store) sweepState(
	ctx context.Context, c *catalog.Container, number uint16,
) (pending uint64, under bool, err error) {
	r := s.reclaimOf(c, number)
	r.mu.Lock()
	defer r.mu.Unlock()
	err = s.loadReclaim(ctx, c.KeysOf(number), r)
	if err == nil && r.lease == nil {
		err = lease.ErrLost
	}
	return r.pending, r.sweep != nil, err
}

// Sweep looks at no more than limit entries and removes those that lead nowhere. The next call continues where it
// stopped; after a restart it starts from the beginning. One range is swept after the other.
func (s *Store) Sweep(ctx context.Context, c *catalog.Container, limit int) (Reclaimed, error) {
	rs := s.reclaimsOf(c)
	rs.step.Lock()
	defer rs.step.Unlock()
	if tends, err := s.Tends(ctx, c); err != nil || !tends {
		return Reclaimed{Elsewhere: err == nil}, err
	}
	var next []uint16 // the ranges with something to sweep, the one that is under way first
	st := c.State()
	for _, x := range st.Ranges() {
		pending, under, err := s.sweepState(ctx, c, x.Number)
		if err == lease.ErrLost {
			return Reclaimed{Elsewhere: true}, nil
		}
		if err != nil || st.Deleted {
			return Reclaimed{}, err
		}
		if under {
			next = append([]uint16{x.Number}, next...)
		} else if pending > 0 {
			next = append(next, x.Number)
		}
	}
	if len(next) == 0 {
		return Reclaimed{}, nil
	}
	done, err := s.sweepIn(ctx, c, next[0], limit)
	if err == lease.ErrLost {
		return Reclaimed{Elsewhere: true}, nil
	}
	done.More = err == nil && (done.More || len(next) > 1)
	return done, err
}

// sweepIn sweeps in one range.
func (s *Store) sweepIn(ctx context.Context, c *catalog.Container, number uint16, limit int) (Reclaimed, error) {
	r := s.reclaimOf(c, number)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lease == nil {
		return Reclaimed{}, lease.ErrLost
	}
	if r.sweep == nil {
		if err := s.beginSweep(ctx, c.KeysOf(number), r); err != nil {
			return Reclaimed{}, err
		}
	}
	done := Reclaimed{More: true}
	if r.sweep.kind < len(sweptKinds) {
		var err error
		done.Entries, err = s.sweepOn(ctx, r, limit)
		if fault.KindOf(err) == fault.Conflict {
			return Reclaimed{More: true}, nil // a write came first: the next call looks at the same entries again
		}
		if err != nil {
			return Reclaimed{}, err
		}
	}
	if r.sweep.kind == len(sweptKinds) {
		err := s.endSweep(ctx, c, r)
		if err == catalog.ErrNoOwner { // unless the container is gone, the range was split, and its keys with it
			_, err = c.Enter(ctx, 0)
			return done, err
		}
		if err != nil {
			return done, err
		}
		done.More = r.pending > 0 // reclaimed since the sweep began
	}
	return done, nil
}

// beginSweep takes the runs that are there now. The next document reclaimed starts a new run, since this sweep may have
// passed its entries.
func (s *Store) beginSweep(ctx context.Context, rng keys.Range, r *reclaim) error {
	runs, err := runsOf(ctx, s.engine, rng)
	if err == nil {
		r.sweep, r.last = &sweep{rng: rng, count: r.pending, runs: runs}, run{}
	}
	return err
}

// runsOf reads the runs of reclaimed numbers, in order.
func runsOf(ctx context.Context, r kv.Reader, rng keys.Range) ([]run, error) {
	var runs []run
	lower, upper := rng.Bounds(keys.KindReclaimed)
	err := walk(ctx, r, lower, upper, func(it kv.Iterator) error {
		first, err := keys.Number(it.Key())
		if err != nil {
			return corrupt(err, "reclaimed run")
		}
		last, err := keys.DecodeNumber(it.Value())
		if err != nil {
			return corrupt(err, "reclaimed run")
		}
		runs = append(runs, run{first, last})
		return nil
	})
	return runs, err
}

// forgetStep is how many runs are deleted in one batch.
const forgetStep = 500

// endSweep deletes the runs, in any number of steps: nothing leads to their numbers any more.
func (s *Store) endSweep(ctx context.Context, c *catalog.Container, r *reclaim) error {
	rng := r.sweep.rng
	for runs := range slices.Chunk(r.sweep.runs, forgetStep) {
		b := &kv.Batch{NoSync: true, Frees: true}
		for _, x := range runs {
			b.Delete(rng.Reclaimed(nil, x.first))
		}
		if err := r.lease.Guard(ctx, b); err != nil {
			return err
		}
		if err := s.apply(ctx, b); err != nil {
			return err
		}
	}
	// Documents that were reclaimed during the sweep still have entries, so they stay pending.
	pending := r.pending - min(r.pending, r.sweep.count)
	b := &kv.Batch{NoSync: true, Frees: true}
	if err := r.lease.Guard(ctx, b); err != nil {
		return err
	}
	b.Set(rng.Mark(nil), keys.ReclaimMark{Feed: r.feed, Own: r.own, Pending: pending}.Append(nil))
	b.Follow(rng.Order(nil), func(last []byte, _ *kv.Batch) ([]byte, error) {
		counter, err := keys.DecodeCounter(last)
		if err != nil {
			return nil, corrupt(err, "order counter")
		}
		if len(last) == 0 || c.Gone(counter) { // of the range, too, if it was split
			return nil, catalog.ErrNoOwner
		}
		return slices.Clone(last), nil
	})
	if err := s.apply(ctx, b); err != nil {
		r.loaded = !s.catalog.Shared() // it may have happened, see fault.Undetermined
		return err
	}
	r.pending, r.sweep = pending, nil
	return nil
}

// sweepOn continues a sweep over at most limit entries.
func (s *Store) sweepOn(ctx context.Context, r *reclaim, limit int) (removed uint64, err error) {
	sw := r.sweep
	kind := sweptKinds[sw.kind]
	lower, upper := sw.rng.Bounds(kind)
	if sw.next != nil {
		lower = sw.next
	}
	view, err := s.engine.View(ctx)
	if err != nil {
		return 0, err
	}
	b := &kv.Batch{Since: view.Mark, NoSync: true, Frees: true}
	var next []byte
	var kept arena
	seen := 0
	err = walk(ctx, view.Reader, lower, upper, func(it kv.Iterator) error {
		if seen++; seen > limit {
			next = append([]byte(nil), it.Key()...)
			return errStopped
		}
		number, err := leadsTo(kind, it)
		if err != nil {
			return corrupt(err, "index entry")
		}
		if sw.covers(number) {
			key := kept.keep(it.Key())
			if kind == keys.KindLookup || kind == keys.KindUnique {
				b.Read(key) // a new document may take the key over while the sweep looks at it
			}
			b.Delete(key)
		}
		return nil
	})
	if err != nil && err != errStopped {
		return 0, err
	}
	if len(b.Ops) > 0 {
		if err := r.lease.Guard(ctx, b); err != nil {
			return 0, err
		}
		if err := s.apply(ctx, b); err != nil {
			return 0, err
		}
	}
	if sw.next = next; next == nil {
		sw.kind++
	}
	return uint64(len(b.Ops)), nil
}

// leadsTo is the number of the document that an entry leads to.
func leadsTo(kind keys.Kind, it kv.Iterator) (uint64, error) {
	if kind == keys.KindLookup || kind == keys.KindUnique {
		return keys.DecodeNumber(it.Value())
	}
	return keys.Number(it.Key())
}

// covers reports whether a number was reclaimed before the sweep began.
func (sw *sweep) covers(number uint64) bool {
	i := sort.Search(len(sw.runs), func(i int) bool { return sw.runs[i].last >= number })
	return i < len(sw.runs) && sw.runs[i].first <= number
}
