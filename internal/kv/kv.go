// Package kv is the contract between the store and a storage engine: an
// ordered map of byte keys with consistent snapshots and atomic batches under
// optimistic preconditions. It asks for snapshot isolation and write-write
// conflicts and nothing more, so that an embedded log-structured tree and a
// distributed transactional store can both keep it. It never interprets a key.
package kv

import "context"

// Limits of one batch; Apply refuses a larger one with fault.TooLarge, and an
// empty key with fault.Invalid. Bytes are those of keys and values. The store
// keeps every batch that is not one huge document's below 4 MiB and 5,000 keys, which
// distributed engines ask for.
const (
	MaxBatchBytes = 128 << 20
	MaxBatchKeys  = 1_000_000
	MaxKeyBytes   = 16 << 10
)

// A Reader reads keys. Its methods are safe for concurrent use.
type Reader interface {
	// Get calls use with the value of key while the bytes are pinned; use must
	// not keep them. found is false, and use is not called, when the key is
	// absent. An error of use is returned as it is.
	Get(key []byte, use func(value []byte) error) (found bool, err error)

	// Iterate opens a cursor over keys in [lower, upper); nil bounds are open.
	// It sees one consistent state. The caller closes it.
	Iterate(lower, upper []byte) (Iterator, error)
}

// An Iterator walks keys in order. It starts before the first key. It is not
// safe for concurrent use. Key and Value are valid until the next move.
type Iterator interface {
	// Next moves to the following key and reports whether there is one.
	Next() bool
	// Prev moves to the preceding key; on a fresh iterator, to the last.
	Prev() bool
	// Seek moves to the first key at or after key.
	Seek(key []byte) bool
	// Key is the present key.
	Key() []byte
	// Value is the present value, fetched only now. It returns nil after a
	// failure, which Err then reports.
	Value() []byte
	// Err is the first failure of the walk.
	Err() error
	// Close releases the iterator and returns Err.
	Close() error
}

// A Snapshot is a Reader fixed at one moment. The caller closes it.
type Snapshot interface {
	Reader
	Close() error
}

// A Mark is a moment in an engine's history, taken before reads whose keys
// are then given to Batch.Read.
type Mark uint64

// An Engine stores keys. Its own Reader methods read the newest applied state.
// All methods are safe for concurrent use.
type Engine interface {
	Reader

	// Snapshot sees every batch applied before it and none after.
	Snapshot() Snapshot

	// Mark returns the present moment. A key read after Mark and passed to
	// Batch.Read makes Apply fail if it changes in between.
	Mark() Mark

	// Apply makes all of b visible and, if the engine is durable and b.NoSync
	// is not set, durable, or does nothing. It fails with fault.Conflict when a key that b
	// read has changed since b.Since (an engine may report a conflict that is
	// none, rarely); the caller may try again from its reads. A later
	// batch is never durable without an earlier one. When ctx has ended before
	// Apply begins, Apply returns ctx.Err() and writes nothing; once begun it finishes. An
	// engine that is short of room fails with fault.OutOfSpace unless the batch Frees, or has nothing to write.
	Apply(ctx context.Context, b *Batch) error

	// Close waits for running calls. Iterators and snapshots are closed before;
	// it fails and leaves the engine's files open if one is not. Every later call
	// fails with fault.Unavailable, and closing again does nothing.
	Close() error
}

// An Op is one change of a batch. A nil Value deletes. When End is set the
// change deletes every key in [Key, End).
type Op struct {
	Key, Value, End []byte
}

// A Batch is a set of changes that happen together, and what they depend on.
// Later changes of a key win over earlier ones. The engine may keep the byte
// slices until Apply returns. A Batch is used once.
type Batch struct {
	// Since is the moment before the reads that the batch depends on.
	Since Mark
	// NoSync lets a crash undo the batch: for work that is safe to repeat.
	NoSync bool
	// Frees says that the batch is a step towards free space: it deletes, or it writes down what
	// deleting goes by. An engine takes it where it refuses others with fault.OutOfSpace.
	Frees bool
	// Room is about how many bytes Place is going to add, if they are many.
	Room int

	Reads  [][]byte
	Ops    []Op
	Orders []Order
}

