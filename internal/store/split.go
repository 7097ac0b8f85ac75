package store

import (
	"bytes"
	"cmp"
	"context"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/lease"
)

// splitLimits bound the work of a split.
type splitLimits struct {
	// documents, bytes of documents, and entries bound one step. With the number of entries it takes no further
	// document.
	documents, bytes, entries int
	// group is how many of the documents are read at once.
	group int
	// left is how many writes may be left to copy when the parent is sealed. After so many steps in which they did not
	// become fewer it is sealed in any case: else a split would never end where writers are as fast as it is.
	left  uint64
	steps int
}

// splitCosts is changed by tests only.
var splitCosts = splitLimits{documents: 200, bytes: 1 << 20, entries: 2_000, group: 64, left: 100, steps: 32}

// Split begins to divide a range of a container, at a bound as catalog.BeginSplit takes it. The work goes on in the
// background, in this process or another one; catalog.State.Splitting is nil at its end.
func (s *Store) Split(
	ctx context.Context, c *catalog.Container, parent uint16, bound []byte,
) (*catalog.Split, error) {
	st, err := s.catalog.BeginSplit(ctx, c, parent, bound)
	if err != nil {
		return nil, err
	}
	s.split(c)
	return st.Splitting, nil
}

// SplitProgress is how many documents of the range that is being split are copied, and about how many there are.
func (s *Store) SplitProgress(ctx context.Context, c *catalog.Container) (done, total uint64, err error) {
	split := c.State().Splitting
	if split == nil {
		return 0, 0, nil
	}
	progress, err := splitProgressIn(ctx, s.engine, c.KeysOf(split.New[0]))
	if err != nil {
		return 0, 0, err
	}
	counter, err := counterOf(ctx, s.engine, c.KeysOf(split.Parent))
	return progress.New[0].Documents + progress.New[1].Documents, counter.Documents, err
}

// splitProgressIn is the stored progress of the split whose first new range is rng.
func splitProgressIn(ctx context.Context, r kv.Reader, rng keys.Range) (p keys.SplitProgress, err error) {
	_, err = r.Get(ctx, rng.Splitting(nil), func(value []byte) (err error) {
		if p, err = keys.DecodeSplitProgress(value); err != nil {
			return corrupt(err, "progress of a split")
		}
		return nil
	})
	return p, err
}

// MedianBound is a bound that divides a range so that about as many documents are on both sides: at the partition of
// the one in the middle. It reads the key of each partition up to there. fault.Invalid if the range has no such bound.
func (s *Store) MedianBound(ctx context.Context, v catalog.View, number uint16) (bound []byte, err error) {
	snapshot, layout, err := s.snapshotOf(ctx, v.Container, v.State)
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	r, there := layout.RangeNumbered(number)
	if !there {
		return nil, catalog.ErrNoRange
	}
	rng := v.Container.KeysOf(number)
	counter, err := counterOf(ctx, snapshot, rng)
	if err != nil {
		return nil, err
	}
	lower, upper := rng.Bounds(keys.KindPosting)
	seen := uint64(0)
	err = walk(ctx, snapshot, lower, upper, func(it kv.Iterator) error {
		if seen++; seen <= counter.Documents/2 {
			return nil
		}
		partition, err := keys.PostingPartition(it.Key())
		if err != nil {
			return corrupt(err, "posting")
		}
		at, ok := keys.EPKCut(keys.PartitionVersion(layout.Partition.Version), layout.Partition.Multi, partition)
		if ok && bytes.Compare(at, r.Low) > 0 {
			bound = at
			return errFound
		}
		return nil
	})
	if err != nil && err != errFound {
		return nil, err
	}
	if bound == nil {
		return nil, errNoMedian
	}
	return bound, nil
}

var errNoMedian = fault.New(fault.Invalid,
	"The range has too few partitions to divide it in the middle of its documents.")

// CancelSplit ends a split without a result.
func (s *Store) CancelSplit(ctx context.Context, c *catalog.Container, split *catalog.Split) error {
	return s.catalog.CancelSplit(ctx, c, split)
}

