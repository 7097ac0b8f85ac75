//go:build !race

package socket

import (
	"sync/atomic"
	"syscall"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
)

// guardEvery is how often the monitor wakes while there is traffic.
const guardEvery = 10 * time.Millisecond

var traffic guard

// A guard wakes the monitor a hundred times a second while something arrives. Otherwise requests that run long could
// keep all processors while the monitor sleeps, and nobody would ask the network for other requests, or stop a
// goroutine so that others can run. The monitor sleeps until the next timer that there is when it falls asleep. So
// there is always one that is soon, and whoever starts it wakes the monitor, which may have fallen asleep before.
type guard struct {
	fresh   atomic.Bool // something has arrived since the timer was set
	running atomic.Bool // the timer
}

// seen is called when something has arrived.
func (g *guard) seen() {
	if !g.fresh.Load() {
		g.fresh.Store(true)
	}
	if !g.running.Load() && g.running.CompareAndSwap(false, true) {
		clock.Later(guardEvery, g.check)
		_, _, _ = syscall.Syscall(syscall.SYS_GETPID, 0, 0, 0) // a call that the scheduler is told of
	}
}

// check sets the timer again, or ends the guard after a time without traffic.
func (g *guard) check() {
	if g.fresh.Swap(false) {
		clock.Later(guardEvery, g.check)
		return
	}
	g.running.Store(false)
	if g.fresh.Load() { // since the line above asked
		g.seen()
	}
}
