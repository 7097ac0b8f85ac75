package pebble

import "sync/atomic"

// closing is the bit of a gate's count that says no new call may pass.
const closing = 1 << 62

// A gate counts running calls and lets Close wait for them. Unlike a
// sync.RWMutex it allows a call within a call while Close waits.
type gate struct {
	count   atomic.Int64
	drained chan struct{}
}

func (g *gate) init() { g.drained = make(chan struct{}, 1) }

// enter reports whether the call may run; leave must then follow.
func (g *gate) enter() bool {
	if g.count.Add(1) < closing {
		return true
	}
	g.leave()
	return false
}

func (g *gate) leave() {
	if g.count.Add(-1) == closing {
		select {
		case g.drained <- struct{}{}:
		default:
		}
	}
}

// shut stops new calls, waits for running ones, and reports whether it was the first to do so.
func (g *gate) shut() bool {
	if g.count.Or(closing)&closing != 0 {
		return false
	}
	for g.count.Load() != closing {
		<-g.drained
	}
	return true
}
