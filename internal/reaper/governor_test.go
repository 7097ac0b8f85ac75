package reaper

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
)

func TestBuckets(t *testing.T) {
	for us := 1; us < 40_000; us = us*21/20 + 1 {
		took := time.Duration(us) * time.Microsecond
		i := bucket(took)
		if above := bound(i); us > 3 && took > above || above > 2*took {
			t.Errorf("%v is in a bucket that ends at %v", took, above)
		}
		if i > 0 && bucket(took-time.Microsecond) > i {
			t.Errorf("%v is in a higher bucket than %v", took-time.Microsecond, took)
		}
	}
	for _, took := range []time.Duration{-time.Second, 0, time.Nanosecond} {
		if i := bucket(took); i != bucket(time.Microsecond) {
			t.Errorf("%v is in bucket %d", took, i)
		}
	}
	if i := bucket(time.Hour); i != buckets-1 {
		t.Errorf("an hour is in bucket %d", i)
	}
}

func TestQuantile(t *testing.T) {
	for _, c := range []struct {
		name       string
		fast, slow int
		above      time.Duration // the p99 is at least that
		below      time.Duration // and at most that
	}{
		{"no one", 0, 0, 0, 0},
		{"one in a thousand is slow", 999, 1, 0, 2 * time.Millisecond},
		{"one in a hundred is slow", 990, 10, 0, 2 * time.Millisecond},
		{"two in a hundred are slow", 980, 20, 50 * time.Millisecond, 100 * time.Millisecond},
		{"all are slow", 0, 3, 50 * time.Millisecond, 100 * time.Millisecond},
	} {
		var g governor
		for range c.fast {
			g.observe(time.Millisecond)
		}
		for range c.slow {
			g.observe(50 * time.Millisecond)
		}
		requests, p99 := g.drain()
		if requests != uint32(c.fast+c.slow) || p99 < c.above || p99 > c.below {
			t.Errorf("%s: p99 of %d requests is %v", c.name, requests, p99)
		}
		if again, _ := g.drain(); again != 0 {
			t.Errorf("%s: %d requests are counted twice", c.name, again)
		}
	}
}

// A second of requests, with or without the reaper at work.
func (g *governor) second(t *testing.T, requests int, took time.Duration, work bool, sublevels int) {
	t.Helper()
	if err := clock.Pause(context.Background(), window); err != nil {
		t.Fatal(err)
	}
	for range requests {
		g.observe(took)
	}
	if work {
		g.after(1, sublevels)
		return
	}
	g.idle()
}

func TestGovernor(t *testing.T) {
	const usual = time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		g := &governor{}
		g.idle() // begins the first window
		for range 5 {
			g.second(t, 1000, usual, false, 0)
		}
		if g.baseline < usual || g.baseline > 2*usual {
			t.Fatalf("at rest a p99 of %v is taken for normal", g.baseline)
		}
		rate := func(change string, min, max float64, do func()) {
			t.Helper()
			before := g.rate
			do()
			if got := g.rate / before; got < min || got > max {
				t.Errorf("%s: the rate went from %.0f to %.0f", change, before, g.rate)
			}
		}
		normal := g.baseline
		rate("usual requests", 1.19, 1.21, func() { g.second(t, 1000, usual, true, 0) })
		rate("slow requests", 0.49, 0.51, func() { g.second(t, 1000, 4*usual, true, 0) })
		rate("a stalling engine", 0.49, 0.51, func() { g.second(t, 1000, usual, true, sublevelsHigh) })
		rate("few requests", 1, 1, func() { g.second(t, fewest-1, 100*usual, true, 0) })
		rate("no reclaiming", 1, 1, func() { g.second(t, 1000, usual, false, 0) })
		for range 30 {
			g.second(t, 1000, 100*usual, true, 0)
		}
		if g.rate != slowest {
			t.Errorf("under stress the rate is %.0f", g.rate)
		}
		for range 60 {
			g.second(t, 1000, usual, true, 0)
		}
		if g.rate != fastest {
			t.Errorf("undisturbed the rate is %.0f", g.rate)
		}
		if g.baseline > normal {
			t.Errorf("what is normal rose from %v to %v by the reaper's own work", normal, g.baseline)
		}
		if wait := g.after(600, 0); wait != time.Duration(600/fastest*float64(time.Second)) {
			t.Errorf("600 documents at %.0f a second take %v", g.rate, wait)
		}
		if g.idle() {
			t.Error("idle among requests")
		}
		for range idleAfter + 1 {
			g.second(t, 0, 0, true, 0)
		}
		if wait := g.after(1_000_000, 0); wait != 0 || !g.idle() {
			t.Errorf("with no one to disturb it waits %v", wait)
		}
		g.second(t, 1, usual, false, 0)
		if g.idle() {
			t.Error("idle after a request")
		}
	})
}

func TestLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &governor{limit: 100}
		for _, requests := range []int{0, 0, 0, 1000, 1000, 1000} {
			g.second(t, requests, time.Millisecond, true, 0)
			if wait := g.after(50, 0); wait != 500*time.Millisecond {
				t.Errorf("50 documents at 100 a second take %v", wait)
			}
		}
	})
}

// However long a pause the rate asks for, Stop ends it.
func TestStopEndsAPause(t *testing.T) {
	r := New(Options{Rate: 1, Logger: slog.New(slog.DiscardHandler), Clock: clock.NewVirtual(time.Unix(0, 0))})
	over := make(chan bool)
	go func() {
		over <- clock.Pause(r.running, r.governor.after(1_000_000, 0)) == nil
	}()
	r.Start()
	r.Stop()
	if <-over {
		t.Error("the pause was over, eleven days early")
	}
	r.Stop()
}
