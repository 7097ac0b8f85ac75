package kvtest

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/mayflydb/mayfly/internal/kv"
)

// A SyncCounter is an engine that counts what waits for the disk: batches that pass a counter, as those of documents
// do, and calls of Sync that have something to do.
type SyncCounter struct {
	kv.Engine
	Err error // of such a call

	durable, unsynced, syncs, visible atomic.Int64
}

// Apply applies a batch.
func (e *SyncCounter) Apply(ctx context.Context, b *kv.Batch) error {
	counts := len(b.Orders) > 0
	err := e.Engine.Apply(ctx, b)
	switch {
	case err != nil || !counts:
	case b.NoSync || b.SyncLater:
		e.unsynced.Add(1)
		e.visible.Add(1)
	default:
		e.durable.Add(1)
		e.visible.Store(0)
	}
	return err
}

// Sync makes batches durable, or fails with Err. It does not reach the engine.
func (e *SyncCounter) Sync(ctx context.Context) error {
	if err := ctx.Err(); err != nil || e.visible.Load() == 0 {
		return err
	}
	e.syncs.Add(1)
	if e.Err == nil {
		e.visible.Store(0)
	}
	return e.Err
}

// Unsynced is how many batches are not durable.
func (e *SyncCounter) Unsynced() int { return int(e.visible.Load()) }

// Forget begins to count.
func (e *SyncCounter) Forget() {
	for _, n := range []*atomic.Int64{&e.durable, &e.unsynced, &e.syncs} {
		n.Store(0)
	}
}

// Want compares the numbers of durable batches and of others since the last call, or since Forget, and whether a call
// of Sync had something to do.
func (e *SyncCounter) Want(t testing.TB, when string, durable, unsynced int64, synced bool) {
	t.Helper()
	d, u, s := e.durable.Swap(0), e.unsynced.Swap(0), e.syncs.Swap(0) > 0
	if d != durable || u != unsynced || s != synced {
		t.Errorf("%s: %d durable batches, %d others, synced: %v; want %d, %d, %v", when, d, u, s, durable, unsynced,
			synced)
	}
}
