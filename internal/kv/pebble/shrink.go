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

// takeCache makes the engine's own cache, so that Shrink can empty it.
func (e *Engine) takeCache(o *pebble.Options) {
	e.cache = pebble.NewCache(o.CacheSize)
	o.Cache = e.cache
}

// Shrink gives back what an engine at rest can do without: the memtable goes to a table, the logs that
// are then of no use become empty, blocks leave the cache, and free memory goes to the system. The
// system's own cache still has the tables. It does nothing when nothing was written since the last time and the cache is small.
func (e *Engine) Shrink(ctx context.Context) error {
	if err := e.enter(); err != nil {
		return err
	}
	defer e.calls.Leave()
	if e.Refuses() != nil {
		return nil // the disk has other cares
	}
	newest := e.newest.Load()
	if e.shrunk.Load() == newest && e.cache.Size() < smallCacheUse {
		return nil
	}
	if e.shrunk.Load() != newest {
		if err := e.emptyLogs(ctx); err != nil {
			return err
		}
		e.shrunk.Store(newest)
	}
	e.cache.Reserve(math.MaxInt32)() // a reservation of everything evicts everything
	trimMalloc()
	return nil
}

// smallCacheUse is a cache that is not worth emptying.
const smallCacheUse = 1 << 20

// emptyLogs flushes, and empties the logs that Pebble keeps to use them again. It does so twice, because the first
// flush has made one of these the present log.
func (e *Engine) emptyLogs(ctx context.Context) error {
	for range 2 {
		if err := e.flushLogs(ctx); err != nil {
			return err
		}
	}
	return nil
}

// flushLogs flushes, and empties the logs that nobody needs then. Pebble may take any of them to use it
// again meanwhile: it then has another name, and spent keeps the two apart.
func (e *Engine) flushLogs(ctx context.Context) error {
	var logs []uint64
	if e.room != nil {
		names, err := e.room.fs.List(e.room.dir)
		if err != nil {
			return readFault(err)
		}
		logs = logNumbers(names)
	}
	if err := e.flush(ctx); err != nil {
		return err
	}
	for _, number := range logs { // the flush has begun a new one
		if err := e.emptyLog(logName(number)); err != nil {
			return readFault(err)
		}
	}
	return nil
}

// flush writes what memory holds to tables.
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
	path := e.room.fs.PathJoin(e.room.dir, name)
	info, err := e.room.fs.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	f, err := e.room.fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	return f.Close()
}
