// Package memory is an engine of package kv in the memory of the process: a B-tree with copy-on-write. Nothing outlives
// Close. It starts at once, depends on no module but the tree's, and uses memory for the keys and values only. It never
// interprets a key.
package memory

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"

	"github.com/tidwall/btree"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/local"
)

var (
	_ kv.Engine  = (*Engine)(nil)
	_ kv.Sizer   = (*Engine)(nil)
	_ kv.Refuser = (*Engine)(nil)
	_ kv.Copier  = (*Engine)(nil)
)

// A pair is one key with its value. The bytes never change, so readers need no lock to use them.
type pair struct{ key, value []byte }

func less(a, b pair) bool { return bytes.Compare(a.key, b.key) < 0 }

// overhead is about how many bytes a pair takes in addition to key and value, in the tree and in the heap.
const overhead = 80

// An Engine is a kv.Engine in memory. It is also a kv.Sizer, a kv.Refuser and a kv.Copier.
type Engine struct {
	limit  int64 // of bytes; 0 for none
	calls  *local.Gate
	open   atomic.Int64  // iterators and snapshots not yet closed
	newest atomic.Uint64 // number of the newest visible batch: the present Mark
	bytes  atomic.Int64  // of all pairs, including overhead

	writing sync.Mutex // held from the check of preconditions until the batch is visible
	changes *local.Changes
	orders  local.Orders

	mu     sync.RWMutex // held while tree changes; taken after writing
	tree   *btree.BTreeG[pair]
	shared *btree.BTreeG[pair] // an immutable copy of tree, nil if tree has changed since
}

// New returns an empty engine without a limit.
func New() *Engine { return NewWithin(0) }

// NewWithin returns an empty engine that rejects batches once its keys and values have this many bytes, except batches
// that free something; 0 means no limit.
func NewWithin(bytes int64) *Engine {
	return &Engine{
		limit: bytes, calls: local.NewGate(), changes: local.NewChanges(),
		tree: btree.NewBTreeGOptions(less, btree.Options{NoLocks: true}),
	}
}

// Close waits for running calls, then releases all memory.
func (e *Engine) Close() error {
	if !e.calls.Shut() {
		return nil
	}
	if n := e.open.Load(); n > 0 {
		return local.Unclosed(n)
	}
	e.tree, e.shared = nil, nil
	return nil
}

// Load returns the size of the engine.
func (e *Engine) Load() kv.Load { return kv.Load{MemoryBytes: uint64(e.bytes.Load())} }

// Copy returns an engine with the same content and limit. Both share the nodes of the tree that neither changes.
func (e *Engine) Copy() (kv.Engine, error) {
	if !e.calls.Enter() {
		return nil, local.Closed()
	}
	defer e.calls.Leave()
	e.mu.Lock()
	defer e.mu.Unlock()
	c := &Engine{limit: e.limit, calls: local.NewGate(), changes: local.NewChanges(), tree: e.tree.Copy()}
	c.bytes.Store(e.bytes.Load())
	return c, nil
}

// Refuses returns an error if the engine is full.
func (e *Engine) Refuses() error {
	if e.limit == 0 || e.bytes.Load() < e.limit {
		return nil
	}
	return fault.New(fault.OutOfSpace, "The memory for documents is full (%d bytes). Delete documents, "+
		"raise --memory-limit, or keep them on disk.", e.limit)
}

// Apply makes a batch visible. It never waits. Its steps have the same order as in the Pebble engine, whose DESIGN.md
// shows why preconditions and orders are correct.
func (e *Engine) Apply(ctx context.Context, b *kv.Batch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !e.calls.Enter() {
		return local.Closed()
	}
	defer e.calls.Leave()
	var size local.Tally
	if err := size.Add(b.Ops); err != nil {
		return err
	}
	if !b.Frees && len(b.Ops)+len(b.Orders) > 0 {
		if err := e.Refuses(); err != nil {
			return err
		}
	}
	e.writing.Lock()
	defer e.writing.Unlock()
	if e.changes.Since(b.Reads, b.Since) {
		return local.Conflict()
	}
	before, reads := len(b.Ops), len(b.Reads)
	if err := e.orders.Place(counters{e}, b); err != nil {
		return err
	}
	if e.changes.Since(b.Reads[reads:], b.Since) {
		return local.Conflict()
	}
	if err := size.Add(b.Ops[before:]); err != nil {
		return err
	}
	if len(b.Ops) == 0 {
		return nil
	}
	pairs, err := copied(b.Ops)
	if err != nil {
		return err
	}
	e.publish(pairs)
	number := e.newest.Load() + 1
	e.changes.Record(b.Ops, number)
	e.newest.Store(number)
	return nil
}

// copied copies the bytes of a batch. A pair without a value is a deletion.
func copied(ops []kv.Op) ([]pair, error) {
	pairs := make([]pair, len(ops))
	for i, op := range ops {
		switch {
		case op.End != nil:
			return nil, fault.New(fault.Internal, "the engine in memory cannot delete a range")
		case op.Value == nil:
			pairs[i].key = op.Key // not stored, so not copied
		default:
			both := make([]byte, len(op.Key)+len(op.Value))
			n := copy(both, op.Key)
			copy(both[n:], op.Value)
			pairs[i] = pair{both[:n:n], both[n:]}
		}
	}
	return pairs, nil
}

// publish changes the tree.
func (e *Engine) publish(pairs []pair) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.shared = nil
	grown := 0
	for _, p := range pairs {
		if p.value == nil {
			if last, found := e.tree.Delete(p); found {
				grown -= len(last.key) + len(last.value) + overhead
			}
			continue
		}
		last, found := e.tree.Set(p)
		grown += len(p.key) + len(p.value) + overhead
		if found {
			grown -= len(last.key) + len(last.value) + overhead
		}
	}
	e.bytes.Add(int64(grown))
}
