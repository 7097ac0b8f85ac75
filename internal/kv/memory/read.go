package memory

import (
	"bytes"
	"context"
	"sync/atomic"

	"github.com/tidwall/btree"

	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/local"
)

// Get reads the newest applied state.
func (e *Engine) Get(_ context.Context, key []byte, use func(value []byte) error) (bool, error) {
	if !e.calls.Enter() {
		return false, local.Closed()
	}
	defer e.calls.Leave()
	p, found := e.find(key)
	if !found {
		return false, nil
	}
	return true, use(p.value)
}

func (e *Engine) find(key []byte) (pair, bool) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.tree.Get(pair{key: key})
}

// counters reads the newest applied state within a call that has passed the gate.
type counters struct{ e *Engine }

func (c counters) Append(dst, key []byte) ([]byte, bool, error) {
	p, found := c.e.find(key)
	return append(dst, p.value...), found, nil
}

// Iterate iterates over the newest applied state as it is now.
func (e *Engine) Iterate(_ context.Context, lower, upper []byte) (kv.Iterator, error) {
	if !e.calls.Enter() {
		return nil, local.Closed()
	}
	defer e.calls.Leave()
	return e.iterate(e.copy(), lower, upper), nil
}

// Snapshot fixes the newest applied state.
func (e *Engine) Snapshot(context.Context) (kv.Snapshot, error) {
	if !e.calls.Enter() {
		return nil, local.Closed()
	}
	defer e.calls.Leave()
	e.open.Add(1)
	return &snapshot{engine: e, tree: e.copy()}, nil
}

// View reads the newest applied state, not only that of its moment.
func (e *Engine) View(context.Context) (kv.View, error) {
	mark := kv.Mark(e.newest.Load()) // before any read
	if e.calls.Closed() {
		return kv.View{}, local.Closed()
	}
	return kv.View{Reader: e, Mark: mark}, nil
}

// copy is the tree as it is now, for readers. A copy costs nothing by itself, but the next batches have to copy the
// nodes that they change, so all readers between two batches share one.
func (e *Engine) copy() *btree.BTreeG[pair] {
	e.mu.RLock()
	shared := e.shared
	e.mu.RUnlock()
	if shared != nil {
		return shared
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.shared == nil {
		e.shared = e.tree.Copy()
	}
	return e.shared
}

// A snapshot may be closed twice.
type snapshot struct {
	engine *Engine
	tree   *btree.BTreeG[pair]
	closed atomic.Bool
}

func (s *snapshot) Get(_ context.Context, key []byte, use func(value []byte) error) (bool, error) {
	p, found := s.tree.Get(pair{key: key})
	if !found {
		return false, nil
	}
	return true, use(p.value)
}

func (s *snapshot) Iterate(_ context.Context, lower, upper []byte) (kv.Iterator, error) {
	return s.engine.iterate(s.tree, lower, upper), nil
}

func (s *snapshot) Close() error {
	if !s.closed.Swap(true) {
		s.engine.open.Add(-1)
	}
	return nil
}

// iterate returns an iterator over an immutable tree.
func (e *Engine) iterate(tree *btree.BTreeG[pair], lower, upper []byte) kv.Iterator {
	e.open.Add(1)
	return &iterator{engine: e, walk: tree.Iter(), lower: bytes.Clone(lower), upper: bytes.Clone(upper)}
}

// The positions of an iterator.
const (
	fresh  = iota // not moved yet
	before        // before the first key
	at            // at a key
	after         // after the last key
)

// An iterator iterates over the tree within bounds. It may be closed twice.
type iterator struct {
	engine       *Engine
	walk         btree.IterG[pair]
	lower, upper []byte
	place        int
	closed       bool
}

func (i *iterator) Next() bool {
	switch i.place {
	case fresh, before:
		return i.Seek(i.lower)
	case after:
		return false
	}
	return i.forward(i.walk.Next())
}

func (i *iterator) Prev() bool {
	switch i.place {
	case before:
		return false
	case at:
		return i.backward(i.walk.Prev())
	}
	if i.upper == nil {
		return i.backward(i.walk.Last())
	}
	if i.walk.Seek(pair{key: i.upper}) {
		return i.backward(i.walk.Prev())
	}
	return i.backward(i.walk.Last())
}

func (i *iterator) Seek(key []byte) bool {
	if bytes.Compare(key, i.lower) < 0 {
		key = i.lower
	}
	return i.forward(i.walk.Seek(pair{key: key}))
}

// forward updates the position after a step towards the end.
func (i *iterator) forward(found bool) bool {
	i.place = after
	if found && (i.upper == nil || bytes.Compare(i.walk.Item().key, i.upper) < 0) {
		i.place = at
	}
	return i.place == at
}

// backward updates the position after a step towards the beginning.
func (i *iterator) backward(found bool) bool {
	i.place = before
	if found && bytes.Compare(i.walk.Item().key, i.lower) >= 0 {
		i.place = at
	}
	return i.place == at
}

func (i *iterator) Key() []byte { return i.walk.Item().key }

func (i *iterator) Value() []byte { return i.walk.Item().value }

func (i *iterator) Err() error { return nil }

func (i *iterator) Close() error {
	if !i.closed {
		i.closed = true
		i.walk.Release()
		i.engine.open.Add(-1)
	}
	return nil
}
