package kvtest

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/mayflydb/mayfly/internal/kv"
)

// A SyncCounter is an engine that counts what waits for the disk: batches that pass a counter, as those of documents
// do, and calls of Sync.
type SyncCounter struct {
	kv.Engine
	Err error // of Sync

	durable, unsynced, syncs atomic.Int64
}

// Apply applies a batch.
func (e *SyncCounter) Apply(ctx context.Context, b *kv.Batch) error {
	switch {
	case len(b.Orders) == 0:
	case b.NoSync:
		e.unsynced.Add(1)
	default:
		e.durable.Add(1)
	}
	return e.Engine.Apply(ctx, b)
}

// Sync fails with Err, or if ctx has ended. It does not reach the engine.
func (e *SyncCounter) Sync(ctx context.Context) error {
	e.syncs.Add(1)
	if err := ctx.Err(); err != nil {
		return err
	}
	return e.Err
}

// Forget begins to count.
func (e *SyncCounter) Forget() {
	for _, n := range []*atomic.Int64{&e.durable, &e.unsynced, &e.syncs} {
		n.Store(0)
	}
}

// Want compares the numbers of durable batches, of others, and of syncs since the last call, or since Forget.
func (e *SyncCounter) Want(t testing.TB, when string, durable, unsynced, syncs int64) {
	t.Helper()
	got := [...]int64{e.durable.Swap(0), e.unsynced.Swap(0), e.syncs.Swap(0)}
	if want := [...]int64{durable, unsynced, syncs}; got != want {
		t.Errorf("%s: durable batches, others and syncs are %v, want %v", when, got, want)
	}
}
