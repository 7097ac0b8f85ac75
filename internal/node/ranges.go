package node

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/mayflydb/mayfly/internal/admin"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/store"
)

// splitPoll is the pause between two looks at a split that is under way.
const splitPoll = 100 * time.Millisecond

// adminRanges is the part of the admin API about ranges.
type adminRanges struct{ *Node }

func (n adminRanges) List(ctx context.Context, c *catalog.Container) (list admin.RangeList, err error) {
	ctx, leave := n.gate.enterLong(ctx)
	defer leave()
	v, usage, err := n.rangesNow(ctx, c)
	if err != nil {
		return list, whyEnded(ctx, err)
	}
	for _, u := range usage {
		r, _ := v.RangeNumbered(u.Number)
		list.Ranges = append(list.Ranges, admin.RangeState{
			ID: rangeID(r.Number), Min: fmt.Sprintf("%X", r.Low), Max: fmt.Sprintf("%X", r.High),
			Parents: rangeIDs(r.Parents...), Items: int64(u.Documents), Bytes: int64(u.Bytes),
		})
	}
	if split := v.Splitting; split != nil {
		done, total, err := n.store.SplitProgress(ctx, c)
		if err != nil {
			return list, whyEnded(ctx, err)
		}
		list.Split = &admin.SplitState{ID: rangeID(split.Parent), Into: rangeIDs(split.New[:]...),
			At: fmt.Sprintf("%X", split.Bound), Sealed: split.Sealed, Done: int64(done), Total: int64(total)}
	}
	return list, nil
}

// rangesNow is a view of a container, and the usage of each of its ranges. Usage is counted a moment after the view; if
// a split has ended in between, both are asked again.
func (n adminRanges) rangesNow(ctx context.Context, c *catalog.Container) (
	v catalog.View, usage []store.RangeUsage, err error,
) {
	for {
		if v, err = c.Enter(ctx, n.clock.Now().Unix()); err != nil {
			return v, nil, err
		}
		if usage, err = n.store.UsageByRange(ctx, v); err != nil {
			return v, nil, err
		}
		if slices.EqualFunc(usage, v.Ranges(), func(u store.RangeUsage, r catalog.Range) bool {
			return u.Number == r.Number
		}) {
			return v, usage, nil
		}
	}
}

func rangeID(number uint16) string { return strconv.Itoa(int(number)) }

func rangeIDs(numbers ...uint16) []string {
	list := []string{}
	for _, number := range numbers {
		list = append(list, rangeID(number))
	}
	return list
}

func (n adminRanges) Split(ctx context.Context, c *catalog.Container, id, at string) (
	wait func(context.Context, *admin.Operation) (any, error), cancel func(context.Context) error, err error,
) {
	ctx, leave := n.gate.enterLong(ctx)
	defer leave()
	number, err := strconv.ParseUint(id, 10, 16)
	if err != nil || strconv.FormatUint(number, 10) != id {
		return nil, nil, fault.New(fault.NotFound, "the container has no range %q", id)
	}
	bound, err := n.bound(ctx, c, uint16(number), at)
	if err != nil {
		return nil, nil, whyEnded(ctx, err)
	}
	split, err := n.store.Split(ctx, c, uint16(number), bound)
	if err == catalog.ErrNoRange {
		return nil, nil, fault.New(fault.NotFound, "the container has no range %q", id)
	}
	if err != nil {
		return nil, nil, whyEnded(ctx, err)
	}
	w := splitWait{n.Node, c, split}
	return w.wait, w.cancel, nil
}

// bound is where to split a range: nil for the middle of its keys.
func (n adminRanges) bound(ctx context.Context, c *catalog.Container, number uint16, at string) ([]byte, error) {
	switch at {
	case "", "middle":
		return nil, nil
	case "median":
		v, err := c.Enter(ctx, n.clock.Now().Unix())
		if err != nil {
			return nil, err
		}
		return n.store.MedianBound(ctx, v, number)
	}
	bound, err := hex.DecodeString(at)
	if err != nil {
		return nil, fault.New(fault.Invalid,
			`"at" is %q: send "middle", "median", or an effective partition key in hexadecimal digits`, at)
	}
	return bound, nil
}

// A splitWait waits for the end of a split.
type splitWait struct {
	n     *Node
	c     *catalog.Container
	split *catalog.Split
}

// splitDone is the result of a split.
type splitDone struct {
	Ranges []string `json:"ranges"` // ids of the new ones
}

// wait follows a split, also when it begins again because of a change of the indexing.
func (w *splitWait) wait(ctx context.Context, op *admin.Operation) (any, error) {
	ctx, leave := w.n.gate.enterLong(ctx)
	defer leave()
	for {
		v, err := w.c.Enter(ctx, w.n.clock.Now().Unix())
		if err != nil {
			return nil, w.ended(ctx, op, err)
		}
		if _, done := v.RangeNumbered(w.split.New[0]); done || slices.ContainsFunc(v.Ranges(), w.came) {
			return splitDone{rangeIDs(w.split.New[:]...)}, nil
		}
		switch {
		case v.Splitting.Of(w.split.Parent):
			w.split = v.Splitting
		default:
			return nil, fault.New(fault.Conflict, "the split of range %d was cancelled", w.split.Parent)
		}
		if done, total, err := w.n.store.SplitProgress(ctx, w.c); err == nil {
			op.Progress(int64(done), int64(total))
		}
		if err := clock.Pause(ctx, splitPoll); err != nil {
			return nil, w.ended(ctx, op, err)
		}
	}
}

// came reports whether a range came of one of the new ones, which was split at once.
func (w *splitWait) came(r catalog.Range) bool { return r.Descends(w.split.New[0]) }

// ended cancels the split if that is why the wait has ended. Else it goes on, at the latest when mayfly starts again.
func (w *splitWait) ended(ctx context.Context, op *admin.Operation, err error) error {
	if op.Cancelled() {
		if err := w.cancel(context.WithoutCancel(ctx)); err != nil && fault.KindOf(err) != fault.Precondition {
			return err
		}
	}
	return whyEnded(ctx, err)
}

func (w *splitWait) cancel(ctx context.Context) error {
	return w.n.store.CancelSplit(ctx, w.c, w.split)
}
