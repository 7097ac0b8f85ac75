package pebble

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/kvtest"
)

// TestFailingLog lets the log fail under load, then takes the power away. What was acknowledged is
// there after that, and no read that began after the failure has shown anything.
func TestFailingLog(t *testing.T) {
	for _, c := range []struct{ noSync, direct bool }{{false, false}, {true, false}, {false, true}} {
		t.Run(fmt.Sprintf("noSync=%v,direct=%v", c.noSync, c.direct), func(t *testing.T) {
			mem := vfs.NewCrashableMem()
			fs, broken := failingLog(kvtest.Cloneable{MemFS: mem})
			if c.direct {
				fs = directMem{fs}
			}
			e := start(t, Options{FS: fs, NoSync: c.noSync})
			// so few that the log does not turn over: with a failed one, Pebble ends the process there
			const writers, before, each = 4, 50, 200
			var acknowledged [writers]atomic.Int64
			var total, undetermined atomic.Int64
			var running sync.WaitGroup
			name := func(w, i int) []byte { return fmt.Appendf(nil, "%d/%06d", w, i) }
			for w := range writers {
				running.Go(func() {
					for i := 0; ; i++ {
						for i >= each && e.broken() == nil {
							runtime.Gosched()
						}
						var b kv.Batch
						b.Set(name(w, i), []byte("x"))
						if err := e.Apply(context.Background(), &b); err != nil {
							switch fault.KindOf(err) {
							case fault.Undetermined:
								undetermined.Add(1)
							case fault.Unavailable: // refused before it began
							default:
								t.Errorf("write: %v", err)
							}
							return
						}
						acknowledged[w].Store(int64(i + 1))
						if total.Add(1) == before {
							broken.On()
						}
					}
				})
				running.Go(func() {
					for i := 0; ; i++ {
						failed := e.broken() != nil
						key := name(w, int(acknowledged[w].Load()))
						found, err := e.Get(t.Context(), key, func([]byte) error { return nil })
						if failed && (found || err == nil) {
							t.Error("a read after the failure is answered")
						}
						if err != nil {
							return
						}
					}
				})
			}
			running.Wait()
			if !c.noSync && undetermined.Load() == 0 {
				t.Error("no write was told that its outcome is unknown")
			}
			broken.Off()
			refusesReads(t, e)
			if err := e.Close(); err == nil {
				t.Error("close hides the failure")
			}
			e = start(t, Options{FS: mem.CrashClone(vfs.CrashCloneCfg{})})
			for w := range writers {
				if c.noSync {
					break // a crash may take what was acknowledged
				}
				for i := range int(acknowledged[w].Load()) {
					want(t, e, string(name(w, i)), "x")
				}
			}
			stop(t, e)
		})
	}
}

// TestFailingContents lets the table of contents fail in the background: the engine ends, the process does not.
func TestFailingContents(t *testing.T) {
	mem := vfs.NewCrashableMem()
	toggle := &errorfs.Toggle{Injector: errorfs.InjectorFunc(func(op errorfs.Op) error {
		if strings.Contains(op.Path, "MANIFEST-") && op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			return errorfs.ErrInjected
		}
		return nil
	})}
	e := start(t, Options{FS: errorfs.Wrap(kvtest.Cloneable{MemFS: mem}, toggle)})
	set(t, e, "a", "1")
	toggle.On()
	if _, err := e.db.AsyncFlush(); err != nil {
		t.Fatal(err)
	}
	<-e.Failed()
	refusesReads(t, e)
	if err := e.Close(); err == nil {
		t.Error("close hides the failure")
	}
	e = start(t, Options{FS: mem.CrashClone(vfs.CrashCloneCfg{})})
	want(t, e, "a", "1")
	stop(t, e)
}

// TestFailingTables lets no table be written for a while: nothing is stored meanwhile, the log has
// a line when that begins and one when it is over.
func TestFailingTables(t *testing.T) {
	toggle := &errorfs.Toggle{Injector: errorfs.InjectorFunc(func(op errorfs.Op) error {
		if strings.HasSuffix(op.Path, ".sst") && op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			return errorfs.ErrInjected
		}
		return nil
	})}
	var log lines
	e := start(t, Options{FS: errorfs.Wrap(vfs.NewMem(), toggle), Logger: logTo(&log)})
	set(t, e, "a", "1")
	toggle.On()
	flushed, err := e.db.AsyncFlush()
	if err != nil {
		t.Fatal(err)
	}
	for e.Refuses() == nil {
		runtime.Gosched()
	}
	for _, frees := range []bool{false, true} {
		if err := try(e, 1, frees); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("a batch, frees %v: %v", frees, err)
		}
	}
	want(t, e, "a", "1")
	toggle.Off()
	e.upkeep.again()
	<-flushed
	for e.Refuses() != nil {
		runtime.Gosched()
	}
	set(t, e, "a", "2")
	stop(t, e)
	if got := log.String(); strings.Count(got, "failed: trying again") != 1 || strings.Count(got, "works again") != 1 ||
		strings.Count(got, "\n") != 2 {
		t.Errorf("the log:\n%s", got)
	}
}
