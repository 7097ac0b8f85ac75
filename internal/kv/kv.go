// Package kv is the contract between the store and a storage engine: an ordered map of byte keys with consistent
// snapshots, and atomic batches with optimistic preconditions. It requires snapshot isolation and detection of
// write-write conflicts, and nothing more, so that both an embedded log-structured tree and a distributed
// transactional store can implement it. It never interprets a key.
package kv

import (
	"context"
	"time"
)

// Limits of one batch. Apply rejects a larger one with fault.TooLarge, and an
// empty key with fault.Invalid. Bytes are those of keys and values. Distributed
// engines need batches below 4 MiB and 5,000 keys: the store exceeds that only
// for a single huge document.
const (
	MaxBatchBytes = 128 << 20
	MaxBatchKeys  = 1_000_000
	MaxKeyBytes   = 16 << 10
)

// A Reader reads keys. Its methods are safe for concurrent use. An engine that waits for other machines stops waiting
// when ctx ends, and fails with fault.Unavailable or the error of ctx; an embedded one may ignore ctx.
type Reader interface {
	// Get calls use with the value of key. The bytes are valid during the call
	// only. If the key is absent, found is false and use is not called. Get
	// returns an error of use unchanged.
	Get(ctx context.Context, key []byte, use func(value []byte) error) (found bool, err error)

	// Iterate returns an iterator over the keys in [lower, upper); a nil bound is
	// open. It sees one consistent state. ctx applies to every move of the
	// iterator. The caller closes it.
	Iterate(ctx context.Context, lower, upper []byte) (Iterator, error)
}

// An Iterator visits keys in order. It starts before the first key. It is not
// safe for concurrent use. Key and Value are valid until the next move.
type Iterator interface {
	// Next moves to the following key and reports whether there is one.
	Next() bool
	// Prev moves to the preceding key; on a new iterator, to the last.
	Prev() bool
	// Seek moves to the first key at or after key.
	Seek(key []byte) bool
	// Key is the current key.
	Key() []byte
	// Value is the value of the current key, fetched by this call. It returns nil
	// after a failure, which Err then reports.
	Value() []byte
	// Err is the first failure of the iterator.
	Err() error
	// Close releases the iterator and returns Err.
	Close() error
}

// A Snapshot is a Reader fixed at one moment. The caller closes it.
type Snapshot interface {
	Reader
	Close() error
}

// Values are what several keys have, see MultiReader. They need no closing, and are not safe for concurrent use.
type Values interface {
	Pager
	// Value is the value of the key with that index, nil if the key is absent. It is valid until the next call.
	Value(i int) ([]byte, error)
}

