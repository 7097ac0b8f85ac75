package reaper

import (
	"math/bits"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
)

const (
	window    = time.Second // over which requests are judged: a p99 wants many of them
	idleAfter = 1           // windows without a request
	fewest    = 100         // requests in a window that are worth a p99

	slowest, first, fastest = 1_000.0, 20_000.0, 60_000.0 // documents per second under load
	sublevelsHigh           = 8                           // of the engine: writes are about to stall
)

// buckets is how many latencies are told apart, the last of them above four minutes.
const buckets = 4 * 28

// A governor holds the reaper back so that requests do not feel it: flat out
// while there are none, half the rate when their p99 is twice what it is at rest, a
// little more when it is not.
type governor struct {
	limit float64 // documents per second at most, 0 for none

	counts [buckets]atomic.Uint32 // requests of this window by the power of two of their microseconds, in quarters

	mu        sync.Mutex
	started   bool
	watch     clock.Stopwatch // since the window began
	quiet     int             // windows without a request
	worked    bool            // the reaper did something in this window
	sublevels int             // of the engine after the last step
	rate      float64
	baseline  time.Duration // p99 while the reaper rests
}

// observe counts a request.
func (g *governor) observe(took time.Duration) { g.counts[bucket(took)].Add(1) }

// bucket is four for each doubling of the microseconds.
func bucket(took time.Duration) int {
	us := uint64(max(took.Microseconds(), 1))
	top := bits.Len64(us) - 1
	quarter := int(us<<2>>top) & 3
	return min(top*4+quarter, buckets-1)
}

// bound is the upper end of a bucket.
func bound(i int) time.Duration {
	return time.Duration((uint64(5+i%4)<<(i/4))/4) * time.Microsecond
}

// idle reports whether there is no one to disturb.
func (g *governor) idle() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.turn()
	return g.quiet >= idleAfter
}

// after is how long to wait after a step of that many documents.
func (g *governor) after(documents uint64, sublevels int) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.worked, g.sublevels = true, sublevels
	g.turn()
	rate := g.rate
	if g.quiet >= idleAfter {
		if g.limit == 0 {
			return 0
		}
		rate = g.limit
	}
	if g.limit > 0 {
		rate = min(rate, g.limit)
	}
	return time.Duration(float64(documents) / rate * float64(time.Second))
}

// turn judges the window when it is over.
func (g *governor) turn() {
	if !g.started {
		g.started, g.rate, g.watch = true, first, clock.Start()
	}
	elapsed := g.watch.Elapsed()
	if elapsed < window {
		return
	}
	requests, p99 := g.drain()
	switch {
	case requests == 0:
		g.quiet += int(elapsed / window)
	case requests < fewest:
		g.quiet = 0
	default:
		g.quiet = 0
		g.judge(p99)
	}
	g.worked, g.watch = false, clock.Start()
}

// judge moves the rate, or, if the reaper has rested, what counts as normal.
func (g *governor) judge(p99 time.Duration) {
	if !g.worked || g.baseline == 0 {
		if g.baseline == 0 {
			g.baseline = p99
		}
		g.baseline += (p99 - g.baseline) / 8
		return
	}
	if p99 >= 2*g.baseline || g.sublevels >= sublevelsHigh {
		g.rate = max(g.rate/2, slowest)
	} else {
		g.rate = min(g.rate*1.2, fastest)
	}
}

// drain empties the window's counts.
func (g *governor) drain() (requests uint32, p99 time.Duration) {
	var counts [buckets]uint32
	for i := range g.counts {
		counts[i] = g.counts[i].Swap(0)
		requests += counts[i]
	}
	slow := requests / 100
	for i := len(counts) - 1; i >= 0; i-- {
		if counts[i] > slow {
			return requests, bound(i)
		}
		slow -= counts[i]
	}
	return requests, 0
}
