package store_test

import (
	"context"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mayflydb/mayfly/internal/kv/kvtest"
	"github.com/mayflydb/mayfly/internal/store"
)

// newCrashing opens a world with one container on a file system that can be copied as a crash leaves it.
func newCrashing(t *testing.T) (*world, *vfs.MemFS) {
	t.Helper()
	fs := vfs.NewCrashableMem()
	w := &world{t: t, fs: kvtest.Cloneable{MemFS: fs}, now: 1_000_000}
	w.open()
	db, err := w.catalog.CreateDatabase(context.Background(), w.now, "d", nil)
	w.ok(err)
	w.c, err = w.catalog.CreateContainer(context.Background(), w.now, db, definition(1000), nil)
	w.ok(err)
	return w, fs
}

// TestCrashRepeatsNoSequence loses writes in a crash after somebody has seen them, the first one of a container among
// them: what is written next has other sequences. After a clean end they go on without a gap.
func TestCrashRepeatsNoSequence(t *testing.T) {
	for name, before := range map[string]int{"the first write": 0, "a later write": 3} {
		t.Run(name, func(t *testing.T) {
			w, fs := newCrashing(t)
			write := func(w *world) uint64 {
				t.Helper()
				r, err := w.write(w.put(store.Upsert, "a", "x", ""))
				w.ok(err)
				return r.Version.Sequence
			}
			for range before {
				write(w)
			}
			crashed := fs.CrashClone(vfs.CrashCloneCfg{})
			seen := write(w)
			w.close()

			next := &world{t: t, fs: kvtest.Cloneable{MemFS: crashed}, now: w.now, c: w.c}
			next.open()
			again := write(next)
			if again <= seen {
				t.Errorf("a write after the crash has sequence %d, and somebody has seen %d", again, seen)
			}
			next.reopen()
			if got := write(next); got != again+1 {
				t.Errorf("after a clean end comes sequence %d, want %d", got, again+1)
			}
			next.close()
		})
	}
}

// TestCrashRepeatsNoTimeOfTheLog loses an entry in a crash after somebody has seen it. A process without a log opens
// and closes the data next, as `mayfly check` does; what the one after it logs comes later all the same.
func TestCrashRepeatsNoTimeOfTheLog(t *testing.T) {
	w, fs := newCrashing(t)
	log := func(w *world) store.LogTime {
		t.Helper()
		w.ok(w.store.KeepLog(context.Background(), w.now, store.LogOptions{}))
		w.ok(w.store.AppendLog(context.Background(), store.LogEntry{Wall: 1000 * w.now}))
		newest, err := w.store.LogNewest(context.Background())
		w.ok(err)
		return newest
	}
	log(w)
	crashed := fs.CrashClone(vfs.CrashCloneCfg{})
	seen := log(w)
	w.close()

	next := &world{t: t, fs: kvtest.Cloneable{MemFS: crashed}, now: w.now, c: w.c}
	next.open()
	next.reopen()
	if again := log(next); again <= seen {
		t.Errorf("an entry after the crash has time %d, and somebody has seen %d", again, seen)
	}
	next.close()
}
