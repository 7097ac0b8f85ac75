package pebble

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/fault"
)

// Sync waits until every batch that is visible is durable, as kv.Syncer has it. If a sync is on its way that covers all
// of them, it waits for that. Otherwise it writes an entry to the log that changes nothing: the log keeps the order of
// batches, so a sync of the entry is one of all batches before. An engine with Options.NoSync has nothing to wait for.
func (e *Engine) Sync(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := e.enter(); err != nil {
		return err
	}
	visible := e.begun.Load()
	switch {
	case !e.sync || e.durable.Load() >= visible:
		e.calls.Leave()
		return nil
	case e.asked.Load() >= visible:
		defer e.calls.Leave()
		return e.awaitOther(ctx, visible)
	}
	return e.syncNow(ctx)
}

// syncNow is Sync where nobody is known to wait for the newest batch. It ends the call.
func (e *Engine) syncNow(ctx context.Context) error {
	w := e.db.NewBatch()
	if err := w.LogData(nil, nil); err != nil {
		e.calls.Leave()
		return fault.Wrap(fault.Internal, err, "cannot build a batch")
	}
	newest, written, err := e.publishNothing(w)
	switch {
	case err != nil:
		e.calls.Leave()
		return err
	case !written:
		defer e.calls.Leave()
		return cmp.Or(release(w), e.awaitOther(ctx, newest))
	}
	ended := make(chan error, 1)
	go func() { // a disk that stands still must not hold up whoever has a context that ends
		defer e.calls.Leave()
		err := e.await(w, newest)
		if err == nil {
			err = release(w)
		}
		ended <- err
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// publishNothing passes a batch without changes to Pebble, behind the newest batch, unless a sync of that is on its
// way.
func (e *Engine) publishNothing(w *pebble.Batch) (newest uint64, written bool, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	newest = e.newest.Load()
	if err := e.broken(); err != nil {
		return newest, false, err
	}
	if e.asked.Load() >= newest {
		return newest, false, nil
	}
	if err := e.publish(w, true); err != nil {
		return newest, false, err
	}
	e.asked.Store(newest)
	return newest, true, nil
}

// awaitOther waits until a sync that is on its way has made all batches up to a number durable.
func (e *Engine) awaitOther(ctx context.Context, number uint64) error {
	e.synced.waiting.Add(1)
	defer e.synced.waiting.Add(-1)
	for {
		next := e.synced.channel()
		if e.durable.Load() >= number {
			return nil
		}
		select {
		case <-next:
		case <-e.failed:
			return e.broken()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Unsynced is about how many batches are visible and not yet durable. It is 0 only if there is none, and with
// Options.NoSync.
func (e *Engine) Unsynced() int {
	if !e.sync {
		return 0
	}
	durable := e.durable.Load() // before begun, which rises, too
	return int(e.begun.Load() - durable)
}

// syncDelay is after how long a batch with SyncLater is synced if nobody calls Sync.
const syncDelay = 50 * time.Millisecond

// syncLater syncs what is visible after a while. A sync to come is enough for all batches until it begins.
func (e *Engine) syncLater() {
	if !e.syncing.Swap(true) {
		clock.Later(syncDelay, func() {
			e.syncing.Store(false)
			_ = e.Sync(e.closing) // a failure fails the engine, and whoever waits for the batch learns of it in Sync
		})
	}
}

// A syncWatch tells those that wait that more batches are durable.
type syncWatch struct {
	waiting atomic.Int64
	mu      sync.Mutex
	next    chan struct{} // closed by tell; nil while nobody waits
}

// channel is closed by the next call of tell.
func (s *syncWatch) channel() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next == nil {
		s.next = make(chan struct{})
	}
	return s.next
}

// tell wakes those that have counted themselves as waiting, and asked for the channel.
func (s *syncWatch) tell() {
	if s.waiting.Load() == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next != nil {
		close(s.next)
		s.next = nil
	}
}
