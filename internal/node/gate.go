package node

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/mayflydb/mayfly/internal/fault"
)

// shutBit is the bit of a gate's count that says that the gate is closed.
const shutBit = 1 << 62

// A gate counts the requests that use the data. While it is closed, new ones wait at it. To enter twice is a deadlock
// if the gate is closed in between.
type gate struct {
	count   atomic.Int64
	drained chan struct{} // gets a value when the last request has left a closed gate

	mu     sync.Mutex
	opened chan struct{}      // closed when the gate opens again
	until  context.Context    // ends when the gate is closed
	end    context.CancelFunc // ends until
}

func newGate() *gate {
	g := &gate{drained: make(chan struct{}, 1), opened: make(chan struct{})}
	g.until, g.end = context.WithCancel(context.Background())
	return g
}

// Enter begins to use the data. Leave ends it.
func (g *gate) Enter() {
	for !g.tryEnter() {
		g.mu.Lock()
		opened := g.opened
		g.mu.Unlock()
		<-opened
	}
}

// enterLong is Enter for work that may be long: its context ends when the gate is closed.
func (g *gate) enterLong(ctx context.Context) (_ context.Context, leave func()) {
	g.Enter()
	g.mu.Lock()
	until := g.until
	g.mu.Unlock()
	ctx, cancel := context.WithCancelCause(ctx)
	unlink := context.AfterFunc(until, func() { cancel(errLoading) })
	return ctx, func() {
		unlink()
		cancel(nil)
		g.Leave()
	}
}

// errLoading ends long work.
var errLoading = fault.New(fault.Unavailable, "A snapshot is being loaded. Try again.")

// whyEnded is the error of work in ctx: errLoading if that has ended it.
func whyEnded(ctx context.Context, err error) error {
	if err != nil && context.Cause(ctx) == error(errLoading) {
		return errLoading
	}
	return err
}

// tryEnter is Enter if the gate is open, and else returns false.
func (g *gate) tryEnter() bool {
	if g.count.Add(1) < shutBit {
		return true
	}
	g.Leave()
	return false
}

// Leave ends a use.
func (g *gate) Leave() {
	if g.count.Add(-1) == shutBit {
		select {
		case g.drained <- struct{}{}:
		default:
		}
	}
}

// shut closes an open gate. One goroutine at a time uses shut, drain and open.
func (g *gate) shut() {
	g.mu.Lock()
	g.opened = make(chan struct{})
	g.end()
	g.mu.Unlock()
	g.count.Or(shutBit)
}

// drain waits until everyone has left a closed gate; false if ctx ends first.
func (g *gate) drain(ctx context.Context) bool {
	for g.count.Load() != shutBit {
		select {
		case <-g.drained:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// open opens a closed gate.
func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.count.And(^int64(shutBit))
	g.until, g.end = context.WithCancel(context.Background())
	close(g.opened)
}
