package catalog

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/mayflydb/mayfly/internal/audit"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// A Split is the division of a range that is under way. It is immutable.
//
// Until it is completed, requests know the parent alone: its documents are copied to the keys of the new ranges, and
// each deletion leaves a key (keys.Range.Deletion). What dies in the parent is not reclaimed before the end, so that a
// version of a document that follows a copied one cannot vanish before it is copied, too.
type Split struct {
	Parent uint16    `json:"parent"`
	Bound  []byte    `json:"bound"` // where the second one of the new ranges begins
	New    [2]uint16 `json:"new"`

	// Sealed parents accept no write any more. The split is completed soon, or cancelled.
	Sealed bool `json:"sealed,omitempty"`
}

// Same reports whether both are the same split, sealed or not.
func (s *Split) Same(t *Split) bool { return s != nil && t != nil && s.New == t.New }

// Errors of a split that cannot begin.
var (
	errSplitting = fault.New(fault.Exists, "A range of this container is being split. Wait for its end.")
	errBuilding  = fault.New(fault.Exists,
		"An index of this container is being built. Wait for its end, then split the range.")
	errSplitOver = fault.New(fault.Precondition, "The split has ended, or has begun again.")
	errNarrow    = fault.New(fault.Invalid, "The range is too narrow: no bound divides it.")
	// ErrNoRange: the container has no range of that number.
	ErrNoRange = fault.New(fault.NotFound, "The container has no range of this number.")
)

// systemKeyPath is the path of the partition key of a container that was created without one.
const systemKeyPath = "/_partitionKey"

// BeginSplit begins to divide a range at a bound, nil for the middle of its effective partition keys. The store does
// the rest.
func (c *Catalog) BeginSplit(ctx context.Context, ct *Container, parent uint16, bound []byte) (*State, error) {
	return c.alter(ctx, ct, func(st *State, n *revision, _ *kv.Batch) error {
		at, err := st.mayDivide(parent, bound)
		if err != nil {
			return err
		}
		st.Splitting = &Split{Parent: parent, Bound: at}
		if err := st.numberSplit(); err != nil {
			return err
		}
		n.note("begin", "split", ct.path(), st.Splitting.changes()...)
		return nil
	})
}

// mayDivide checks that a range can be divided at a bound, nil for its middle, and returns the bound.
func (s *State) mayDivide(parent uint16, bound []byte) ([]byte, error) {
	r, ok := s.RangeNumbered(parent)
	switch {
	case s.Dialect != NoSQL:
		return nil, fault.New(fault.Unsupported, "A collection has one range, which cannot be split: "+
			"its documents have no partition key.")
	case slices.Equal(s.Partition.Paths, []string{systemKeyPath}):
		return nil, fault.New(fault.Unsupported, "The range of a container without a partition key cannot be split.")
	case !ok:
		return nil, ErrNoRange
	case s.Splitting != nil:
		return nil, errSplitting
	case s.Building != nil:
		return nil, errBuilding
	}
	version := keys.PartitionVersion(s.Partition.Version)
	if bound == nil {
		middle, ok := keys.EPKMiddle(version, s.Partition.Multi, r.Low, r.High)
		if !ok {
			return nil, errNarrow
		}
		return middle, nil
	}
	at, ok := keys.EPKCut(version, s.Partition.Multi, bound)
	if !ok || !bytes.Equal(at, bound) {
		return nil, fault.New(fault.Invalid, "The bound %X is not the hash of one value of a partition key.", bound)
	}
	if bytes.Compare(at, r.Low) <= 0 || bytes.Compare(at, r.High) >= 0 {
		return nil, fault.New(fault.Invalid, "The bound %X is not within the range, which is from %X to %X.",
			at, r.Low, r.High)
	}
	return at, nil
}

// numberSplit gives the new ranges numbers that no range of the container has had.
func (s *State) numberSplit() error {
	last := max(s.LastRange, uint16(len(s.compiled.ranges)-1))
	if int(last)+2 >= keys.MaxRanges {
		return fault.New(fault.Invalid, "The container has had %d ranges, and can have no more. "+
			"Copy it into a new container.", int(last)+1)
	}
	next := *s.Splitting
	next.New, next.Sealed = [2]uint16{last + 1, last + 2}, false
	s.Splitting, s.LastRange = &next, last+2
	return nil
}

// changes describes the split in an event.
func (s *Split) changes() []audit.Change {
	return []audit.Change{{Name: "range", Before: int64(s.Parent)},
		{Name: "ranges", After: []int64{int64(s.New[0]), int64(s.New[1])}}}
}

// restartSplit gives up what a split that is under way has copied: the copies lack entries of a new index.
func (c *Catalog) restartSplit(n *revision, b *kv.Batch, ct *Container, st *State) error {
	if st.Splitting == nil {
		return nil
	}
	c.dropCopies(n, b, ct, st.Splitting)
	return st.numberSplit()
}

// dropCopies adds to b the deletion of the keys of new ranges.
func (c *Catalog) dropCopies(n *revision, b *kv.Batch, ct *Container, s *Split) {
	for _, number := range s.New {
		lower, upper := ct.KeysOf(number).RangeBounds()
		c.dropRange(n, b, lower, upper)
	}
}

