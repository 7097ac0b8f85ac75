package tikv

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/local"
)

// A waiter is a batch in the hands of the engine. The goroutine that commits it uses the batch only within use, so that
// a caller whose context ends can leave and have its memory back.
type waiter struct {
	ctx   context.Context
	size  local.Tally
	extra int  // see kv.Batch.Extra
	frees bool // see kv.Batch.Frees
	since kv.Mark
	// Whether the batch rests on since: it has reads, or orders that may add some.
	depends bool
	reads   [][]byte // full keys
	orders  [][]byte // full keys, sorted, each once
	done    chan error

	// For the goroutine that commits.
	alone bool // shares no transaction
	tries int

	mu       sync.Mutex
	b        *kv.Batch
	ops      int       // what the batch had before its orders ran
	before   time.Time // the same
	gone     bool      // the caller has left
	begun    bool      // the changes are in a transaction
	panicked any       // from an order
}

// Apply commits b in a transaction of the cluster.
func (e *Engine) Apply(ctx context.Context, b *kv.Batch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !e.calls.Enter() {
		return local.Closed()
	}
	defer e.calls.Leave()
	w, err := e.newWaiter(b)
	if err != nil {
		return err
	}
	if len(b.Ops)+len(b.Reads)+len(b.Orders) == 0 {
		return nil
	}
	var cancel context.CancelFunc
	w.ctx, cancel = e.bounded(ctx)
	defer cancel()
	if len(w.orders) == 0 {
		e.commits.Go(func() { e.commitAll([]*waiter{w}) })
	} else {
		e.enqueue(w)
	}
	select {
	case err = <-w.done:
	case <-w.ctx.Done():
		err = w.leave()
	}
	if w.panicked != nil {
		panic(w.panicked)
	}
	return ofCall(ctx, err)
}

func (e *Engine) newWaiter(b *kv.Batch) (*waiter, error) {
	w := &waiter{
		b: b, since: b.Since, extra: b.Extra, frees: b.Frees, ops: len(b.Ops), before: b.Before,
		depends: len(b.Reads) > 0 || len(b.Orders) > 0 && b.Since != 0,
		done:    make(chan error, 1),
	}
	if err := w.size.Add(b.Ops); err != nil {
		return nil, err
	}
	if err := checkKeys(b.Ops); err != nil {
		return nil, err
	}
	for _, key := range b.Reads {
		w.reads = append(w.reads, e.space.data(key))
	}
	for i := range b.Orders {
		key := b.Orders[i].Key
		if len(key) == 0 {
			return nil, fault.New(fault.Invalid, "a key is empty")
		}
		if err := checkKey(key); err != nil {
			return nil, err
		}
		w.orders = append(w.orders, e.space.data(key))
	}
	slices.SortFunc(w.orders, bytes.Compare)
	w.orders = slices.CompactFunc(w.orders, bytes.Equal)
	return w, nil
}

// leave gives up on a batch, which may be finished at this very moment. It waits for an order that runs.
func (w *waiter) leave() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case err := <-w.done:
		return err
	default:
	}
	w.gone = true
	if w.begun {
		return undetermined(w.ctx.Err())
	}
	return fault.Wrap(fault.Unavailable, w.ctx.Err(), "the cluster did not answer in time; nothing is written")
}

// use calls f with the batch, unless the caller has left. A panic of an order goes to its caller.
func (w *waiter) use(f func(b *kv.Batch) error) (err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.gone {
		return w.ctx.Err()
	}
	defer func() {
		if p := recover(); p != nil {
			w.panicked = p
			err = fault.New(fault.Internal, "an order panicked")
		}
	}()
	return f(w.b)
}

// reset makes the batch what it was before its orders ran.
func (w *waiter) reset() error {
	return w.use(func(b *kv.Batch) error {
		b.Ops, b.Reads, b.Before = b.Ops[:w.ops], b.Reads[:len(w.reads)], w.before
		w.begun = false
		return nil
	})
}

// answer ends the wait for a batch.
func (w *waiter) answer(err error) { w.done <- err }

func answerAll(group []*waiter, err error) {
	for _, w := range group {
		w.answer(err)
	}
}
