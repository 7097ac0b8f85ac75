package pebble

import (
	"bytes"
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/mayflydb/mayfly/internal/clock"
)

// Deleted keys take room until tables are rewritten. Pebble does that as new tables come, so after a
// wave of deletions nothing happens until others write: the deletions themselves are still in memory.
const (
	// waveKeys is how many deletions are a wave that is worth a flush of its own.
	waveKeys = 50_000
	// waveCalm is how many deletions may come in a second when the wave is over.
	waveCalm = 2_000
	// calmLooks is for how many seconds, since the reaper works in bursts.
	calmLooks = 3
	// garbageShare is how many of the entries in tables may have been deleted: one in so many. Beyond it
	// tables are rewritten, so that the disk holds at most 1.3 times what lives.
	garbageShare = 5
	// rangeKeys is how many keys a deleted range counts as.
	rangeKeys = 1_000
)

// A garbageWatch counts deletions, to find the end of a wave of them.
type garbageWatch struct {
	deleted atomic.Int64 // keys, since the last wave

	before int64 // deleted at the last look
	calm   int   // looks that have seen few
	kept   int64 // deleted in waves after which no table was rewritten
}

// over tells how many keys a wave of deletions has deleted when it has come to its end, and begins to
// count anew; else 0. It is asked once a second.
func (w *garbageWatch) over() int64 {
	deleted := w.deleted.Load()
	fresh := deleted - w.before
	w.before = deleted
	if w.calm++; fresh > waveCalm {
		w.calm = 0
	}
	if deleted < waveKeys || w.calm < calmLooks {
		return 0
	}
	w.before = 0
	w.deleted.Add(-deleted)
	return deleted
}

// reclaim gives the room of so many deleted keys back, and the memory that they have left free: deletions go
// to tables, and where much of these is garbage they are rewritten, one by one with pauses for those who have requests.
func (e *Engine) reclaim(ctx context.Context, deleted int64) error {
	e.garbage.kept += deleted
	if err := e.enter(); err != nil {
		return err
	}
	defer e.calls.Leave()
	if err := e.emptyLogs(ctx); err != nil {
		return err
	}
	entries, err := e.entries()
	if err != nil {
		return err
	}
	if e.garbage.kept >= entries/garbageShare {
		if err := e.rewrite(ctx, e.rest); err != nil {
			return err
		}
		e.garbage.kept = 0
	}
	trimMalloc() // tables that are gone have left the cache
	return nil
}

// entries counts the keys in tables, deletions and what they delete included. What Pebble estimates of garbage
// comes later, and was half of what there was.
func (e *Engine) entries() (n int64, err error) {
	levels, err := e.db.SSTables(pebble.WithProperties())
	for _, tables := range levels {
		for _, t := range tables {
			n += int64(t.Properties.NumEntries)
		}
	}
	return n, err
}

// rest pauses after a step for as long as it took, unless nobody writes.
func (e *Engine) rest(ctx context.Context, took time.Duration, before uint64) error {
	if e.newest.Load() == before {
		return ctx.Err()
	}
	return clock.Pause(ctx, took)
}

// A pause is what comes after a step that took so long and before which that batch was the newest.
type pause func(ctx context.Context, took time.Duration, before uint64) error

// hurry is no pause.
func hurry(ctx context.Context, _ time.Duration, _ uint64) error { return ctx.Err() }

// numLevels is how many levels of tables Pebble has.
const numLevels = 7

// rewrite compacts the tables that have deletions, and pauses after each.
func (e *Engine) rewrite(ctx context.Context, after pause) error {
	for level := range numLevels {
		levels, err := e.db.SSTables(pebble.WithProperties()) // anew, since the one above has changed this one
		if err != nil {
			return err
		}
		var done []byte // the upper end of what was compacted last
		for _, t := range levels[level] {
			if t.Properties.NumDeletions == 0 || done != nil && bytes.Compare(t.Largest.UserKey, done) < 0 {
				continue
			}
			done = append(bytes.Clone(t.Largest.UserKey), 0)
			watch, before := clock.Start(), e.newest.Load()
			if err := e.db.Compact(ctx, t.Smallest.UserKey, done, true); err != nil {
				return errors.Join(err, ctx.Err())
			}
			if err := after(ctx, watch.Elapsed(), before); err != nil {
				return err
			}
		}
	}
	return nil
}
