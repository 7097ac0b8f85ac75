package write

import (
	"context"
	"sync"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/store"
)

// A Guard is a condition on the document that a command writes, and what became of it. MongoDB has no ETags, so no
// client can send one: it comes with the context of a call from inside the process, for one command.
type Guard struct {
	IfMatch *access.Version // the version that the document must have; nil for any

	mu      sync.Mutex // a call whose sender has left ends before its command does
	outcome Outcome
}

// An Outcome is what became of a condition.
type Outcome struct {
	Refused bool           // the document has another version, or is not there
	Written access.Version // after the write
	Done    bool           // there was a write
}

// Ended is what has become of the condition so far.
func (g *Guard) Ended() Outcome {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.outcome
}

type guardKey struct{}

// WithGuard returns a context for one command that writes one document.
func WithGuard(ctx context.Context, g *Guard) context.Context {
	return context.WithValue(ctx, guardKey{}, g)
}

// SameGuard returns ctx with the guard of another context, if that has one.
func SameGuard(ctx, as context.Context) context.Context {
	if g := guardOf(as); g != nil {
		return WithGuard(ctx, g)
	}
	return ctx
}

func guardOf(ctx context.Context) *Guard {
	g, _ := ctx.Value(guardKey{}).(*Guard)
	return g
}

// begin puts the condition on operations. One that makes a document cannot meet it: it has found none.
func (g *Guard) begin(ops []store.Op) error {
	if g == nil || g.IfMatch == nil {
		return nil
	}
	for i := range ops {
		if ops[i].Verb == store.Create || ops[i].Verb == store.Upsert {
			return &store.BatchError{Index: i, Err: store.ErrPrecondition}
		}
		ops[i].IfMatch = g.IfMatch
	}
	return nil
}

// end notes what has become of them.
func (g *Guard) end(results []store.Result, err error) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.outcome.Refused = fault.KindOf(err) == fault.Precondition
	if n := len(results); err == nil && n > 0 {
		g.outcome.Written, g.outcome.Done = results[n-1].Version, true
	}
}