// SealSplit makes the parent of a split accept no further write. It fails with fault.Precondition if the split has
// ended.
func (c *Catalog) SealSplit(ctx context.Context, ct *Container, split *Split) error {
	_, err := c.alter(ctx, ct, func(st *State, _ *revision, _ *kv.Batch) error {
		if !st.Splitting.Same(split) {
			return errSplitOver
		}
		next := *st.Splitting
		next.Sealed = true
		st.Splitting = &next
		return nil
	})
	return err
}

// CancelSplit ends a split without a result: the parent stays, and accepts writes. The keys of its deletions stay, too:
// they are true for another split. It fails with fault.Precondition if the split has ended.
func (c *Catalog) CancelSplit(ctx context.Context, ct *Container, split *Split) error {
	_, err := c.alter(ctx, ct, func(st *State, n *revision, b *kv.Batch) error {
		if !st.Splitting.Same(split) {
			return errSplitOver
		}
		b.Frees = true
		c.dropCopies(n, b, ct, st.Splitting)
		n.note("cancel", "split", ct.path(), st.Splitting.changes()...)
		st.Splitting = nil
		return nil
	})
	if err != nil {
		return err
	}
	return c.purge(ctx)
}

// CompleteSplit puts the new ranges in the place of the parent, whose keys are deleted. Everything of the sealed parent
// must have been copied, as the stored progress says. It fails with fault.Precondition if the split has ended.
func (c *Catalog) CompleteSplit(ctx context.Context, ct *Container, split *Split) error {
	_, err := c.alterTouching(ctx, touch{Container: ct, retires: split},
		func(st *State, n *revision, b *kv.Batch) error {
			if !st.Splitting.Same(split) || !st.Splitting.Sealed {
				return errSplitOver
			}
			b.Frees = true
			if err := c.startRanges(ctx, n, b, ct, split); err != nil {
				return err
			}
			n.note("complete", "split", ct.path(), split.changes()...)
			lower, upper := ct.KeysOf(split.Parent).RangeBounds()
			c.dropRange(n, b, lower, upper)
			st.Divided, st.Splitting = divide(st.Ranges(), split), nil
			return st.compile(c.condition)
		})
	if err != nil {
		return err
	}
	return c.purge(ctx)
}

// startRanges writes the counters of the new ranges. They go on from that of the parent: its stamps and sequences, and
// the count in its numbers.
func (c *Catalog) startRanges(ctx context.Context, n *revision, b *kv.Batch, ct *Container, split *Split) error {
	var r kv.Reader = c.engine
	if c.shared {
		r = c.turn
	}
	parent, _, err := counterIn(ctx, r, ct.KeysOf(split.Parent))
	if err != nil {
		return err
	}
	var progress keys.SplitProgress
	key := ct.KeysOf(split.New[0]).Splitting(nil)
	_, err = r.Get(ctx, key, func(value []byte) (err error) {
		progress, err = keys.DecodeSplitProgress(value)
		return err
	})
	if err != nil {
		return fault.Wrap(fault.Corrupt, err, "the progress of a split of container %d cannot be read", ct.ID)
	}
	if progress.Copied != parent.Sequence {
		return fault.New(fault.Internal, "Container %d: a range is copied up to write %d of %d.",
			ct.ID, progress.Copied, parent.Sequence)
	}
	b.Delete(key)
	for i, number := range split.New {
		counter := keys.Counter{Sequence: parent.Sequence, Number: parent.Number, Stamp: parent.Stamp,
			Documents: progress.New[i].Documents, Bytes: progress.New[i].Bytes}
		if c.shared {
			counter.Epoch = n.Sequence
		}
		if counter != (keys.Counter{}) {
			b.Set(ct.KeysOf(number).Order(nil), counter.Append(nil))
		}
	}
	return nil
}

// divide puts the new ranges of a split in the place of the parent.
func divide(ranges []Range, split *Split) []Range {
	at := slices.IndexFunc(ranges, func(r Range) bool { return r.Number == split.Parent })
	old := ranges[at]
	parents := append(slices.Clone(old.Parents), old.Number)
	return slices.Replace(slices.Clone(ranges), at, at+1,
		Range{Number: split.New[0], Low: old.Low, High: split.Bound, Parents: parents},
		Range{Number: split.New[1], Low: split.Bound, High: old.High, Parents: parents})
}

// Side is the new range of a split that gets a partition, in the form that keys on disk have: 0 or 1.
func (s *Split) Side(partition []byte) int {
	if bytes.Compare(partition, s.Bound) < 0 {
		return 0
	}
	return 1
}

// Of reports whether a range is the parent.
func (s *Split) Of(number uint16) bool { return s != nil && s.Parent == number }

// sealWait is how long a write waits for the end of a split before it fails with fault.Busy.
const sealWait = 10 * time.Second

// longestPoll is the longest pause between two looks at a split that is about to end.
const longestPoll = 50 * time.Millisecond

