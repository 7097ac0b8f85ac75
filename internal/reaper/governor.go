package reaper

import (
	"slices"
	"sync"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
)

// The governor decides which share of a processor the reaper takes while there are requests. It knows what
// a document costs (work), how many die in a second (inflow), how many wait (backlog) and for how long the oldest has
// waited (lag), and what requests feel (latency). While lag is at the set point or below it, the share is the smaller one of
//
//	cost * backlog / horizon            what would end the backlog within the horizon
//	cost * inflow * margin + comfort    what keeps up with death, and a little more
//
// Beyond the set point it is as many times that as the lag is times the set point.
//
// Steady churn settles where the first line equals the inflow: a backlog of one horizon, whatever the rate
// and whatever the latency. Latency moves the comfort alone, and comfort matters only for a wave: documents that
// died together, more than the horizon has room for. They are freed as fast as requests like, and then faster and
// faster: even when requests never like it, a wave that takes w seconds of work is gone after about the
// square root of 670 w seconds, 80 for a million documents at 10 µs each. That is the trade: a wave may lag by a
// minute, since nobody sees it, and steady churn may not, since it would never end.
//
// Without requests, and without a limit, the reaper works flat out.
const (
	window    = time.Second // over which requests are judged: a p99 wants many of them
	settling  = window / 4  // of a window, in which requests still feel the one before
	idleAfter = 1           // windows without a request
	fewest    = 75          // requests in the rest of a window that are worth a p99

	setPoint = 5 * time.Second // of lag
	horizon  = setPoint / 2
	margin   = 1.25 // of the rate over the inflow

	gentle, first, eager = 0.02, 0.1, 0.5 // comfort, as a share of a processor: at least, in the beginning, at most
	lowest               = 0.005          // share, so that work of unknown size goes on

	// Every quietEvery-th window has no comfort, so that there is something to compare the others
	// with. Requests feel the reaper when their p99 is worse by disturbed.
	quietEvery    = 4
	disturbed     = 1.3
	slower        = 0.6 // comfort after a window in which requests felt it
	faster        = 1.2 // and after one in which they did not
	sublevelsHigh = 8   // of the engine: writes are about to stall

	firstCost = 20 * time.Microsecond // of a document, until it is known
	memory    = 0.9                   // of the cost, from one window to the next
	shortest  = time.Millisecond      // pause that is worth its timer
	longest   = window                // pause, so that a change is felt soon
)

// inflowWindows is how many windows the inflow is the mean of. The largest waves of them do not count: a wave
// is no inflow, and may fall into two windows.
const inflowWindows, waves = 16, 2

// A governor is safe for concurrent use.
type governor struct {
	limit float64 // documents per second at most, 0 for none

	latencies latencies

	mu        sync.Mutex
	started   bool
	watch     clock.Stopwatch // since the window began
	quiet     int             // windows without a request
	sublevels int             // of the engine after the last step

	comfort  float64
	windows  int
	settled  bool   // the window is past its settling
	early    uint32 // requests before that
	bound    bool   // comfort has held the reaper back in this window
	worked   bool   // the reaper has been at work in this window
	calm     mean   // p99 of windows with little of the reaper
	busy     mean   // p99 of the others
	arrived  uint64
	inflows  [inflowWindows]float64 // documents per second, a ring
	work     float64                // seconds
	freed    float64                // documents
	backlog  uint64
	lag      time.Duration
	owed     time.Duration // pauses not made yet
	lastStep int           // documents of a step, see step
}

// A mean follows a quantity.
type mean struct {
	value float64
	known bool
}

func (m *mean) add(x, weight float64) {
	if !m.known {
		*m = mean{x, true}
		return
	}
	m.value += (x - m.value) * weight
}

// observe counts a request.
func (g *governor) observe(took time.Duration) { g.latencies.observe(took) }

// arrive counts documents that have died.
func (g *governor) arrive(documents uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.arrived += documents
}

// owes tells the governor how much work there is.
func (g *governor) owes(backlog uint64, lag time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.backlog, g.lag = backlog, lag
}

// idle reports whether there is no one to disturb.
func (g *governor) idle() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.turn()
	return g.alone()
}

func (g *governor) alone() bool { return g.quiet >= idleAfter }

// behind reports whether the set point is passed.
func (g *governor) behind() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.lag > setPoint
}