// GetAll calls use with the value of each of the keys in their order, nil if the key is absent. They are read at once
// if r is a MultiReader, else one by one. The value is valid during the call only. GetAll returns an error of use
// unchanged.
func GetAll(ctx context.Context, r Reader, keys [][]byte, use func(i int, value []byte) error) error {
	many, ok := r.(MultiReader)
	if !ok {
		for i, key := range keys {
			found, err := r.Get(ctx, key, func(value []byte) error { return use(i, value) })
			if err == nil && !found {
				err = use(i, nil)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	values, err := many.GetAll(ctx, keys)
	if err != nil {
		return err
	}
	for i := range keys {
		value, err := values.Value(i)
		if err == nil {
			err = use(i, value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// A Mark is a moment in the history of an engine. One batch at most may rest on it, see Batch.Since: of a second one,
// Apply may report a conflict where there is none.
type Mark uint64

// A View is what one operation reads, and what its batch rests on. Functions that take a Reader are given its Reader
// field: the View itself would be copied to the heap.
type View struct {
	// Reader sees every batch applied before the mark. It may see later ones, too: then Apply fails for a batch that
	// passes what they changed to Batch.Read. It needs no closing, and is for one short operation: an engine may
	// forget what it needs for an old one, and then fails with fault.Unavailable.
	Reader
	// Mark is the moment: the Since of the operation's batch.
	Mark Mark
	// Time is the time of day at the moment, by the engine's own clock. It is the zero Time if the engine keeps none;
	// then whoever asks has a clock. An engine that keeps time orders all batches by it: Reader sees those that were
	// committed before Time, and no others.
	Time time.Time
}

// An Engine stores keys. Its own Reader methods read the newest applied state.
// All methods are safe for concurrent use.
type Engine interface {
	Reader

	// Snapshot sees every batch applied before it and none after.
	Snapshot(ctx context.Context) (Snapshot, error)

	// View opens a view at the present moment. A key read through it, or in any
	// other way after it, and passed to Batch.Read makes Apply fail if it changes
	// in between.
	View(ctx context.Context) (View, error)

	// Apply makes all of b visible, and durable if the engine is durable and
	// neither b.NoSync nor b.SyncLater is set; or it fails and writes nothing. Errors:
	//   - fault.Conflict if a key that b has read has changed since b.Since, or if
	//     the commit would not be before b.Before. The caller may try again,
	//     beginning with its reads. Rarely, an engine reports a conflict where there
	//     is none, but never for a batch that has read nothing and has no bound.
	//   - fault.Undetermined if the engine cannot tell whether it has written b. The
	//     caller reads again before it retries, or says so to its client.
	//   - fault.OutOfSpace if the engine is short of space, unless b.Frees is set
	//     or b writes nothing.
	//   - ctx.Err() if ctx has ended before Apply begins. Once begun, an embedded
	//     engine finishes; one that waits for other machines may give up, with
	//     fault.Undetermined if it has begun to commit.
	//
	// A batch is never durable without all earlier ones that passed one of its
	// counters; an embedded engine keeps that order for all batches.
	Apply(ctx context.Context, b *Batch) error

	// Close waits for running calls. The caller closes all iterators and snapshots
	// before; if one is open, Close fails and leaves the engine's files open. Every
	// later call fails with fault.Unavailable, except Close, which does nothing.
	Close() error
}

// An Op is one change of a batch. A nil Value deletes. When End is set the
// change deletes every key in [Key, End).
type Op struct {
	Key, Value, End []byte
}

// A Batch is a set of changes that happen together, and the reads that they depend on.
// Later changes of a key win over earlier ones. The engine may keep the byte
// slices until Apply returns. A Batch is used once.
type Batch struct {
	// Since is the moment before the reads that the batch depends on, see View.
	Since Mark
	// Before bounds the moment of the commit, by the clock that View.Time tells; the zero Time is no bound. An Order
	// may lower it. An engine that keeps no time ignores it: there the batch's Order decides by the clock of its maker.
	Before time.Time
	// Time is set by an engine that keeps time, before it calls the Orders, and anew before it calls them again: an
	// instant by that clock at which it holds all counters of the batch, or a later one, and not after the commit.
	// So whatever another batch did while it held one of them was before.
	Time time.Time
	// NoSync allows a crash to undo the batch: for work that is safe to repeat.
	NoSync bool
	// SyncLater lets Apply return when the batch is visible. A Syncer makes it durable soon after, or in Sync; other
	// engines ignore it.
	SyncLater bool
	// Frees says that the batch helps to free space: it deletes, or it writes what later deletes
	// need. An engine that is short of space accepts it.
	Frees bool
	// Extra is about how many bytes the Orders will add, so that the engine can allocate them.
	Extra int

	Reads  [][]byte
	Ops    []Op
	Orders []Order
}

// An Order is a counter that batches pass one at a time. Once the preconditions hold,
// Apply calls Place with the value of the counter, nil if absent. Place adds the changes
// that depend on it to the batch, and returns the next value. No other batch passes the
// same counter until this batch is visible, so a reader that sees a value of the counter
// sees the effects of every lower one. If Place fails, Apply fails with its error and
// writes nothing. Place may be called more than once, and must then start again. It must
// not keep or change last, and must not call Apply. It may read the engine, which need not
// show the batches that have just passed the counter, because an engine may commit several
// at once: of them, last alone tells.
type Order struct {
	Key   []byte
	Place func(last []byte, b *Batch) (next []byte, err error)
}

// Read adds the precondition that key has not changed since b.Since.
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
// RangeDeleters accept it. Preconditions do not notice it, so callers use it
// only for keys that no one writes any more. Apply rejects an empty upper with
// fault.Invalid.
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

// Optional capabilities of an engine, and of its readers and iterators, found by type assertion. None of them is
// needed for correctness.
type (
	// A RangeDeleter accepts batches with DeleteRange, at a cost that does not
	// grow with the number of keys.
	RangeDeleter interface{ DeletesRanges() bool }

	// Other processes may write the data of a Shared engine, too, so what a process remembers of it needs proof. Such
	// an engine keeps time, and loses nothing that was ever visible.
	Shared interface{ Shared() bool }

	// A Collector has versions of keys that were overwritten or deleted, and that it does not forget by itself. GC
	// forgets those that were so before a time, except what open snapshots need: kept is the time from which on they
	// stay, and may be set although something else has failed. One process at a time calls it.
	Collector interface {
		GC(ctx context.Context, before time.Time) (kept time.Time, err error)
	}

	// A Compacter frees the disk space of deleted keys in [lower, upper) now.
	Compacter interface {
		Compact(ctx context.Context, lower, upper []byte) error
	}

	// A Pager is an iterator of an engine on other machines, which fetches keys page by page, or the Values of a
	// MultiReader. PageBytes is how much memory the present page takes.
	Pager interface{ PageBytes() int }

	// A MultiReader is an engine on other machines, a snapshot of it, or the Reader of a view: to read several keys
	// takes about as long there as to read one, and gives one consistent state. The keys may be in any order. What is
	// fetched at once is bounded by the caller alone. ctx applies to the Values as well, and the caller leaves the keys
	// as they are while it uses them.
	MultiReader interface {
		GetAll(ctx context.Context, keys [][]byte) (Values, error)
	}

	// A Rememberer is a snapshot whose engine keeps values in memory that are read more than once by their keys, so
	// that they are found in less time than a seek of an iterator takes. Recall returns such a value, or nil. Remember
	// says that a key which Recall has not found has the value in the snapshot; the engine copies what it keeps.
	//
	// The engine also keeps runs that are walked over more than once. A run is the keys that begin with a prefix, if
	// all such keys, at all times, are eight bytes longer than it: entries of one value in an index, for instance,
	// which end in the number of a document. IterateRun is Iterate for a run, whose prefix is lower.
	Rememberer interface {
		Recall(key []byte) Remembered
		Remember(key, value []byte)
		IterateRun(ctx context.Context, lower, upper []byte) (Iterator, error)
	}

	// A Remembered is a value that is kept in memory, and may have a text with it: what its reader has made of it.
	// Value and Text are valid as long as they are used, and must not be changed. Text is nil until Keep has kept one.
	// There is one text, so all who read the key must make the same one of its value. Keep copies it, and may not keep
	// it.
	Remembered interface {
		Value() []byte
		Text() []byte
		Keep(text []byte)
	}

	// A KeyLimiter accepts shorter keys than MaxKeyBytes only: the limit of its Apply is this number of bytes.
	KeyLimiter interface{ MaxKeyBytes() int }

	// A Refuser returns the reason why the engine rejects writes at present, nil if it accepts
	// them. The kind is fault.OutOfSpace if the engine waits for space on the disk.
	Refuser interface{ Refuses() error }

	// A Spacer returns how many bytes of the disk are free for the engine; false if unknown.
	Spacer interface{ FreeBytes() (uint64, bool) }

	// A Syncer has batches that are visible and that a crash may undo: those with NoSync or SyncLater, and those whose
	// Apply has not returned. Sync makes all of them durable that are visible when it begins, which costs nothing if
	// there are none. If it fails, each of them may be durable or not; if ctx has ended, they will be. Unsynced is
	// about how many there are. An engine that was opened so that it never waits for the disk does not count them.
	Syncer interface {
		Sync(ctx context.Context) error
		Unsynced() int
	}

	// The channel of a Failer is closed when the engine has failed permanently. From then on every
	// call fails with fault.Unavailable, reads included, because what they would return may not be
	// durable.
	Failer interface{ Failed() <-chan struct{} }

	// A Shrinker returns memory to the system, and disk space that it keeps for reuse. That costs
	// one write of the data in memory, and makes later reads and writes slower until caches are
	// warm again, so it is for an idle engine.
	Shrinker interface {
		Shrink(ctx context.Context) error
	}

	// A Sizer measures the size and the load of an engine.
	Sizer interface{ Load() Load }

	// A Checkpointer copies an engine on disk to a folder while it is in use. The copy is the state at one moment
	// during the call: it has every batch that Apply acknowledged before, and of later ones a beginning, as after a
	// crash. dir must not exist, and its parent must be on the same file system: immutable files become hard links,
	// so the copy is quick and shares space. If it fails, dir does not exist.
	Checkpointer interface {
		Checkpoint(ctx context.Context, dir string) error
	}

	// A Copier copies an engine in memory. The copy is an engine of its own, at the state of one moment during the
	// call, which Close releases; neither sees changes of the other. It takes no time that grows with the number of
	// keys, and shares memory with the original until one of them changes.
	Copier interface{ Copy() (Engine, error) }
)

// Load is the size and the load of an engine, for the reaper's governor and for metrics.
type Load struct {
	DiskBytes      uint64 // bytes that the engine holds on disk
	MemoryBytes    uint64 // bytes of memtables and caches
	CompactionDebt uint64 // estimated bytes still to compact
	Sublevels      int    // of the newest level; writes stall when there are many
	Compactions    int    // running

	// Bytes written since the engine was opened: to the log, from memory to tables, and from tables to tables.
	LogBytes, FlushedBytes, CompactedBytes uint64
}
