package pebble

import (
	"context"
	"errors"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/fault"
)

// How long the engine waits between two attempts to win room, twice as long after each that
// did not help.
const (
	firstTidy = 2 * time.Second
	longTidy  = time.Minute
)

// tick looks at the disk. When ordinary writes are refused for lack of room, it begins to win
// room back from what was deleted: Pebble by itself waits for more writes, which do not come.
func (e *Engine) tick() {
	e.room.look()
	e.tidyMu.Lock()
	defer e.tidyMu.Unlock()
	if fault.KindOf(e.room.refuses()) != fault.OutOfSpace || e.upkeep.why.Load() != nil {
		e.tidyPause = 0
		return
	}
	if e.tidyPause > 0 && e.tidied.Elapsed() < e.tidyPause || e.tidying.Swap(true) {
		return
	}
	e.tidyPause = min(max(2*e.tidyPause, firstTidy), longTidy)
	go func() {
		defer e.tidying.Store(false)
		if err := e.tidy(e.closing); err != nil && e.closing.Err() == nil {
			e.log.Debug("no room was won back from deletes", "error", plain(err))
		}
		e.room.look()
	}()
	e.tidied = clock.Start()
}

// tidy writes what memory holds to tables, and compacts those that have deletions, so that the
// bytes of what was deleted are free. Small steps take the least room.
func (e *Engine) tidy(ctx context.Context) error {
	if err := e.enter(); err != nil {
		return err
	}
	defer e.calls.Leave()
	flushed, err := e.db.AsyncFlush()
	if err != nil {
		return err
	}
	select {
	case <-flushed:
	case <-ctx.Done():
		return ctx.Err()
	}
	levels, err := e.db.SSTables(pebble.WithProperties())
	if err != nil {
		return err
	}
	var done []byte // the upper end of what was compacted last
	for _, tables := range levels {
		done = nil
		for _, t := range tables {
			if t.Properties.NumDeletions == 0 || done != nil && string(t.Largest.UserKey) <= string(done) {
				continue
			}
			lower := t.Smallest.UserKey
			upper := append(append([]byte(nil), t.Largest.UserKey...), 0)
			if err := e.db.Compact(ctx, lower, upper, true); err != nil {
				return errors.Join(err, ctx.Err())
			}
			done = upper
		}
	}
	return nil
}