// A step is what the reaper has just done.
type step struct {
	documents uint64 // freed
	charged   uint64 // documents that count towards a limit
	sweep     bool   // it was part of a sweep: the backlog says nothing about what is left
	took      time.Duration
	sublevels int
}

// after is how long to wait after a step.
func (g *governor) after(s step) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.worked, g.sublevels = true, s.sublevels
	g.work += s.took.Seconds()
	g.freed += float64(s.documents)
	g.turn()
	if g.limit > 0 {
		wait := time.Duration(float64(max(s.charged, s.documents)) / g.limit * float64(time.Second))
		if g.alone() {
			return wait
		}
		return max(wait, g.pause(s))
	}
	if g.alone() {
		g.owed = 0
		return 0
	}
	return g.pause(s)
}

// pause is what has to follow a step for the reaper to keep its share.
func (g *governor) pause(s step) time.Duration {
	share := g.share(s.sweep)
	g.owed += time.Duration(float64(s.took) * (1 - share) / share)
	if g.owed < shortest {
		return 0
	}
	return min(g.owed, longest)
}

// paused takes the pause that was made off what is owed. A pause that took longer than asked, as on a busy
// machine, makes the next ones shorter.
func (g *governor) paused(took time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.owed = min(max(g.owed-took, -50*time.Millisecond), longest)
}

// share is the part of a processor that the reaper may take now.
func (g *governor) share(sweep bool) float64 {
	cost := g.cost()
	comfort := g.comfort
	if sweep { // has no lag that could make it faster, and keeps the wave's room on the disk
		comfort = max(comfort, first)
	}
	if g.quietWindow() {
		comfort = 0
	}
	share := cost*g.inflow()*margin + comfort
	if ends := cost * float64(g.backlog) / horizon.Seconds(); !sweep && ends < share {
		share = ends
	} else {
		g.bound = true
	}
	return min(max(share*max(1, g.lag.Seconds()/setPoint.Seconds()), lowest), 1)
}

func (g *governor) quietWindow() bool { return g.windows%quietEvery == quietEvery-1 }

// cost is what a document takes, in seconds, the sweep of its index entries included.
func (g *governor) cost() float64 {
	const weight = 1000 // documents that the first guess counts for
	return (g.work + weight*firstCost.Seconds()) / (g.freed + weight)
}

// inflow is how many documents die in a second.
func (g *governor) inflow() float64 {
	all := g.inflows
	slices.Sort(all[:])
	sum := 0.0
	for _, x := range all[:inflowWindows-waves] {
		sum += x
	}
	return sum / (inflowWindows - waves)
}

// turn judges the window when it is over.
func (g *governor) turn() {
	if !g.started {
		g.started, g.comfort, g.watch = true, first, clock.Start()
	}
	elapsed := g.watch.Elapsed()
	if elapsed < window {
		if elapsed >= settling && !g.settled {
			g.settled = true
			g.early, _ = g.latencies.drain()
		}
		return
	}
	for range min(int(elapsed/window), inflowWindows) {
		copy(g.inflows[1:], g.inflows[:])
		g.inflows[0] = float64(g.arrived) / (elapsed / window * window).Seconds()
	}
	g.arrived = 0
	g.work, g.freed = g.work*memory, g.freed*memory
	requests, p99 := g.latencies.drain()
	switch {
	case requests+g.early == 0:
		g.quiet += int(elapsed / window)
	case requests < fewest:
		g.quiet = 0
	default:
		g.quiet = 0
		g.judge(p99.Seconds())
	}
	g.windows++
	g.bound, g.worked, g.settled, g.early, g.watch = false, false, false, 0, clock.Start()
}

// judge moves the comfort by what requests have felt in a window. Only what it has held back can have been
// too much or too little of it; unused, it returns to where a wave begins.
func (g *governor) judge(p99 float64) {
	if !g.worked || g.quietWindow() {
		g.calm.add(p99, 0.5)
	} else {
		g.busy.add(p99, 0.5)
	}
	switch {
	case g.sublevels >= sublevelsHigh || g.calm.known && g.busy.known && g.busy.value >= disturbed*g.calm.value:
		if g.worked && !g.quietWindow() {
			g.comfort = max(g.comfort*slower, gentle)
		}
	case g.bound:
		g.comfort = min(g.comfort*faster, eager)
	default:
		g.comfort += (first - g.comfort) / 8
	}
}
