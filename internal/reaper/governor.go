package reaper

import (
	"slices"
	"sync"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
)

// The governor decides which share of a processor the reaper uses while there are requests. Its inputs are the cost
// of a document, the number of documents that expire per second (inflow), the number that wait to be freed (backlog),
// how long the oldest has waited (lag), and the latency of requests. While lag is at most the set point, the share is
// the smaller of
//
//	cost * backlog / horizon            enough to work off the backlog within the horizon
//	cost * inflow * margin + comfort    enough to keep up with the inflow, and a little more
//
// Beyond the set point, the share is multiplied by lag / set point.
//
// Under steady churn, the first line ends up equal to the inflow: the backlog is one horizon, whatever the rate and the
// latency. Latency changes only the comfort, and comfort matters only for a wave: more documents that expire together
// than fit into the horizon. They are freed as fast as requests allow, and then faster and faster. Even if requests are
// disturbed all the time, a wave that needs w seconds of work is over after about the square root of 670 w seconds: 80
// seconds for a million documents of 10 µs each. That is the trade-off: a wave may lag by a minute, because clients do
// not see it; steady churn may not, because its lag would never end.
//
// Without requests, and without a limit, the reaper works at full speed.
const (
	window    = time.Second // for measuring latency: a p99 needs many requests
	settling  = window / 4  // the start of a window, when requests still feel the window before
	idleAfter = 1           // windows without a request after which the reaper is alone
	fewest    = 75          // requests in the rest of a window, for a p99

	setPoint = 5 * time.Second // of lag
	horizon  = setPoint / 2
	margin   = 1.25 // the rate at which documents are freed, relative to the inflow

	gentle, first, eager = 0.02, 0.1, 0.5 // comfort, as a share of a processor: minimum, initial value, maximum
	lowest               = 0.005          // minimum share, so that work of unknown size makes progress

	// Every quietEvery-th window has no comfort, for comparison with the others. The reaper disturbs
	// requests if their p99 is this many times as long as in quiet windows.
	quietEvery    = 4
	disturbed     = 1.3
	slower        = 0.6 // factor of comfort after a window in which requests were disturbed
	faster        = 1.2 // factor of comfort after a window in which they were not
	sublevelsHigh = 8   // of the engine: writes are about to stall

	firstCost = 20 * time.Microsecond // of a document, until it has been measured
	memory    = 0.9                   // weight of the past in the cost, per window
	shortest  = time.Millisecond      // the shortest pause that is worth a timer
	longest   = window                // the longest pause, so that the reaper reacts soon
)

// The inflow is the mean over inflowWindows, without the windows with the largest values: a wave is not an inflow,
// and may fall into two windows.
const inflowWindows, waves = 16, 2

// A governor is safe for concurrent use.
type governor struct {
	limit float64 // the most documents per second, 0 for no limit

	latencies latencies

	mu        sync.Mutex
	started   bool
	watch     clock.Stopwatch // since the window began
	quiet     int             // windows without a request
	sublevels int             // of the engine after the last step

	comfort float64
	windows int
	settled bool   // the window is past its settling time
	early   uint32 // requests before that
	bound   bool   // comfort has limited the reaper in this window
	worked  bool   // the reaper has worked in this window
	calm    mean   // p99 of windows with little or no work of the reaper
	busy    mean   // p99 of the others
	arrived uint64
	inflows [inflowWindows]float64 // documents per second, newest first
	work    float64                // seconds
	freed   float64                // documents
	backlog uint64
	lag     time.Duration
	owed    time.Duration // pauses that have not been made yet
}

// A mean is a moving average.
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

// arrive counts documents that have expired.
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

// idle reports whether there are no requests to disturb.
func (g *governor) idle() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.turn()
	return g.alone()
}

func (g *governor) alone() bool { return g.quiet >= idleAfter }

// behind reports whether the lag is beyond the set point.
func (g *governor) behind() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.lag > setPoint
}

// A step is what the reaper has just done.
type step struct {
	documents uint64 // freed
	charged   uint64 // documents that count towards the limit
	sweep     bool   // part of a sweep, whose remaining work is not in the backlog
	took      time.Duration
	sublevels int
}

// after returns how long to wait after a step.
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

// pause is the time to wait after a step so that the reaper keeps to its share.
func (g *governor) pause(s step) time.Duration {
	share := g.share(s.sweep)
	g.owed += time.Duration(float64(s.took) * (1 - share) / share)
	if g.owed < shortest {
		return 0
	}
	return min(g.owed, longest)
}

// paused subtracts a pause from the time owed. A pause that took too long, as on a busy machine, makes the next ones
// shorter.
func (g *governor) paused(took time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.owed = min(max(g.owed-took, -50*time.Millisecond), longest)
}

// share is the part of a processor that the reaper may take now.
func (g *governor) share(sweep bool) float64 {
	cost := g.cost()
	comfort := g.comfort
	if sweep { // no lag makes a sweep faster, and until its end the wave takes space on the disk
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

// cost is the work for a document in seconds, including the sweep of its index entries.
func (g *governor) cost() float64 {
	const weight = 1000 // the first guess counts as much as this many documents
	return (g.work + weight*firstCost.Seconds()) / (g.freed + weight)
}

// inflow is how many documents expire per second.
func (g *governor) inflow() float64 {
	all := g.inflows
	slices.Sort(all[:])
	sum := 0.0
	for _, x := range all[:inflowWindows-waves] {
		sum += x
	}
	return sum / (inflowWindows - waves)
}

// turn evaluates the window when it is over, and begins the next one.
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

// judge adapts the comfort to the latency in a window. It grows only if it has limited the reaper, and without use it
// returns to its initial value, for the next wave.
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