// Unsealed waits until the split that v sees is over, or is no longer sealed. It fails with fault.Busy if that takes
// long.
func (v View) Unsealed(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, sealWait)
	defer cancel()
	err := v.Container.await(limited, func(st *State) bool {
		return !st.Splitting.Same(v.Splitting) || !st.Splitting.Sealed
	})
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return errSealed
	}
	return err
}

// SplitOver waits until a split has ended, or has begun again. A deleted container is ErrNoOwner.
func (c *Container) SplitOver(ctx context.Context, split *Split) error {
	return c.await(ctx, func(st *State) bool { return !st.Splitting.Same(split) })
}

// await returns when over says of the newest state that it is over. One of those who wait looks at it now and then, for
// all of them: a look asks the engine where several processes share the data.
func (c *Container) await(ctx context.Context, over func(*State) bool) error {
	for pause := time.Millisecond; !over(c.State()); pause = min(2*pause, longestPoll) {
		if err := c.look(ctx, pause, over); err != nil {
			return err
		}
	}
	return nil
}

// look brings the state up to date after a pause, unless it is over by the time that it is its turn.
func (c *Container) look(ctx context.Context, pause time.Duration, over func(*State) bool) error {
	select {
	case c.looking <- struct{}{}:
		defer func() { <-c.looking }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if over(c.State()) {
		return nil
	}
	if err := clock.Pause(ctx, pause); err != nil {
		return err
	}
	_, err := c.Enter(ctx, 0)
	return err
}

// Moved returns the present state if a split has replaced a range since known, else nil. It is for requests that have
// found nothing under a key that they have made with known: then the key may have become another one. Where several
// processes share the data it is nil, since a request reads its keys in the view that known holds in.
func (c *Container) Moved(ctx context.Context, known *State) (*State, error) {
	return c.authority.moved(ctx, c, known)
}

func (alone) moved(ctx context.Context, c *Container, known *State) (*State, error) {
	st := c.state.Load()
	for st.changing != nil && st.Splitting != nil && st.Splitting.Sealed { // the parent's keys may be gone already
		select {
		case <-st.changing:
			st = c.state.Load()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if st.Deleted {
		return nil, ErrNoOwner
	}
	if sameRanges(st, known) {
		return nil, nil
	}
	return st, nil
}

func (s *sharing) moved(context.Context, *Container, *State) (*State, error) { return nil, nil }

// sameRanges reports whether two states of a container have the same ranges: each split makes one more of them.
func sameRanges(a, b *State) bool { return len(a.compiled.ranges) == len(b.compiled.ranges) }

// Layout is the state whose ranges a snapshot of the engine has. known is a state that held when the snapshot was about
// to be taken. again says that the snapshot may have neither the old ranges nor the new ones as a whole: take another
// one, with the returned state as known. A deleted container is ErrNoOwner.
func (c *Container) Layout(
	ctx context.Context, known *State, snapshot kv.Reader,
) (st *State, again bool, err error) {
	return c.authority.layout(ctx, c, known, snapshot)
}

func (a alone) layout(ctx context.Context, c *Container, known *State, _ kv.Reader) (*State, bool, error) {
	st, err := a.moved(ctx, c, known)
	if st == nil {
		st = known
	}
	return st, st != known, err
}

func (s *sharing) layout(ctx context.Context, c *Container, known *State, r kv.Reader) (*State, bool, error) {
	if c.draft {
		return known, false, nil
	}
	switch epoch, err := epochIn(ctx, r, c); {
	case err != nil:
		return nil, false, err
	case epoch == 0:
		return nil, false, ErrNoOwner
	case epoch == known.epoch:
		return known, false, nil
	}
	st, err := s.c.stateIn(ctx, r, c)
	return st, false, err
}

// Homes are the ranges that may have the document with a number: the one in which it was created, or those which that
// one was split into.
func (s *State) Homes(number uint64) []Range {
	born := keys.RangeOfNumber(number)
	if s.Divided == nil {
		if int(born) < len(s.compiled.ranges) { // they are numbered in order
			return s.compiled.ranges[born : born+1]
		}
		return nil
	}
	var list []Range
	for _, r := range s.compiled.ranges {
		if r.Descends(born) {
			list = append(list, r)
		}
	}
	return list
}

// Descends reports whether the range is the one with a number, or was split from it.
func (r *Range) Descends(number uint16) bool {
	return r.Number == number || slices.Contains(r.Parents, number)
}

// First is the oldest range that the documents of r were created in: r itself, unless it was split from others.
func (r *Range) First() uint16 {
	if len(r.Parents) > 0 {
		return r.Parents[0]
	}
	return r.Number
}

// Lineage is the parents of a range, or of one that was split, oldest first, and itself. In the order of these lists,
// the ranges that one was split into are in its place.
func (s *State) Lineage(number uint16) []uint16 {
	for _, r := range s.compiled.ranges {
		if r.Number == number {
			return append(slices.Clone(r.Parents), number)
		}
		if at := slices.Index(r.Parents, number); at >= 0 {
			return r.Parents[:at+1]
		}
	}
	return []uint16{number}
}
