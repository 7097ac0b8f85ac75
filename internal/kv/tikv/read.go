package tikv

import (
	"context"
	"sync/atomic"

	tikverr "github.com/tikv/client-go/v2/error"
	"github.com/tikv/client-go/v2/txnkv/txnsnapshot"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/local"
)

// A reader reads at one timestamp. That is always a real one: a read of the newest state, at the largest number, would
// step over the lock of a transaction that is about to commit at a timestamp before a View that was opened already.
type reader struct {
	e      *Engine
	ts     uint64
	opened clock.Stopwatch
	kept   *keptSnapshot // nil for views
}

func (e *Engine) reader(ts uint64) *reader { return &reader{e: e, ts: ts, opened: clock.Start()} }

// Get reads the newest state.
func (e *Engine) Get(ctx context.Context, key []byte, use func([]byte) error) (bool, error) {
	ts, err := e.moment(ctx)
	if err != nil {
		return false, err
	}
	return e.reader(ts).Get(ctx, key, use)
}

// Iterate reads the newest state.
func (e *Engine) Iterate(ctx context.Context, lower, upper []byte) (kv.Iterator, error) {
	ts, err := e.moment(ctx)
	if err != nil {
		return nil, err
	}
	return e.reader(ts).Iterate(ctx, lower, upper)
}

// Get implements kv.Reader.
func (r *reader) Get(ctx context.Context, key []byte, use func([]byte) error) (bool, error) {
	value, found, err := r.value(ctx, key)
	if err != nil || !found {
		return false, err
	}
	return true, use(value)
}

func (r *reader) value(ctx context.Context, key []byte) (value []byte, found bool, err error) {
	if !r.e.calls.Enter() {
		return nil, false, local.Closed()
	}
	defer r.e.calls.Leave()
	call, cancel := r.e.bounded(ctx)
	defer cancel()
	if err := r.readable(); err != nil {
		return nil, false, err
	}
	value, found, err = r.get(call, key)
	return value, found, ofCall(ctx, err)
}

// get reads on behalf of a call that runs.
func (r *reader) get(ctx context.Context, key []byte) (value []byte, found bool, err error) {
	stored, err := r.at().Get(ctx, r.e.space.data(key))
	if tikverr.IsErrNotFound(err) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, readFault(ctx, err)
	}
	value, err = r.assemble(ctx, key, stored)
	return value, err == nil, err
}

// batch reads several of the cluster's keys, which it may reorder.
func (r *reader) batch(ctx context.Context, keys [][]byte) (map[string][]byte, error) {
	values, err := r.at().BatchGet(ctx, keys)
	if err != nil {
		return nil, readFault(ctx, err)
	}
	return values, nil
}

// fetched gives the value of a key that was fetched as stored. Only a large one needs the cluster again.
func (r *reader) fetched(ctx context.Context, key, stored []byte) ([]byte, error) {
	if len(stored) > 0 && stored[0] == whole {
		return stored[1:], nil
	}
	call, cancel := r.e.bounded(ctx)
	defer cancel()
	value, err := r.assemble(call, key, stored)
	return value, ofCall(ctx, err)
}

// at is the state at the timestamp. Each call has one of its own, because the client keeps in it whatever it has read.
func (r *reader) at() *txnsnapshot.KVSnapshot {
	s := r.e.store.GetSnapshot(r.ts)
	s.SetVars(variables())
	return s
}

// readable fails if the cluster may have forgotten the state at the timestamp.
func (r *reader) readable() error {
	if r.opened.Elapsed() < r.e.options.Retain || r.kept != nil && r.e.kept.protects(r.kept) {
		return nil
	}
	return fault.New(fault.Unavailable,
		"what was to be read is older than %v, and may have been collected as garbage: begin again", r.e.options.Retain)
}

// Iterate implements kv.Reader.
func (r *reader) Iterate(ctx context.Context, lower, upper []byte) (kv.Iterator, error) {
	if !r.e.calls.Enter() {
		return nil, local.Closed()
	}
	defer r.e.calls.Leave()
	if err := r.readable(); err != nil {
		return nil, err
	}
	i := &iterator{r: r, ctx: ctx, kind: dataKeys}
	i.lower, i.upper = r.e.space.bounds(dataKeys, lower, upper)
	r.e.open.Add(1)
	return i, nil
}

// A snapshot is a reader that the garbage collector spares.
type snapshot struct {
	reader
	closed atomic.Bool
}

// Snapshot reads the state at the present timestamp for as long as it is open.
func (e *Engine) Snapshot(ctx context.Context) (kv.Snapshot, error) {
	ts, err := e.moment(ctx)
	if err != nil {
		return nil, err
	}
	e.open.Add(1)
	s := &snapshot{reader: *e.reader(ts)}
	s.kept = e.kept.add(ts)
	return s, nil
}

func (s *snapshot) Close() error {
	if !s.closed.Swap(true) {
		s.e.kept.remove(s.kept)
		s.e.open.Add(-1)
	}
	return nil
}
