package pebble

import (
	"context"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/fault"
)

// The pause between two attempts to free space. It doubles after each attempt that did not help.
const (
	firstTidy = 2 * time.Second
	longTidy  = time.Minute
)

// tick is called once a second. It frees the space of deleted keys: shortly after the end of a wave of deletions, and
// at once when ordinary writes are rejected for lack of space. In a pause of writes it flushes the memtable. Pebble
// itself would wait for more writes, which do not come. It returns memory that the block cache does not need any more.
func (e *Engine) tick() {
	refused := e.look()
	e.tidyMu.Lock()
	defer e.tidyMu.Unlock()
	pause, slack := e.pauses.found(), e.slack.found(e.cache.Size(), e.cache.MaxSize())
	if e.upkeep.why.Load() != nil || fault.KindOf(refused) != fault.OutOfSpace {
		e.tidyPause = 0
	}
	if end := e.endRenewal.Load(); end != nil && e.upkeep.why.Load() != nil {
		(*end)() // it holds tables that could be removed
	}
	switch {
	case e.upkeep.why.Load() != nil || e.tidying.Load():
	case refused == nil:
		deleted := e.garbage.over()
		switch {
		case deleted > 0:
			e.inBackground(func(ctx context.Context) error { return e.reclaim(ctx, deleted) })
		case pause && e.space != nil:
			e.inBackground(e.settle)
		case slack && e.trimmed.Elapsed() >= returnEvery:
			e.inBackground(e.returnSlack)
			e.trimmed = clock.Start()
		}
	case fault.KindOf(refused) == fault.OutOfSpace && (e.tidyPause == 0 || e.tidied.Elapsed() >= e.tidyPause):
		e.tidyPause = min(max(2*e.tidyPause, firstTidy), longTidy)
		e.inBackground(e.tidy)
		e.tidied = clock.Start()
	}
}

// look checks the free space, and returns the reason why ordinary writes are rejected. In memory it does nothing.
func (e *Engine) look() error {
	if e.space == nil {
		return nil
	}
	e.space.look()
	return e.space.refuses()
}

// inBackground runs a function that frees space or flushes.
func (e *Engine) inBackground(tidy func(context.Context) error) {
	e.tidying.Store(true)
	go func() {
		defer e.tidying.Store(false)
		if err := tidy(e.closing); err != nil && e.closing.Err() == nil {
			e.log.Debug("storage could not be tidied", "error", plain(err))
		}
		e.look()
	}()
}

// tidy flushes the memtables, and compacts tables with deletions, one at a time, because small steps need the least
// space in between.
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
