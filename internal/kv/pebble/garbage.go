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

// Deleted keys take space until their tables are rewritten. Pebble rewrites tables only when new ones arrive, so
// after a wave of deletions nothing happens until there are other writes: the deletions themselves are still in
// memory.
const (
	// waveKeys is the number of deletions that make a wave, which deserves a flush of its own.
	waveKeys = 50_000
	// waveCalm is the most deletions per second at which a wave counts as over,
	waveCalm = 2_000
	// after this many seconds, because the reaper works in bursts.
	calmChecks = 3
	// garbageShare is the share of deleted entries in tables, one in this many, beyond which tables are
	// rewritten, so that the disk holds at most 1.3 times the live data.
	garbageShare = 5
	// rangeKeys is how many keys a deleted range counts as.
	rangeKeys = 1_000
)

// A garbageWatch counts deletions, to find the end of a wave of them.
type garbageWatch struct {
	deleted atomic.Int64 // keys, since the last wave
	many    atomic.Bool  // at the last check

	before int64 // deleted at the last check
	calm   int   // checks in a row with few deletions
	kept   int64 // deleted since tables were last rewritten
}

// over returns the number of deleted keys if a wave of deletions has just ended, and begins to count anew; else 0. It
// is called once a second.
func (w *garbageWatch) over() int64 {
	deleted := w.deleted.Load()
	fresh := deleted - w.before
	w.before = deleted
	w.many.Store(fresh > waveCalm)
	if w.calm++; fresh > waveCalm {
		w.calm = 0
	}
	if deleted < waveKeys || w.calm < calmChecks {
		return 0
	}
	w.before = 0
	w.deleted.Add(-deleted)
	return deleted
}

// reclaim frees the space of deleted keys, and returns memory to the system. It flushes the deletions to tables. If
// much of the tables is garbage, it rewrites them one by one, with pauses for requests.
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
	e.trim() // the blocks of removed tables have left the cache
	return nil
}

// entries counts the entries in tables, including deletions and the deleted keys. Pebble's own estimate of garbage
// comes too late, and was half of the truth in measurements.
func (e *Engine) entries() (n int64, err error) {
	levels, err := e.db.SSTables(pebble.WithProperties())
	for _, tables := range levels {
		for _, t := range tables {
			n += int64(t.Properties.NumEntries)
		}
	}
	return n, err
}

// rest pauses after a step for as long as the step took, unless there were no writes.
func (e *Engine) rest(ctx context.Context, took time.Duration, before uint64) error {
	if e.newest.Load() == before {
		return ctx.Err()
	}
	return clock.Pause(ctx, took)
}

// A pause is called after a step that took so long. before is the number of the newest batch at the start of the step.
type pause func(ctx context.Context, took time.Duration, before uint64) error

// hurry is no pause.
func hurry(ctx context.Context, _ time.Duration, _ uint64) error { return ctx.Err() }

// numLevels is the number of levels that Pebble has.
const numLevels = 7

// rewrite compacts the tables that have deletions, and pauses after each.
func (e *Engine) rewrite(ctx context.Context, after pause) error {
	for level := range numLevels {
		// Read again for each level, since compacting the level above has changed this one.
		levels, err := e.db.SSTables(pebble.WithProperties())
		if err != nil {
			return err
		}
		var done []byte // the upper bound of the last compaction
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
