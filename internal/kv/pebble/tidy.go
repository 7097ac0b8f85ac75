package pebble

import (
	"context"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/fault"
)

// How long the engine waits between two attempts to win room, twice as long after each that
// did not help.
const (
	firstTidy = 2 * time.Second
	longTidy  = time.Minute
)

// tick gives the room of what was deleted back, since Pebble by itself waits for more writes, which do not come: a little
// after the end of a wave of deletions, and at once when ordinary writes are refused for lack of room.
func (e *Engine) tick() {
	refused := e.look()
	e.tidyMu.Lock()
	defer e.tidyMu.Unlock()
	if e.upkeep.why.Load() != nil || fault.KindOf(refused) != fault.OutOfSpace {
		e.tidyPause = 0
	}
	switch {
	case e.upkeep.why.Load() != nil || e.tidying.Load():
	case refused == nil:
		if deleted := e.garbage.over(); deleted > 0 {
			e.win(func(ctx context.Context) error { return e.reclaim(ctx, deleted) })
		}
	case fault.KindOf(refused) == fault.OutOfSpace && (e.tidyPause == 0 || e.tidied.Elapsed() >= e.tidyPause):
		e.tidyPause = min(max(2*e.tidyPause, firstTidy), longTidy)
		e.win(e.tidy)
		e.tidied = clock.Start()
	}
}

// look looks at the disk, if there is one, and tells why ordinary writes are refused.
func (e *Engine) look() error {
	if e.room == nil {
		return nil
	}
	e.room.look()
	return e.room.refuses()
}

// win runs one way of winning room in the background.
func (e *Engine) win(way func(context.Context) error) {
	e.tidying.Store(true)
	go func() {
		defer e.tidying.Store(false)
		if err := way(e.closing); err != nil && e.closing.Err() == nil {
			e.log.Debug("no room was won back from deletes", "error", plain(err))
		}
		e.look()
	}()
}

// tidy writes what memory holds to tables, and compacts those that have deletions, so that the
// bytes of what was deleted are free. Small steps take the least room.
func (e *Engine) tidy(ctx context.Context) error {
	if err := e.enter(); err != nil {
		return err
	}
	defer e.calls.Leave()
	if err := e.flush(ctx); err != nil {
		return err
	}
	return e.rewrite(ctx, hurry)
}
