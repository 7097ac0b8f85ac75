package node

import (
	"context"
	"errors"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/fault"
)

// markEvery is how much progress of the clock a crash may forget.
const markEvery = time.Second

// standstill is how far the machine may be behind what the data has seen
// before a real clock that holds still is worth a word: less than this is the
// machine's clock being set right.
const standstill = time.Second

// startClock makes the clock that goes on where the data's own history ends.
func (n *Node) startClock(ctx context.Context, o Options) error {
	mark, wall := n.catalog.ClockMark(), clock.Wall()
	if o.Virtual {
		start := o.VirtualStart
		if start.IsZero() && mark.IsZero() {
			start = wall
		}
		if mark.After(start) {
			start = mark
		}
		n.virtual = clock.NewVirtual(start)
		n.clock = n.virtual
		return n.saveMark(ctx, n.virtual.Now())
	}
	if ahead := mark.Sub(wall); ahead > standstill {
		n.log.Warn("the data has seen a later time than this machine shows, so the clock stands still until then",
			"clock", mark, "machine", wall)
	}
	real := clock.NewReal(mark)
	n.clock, n.real = real, real
	failed, seen := false, uint64(0)
	n.stopMarks = real.Every(markEvery, func(now time.Time) {
		answered := n.answered.Load()
		if answered == seen {
			return // nobody has seen this time: an idle mayfly leaves the disk alone
		}
		seen = answered
		err := n.saveMark(context.Background(), now)
		if err != nil && !failed {
			n.log.Error("the clock's mark is not saved, and tried again each second", "error", err)
		} else if err == nil && failed {
			n.log.Info("the clock's mark is saved again")
		}
		failed = err != nil
	})
	return nil
}

func (n *Node) saveMark(ctx context.Context, now time.Time) error {
	return n.catalog.SaveClockMark(ctx, now)
}

// Move moves a virtual clock to the instant that to makes of the present one
// and returns where it stands, with everything done that became due. The instant is
// durable before any request sees it, so that no restart falls behind it. It fails with fault.Conflict when the clock is real,
// fault.Invalid when the instant lies before the present or too far beyond it.
func (n *Node) Move(ctx context.Context, to func(now time.Time) time.Time) (time.Time, error) {
	if n.virtual == nil {
		return time.Time{}, fault.New(fault.Conflict, "the clock is real and moves by itself: start mayfly with --clock=virtual to move it")
	}
	n.moving.Lock()
	defer n.moving.Unlock()
	now := n.virtual.Now()
	target := to(now)
	switch {
	case target.Before(now):
		return now, fault.Wrap(fault.Invalid, clock.ErrBackwards, "the clock moves forward only: it shows %s", now.Format(time.RFC3339Nano))
	case target.After(clock.Limit):
		return now, fault.Wrap(fault.Invalid, clock.ErrLimit, "the clock does not go beyond %s", clock.Limit.Format(time.RFC3339))
	}
	if err := n.saveMark(ctx, target); err != nil {
		return now, err
	}
	if err := n.virtual.Set(target); err != nil { // only Move moves it, and has checked
		return now, errors.Join(errors.New("virtual clock"), err)
	}
	return n.virtual.Now(), nil
}

// Clock is the node's clock.
func (n *Node) Clock() clock.Clock { return n.clock }

// StandsStill reports whether a real clock waits for this machine's, because
// the data has seen a later time.
func (n *Node) StandsStill() bool { return n.real != nil && n.real.Ahead() >= standstill }

// Virtual reports whether the clock is virtual.
func (n *Node) Virtual() bool { return n.virtual != nil }
