package reaper_test

import (
	"context"
	"io"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
)

// A full engine takes no writes while it is told so.
type full struct {
	kv.Engine
	on *atomic.Bool
}

func (f full) Apply(ctx context.Context, b *kv.Batch) error {
	if f.on.Load() {
		return fault.New(fault.OutOfSpace, "the disk is full")
	}
	return f.Engine.Apply(ctx, b)
}

// TestPending tells a reaper that cannot do its work from one that has none, and from one that is paused.
func TestPending(t *testing.T) {
	var on atomic.Bool
	y := newYard(t, func(y *yard) {
		y.wrap = func(e kv.Engine) kv.Engine { return full{e, &on} }
		y.log = slog.New(slog.NewTextHandler(io.Discard, nil))
	})
	c := y.container("c")
	y.fill(c, 0, 100, 0)
	if p := y.Pending(); p != 0 {
		t.Errorf("pending for %s before the start", p)
	}
	y.Start()
	y.ok(y.clock.Advance(time.Second))
	y.until("nothing to be pending", func() bool { return y.Pending() == 0 })
	on.Store(true)
	y.ok(y.clock.Advance(time.Hour))
	y.until("work that fails", func() bool { return y.Pending() > 0 })
	first := y.Pending()
	y.ok(y.clock.Advance(time.Second))
	y.until("time to pass", func() bool { return y.Pending() > first })
	y.Pause()
	if p := y.Pending(); p != 0 {
		t.Errorf("pending for %s while paused", p)
	}
	y.Resume()
	on.Store(false)
	y.ok(y.clock.Advance(time.Second))
	y.until("the work", func() bool { return y.stored(c) == 0 })
	y.until("the pass to end", func() bool { return y.Pending() == 0 })
}