// An Order is a counter that batches pass one at a time. Apply calls Place with
// the counter's value (nil when absent) once the preconditions hold; Place adds the
// changes that depend on it to the batch and returns the next value. No other
// batch passes the same counter between Place and the moment the batch is visible,
// so that whoever sees a counter value sees the effects of every lower one.
// An error of Place makes Apply fail with it, and nothing is written. Place may be
// called more than once and must then start afresh. It must not keep or change
// last, and may read the engine but not call Apply.
type Order struct {
	Key   []byte
	Place func(last []byte, b *Batch) (next []byte, err error)
}

// Read makes the batch depend on key being unchanged since b.Since.
func (b *Batch) Read(key []byte) { b.Reads = append(b.Reads, key) }

// Set stores value under key. An empty value is stored, not a deletion.
func (b *Batch) Set(key, value []byte) {
	if value == nil {
		value = []byte{}
	}
	b.Ops = append(b.Ops, Op{Key: key, Value: value})
}

// Delete removes key.
func (b *Batch) Delete(key []byte) { b.Ops = append(b.Ops, Op{Key: key}) }

// DeleteRange removes every key in [lower, upper). Only engines that are
// RangeDeleters take such a batch. Ranges do not count as a change of each key
// for preconditions: callers use them only on keys that no one writes any more.
// Both bounds are given: Apply refuses an empty upper with fault.Invalid.
func (b *Batch) DeleteRange(lower, upper []byte) {
	if upper == nil {
		upper = []byte{} // a nil End would make this a deletion of lower
	}
	b.Ops = append(b.Ops, Op{Key: lower, End: upper})
}

// Follow makes the batch pass the counter at key.
func (b *Batch) Follow(key []byte, place func(last []byte, b *Batch) (next []byte, err error)) {
	b.Orders = append(b.Orders, Order{Key: key, Place: place})
}

// Optional capabilities of an engine, found by type assertion. None is needed
// for correctness.
type (
	// A RangeDeleter takes batches with DeleteRange, at a cost that does not
	// grow with the number of keys.
	RangeDeleter interface{ DeletesRanges() bool }

	// A Compacter gives disk space of deleted keys in [lower, upper) back now.
	Compacter interface {
		Compact(ctx context.Context, lower, upper []byte) error
	}

	// A Refuser tells why the engine takes no writes at present, fault.OutOfSpace when it waits
	// for room on the disk; nil while it takes them.
	Refuser interface{ Refuses() error }

	// A Spacer tells how many bytes of the disk are free for the engine; false when it does not know.
	Spacer interface{ FreeBytes() (uint64, bool) }

	// A Failer tells when the engine has failed for good: every call fails with fault.Unavailable
	// from then on, reads as well, since what they would show may not be durable.
	Failer interface{ Failed() <-chan struct{} }

	// A Shrinker gives back what it holds only to be faster: memory to the system, and room on the disk
	// that it keeps to use again. It costs what was in memory one write to the disk, and later reads and
	// writes a little until they have warmed up again, so it is for an engine that has come to rest.
	Shrinker interface {
		Shrink(ctx context.Context) error
	}

	// A Sizer tells how full an engine is and how hard it works.
	Sizer interface{ Load() Load }
)

// Load is an engine's account of itself, for the reaper's governor and metrics.
type Load struct {
	DiskBytes      uint64 // bytes that the engine holds on disk
	MemoryBytes    uint64 // bytes of memtables and caches
	CompactionDebt uint64 // estimated bytes still to compact
	Sublevels      int    // of the newest level; writes stall when it is high
	Compactions    int    // under way

	// Bytes written since the engine was opened: to the log, from memory to tables, and from tables to tables.
	LogBytes, FlushedBytes, CompactedBytes uint64
}
