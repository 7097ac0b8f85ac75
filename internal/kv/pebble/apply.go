package pebble

import (
	"bytes"
	"context"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/local"
)

// Apply makes a batch visible, then durable. Batches become visible one by one;
// those that wait for the disk at the same time share one sync.
func (e *Engine) Apply(ctx context.Context, b *kv.Batch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := e.enter(); err != nil {
		return err
	}
	defer e.calls.Leave()
	var size local.Tally
	if err := size.Add(b.Ops); err != nil {
		return err
	}
	w := e.db.NewBatchWithSize(size.Bytes + 16*size.Keys + b.Extra + 256)
	deleted, err := put(w, b.Ops)
	if err != nil {
		return err
	}
	sync := e.sync && !b.NoSync && !b.SyncLater
	number, err := e.commit(b, w, size, sync)
	if err != nil {
		return err // Pebble may still use w, so it is left to the garbage collector
	}
	e.garbage.deleted.Add(deleted)
	switch {
	case sync:
		if err := e.await(w, number); err != nil {
			return err
		}
	case b.SyncLater && e.sync:
		e.syncLater()
	}
	return release(w)
}

func release(w *pebble.Batch) error {
	if err := w.Close(); err != nil {
		return fault.Wrap(fault.Internal, err, "cannot release a batch")
	}
	return nil
}

// await waits until w is durable, and with it all batches up to a number.
func (e *Engine) await(w *pebble.Batch, number uint64) error {
	if err := w.SyncWait(); err != nil {
		return e.undetermined(err)
	}
	for {
		old := e.durable.Load()
		if old >= number {
			return nil
		}
		if e.durable.CompareAndSwap(old, number) {
			e.synced.tell()
			return nil
		}
	}
}

// commit makes b visible if its preconditions hold, and returns its number. w has the changes of b so far; commit
// adds those of Place.
func (e *Engine) commit(b *kv.Batch, w *pebble.Batch, size local.Tally, sync bool) (number uint64, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.broken(); err != nil {
		return 0, err
	}
	if e.changes.Since(b.Reads, b.Since) {
		return 0, local.Conflict()
	}
	before, reads := len(b.Ops), len(b.Reads)
	if err := e.orders.Place(&e.counters, b); err != nil {
		return 0, err
	}
	if e.changes.Since(b.Reads[reads:], b.Since) {
		return 0, local.Conflict()
	}
	if err := size.Add(b.Ops[before:]); err != nil {
		return 0, err
	}
	if _, err := put(w, b.Ops[before:]); err != nil {
		return 0, err
	}
	if w.Empty() {
		return 0, nil
	}
	if err := e.refuses(b.Frees); err != nil {
		return 0, err
	}
	if e.space != nil && !b.Frees {
		if err := e.space.fits(size.Bytes); err != nil {
			return 0, err
		}
	}
	number = e.newest.Load() + 1
	e.begun.Store(number)
	e.remembered.change(b.Ops, number)
	e.addKeys(b.Ops)
	if err := e.publish(w, sync); err != nil {
		return 0, err
	}
	e.remembered.renew(b.Ops, number)
	e.counters.follow(b.Ops)
	e.pauses.written.Add(int64(size.Bytes))
	e.changes.Record(b.Ops, number)
	e.newest.Store(number)
	if sync {
		e.asked.Store(number)
	}
	return number, nil
}

// publish passes w to Pebble, which writes it to the log and makes it visible.
// Pebble panics if its log fails, and then cannot continue.
func (e *Engine) publish(w *pebble.Batch, sync bool) (err error) {
	defer func() {
		if r := recover(); r != nil {
			e.wedged.Store(true)
			cause, ok := r.(error)
			if !ok {
				cause = fmt.Errorf("%v", r)
			}
			err = e.undetermined(cause)
		}
	}()
	if sync {
		err = e.db.ApplyNoSyncWait(w, pebble.Sync)
	} else {
		err = e.db.Apply(w, pebble.NoSync)
	}
	if err != nil {
		return e.undetermined(err)
	}
	return nil
}

// undetermined fails the engine, and returns the error of the batch whose bytes were on their way to the log then.
// Some of them may be on the disk, or all of them: the next opening finds out.
func (e *Engine) undetermined(cause error) error {
	e.fail(cause)
	return fault.Wrap(fault.Undetermined, cause, "The disk failed during this write, which may or may not be stored. "+
		"Restart mayfly, then read before you write again.")
}

// put adds ops to w, and returns about how many keys they delete.
func put(w *pebble.Batch, ops []kv.Op) (deleted int64, err error) {
	for i := range ops {
		op := &ops[i]
		switch {
		case op.End != nil:
			deleted += rangeKeys
			if bytes.Compare(op.Key, op.End) < 0 {
				err = w.DeleteRange(op.Key, op.End, nil)
			}
		case op.Value == nil:
			deleted++
			err = w.Delete(op.Key, nil)
		default:
			err = w.Set(op.Key, op.Value, nil)
		}
		if err != nil {
			return deleted, fault.Wrap(fault.Internal, err, "cannot build a batch")
		}
	}
	return deleted, nil
}
