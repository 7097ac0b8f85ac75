package reaper

import (
	"context"
	"log/slog"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
)

// A plant is a world for the governor: documents die, freeing them takes time, and requests feel it.
type plant struct {
	dies func(second int) uint64 // documents
	cost time.Duration           // of freeing one
	// what requests take when the reaper has that share of a processor
	feels func(second int, share float64) (p99 time.Duration)
}

// A history is what a plant did, second by second.
type history struct {
	lag     []time.Duration
	backlog []uint64
	share   []float64
	comfort []float64
}

func pauseFor(t *testing.T, d time.Duration) {
	t.Helper()
	if err := clock.Pause(context.Background(), d); err != nil {
		t.Fatal(err)
	}
}

// run lets a governor and a ledger work for so many seconds, beside 500 requests a second.
func (p plant) run(t *testing.T, seconds int) (h history) {
	t.Helper()
	var g governor
	var l ledger
	var worked time.Duration
	watch, requests, recent := clock.Start(), 0, 0.0
	g.idle() // begins the first window
	pass := func(d time.Duration, at float64) {
		for d > 0 {
			part := min(d, 10*time.Millisecond)
			pauseFor(t, part)
			d -= part
			recent += (at - recent) * part.Seconds() / 0.05
			for ; time.Duration(requests)*2*time.Millisecond < watch.Elapsed(); requests++ {
				g.observe(p.feels(len(h.lag), recent))
			}
		}
	}
	for len(h.lag) < seconds {
		if second := len(h.lag); watch.Elapsed() >= time.Duration(second)*time.Second {
			share := worked.Seconds()
			worked = 0
			n := p.dies(second)
			l.arrive(n, watch.Elapsed())
			g.arrive(n)
			h.lag, h.backlog = append(h.lag, l.lag(watch.Elapsed())), append(h.backlog, l.backlog())
			h.share, h.comfort = append(h.share, share), append(h.comfort, g.comfort)
			g.idle()
		}
		n := min(256, l.backlog())
		if n == 0 {
			pass(time.Duration(len(h.lag))*time.Second-watch.Elapsed(), 0)
			continue
		}
		took := time.Duration(n) * p.cost
		pass(took, 1)
		worked += took
		l.free(n)
		g.owes(l.backlog(), l.lag(watch.Elapsed()))
		wait := g.after(step{documents: n, took: took})
		pass(wait, 0)
		g.paused(wait)
	}
	return h
}

// constant is so many documents a second.
func constant(n uint64) func(int) uint64 { return func(int) uint64 { return n } }

// wave is so many documents that die at a second.
func wave(n uint64, at int) func(int) uint64 {
	return func(second int) uint64 {
		if second == at {
			return n
		}
		return 0
	}
}

func both(a, b func(int) uint64) func(int) uint64 {
	return func(second int) uint64 { return a(second) + b(second) }
}

// Requests that feel nothing, and those that feel the slightest work.
func calm(int, float64) time.Duration { return time.Millisecond }
func touchy(_ int, share float64) time.Duration {
	if share > 0.06 {
		return 5 * time.Millisecond
	}
	return time.Millisecond
}

// slowsDown is requests of which others make something tenfold from a second on.
func slowsDown(at int, felt func(int, float64) time.Duration) func(int, float64) time.Duration {
	return func(second int, share float64) time.Duration {
		if second >= at {
			return 10 * felt(second, share)
		}
		return felt(second, share)
	}
}

// TestSteadyChurn wants lag and backlog flat, whatever dies and whatever requests feel.
func TestSteadyChurn(t *testing.T) {
	for _, c := range []struct {
		name  string
		dies  func(int) uint64
		cost  time.Duration
		feels func(int, float64) time.Duration
		lag   time.Duration // at most, once it has settled
	}{
		{"a trickle", constant(10), 20 * time.Microsecond, calm, setPoint},
		{"a hundred a second", constant(100), 20 * time.Microsecond, touchy, setPoint},
		{"a thousand a second", constant(1_000), 20 * time.Microsecond, touchy, setPoint},
		{"ten thousand a second", constant(10_000), 20 * time.Microsecond, calm, setPoint},
		{"ten thousand a second that are felt", constant(10_000), 20 * time.Microsecond, touchy, setPoint},
		{"forty thousand a second that are felt", constant(40_000), 20 * time.Microsecond, touchy, setPoint},
		{"costly documents", constant(400), 2 * time.Millisecond, touchy, setPoint},
		{"cheap documents", constant(50_000), time.Microsecond, touchy, setPoint},
		{"a machine that becomes slow", constant(10_000), 20 * time.Microsecond, slowsDown(100, touchy), setPoint},
		{"a wave beside it", both(constant(10_000), wave(300_000, 30)), 20 * time.Microsecond, touchy, setPoint},
		{"every other second", func(s int) uint64 {
			return uint64(s%2) * 20_000
		}, 20 * time.Microsecond, touchy, setPoint},
		{"a wave every twenty seconds", func(s int) uint64 {
			return wave(100_000, 0)(s % 20)
		}, 20 * time.Microsecond, touchy, 40 * time.Second},
		{"three times as much from a second on", func(s int) uint64 {
			return 5_000 + uint64(s/100)*10_000
		}, 20 * time.Microsecond, touchy, setPoint},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const seconds = 200
				h := plant{c.dies, c.cost, c.feels}.run(t, seconds)
				least, most := time.Duration(math.MaxInt64), time.Duration(0)
				for _, lag := range h.lag[seconds*3/4:] {
					least, most = min(least, lag), max(most, lag)
				}
				if most > c.lag {
					t.Errorf("in the end it lags by %v", most)
				}
				if c.lag == setPoint && most-least > 2*time.Second {
					t.Errorf("the lag goes up and down between %v and %v", least, most)
				}
				t.Logf("lag %v to %v, backlog %d, share %.3f, comfort %.3f", least, most, h.backlog[seconds-1],
					h.share[seconds-1], h.comfort[seconds-1])
			})
		})
	}
}

