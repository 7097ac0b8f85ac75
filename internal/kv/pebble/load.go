package pebble

import (
	"bytes"
	"context"
	"math"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
)

// DeletesRanges reports that batches may use DeleteRange. It costs as much as the deletion of one key.
func (e *Engine) DeletesRanges() bool { return true }

// beyond sorts after every key that a batch may have.
var beyond = bytes.Repeat([]byte{0xff}, kv.MaxKeyBytes+1)

// Compact rewrites the tables of [lower, upper), so that deleted keys take no space there; a nil bound is open. When
// ctx ends, it returns ctx.Err(), and the compaction that has begun finishes in the background.
func (e *Engine) Compact(ctx context.Context, lower, upper []byte) error {
	if err := e.enter(); err != nil {
		return err
	}
	defer e.calls.Leave()
	if upper == nil {
		upper = beyond
	}
	if bytes.Compare(lower, upper) >= 0 {
		return nil
	}
	e.compacts.Add(1)
	defer e.compacts.Add(-1)
	if err := e.db.Compact(ctx, lower, upper, true); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if noSpace(err) {
			return fault.Wrap(fault.OutOfSpace, err, "the disk has no space for a compaction")
		}
		return fault.Wrap(fault.Internal, err, "cannot compact tables")
	}
	return nil
}

// Load returns the size and the load of the engine; zero after Close and after a failure. For an engine in memory, its
// tables count as disk.
func (e *Engine) Load() kv.Load {
	if e.enter() != nil {
		return kv.Load{}
	}
	defer e.calls.Leave()
	m := e.db.Metrics()
	cached := m.BlockCache.Size + m.FileCache.Size + e.remembered.size() + e.absent.size()
	load := kv.Load{
		DiskBytes:      m.DiskSpaceUsage(),
		MemoryBytes:    m.MemTable.Size + m.MemTable.ZombieSize + uint64(cached),
		CompactionDebt: m.Compact.EstimatedDebt,
		Sublevels:      int(m.Levels[0].Sublevels),
		Compactions:    int(m.Compact.NumInProgress),
		LogBytes:       m.WAL.BytesWritten,
	}
	for i := range m.Levels {
		load.FlushedBytes += m.Levels[i].TableBytesFlushed + m.Levels[i].BlobBytesFlushed
		load.CompactedBytes += m.Levels[i].TableBytesCompacted + m.Levels[i].BlobBytesCompacted
	}
	return load
}

// FreeBytes is how many bytes of the file system with the data were free at the last check, about a second ago.
func (e *Engine) FreeBytes() (uint64, bool) {
	if e.space == nil {
		return 0, false
	}
	free := e.space.free.Load()
	return uint64(free), free != math.MaxInt64
}
