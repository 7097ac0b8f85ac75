package pebble

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
)

// A walk over keys takes about twice as long in a memtable as in tables: it follows pointers there, in the order in
// which the keys were written. So what is read and hardly written any more is flushed, and does not wait until the
// memtable is full.
const (
	pauseShare   = 8  // a memtable is flushed early if at least one part in so many of it is full,
	pauseSeconds = 64 // it would take at least so many seconds to write that again
	pauseChecks  = 2  // at the present rate, and that was so at so many checks in a row

	// returnEvery is how often the memory of memtables is returned at most, since that may take a collection, and how
	// often tick returns that of the cache, since blocks wait for it up to 30 ms.
	returnEvery = time.Minute
)

// A pauseWatch finds pauses of writes.
type pauseWatch struct {
	least   int64        // bytes that are worth a flush
	written atomic.Int64 // bytes since the memtable began
	begins  atomic.Int64 // memtables that have begun
	used    atomic.Bool  // a memtable that has ended since the last renewal had at least that many bytes
	before  int64        // written at the last check
	many    atomic.Bool  // much was written since the check before
	calm    int          // checks in a row at which little was written
}

// begun is called when a memtable begins.
func (w *pauseWatch) begun() {
	w.begins.Add(1)
	if w.written.Swap(0) >= w.least {
		w.used.Store(true)
	}
}

// renewed is called when all memtables have new memory.
func (w *pauseWatch) renewed() { w.used.Store(false) }

// size is that of a memtable, in bytes.
func (w *pauseWatch) size() int64 { return w.least * pauseShare }

// found reports whether there is a pause in which a flush is worthwhile: of what was written, or for the memory of
// memtables from before. It is called once a second.
func (w *pauseWatch) found() bool {
	written := w.written.Load()
	fresh := written - w.before
	w.before = written
	w.many.Store(fresh < 0 || fresh >= w.least*pauseShare/deferShare)
	if w.calm++; fresh < 0 || fresh > written/pauseSeconds {
		w.calm = 0
	}
	return (written >= w.least || w.used.Load()) && w.calm >= pauseChecks
}

// settle flushes what was written, and returns the memory of memtables to the system.
func (e *Engine) settle(ctx context.Context) error {
	if err := e.enter(); err != nil {
		return err
	}
	defer e.calls.Leave()
	done, err := e.renew(ctx)
	if done {
		e.pauses.renewed()
	}
	if done && e.returned.Elapsed() >= returnEvery {
		e.returnMemTables()
		e.returned = clock.Start()
	}
	return err
}