// TestWaveIsSpread frees what has died at once over a time that depends on what requests feel, but in any case in the
// end.
func TestWaveIsSpread(t *testing.T) {
	const cost = 10 * time.Microsecond
	for _, c := range []struct {
		name        string
		documents   uint64
		feels       func(int, float64) time.Duration
		atMost      float64 // share in the first ten seconds
		from, until int     // seconds in which it may end
	}{
		{"a hundred thousand, calm requests", 100_000, calm, 0.5, 3, 15},
		{"a hundred thousand, touchy requests", 100_000, touchy, 0.2, 5, 40},
		{"a million, calm requests", 1_000_000, calm, 0.6, 10, 35},
		{"a million, touchy requests", 1_000_000, touchy, 0.3, 30, 90},
		{"ten millions, touchy requests", 10_000_000, touchy, 0.3, 100, 290},
		{"a million on a machine that becomes slow", 1_000_000, slowsDown(8, calm), 0.6, 10, 40},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := plant{wave(c.documents, 2), cost, c.feels}.run(t, 300)
				sum := 0.0
				for _, share := range h.share[3:13] {
					sum += share
				}
				if sum/10 > c.atMost {
					t.Errorf("in the beginning it takes %.2f of a processor", sum/10)
				}
				end := 3
				for end < len(h.backlog) && h.backlog[end] > 0 {
					end++
				}
				if end-2 < c.from || end-2 > c.until {
					t.Errorf("it takes %d seconds", end-2)
				}
				t.Logf("%d seconds, at first %.2f of a processor", end-2, sum/10)
			})
		})
	}
}

// TestComfortFollowsRequests looks at what a large backlog may take, as requests change.
func TestComfortFollowsRequests(t *testing.T) {
	sensitive := func(_ int, share float64) time.Duration {
		return time.Duration((1 + 2*share) * float64(time.Millisecond))
	}
	for _, c := range []struct {
		name        string
		feels       func(int, float64) time.Duration
		least, most float64 // comfort in the end
	}{
		{"nothing is felt", calm, eager, eager},
		{"everything is felt", touchy, gentle, gentle},
		{"others make the machine slow", slowsDown(20, calm), eager, eager},
		{"more is felt than less", sensitive, gentle, eager},
		{"a slow machine", func(int, float64) time.Duration { return 2 * time.Second }, eager, eager},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := plant{wave(100_000_000, 0), 10 * time.Microsecond, c.feels}.run(t, 60)
				if got := h.comfort[59]; got < c.least || got > c.most {
					t.Errorf("the comfort is %.3f", got)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) { // an engine about to stall asks for rest as requests do
		g := &governor{}
		g.idle()
		for range 30 {
			pauseFor(t, window)
			for range 500 {
				g.observe(time.Millisecond)
			}
			g.owes(1_000_000, time.Second)
			g.after(step{documents: 100, took: time.Millisecond, sublevels: sublevelsHigh})
			g.after(step{documents: 100, took: time.Millisecond, sublevels: sublevelsHigh})
		}
		if g.comfort != gentle {
			t.Errorf("beside a stalling engine the comfort is %.3f", g.comfort)
		}
	})
}

// TestIdle works flat out when there is no one to disturb.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &governor{}
		g.idle()
		for range 3 {
			pauseFor(t, window)
			g.observe(time.Millisecond)
			if g.after(step{documents: 1000, took: time.Second}) == 0 || g.idle() {
				t.Error("idle among requests")
			}
		}
		for range idleAfter + 1 {
			pauseFor(t, window)
			g.after(step{documents: 1000, took: time.Second})
		}
		if wait := g.after(step{documents: 1_000_000, took: time.Minute}); wait != 0 || !g.idle() {
			t.Errorf("with no one to disturb it waits %v", wait)
		}
		pauseFor(t, window)
		g.observe(time.Millisecond)
		if g.idle() {
			t.Error("idle after a request")
		}
	})
}

func TestLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &governor{limit: 100}
		g.idle()
		for _, requests := range []int{0, 0, 0, 1000, 1000, 1000} {
			pauseFor(t, window)
			for range requests {
				g.observe(time.Millisecond)
			}
			g.owes(1_000_000, time.Hour) // no lag is a reason to pass a limit
			if wait := g.after(step{documents: 50}); wait != 500*time.Millisecond {
				t.Errorf("50 documents at 100 a second take %v", wait)
			}
			if wait := g.after(step{charged: 50, sweep: true}); wait != 500*time.Millisecond {
				t.Errorf("a sweep for 50 documents at 100 a second takes %v", wait)
			}
		}
	})
}

// However long a pause the rate asks for, Stop ends it.
func TestStopEndsAPause(t *testing.T) {
	r := New(Options{Rate: 1, Logger: slog.New(slog.DiscardHandler), Clock: clock.NewVirtual(time.Unix(0, 0))})
	over := make(chan bool)
	go func() {
		over <- clock.Pause(r.running, r.governor.after(step{documents: 1_000_000})) == nil
	}()
	r.Start()
	r.Stop()
	if <-over {
		t.Error("the pause was over, eleven days early")
	}
	r.Stop()
}