// split continues the split of a range that is under way, unless this process does already.
func (s *Store) split(c *catalog.Container) {
	if c.State().Splitting == nil || s.buildsOver.Err() != nil {
		return
	}
	if _, running := s.splits.LoadOrStore(c, nil); running {
		return
	}
	s.builds.Go(func() {
		err := s.splitInTurn(s.buildsOver, c)
		s.splits.Delete(c)
		switch {
		case err == nil:
			s.split(c) // another one may have begun at the end of this one
		case err != catalog.ErrNoOwner && err != lease.ErrLost: // the container is there, and no other process splits
			s.failed.Store(&err) // the reaper asks for it through ResumeBuilds, logs it, and starts again
		}
	})
}

// splitInTurn does the split under its lease. If another process has that, it fails with lease.ErrLost.
func (s *Store) splitInTurn(ctx context.Context, c *catalog.Container) (err error) {
	l, err := s.leases.Take(ctx, leaseOf(splitLease, c))
	if err != nil {
		return err
	}
	if l == nil {
		return lease.ErrLost
	}
	defer func() { err = cmp.Or(err, l.Release(context.WithoutCancel(ctx))) }()
	w := splitWork{s: s, c: c, lease: l}
	return w.run(ctx)
}

// A splitWork copies the documents of a range that is being split.
type splitWork struct {
	s     *Store
	c     *catalog.Container
	lease *lease.Lease

	fewest uint64 // writes that were left to copy after a step
	idle   int    // steps since they became fewer
}

// run does steps until the split is over.
func (w *splitWork) run(ctx context.Context) error {
	w.fewest = ^uint64(0)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		v, err := w.c.Enter(ctx, 0)
		if err != nil || v.Splitting == nil {
			return err
		}
		if err = w.advance(ctx, v); err == lease.ErrLost {
			return err
		}
		switch fault.KindOf(err) {
		case fault.Conflict, fault.Precondition, fault.Undetermined:
			continue // the container has changed, or the next step finds out whether this one has happened
		case fault.OutOfSpace:
			// What has died in the parent frees no space before the end of the split, so it must not wait for space.
			if err := w.s.catalog.CancelSplit(ctx, w.c, v.Splitting); fault.KindOf(err) != fault.Precondition {
				return cmp.Or(err, errNoRoom)
			}
			continue
		}
		if err != nil {
			return err
		}
	}
}

var errNoRoom = fault.New(fault.OutOfSpace, "A split was cancelled: the disk has no room for a copy of the range.")

// advance copies a step, and seals the parent or completes the split if it is time.
func (w *splitWork) advance(ctx context.Context, v catalog.View) error {
	left, err := w.copy(ctx, v)
	if err != nil {
		return err
	}
	if v.Splitting.Sealed {
		if left > 0 {
			return nil
		}
		return w.s.catalog.CompleteSplit(ctx, w.c, v.Splitting)
	}
	if w.idle++; left < w.fewest {
		w.fewest, w.idle = left, 0
	}
	if left > splitCosts.left && w.idle < splitCosts.steps {
		return nil
	}
	return w.s.catalog.SealSplit(ctx, w.c, v.Splitting)
}

// copy copies the next writes of the parent, as one snapshot has them, in the order of their sequences, and returns how
// many are left. A write of a document that was copied before replaces the copy. What dies is not copied, and its copy
// is removed.
func (w *splitWork) copy(ctx context.Context, v catalog.View) (left uint64, err error) {
	ws, err := w.s.begin(ctx, v) // the view is opened before the snapshot is taken
	if err != nil {
		return 0, err
	}
	defer ws.end()
	snapshot, err := w.s.engine.Snapshot(ctx)
	if err != nil {
		return 0, err
	}
	defer snapshot.Close()
	step := splitStep{ws: ws, split: v.Splitting, from: newFetcher(snapshot), parent: w.c.KeysOf(v.Splitting.Parent)}
	for i, number := range v.Splitting.New {
		step.into[i] = w.c.KeysOf(number)
	}
	if err := step.run(ctx); err != nil {
		return 0, err
	}
	if !step.changed {
		return step.newest - step.progress.Copied, nil
	}
	b := &ws.b
	b.NoSync = true // progress and copies are lost together
	key := step.into[0].Splitting(nil)
	b.Read(key)
	b.Set(key, step.progress.Append(nil))
	if err := w.lease.Guard(ctx, b); err != nil {
		return 0, err
	}
	b.Follow(step.parent.Order(nil), unlessChanged(v))
	return step.newest - step.progress.Copied, w.s.apply(ctx, b)
}
