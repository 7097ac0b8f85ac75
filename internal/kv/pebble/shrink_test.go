package pebble

import (
	"context"
	"fmt"
	"path"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/kvtest"
)

// many writes count keys with values of 1 KiB, a hundred in a batch.
func many(t testing.TB, e *Engine, count int) {
	t.Helper()
	value := document()
	for i := 0; i < count; {
		b := kv.Batch{NoSync: true}
		for range min(100, count-i) {
			b.Set(benchKey(i), value)
			i++
		}
		if err := e.Apply(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
	}
}

// logBytes is how much the logs of a folder take.
func logBytes(t testing.TB, fs vfs.FS, dir string) (total int64) {
	t.Helper()
	names, err := fs.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if info, err := fs.Stat(fs.PathJoin(dir, name)); err == nil && path.Ext(name) == ".log" {
			total += info.Size()
		}
	}
	return total
}

// TestShrink lets an engine rest: its cache and its logs are empty, and what it holds is there, also after a crash.
func TestShrink(t *testing.T) {
	for _, memory := range []bool{false, true} {
		t.Run(fmt.Sprintf("memory=%v", memory), func(t *testing.T) {
			mem := vfs.NewCrashableMem()
			o := Options{FS: kvtest.Cloneable{MemFS: mem}, Dir: "data", MemTableBytes: 1 << 20}
			if memory {
				o = Options{Memory: true}
			}
			e := start(t, o)
			many(t, e, 10_000)
			for i := range 10_000 {
				if _, err := e.Get(t.Context(), benchKey(i), func([]byte) error { return nil }); err != nil {
					t.Fatal(err)
				}
			}
			set(t, e, "newest", "value")
			if err := e.Shrink(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := e.cache.Size(); got > smallCacheUse {
				t.Errorf("the cache has %d bytes", got)
			}
			if !memory {
				if got := logBytes(t, mem, "data"); got > 64<<10 {
					t.Errorf("the logs have %d bytes", got)
				}
			}
			want(t, e, "newest", "value")
			set(t, e, "later", "value")
			if err := e.Shrink(t.Context()); err != nil {
				t.Fatal(err)
			}
			set(t, e, "last", "value")
			if !memory {
				crashed := mem.CrashClone(vfs.CrashCloneCfg{})
				stop(t, e)
				e = start(t, Options{FS: kvtest.Cloneable{MemFS: crashed}, Dir: "data"})
			}
			defer stop(t, e)
			for _, key := range []string{"newest", "later", "last"} {
				want(t, e, key, "value")
			}
			want(t, e, string(benchKey(9_999)), valueOf(t, e, string(benchKey(0))))
			if err := e.Shrink(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func valueOf(t testing.TB, e *Engine, key string) (value string) {
	t.Helper()
	if _, err := e.Get(t.Context(), []byte(key), func(v []byte) error { value = string(v); return nil }); err != nil {
		t.Fatal(err)
	}
	return value
}

// TestShrinkWhileWriting empties logs while others are used again, on the disk and on the file system that
// loses what was not synced.
func TestShrinkWhileWriting(t *testing.T) {
	mem := vfs.NewCrashableMem()
	for _, c := range []struct {
		name    string
		options Options
		again   func() Options
	}{
		{"disk", Options{Dir: t.TempDir(), MemTableBytes: 64 << 10}, nil},
		{"crash", Options{FS: kvtest.Cloneable{MemFS: mem}, MemTableBytes: 64 << 10}, func() Options {
			return Options{FS: kvtest.Cloneable{MemFS: mem.CrashClone(vfs.CrashCloneCfg{})}}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			const writers, each = 4, 300
			e := start(t, c.options)
			var writing sync.WaitGroup
			text := strings.Repeat("x", 1000)
			for w := range writers {
				writing.Go(func() {
					for i := range each {
						set(t, e, fmt.Sprint("k", w, "-", i), text)
					}
				})
			}
			ctx, cancel := context.WithCancel(t.Context())
			var shrinking sync.WaitGroup
			shrinking.Go(func() {
				for ctx.Err() == nil {
					if err := e.Shrink(ctx); err != nil && ctx.Err() == nil {
						t.Error(err)
						return
					}
				}
			})
			writing.Wait()
			cancel()
			shrinking.Wait()
			o := c.options
			if c.again != nil {
				o = c.again()
			}
			stop(t, e)
			e = start(t, o)
			defer stop(t, e)
			for w := range writers {
				for i := range each {
					want(t, e, fmt.Sprint("k", w, "-", i), text)
				}
			}
		})
	}
}

// rest lets so many seconds go by.
func rest(e *Engine, seconds int) {
	for range seconds {
		e.tick()
		for e.tidying.Load() {
			runtime.Gosched()
		}
	}
}

// TestWaveLeavesTheDisk deletes nine tenths of what is there, at once or in waves that are too small to rewrite
// anything. Nobody writes after that, and the space comes back.
func TestWaveLeavesTheDisk(t *testing.T) {
	for _, c := range []struct {
		name        string
		options     func() Options
		keys, waves int
	}{
		{"on disk", func() Options { return Options{FS: vfs.NewMem()} }, 60_000, 1},
		{"in memory", func() Options { return Options{Memory: true} }, 60_000, 1},
		{"two waves", func() Options { return Options{FS: vfs.NewMem()} }, 120_000, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && c.waves > 1 { // under the race detector
				c.keys /= 2
			}
			e := start(t, c.options())
			defer stop(t, e)
			many(t, e, c.keys)
			if err := e.flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			full := e.db.Metrics().Total()
			for i := 0; i < c.keys; {
				b := kv.Batch{NoSync: true, Frees: true}
				for range 500 {
					if i%10 != 0 {
						b.Delete(benchKey(i))
					}
					i++
				}
				if err := e.Apply(t.Context(), &b); err != nil {
					t.Fatal(err)
				}
				if i%(c.keys/c.waves) > 0 {
					continue
				}
				rest(e, 1)          // counts
				rest(e, calmChecks) // finds that no more of them come
			}
			left := e.db.Metrics().Total()
			if left.TablesSize*100 > full.TablesSize*13 {
				t.Errorf("%d of %d bytes are left, more than 1.3 times a tenth", left.TablesSize, full.TablesSize)
			}
		})
	}
}

// TestWaveIsOver tells the end of a wave from deletions that go on and on.
func TestWaveIsOver(t *testing.T) {
	for _, c := range []struct {
		name    string
		seconds []int64 // deletions in each
		over    bool
	}{
		{"nothing", []int64{0, 0}, false},
		{"few", []int64{waveKeys / 2, 0}, false},
		{"between two bursts", []int64{waveKeys, 0, 0, waveKeys, 0, 0}, false},
		{"under way", []int64{waveKeys, waveKeys}, false},
		{"at its end", []int64{waveKeys, waveKeys, 0, 0, 0}, true},
		{"and others delete a little", []int64{waveKeys, waveKeys, 100, 100, 100}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var w garbageWatch
			var over int64
			for _, n := range c.seconds {
				w.deleted.Add(n)
				over = w.over()
			}
			if over > 0 != c.over {
				t.Errorf("over = %v", over)
			}
			if over > 0 && w.over() > 0 {
				t.Error("over twice")
			}
		})
	}
}
