package pebble

import (
	"context"
	"errors"

	"github.com/cockroachdb/pebble/v2"
)

// renew calls flush three times, which leaves Pebble with memtables in new memory. The system gives that no pages
// before it is written to. Pebble keeps the memtable that it gives up last, to use its memory again. Iterators keep
// those of before from being given up until one that is new has been flushed, too, which is then the last.
func (e *Engine) renew(ctx context.Context, flush func(context.Context) error) (err error) {
	var before []*pebble.Iterator
	defer func() {
		for _, it := range before {
			err = errors.Join(err, it.Close())
		}
	}()
	for range 3 {
		it, err := e.db.NewIter(nil)
		if err != nil {
			return readFault(err)
		}
		before = append(before, it)
		if err := flush(ctx); err != nil {
			return err
		}
	}
	e.pauses.renewed()
	return nil
}
