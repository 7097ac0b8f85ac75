package store_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/store"
)

// An interruptedEngine calls before, once, when something is about to be read in order.
type interruptedEngine struct {
	kv.Engine
	before func()
}

func (e *interruptedEngine) interrupt() {
	if f := e.before; f != nil {
		e.before = nil
		f()
	}
}

func (e *interruptedEngine) Iterate(ctx context.Context, lower, upper []byte) (kv.Iterator, error) {
	e.interrupt()
	return e.Engine.Iterate(ctx, lower, upper)
}

func (e *interruptedEngine) Snapshot(ctx context.Context) (kv.Snapshot, error) {
	e.interrupt()
	return e.Engine.Snapshot(ctx)
}

// TestReclaimBesideNewPolicy replaces the policy, and writes a document that the old one would end, when a step of
// reclaiming has begun: the document lives by the new policy, so it stays.
func TestReclaimBesideNewPolicy(t *testing.T) {
	def := definition(10)
	def.TTLProperty = "/born"
	w := newWorld(t, def)
	engine := &interruptedEngine{Engine: w.engine}
	reclaimer, err := store.Open(t.Context(), engine, w.catalog)
	w.ok(err)
	_, err = w.write(w.put(store.Create, "p", "d", fmt.Sprintf(`"born":%d`, w.now)))
	w.ok(err)
	_, err = reclaimer.Reclaim(t.Context(), w.c, w.now, 100) // reads what it remembers of the container
	w.ok(err)
	engine.before = func() {
		w.setTTL(expiry.Never)
		_, err := w.write(w.put(store.Upsert, "p", "d", fmt.Sprintf(`"born":%d`, w.now-1000)))
		w.ok(err)
	}
	for more := true; more; {
		done, err := reclaimer.Reclaim(t.Context(), w.c, w.now, 100)
		w.ok(err)
		if more = done.More; done.Documents != 0 {
			t.Errorf("%d documents are freed", done.Documents)
		}
	}
	if engine.before != nil {
		t.Error("nothing came between")
	}
	if !w.alive("p", "d") {
		t.Error("a living document is gone")
	}
	w.consistent()
}
