package reaper

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/store"
)

// TestBucketsHoldWhatTheyCount tries every latency of few microseconds and
// powers of two beyond.
func TestBucketsHoldWhatTheyCount(t *testing.T) {
	last := -1
	try := func(us int64) {
		took := time.Duration(us) * time.Microsecond
		i := bucket(took)
		if i < last {
			t.Errorf("%v is in bucket %d, below that of less", took, i)
		}
		if bound(i) < took || i > 0 && bound(i-1) > took {
			t.Errorf("%v is in bucket %d, from %v to %v", took, i, bound(i-1), bound(i))
		}
		last = i
	}
	for us := int64(1); us <= 1024; us++ {
		try(us)
	}
	for us := int64(1024); us < (100 * time.Second).Microseconds(); us *= 2 {
		try(us)
		try(us*5/4 - 1)
		try(us * 3 / 2)
		try(us*2 - 1)
	}
}

// restBefore lets requests take that long for a while, with the reaper at rest.
func (g *governor) restBefore(t *testing.T, took time.Duration) {
	t.Helper()
	g.idle() // begins the first window
	for range 5 {
		g.second(t, 1000, took, false, 0)
	}
}

// TestSlowMachine has requests that take long already at rest.
func TestSlowMachine(t *testing.T) {
	for _, usual := range []time.Duration{40 * time.Millisecond, 300 * time.Millisecond, 2 * time.Second} {
		t.Run(usual.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var g governor
				g.restBefore(t, usual)
				before := g.rate
				g.second(t, 1000, 4*usual, true, 0)
				if g.rate >= before {
					t.Errorf("requests take four times as long and the rate goes from %.0f to %.0f", before, g.rate)
				}
				before = g.rate
				g.second(t, 1000, usual, true, 0)
				if g.rate <= before {
					t.Errorf("requests are as before and the rate goes from %.0f to %.0f", before, g.rate)
				}
			})
		})
	}
}

// TestWindowEndsInAPause is what mostly happens: the question that ends a window is
// whether there is anyone, asked before the next step.
func TestWindowEndsInAPause(t *testing.T) {
	for _, c := range []struct {
		name      string
		took      time.Duration
		sublevels int
		slower    bool
	}{
		{"all is well", time.Millisecond, 0, false},
		{"slow requests", 4 * time.Millisecond, 0, true},
		{"a stalling engine", time.Millisecond, sublevelsHigh, true},
		{"an engine that does not stall yet", time.Millisecond, sublevelsHigh - 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var g governor
				g.restBefore(t, time.Millisecond)
				before := g.rate
				g.after(32, c.sublevels)
				g.second(t, 1000, c.took, false, 0)
				if slower := g.rate < before; slower != c.slower || g.rate == before {
					t.Errorf("the rate goes from %.0f to %.0f", before, g.rate)
				}
			})
		})
	}
}

// TestPauseDuringAWait pauses a pass while it waits for its next step.
func TestPauseDuringAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(Options{Rate: 1, Store: new(store.Store), Clock: clock.NewVirtual(time.Unix(0, 0))})
		onward := make(chan bool, 1)
		go func() { onward <- r.paced(100) }()
		synctest.Wait()
		r.Pause()
		watch := clock.Start()
		if <-onward {
			t.Error("a paused pass takes another step")
		}
		if waited := watch.Elapsed(); waited > 100*time.Second {
			t.Errorf("it waited for %v", waited)
		}
		if r.paced(100) {
			t.Error("a paused pass begins")
		}
		r.Resume()
		if !r.paced(1) {
			t.Error("a resumed pass does not go on")
		}
		ended, cancel := context.WithCancel(context.Background())
		go func() {
			defer cancel()
			onward <- r.paced(1_000_000)
		}()
		synctest.Wait()
		watch = clock.Start()
		r.Stop()
		if <-onward || watch.Elapsed() != 0 {
			t.Errorf("a stopped pass goes on, after %v", watch.Elapsed())
		}
		<-ended.Done()
	})
}
