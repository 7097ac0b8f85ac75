package node

import (
	"context"
	"errors"
	"time"

	"github.com/mayflydb/mayfly/internal/audit"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/fault"
)

// markEvery is how often the clock's mark is saved. After a crash, the clock may repeat this much time.
const markEvery = time.Second

// standstill is how far the machine's time may be behind the newest instant of the data without a warning: smaller
// steps are ordinary corrections of the machine's clock.
const standstill = time.Second

// startClock makes the clock, which shows no instant before the newest one that the data has seen.
//
// Where several processes share the data, requests go by the time of the engine.
func (n *Node) startClock(ctx context.Context, o Options) error {
	if n.catalog.Shared() {
		return n.feel(ctx)
	}
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
		n.log.Warn("the data is from a later time than this machine shows, so the clock stands still until then",
			"clock", mark, "machine", wall)
	}
	real := clock.NewReal(mark)
	n.clock, n.real = real, real
	failed, seen := false, uint64(0)
	n.stopMarks = real.Every(markEvery, func(now time.Time) {
		answered := n.answered.Load()
		if answered == seen {
			return // no request has seen this time, and an idle mayfly leaves the disk alone
		}
		seen = answered
		n.gate.Enter()
		err := n.saveMark(context.Background(), now)
		n.gate.Leave()
		if err != nil && !failed {
			n.log.Error("the clock's mark cannot be saved: trying again every second", "error", err)
		} else if err == nil && failed {
			n.log.Info("the clock's mark is saved again")
		}
		failed = err != nil
	})
	return nil
}

// saveMark keeps the clock from going back after a restart. A cluster takes care of that by itself.
func (n *Node) saveMark(ctx context.Context, now time.Time) error {
	if n.catalog.Shared() {
		return nil
	}
	return n.catalog.SaveClockMark(ctx, now)
}

// Move moves a virtual clock to the instant to(now), and returns the new time when all work that became due is done.
// The instant is durable before any request sees it, so that time does not go back after a restart. Errors:
// fault.Conflict if the clock is real, fault.Invalid if the instant is in the past or beyond clock.Limit.
func (n *Node) Move(ctx context.Context, to func(now time.Time) time.Time) (time.Time, error) {
	if n.pulse.Load() != nil {
		return time.Time{}, fault.New(fault.Conflict, "the clock is that of the cluster and moves by itself")
	}
	if n.virtual == nil {
		return time.Time{}, fault.New(fault.Conflict,
			"the clock is real and moves by itself: start mayfly with --clock=virtual to move it")
	}
	n.moving.Lock()
	defer n.moving.Unlock()
	now := n.virtual.Now()
	target := to(now)
	switch {
	case target.Before(now):
		return now, fault.Wrap(fault.Invalid, clock.ErrBackwards, "the clock moves forward only: it shows %s",
			now.Format(time.RFC3339Nano))
	case target.After(clock.Limit):
		return now, fault.Wrap(fault.Invalid, clock.ErrLimit, "the clock does not go beyond %s",
			clock.Limit.Format(time.RFC3339))
	}
	moved := audit.Event{Action: "move", Kind: "clock", Changes: []audit.Change{
		{Name: "time", Before: now.UTC(), After: target.UTC()},
	}}
	if err := n.catalog.SaveClockMark(ctx, target, moved); err != nil {
		return now, err
	}
	if err := n.virtual.Set(target); err != nil { // cannot happen: the target is checked
		return now, errors.Join(errors.New("virtual clock"), err)
	}
	return n.virtual.Now(), nil
}

// Clock is the node's clock.
func (n *Node) Clock() clock.Clock { return n.clock }

// StandsStill reports whether a real clock stands still until the machine's time reaches it, because the data is from a
// later time.
func (n *Node) StandsStill() bool { return n.real != nil && n.real.Ahead() >= standstill }

// Virtual reports whether the clock is virtual.
func (n *Node) Virtual() bool { return n.virtual != nil }
