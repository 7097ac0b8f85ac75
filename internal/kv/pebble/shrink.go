package pebble

import (
	"context"
	"errors"
	"io/fs"
	"math"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mayflydb/mayfly/internal/kv/local"
)

// takeCache creates a cache for this engine alone, so that Shrink can empty it.
func (e *Engine) takeCache(o *pebble.Options) {
	e.cache = pebble.NewCache(o.CacheSize)
	e.remembered = newRemembered(o.CacheSize/rememberedShare, e.cache)
	e.absent.limit = o.CacheSize / filterShare
	o.Cache = e.cache
}

// Shrink releases what an idle engine does not need: it flushes the memtable to a table, empties the logs that are
// then unused, empties the block cache, and returns free memory to the system. The cache of the operating system
// still has the tables. Shrink does nothing if nothing was written since the last call and the cache is small.
func (e *Engine) Shrink(ctx context.Context) error {
	if err := e.enter(); err != nil {
		return err
	}
	defer e.calls.Leave()
	if e.Refuses() != nil {
		return nil // the disk is full or has failed: do not burden it
	}
	newest := e.newest.Load()
	if e.shrunk.Load() == newest && e.cache.Size()+e.remembered.size()+e.absent.size() < smallCacheUse {
		return nil
	}
	if e.shrunk.Load() != newest {
		if err := e.emptyLogs(ctx); err != nil {
			return err
		}
		e.shrunk.Store(newest)
	}
	e.remembered.forget()
	e.absent.forget()
	e.cache.Reserve(math.MaxInt32)() // reserving all of it evicts all blocks
	e.trim()
	return nil
}

// smallCacheUse is the size up to which emptying the cache is not worthwhile.
const smallCacheUse = 1 << 20

// emptyLogs flushes, and empties the logs that Pebble keeps for reuse. It does so twice, because the first flush
// makes one of them the current log.
func (e *Engine) emptyLogs(ctx context.Context) error {
	for range 2 {
		if err := e.flushLogs(ctx); err != nil {
			return err
		}
	}
	return nil
}

// flushLogs flushes, and empties the logs that are no longer needed. Pebble may reuse one of them at the same time,
// under another name; the mutex spent prevents that flushLogs empties such a log.
func (e *Engine) flushLogs(ctx context.Context) error {
	var logs []uint64
	if e.space != nil {
		names, err := e.space.fs.List(e.space.dir)
		if err != nil {
			return readFault(err)
		}
		logs = logNumbers(names)
	}
	if err := e.flush(ctx); err != nil {
		return err
	}
	for _, number := range logs { // all from before the flush, which has begun a new log
		if err := e.emptyLog(logName(number)); err != nil {
			return readFault(err)
		}
	}
	return nil
}

// flush writes the memtables to tables.
func (e *Engine) flush(ctx context.Context) error {
	flushed, err := e.db.AsyncFlush()
	if err != nil {
		return readFault(err)
	}
	select {
	case <-flushed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-e.closing.Done():
		return local.Closed()
	case <-e.failed:
		return e.broken()
	}
}

func (e *Engine) emptyLog(name string) error {
	e.spent.Lock()
	defer e.spent.Unlock()
	path := e.space.fs.PathJoin(e.space.dir, name)
	info, err := e.space.fs.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	f, err := e.space.fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	return f.Close()
}
