package pebble

import (
	"bytes"
	"context"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
)

// Apply makes a batch visible, then durable. Batches become visible one by one;
// those that wait for the disk at the same time share one sync.
func (e *Engine) Apply(ctx context.Context, b *kv.Batch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !e.calls.enter() {
		return closedFault()
	}
	defer e.calls.leave()
	var size tally
	if err := size.add(b.Ops); err != nil {
		return err
	}
	w := e.db.NewBatchWithSize(size.bytes + 16*size.keys + 256)
	if err := put(w, b.Ops); err != nil {
		return err
	}
	sync := e.sync && !b.NoSync
	if err := e.commit(b, w, size, sync); err != nil {
		return err // w may still be in Pebble's hands and is left to the collector
	}
	if sync {
		if err := w.SyncWait(); err != nil {
			e.mu.Lock()
			defer e.mu.Unlock()
			return e.fail(err)
		}
	}
	if err := w.Close(); err != nil {
		return fault.Wrap(fault.Internal, err, "cannot release a batch")
	}
	return nil
}

// commit makes b visible if its preconditions hold. w has the changes that b
// came with; those that Place adds follow here.
func (e *Engine) commit(b *kv.Batch, w *pebble.Batch, size tally, sync bool) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.failed != nil {
		return e.failed
	}
	if e.changes.since(b.Reads, b.Since) {
		return conflict()
	}
	before, reads := len(b.Ops), len(b.Reads)
	if err := e.place(b); err != nil {
		return err
	}
	if e.changes.since(b.Reads[reads:], b.Since) {
		return conflict()
	}
	if err := size.add(b.Ops[before:]); err != nil {
		return err
	}
	if err := put(w, b.Ops[before:]); err != nil {
		return err
	}
	if w.Empty() {
		return nil
	}
	if err := e.publish(w, sync); err != nil {
		return err
	}
	number := e.newest.Load() + 1
	e.changes.record(b.Ops, number)
	e.newest.Store(number)
	return nil
}

// place runs the orders of b. An order of a counter that b passed before goes on
// from there.
func (e *Engine) place(b *kv.Batch) error {
	e.nexts = e.nexts[:0]
	for i := 0; i < len(b.Orders); i++ {
		o := b.Orders[i]
		last, err := e.counter(o.Key, b.Orders[:i])
		if err != nil {
			return err
		}
		next, err := o.Place(last, b)
		if err != nil {
			return err
		}
		b.Set(o.Key, next)
		e.nexts = append(e.nexts, next)
	}
	return nil
}

// counter finds the value that the counter has after the orders before. Place
// may return it as it is, so each order of a batch gets its own bytes; the first
// and mostly only one gets the engine's scratch.
func (e *Engine) counter(key []byte, before []kv.Order) (last []byte, err error) {
	for i := len(before) - 1; i >= 0; i-- {
		if bytes.Equal(before[i].Key, key) {
			return bytes.Clone(e.nexts[i]), nil
		}
	}
	if len(before) == 0 {
		last = e.last[:0]
	}
	found, err := get(e.db, key, func(value []byte) error {
		last = append(last, value...)
		return nil
	})
	if err != nil || !found {
		return nil, err
	}
	if len(before) == 0 {
		e.last = last
	}
	if last == nil {
		last = []byte{}
	}
	return last, nil
}

// publish hands w to Pebble, which writes it to the log and makes it visible.
// Pebble panics when its log has failed and is then stuck halfway.
func (e *Engine) publish(w *pebble.Batch, sync bool) (err error) {
	defer func() {
		if r := recover(); r != nil {
			e.wedged = true
			cause, ok := r.(error)
			if !ok {
				cause = fmt.Errorf("%v", r)
			}
			err = e.fail(cause)
		}
	}()
	if sync {
		err = e.db.ApplyNoSyncWait(w, pebble.Sync)
	} else {
		err = e.db.Apply(w, pebble.NoSync)
	}
	if err != nil {
		return e.fail(err)
	}
	return nil
}

// put adds ops to w.
func put(w *pebble.Batch, ops []kv.Op) error {
	for i := range ops {
		op := &ops[i]
		var err error
		switch {
		case op.End != nil:
			if bytes.Compare(op.Key, op.End) < 0 {
				err = w.DeleteRange(op.Key, op.End, nil)
			}
		case op.Value == nil:
			err = w.Delete(op.Key, nil)
		default:
			err = w.Set(op.Key, op.Value, nil)
		}
		if err != nil {
			return fault.Wrap(fault.Internal, err, "cannot build a batch")
		}
	}
	return nil
}

// A tally is how much of the limits a batch has used up.
type tally struct{ keys, bytes int }

func (t *tally) add(ops []kv.Op) error {
	t.keys += len(ops)
	if t.keys > kv.MaxBatchKeys {
		return fault.New(fault.TooLarge, "a batch changes more than %d keys", kv.MaxBatchKeys)
	}
	for i := range ops {
		if err := check(&ops[i]); err != nil {
			return err
		}
		t.bytes += len(ops[i].Key) + len(ops[i].Value) + len(ops[i].End)
		if t.bytes > kv.MaxBatchBytes {
			return fault.New(fault.TooLarge, "a batch is larger than %d bytes", kv.MaxBatchBytes)
		}
	}
	return nil
}

func check(op *kv.Op) error {
	if max(len(op.Key), len(op.End)) > kv.MaxKeyBytes {
		return fault.New(fault.TooLarge, "a key is longer than %d bytes", kv.MaxKeyBytes)
	}
	if op.End == nil && len(op.Key) == 0 {
		return fault.New(fault.Invalid, "a key is empty")
	}
	if op.End != nil && len(op.End) == 0 {
		return fault.New(fault.Invalid, "a range to delete has no upper bound")
	}
	return nil
}

func conflict() error {
	return fault.New(fault.Conflict, "another write came first; try again")
}
