package pebble

import (
	"context"
	"errors"

	"github.com/cockroachdb/pebble/v2"
)

// renew flushes three times, which leaves Pebble with memtables in new memory. The system gives that no pages before it
// is written to. Pebble keeps the memtable that it gives up last, to use its memory again. Iterators keep those of
// before from being given up until one that is new has been flushed, too, which is then the last.
//
// It ends early, and flushes no more, if others write much, since memtables that are held take memory. done is false
// then.
func (e *Engine) renew(ctx context.Context) (done bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	e.endRenewal.Store(&cancel)
	defer e.endRenewal.Store(nil)
	// Until the iterators are closed there are four memtables, for which Pebble reserves a part of the cache. Two are
	// hardly written to.
	defer e.cache.Reserve(-2 * int(e.pauses.size()))()
	var before []*pebble.Iterator
	defer func() {
		if e.wedged.Load() { // to close them may never end
			return
		}
		for _, it := range before {
			err = errors.Join(err, it.Close())
		}
	}()
	began := e.pauses.begins.Load()
	for round := range int64(3) {
		if err := errors.Join(ctx.Err(), e.broken()); err != nil {
			return false, err
		}
		if round > 0 && (e.pauses.begins.Load() != began+round || e.pauses.written.Load() >= e.pauses.least) {
			return false, nil
		}
		it, err := e.db.NewIter(nil)
		if err != nil {
			return false, readFault(err)
		}
		before = append(before, it)
		if err := e.flush(ctx); err != nil {
			return false, err
		}
	}
	return true, nil
}
