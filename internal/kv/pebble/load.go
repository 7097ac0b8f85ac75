package pebble

import (
	"bytes"
	"context"
	"math"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
)

// DeletesRanges says that batches may hold DeleteRange. Its cost is that of one key.
func (e *Engine) DeletesRanges() bool { return true }

// beyond is above every key that a batch may hold.
var beyond = bytes.Repeat([]byte{0xff}, kv.MaxKeyBytes+1)

// Compact rewrites the tables of [lower, upper) until deleted keys take no
// space there; nil bounds are open. When ctx ends it returns ctx.Err() and what has begun
// finishes by itself.
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
	if err := e.db.Compact(ctx, lower, upper, true); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if noRoom(err) {
			return fault.Wrap(fault.OutOfSpace, err, "the disk has no room to compact")
		}
		return fault.Wrap(fault.Internal, err, "cannot compact")
	}
	return nil
}

// Load gives the engine's account of itself; all zero after Close and after a failure. An engine in
// memory counts its tables as disk.
func (e *Engine) Load() kv.Load {
	if e.enter() != nil {
		return kv.Load{}
	}
	defer e.calls.Leave()
	m := e.db.Metrics()
	load := kv.Load{
		DiskBytes:      m.DiskSpaceUsage(),
		MemoryBytes:    m.MemTable.Size + m.MemTable.ZombieSize + uint64(m.BlockCache.Size+m.FileCache.Size),
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

// FreeBytes tells how much room the file system had where the data lies a moment ago.
func (e *Engine) FreeBytes() (uint64, bool) {
	if e.room == nil {
		return 0, false
	}
	free := e.room.free.Load()
	return uint64(free), free != math.MaxInt64
}
