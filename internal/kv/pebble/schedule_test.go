package pebble

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/mayflydb/mayfly/internal/clock"
)

// While many writes come, what they have flushed is compacted four flushes at a time, and at once when they pause.
func TestCompactionsWaitForFlushes(t *testing.T) {
	e := start(t, Options{Dir: t.TempDir(), MemTableBytes: 256 << 10})
	defer stop(t, e)
	e.stopLook() // many would be as of the last second
	e.pauses.many.Store(true)
	flush := func() {
		t.Helper()
		for i := range 10 {
			set(t, e, fmt.Sprint("k", i), "v")
		}
		if err := e.flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for n := range deferDepth - 1 {
		flush()
		for watch := clock.Start(); watch.Elapsed() < 3*beginsEvery; {
			runtime.Gosched()
		}
		if got := e.Load().Sublevels; got != n+1 {
			t.Fatalf("%d sublevels after %d flushes", got, n+1)
		}
	}
	flush()
	waitForSublevels(t, e, 0)
	flush()
	flush()
	if got := e.Load().Sublevels; got != 2 {
		t.Fatalf("%d sublevels after two more flushes", got)
	}
	e.pauses.many.Store(false)
	waitForSublevels(t, e, 0)
}

// A compaction that somebody waits for is not held up by one that is deferred.
func TestCompactWhileCompactionsWait(t *testing.T) {
	e := start(t, Options{Dir: t.TempDir(), MemTableBytes: 256 << 10})
	defer stop(t, e)
	e.stopLook()
	e.pauses.many.Store(true)
	set(t, e, "a", "v")
	set(t, e, "z", "v")
	if err := e.flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := e.Compact(ctx, nil, nil); err != nil {
		t.Fatal(err)
	}
	if got := e.Load().Sublevels; got != 0 {
		t.Errorf("%d sublevels after a compaction of everything", got)
	}
}

func TestMayDefer(t *testing.T) {
	for _, c := range []struct {
		name string
		with func(e *Engine)
		want bool
	}{
		{"few writes", func(e *Engine) { e.pauses.many.Store(false) }, false},
		{"many writes", func(*Engine) {}, true},
		{"a wave of deletions", func(e *Engine) { e.garbage.many.Store(true) }, false},
		{"space is being freed", func(e *Engine) { e.tidying.Store(true) }, false},
		{"somebody waits", func(e *Engine) { e.compacts.Add(1) }, false},
	} {
		e := &Engine{}
		e.pauses.many.Store(true)
		c.with(e)
		if got := e.mayDefer(); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestShallow(t *testing.T) {
	for _, c := range []struct {
		name          string
		depth, tables int
		below         float64 // score
		want          bool
	}{
		{"one flush", 1, 16, 0, true},
		{"flushes of keys in a row", 1, deferTables, 0, false},
		{"enough flushes", deferDepth, 64, 0, false},
		{"a level below comes first", 1, 16, 1.5, false},
		{"a level below comes later", 1, 16, 0.5, true},
	} {
		levels := make([]pebble.LevelMetrics, numLevels)
		levels[0].Sublevels, levels[0].TablesCount, levels[0].Score = int32(c.depth), int64(c.tables), 1
		levels[5].Score = c.below
		if got := shallow(levels); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestManyWrites(t *testing.T) {
	for _, c := range []struct {
		written int64 // in a second, of a memtable of 8000
		want    bool
	}{{0, false}, {249, false}, {250, true}, {8000, true}} {
		w := pauseWatch{least: 8000 / pauseShare}
		w.written.Add(5000)
		w.found()
		w.written.Add(c.written)
		w.found()
		if got := w.many.Load(); got != c.want {
			t.Errorf("%d bytes are many: %v, want %v", c.written, got, c.want)
		}
	}
}

func TestManyDeletions(t *testing.T) {
	var w garbageWatch
	w.deleted.Add(waveCalm + 1)
	w.over()
	if !w.many.Load() {
		t.Errorf("%d deletions in a second are not many", waveCalm+1)
	}
	w.over()
	if w.many.Load() {
		t.Error("no deletions are many")
	}
}

func waitForSublevels(t *testing.T, e *Engine, want int) {
	t.Helper()
	for watch := clock.Start(); e.Load().Sublevels != want; runtime.Gosched() {
		if watch.Elapsed() > 10*time.Second {
			t.Fatalf("%d sublevels after ten seconds, want %d", e.Load().Sublevels, want)
		}
	}
}
