package pebble

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/local"
)

// Get reads the newest applied state.
func (e *Engine) Get(_ context.Context, key []byte, use func(value []byte) error) (bool, error) {
	if err := e.enter(); err != nil {
		return false, err
	}
	defer e.calls.Leave()
	return e.get(e.db, math.MaxUint64, key, use)
}

// Iterate iterates over the newest applied state as it is now.
func (e *Engine) Iterate(_ context.Context, lower, upper []byte) (kv.Iterator, error) {
	if err := e.enter(); err != nil {
		return nil, err
	}
	defer e.calls.Leave()
	return e.iterate(e.db, lower, upper, nil)
}

// Snapshot fixes the newest applied state.
func (e *Engine) Snapshot(context.Context) (kv.Snapshot, error) {
	if err := e.enter(); err != nil {
		return nil, err
	}
	defer e.calls.Leave()
	e.open.Add(1)
	mark := e.newest.Load() // before the snapshot, which sees all up to it
	return &snapshot{engine: e, mark: mark, view: e.db.NewSnapshot()}, nil
}

// View reads the newest applied state, not only that of its moment.
func (e *Engine) View(context.Context) (kv.View, error) {
	mark := kv.Mark(e.newest.Load()) // before any read
	if e.calls.Closed() {
		return kv.View{}, local.Closed()
	}
	if err := e.broken(); err != nil {
		return kv.View{}, err
	}
	return kv.View{Reader: e, Mark: mark}, nil
}

// A snapshot is a Pebble snapshot that may be closed twice.
type snapshot struct {
	engine *Engine
	mark   uint64
	view   *pebble.Snapshot
	closed atomic.Bool
}

func (s *snapshot) Get(_ context.Context, key []byte, use func(value []byte) error) (bool, error) {
	if err := s.engine.broken(); err != nil {
		return false, err
	}
	return s.engine.get(s.view, s.mark, key, use)
}

// Recall finds the value of a key in memory.
func (s *snapshot) Recall(key []byte) kv.Remembered {
	if s.engine.broken() != nil {
		return nil
	}
	v := s.engine.remembered.find(s.engine.remembered.hash(key), key, s.mark)
	if v == nil {
		return nil
	}
	return v
}

// Remember takes note of a value that the snapshot has.
func (s *snapshot) Remember(key, value []byte) {
	s.engine.remembered.offer(s.engine.remembered.hash(key), key, value, s.mark)
}

func (s *snapshot) Iterate(_ context.Context, lower, upper []byte) (kv.Iterator, error) {
	if err := s.engine.broken(); err != nil {
		return nil, err
	}
	return s.engine.iterate(s.view, lower, upper, nil)
}

// IterateRun iterates over a run in memory, or otherwise in memtables and tables.
func (s *snapshot) IterateRun(ctx context.Context, lower, upper []byte) (kv.Iterator, error) {
	if len(lower) == 0 || len(upper) == 0 {
		return s.Iterate(ctx, lower, upper)
	}
	if err := s.engine.broken(); err != nil {
		return nil, err
	}
	hash := runHash(s.engine.remembered.hash(lower))
	var run *collectedRun
	switch v := s.engine.remembered.findUpTo(hash, lower, upper, s.mark); {
	case v == nil:
		run = s.engine.remembered.collectRun(hash, lower, s.mark)
	case v.value != nil:
		s.engine.open.Add(1)
		return newRunIterator(s.engine, v), nil
	}
	return s.engine.iterate(s.view, lower, upper, run)
}

func (s *snapshot) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	defer s.engine.open.Add(-1)
	if err := s.view.Close(); err != nil {
		return readFault(err)
	}
	return nil
}

// A source is what a Pebble database and its snapshots have in common.
type source interface {
	Get(key []byte) ([]byte, io.Closer, error)
	NewIter(o *pebble.IterOptions) (*pebble.Iterator, error)
}

// get reads a key of the state after the batch with the number mark, or of the newest state.
func (e *Engine) get(from source, mark uint64, key []byte, use func(value []byte) error) (bool, error) {
	hash := e.remembered.hash(key)
	if v := e.remembered.find(hash, key, mark); v != nil {
		return true, use(v.value)
	}
	if e.absent.lacks(hash, key, mark) {
		return false, nil
	}
	since := min(mark, e.newest.Load()) // before the read
	found, err := get(from, key, func(value []byte) error {
		e.remembered.offer(hash, key, value, since)
		return use(value)
	})
	if !found && err == nil {
		if of := e.absent.missed(key); of != nil {
			e.makeFilter(of)
		}
	}
	return found, err
}

func get(from source, key []byte, use func(value []byte) error) (found bool, err error) {
	value, pin, err := from.Get(key)
	if err != nil {
		if errors.Is(err, pebble.ErrNotFound) {
			return false, nil
		}
		return false, readFault(err)
	}
	if len(value) == 0 {
		// A value that Pebble could not fetch looks empty; only Close of pin returns the error.
		if err := pin.Close(); err != nil {
			return false, readFault(err)
		}
		return true, use([]byte{})
	}
	defer func() {
		if closeErr := pin.Close(); closeErr != nil && err == nil {
			found, err = false, readFault(closeErr)
		}
	}()
	return true, use(value)
}

// iterate opens an iterator, of which run collects what it walks over, unless it is nil.
func (e *Engine) iterate(from source, lower, upper []byte, run *collectedRun) (kv.Iterator, error) {
	i := &iterator{engine: e, upper: bytes.Clone(upper), run: run}
	var err error
	i.walk, err = from.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		i.stopCollecting()
		return nil, readFault(err)
	}
	e.open.Add(1)
	return i, nil
}

// An iterator is a Pebble iterator that begins with First or Last by itself, and may be closed twice.
type iterator struct {
	engine *Engine
	walk   *pebble.Iterator
	upper  []byte
	begun  bool
	run    *collectedRun // so far; nil if the walk is not collected
	err    error         // the first failure
}

func (i *iterator) Next() (found bool) {
	if !i.begun {
		i.begun = true
		found = i.walk.First()
	} else {
		found = i.walk.Next()
	}
	if i.run != nil {
		i.collect(found)
	}
	return found
}

func (i *iterator) Prev() bool {
	i.stopCollecting()
	if !i.begun {
		i.begun = true
		return i.walk.Last()
	}
	return i.walk.Prev()
}

// Seek passes a limit, although it equals the upper bound: without a limit, Pebble first tries
// up to four steps forward when it seeks to a greater key, and with values of 1 KiB these load
// a block that is not needed.
func (i *iterator) Seek(key []byte) bool {
	i.stopCollecting()
	i.begun = true
	if i.upper == nil {
		return i.walk.SeekGE(key)
	}
	return i.walk.SeekGEWithLimit(key, i.upper) == pebble.IterValid
}

func (i *iterator) Key() []byte { return i.walk.Key() }

func (i *iterator) Value() []byte {
	value, err := i.walk.ValueAndErr()
	if err != nil {
		i.note(err)
		return nil
	}
	if value == nil {
		return []byte{} // nil means failure
	}
	return value
}

func (i *iterator) Err() error {
	if i.err == nil && i.walk != nil {
		i.note(i.walk.Error())
	}
	return i.err
}

func (i *iterator) Close() error {
	if i.walk == nil {
		return i.err
	}
	i.stopCollecting()
	i.note(i.walk.Close())
	i.walk = nil
	i.engine.open.Add(-1)
	return i.err
}

func (i *iterator) note(err error) {
	if i.err == nil && err != nil {
		i.err = readFault(err)
	}
}
