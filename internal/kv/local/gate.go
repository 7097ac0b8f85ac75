package local

import "sync/atomic"

// closing is the bit of a gate's count that stops new calls.
const closing = 1 << 62

// A Gate counts running calls, so that Close can wait for them. Unlike a
// sync.RWMutex, it allows a call within a call while Close waits.
type Gate struct {
	count   atomic.Int64
	drained chan struct{}
}

// NewGate returns an open gate.
func NewGate() *Gate { return &Gate{drained: make(chan struct{}, 1)} }

// Enter reports whether the call may run. If so, Leave must follow.
func (g *Gate) Enter() bool {
	if g.count.Add(1) < closing {
		return true
	}
	g.Leave()
	return false
}

// Leave ends a call that Enter has allowed.
func (g *Gate) Leave() {
	if g.count.Add(-1) == closing {
		select {
		case g.drained <- struct{}{}:
		default:
		}
	}
}

// Closed reports whether new calls are stopped.
func (g *Gate) Closed() bool { return g.count.Load() >= closing }

// Bar stops new calls, without waiting for running ones.
func (g *Gate) Bar() { g.count.Or(closing) }

// Shut stops new calls, waits for running ones, and reports whether it was the first to do so.
func (g *Gate) Shut() bool {
	if g.count.Or(closing)&closing != 0 {
		return false
	}
	for g.count.Load() != closing {
		<-g.drained
	}
	return true
}
