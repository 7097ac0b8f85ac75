package pebble

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
)

// runsEngine is an engine in memory that remembers all that is read twice.
func runsEngine(tb testing.TB) *Engine {
	tb.Helper()
	e, err := Open(Options{Memory: true})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := e.Close(); err != nil {
			tb.Error(err)
		}
	})
	e.remembered.always()
	return e
}

func runKey(prefix string, n uint64) []byte { return binary.BigEndian.AppendUint64([]byte(prefix), n) }

func apply(tb testing.TB, e *Engine, change func(b *kv.Batch)) {
	tb.Helper()
	var b kv.Batch
	change(&b)
	if err := e.Apply(context.Background(), &b); err != nil {
		tb.Fatal(err)
	}
}

// walkRun returns the keys of a walk over all that begin with a prefix, and whether they were remembered.
func walkRun(tb testing.TB, r kv.Snapshot, prefix string) (list []string, known bool) {
	tb.Helper()
	it := iterateRun(tb, r, prefix)
	for it.Next() {
		if value := it.Value(); value == nil {
			tb.Fatal("a value that failed")
		}
		list = append(list, string(it.Key()))
	}
	if err := it.Close(); err != nil {
		tb.Fatal(err)
	}
	_, known = it.(*runIterator)
	return list, known
}

func iterateRun(tb testing.TB, r kv.Snapshot, prefix string) kv.Iterator {
	tb.Helper()
	it, err := r.(kv.Rememberer).IterateRun(context.Background(), []byte(prefix), afterRun(prefix))
	if err != nil {
		tb.Fatal(err)
	}
	return it
}

func afterRun(prefix string) []byte {
	upper := []byte(prefix)
	upper[len(upper)-1]++
	return upper
}

func snapshotOf(tb testing.TB, e *Engine) kv.Snapshot {
	tb.Helper()
	s, err := e.Snapshot(context.Background())
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// TestRuns walks over keys of many shapes three times. Only runs are remembered, and all walks see the same.
func TestRuns(t *testing.T) {
	set := func(key []byte, value string) kv.Op { return kv.Op{Key: key, Value: []byte(value)} }
	const largeRun = (rememberedBytes-1)/runEnd + 1
	many := func(n int) (ops []kv.Op) {
		for i := range n {
			ops = append(ops, set(runKey("p", uint64(i)), ""))
		}
		return ops
	}
	for _, c := range []struct {
		name string
		ops  []kv.Op
		walk func(kv.Iterator) // instead of all from first to last
		want bool
	}{
		{"nothing", many(0), nil, true},
		{"three numbers", many(3), nil, true},
		{"as many as there is room for", many((rememberedBytes - 1) / runEnd), nil, true},
		{"one more", many(largeRun), nil, false},
		{"a value", []kv.Op{set(runKey("p", 1), ""), set(runKey("p", 2), "v")}, nil, false},
		{"a shorter key, so it is no run", []kv.Op{set([]byte("p1234567"), "")}, nil, false},
		{"a longer key, so it is no run", []kv.Op{set(runKey("pq", 2), "")}, nil, false},
		{"not to the end", many(3), func(it kv.Iterator) { it.Next(); it.Next(); it.Next() }, false},
		{"backwards", many(3), func(it kv.Iterator) {
			for it.Prev() {
			}
		}, false},
		{"from the last on", many(3), func(it kv.Iterator) {
			it.Prev()
			for it.Next() {
			}
		}, false},
		{"from a key on", many(3), func(it kv.Iterator) {
			it.Seek(runKey("p", 1))
			for it.Next() {
			}
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := runsEngine(t)
			apply(t, e, func(b *kv.Batch) {
				b.Set(runKey("o", 1), []byte{})
				b.Ops = append(b.Ops, c.ops...)
				b.Set(runKey("q", 1), []byte{})
			})
			s := snapshotOf(t, e)
			var want []string
			for _, op := range c.ops {
				want = append(want, string(op.Key))
			}
			slices.Sort(want)
			for n := range 3 {
				if c.walk != nil && n < 2 {
					it := iterateRun(t, s, "p")
					c.walk(it)
					if err := it.Close(); err != nil {
						t.Fatal(err)
					}
					continue
				}
				got, known := walkRun(t, s, "p")
				if !slices.Equal(got, want) {
					t.Errorf("walk %d has %d keys, want %d: %q", n, len(got), len(want), got)
				}
				if known != (c.want && n == 2) {
					t.Errorf("walk %d: the run is remembered: %v", n, known)
				}
				found, err := s.Get(t.Context(), []byte("p"), func([]byte) error { return nil })
				if found || err != nil {
					t.Errorf("the prefix is a key: %v, %v", found, err)
				}
			}
			if err := s.Close(); err != nil || e.open.Load() != 0 {
				t.Errorf("%d iterators and snapshots are open, %v", e.open.Load(), err)
			}
			looks := c.want || c.walk != nil || len(c.ops) == largeRun // a third walk to the end; known to be large
			if got := e.remembered.runs.Load() > 0; got != looks {
				t.Errorf("batches look for runs: %v", got)
			}
			if e.remembered.forget(); e.remembered.runs.Load() != 0 || e.remembered.bytes.Load() != 0 {
				t.Errorf("%d runs after all was forgotten", e.remembered.runs.Load())
			}
		})
	}
}

// TestRunChanges changes a run that is remembered, and walks over it in the states before and after.
func TestRunChanges(t *testing.T) {
	three := []string{string(runKey("p", 1)), string(runKey("p", 3)), string(runKey("p", 5))}
	for _, c := range []struct {
		name   string
		change func(b *kv.Batch)
		want   []string
		known  bool // still, after the change
	}{
		{"a new key", func(b *kv.Batch) { b.Set(runKey("p", 4), []byte{}) },
			[]string{three[0], three[1], string(runKey("p", 4)), three[2]}, false},
		{"a key again", func(b *kv.Batch) { b.Set(runKey("p", 3), []byte{}) }, three, false},
		{"a key gets a value", func(b *kv.Batch) { b.Set(runKey("p", 3), []byte("v")) }, three, false},
		{"a key is deleted", func(b *kv.Batch) { b.Delete(runKey("p", 3)) }, []string{three[0], three[2]}, false},
		{"a key that is not there is deleted", func(b *kv.Batch) { b.Delete(runKey("p", 4)) }, three, false},
		{"the run is deleted", func(b *kv.Batch) { b.DeleteRange([]byte("p"), []byte("q")) }, nil, false},
		{"one key is deleted as a range", func(b *kv.Batch) { b.DeleteRange(runKey("p", 3), runKey("p", 4)) },
			[]string{three[0], three[2]}, false},
		{"the end is deleted", func(b *kv.Batch) { b.DeleteRange(runKey("p", 5), []byte("x")) }, three[:2], false},
		{"the beginning is deleted", func(b *kv.Batch) { b.DeleteRange([]byte("a"), runKey("p", 3)) },
			three[1:], false},
		{"what is before is deleted", func(b *kv.Batch) { b.DeleteRange([]byte("a"), []byte("p")) }, three, true},
		{"two ranges are deleted", func(b *kv.Batch) {
			b.DeleteRange([]byte("a"), []byte("p"))
			b.DeleteRange(runKey("p", 5), []byte("x"))
		}, three[:2], false},
		{"another run", func(b *kv.Batch) { b.Set(runKey("q", 3), []byte{}) }, three, true},
		{"a run with a longer prefix", func(b *kv.Batch) { b.Set(runKey("o12345678", 3), []byte{}) }, three, true},
		{"a short key", func(b *kv.Batch) { b.Set([]byte("o"), []byte{}) }, three, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := runsEngine(t)
			apply(t, e, func(b *kv.Batch) { b.DeleteRange(runKey("p", 0), runKey("p", 2)) })
			apply(t, e, func(b *kv.Batch) {
				for _, key := range three {
					b.Set([]byte(key), []byte{})
				}
			})
			before := snapshotOf(t, e)
			defer before.Close()
			walkRun(t, before, "p")
			walkRun(t, before, "p")
			if _, known := walkRun(t, before, "p"); !known {
				t.Fatal("the run is not remembered")
			}
			apply(t, e, c.change)
			after := snapshotOf(t, e)
			defer after.Close()
			for range 3 { // what one of them remembers must not be found by the other
				got, known := walkRun(t, before, "p")
				if !slices.Equal(got, three) {
					t.Errorf("the state before has %q", got)
				}
				if known != c.known {
					t.Errorf("the run is remembered for the state before: %v", known)
				}
				if got, _ = walkRun(t, after, "p"); !slices.Equal(got, c.want) {
					t.Errorf("the state after has %q, want %q", got, c.want)
				}
			}
		})
	}
}

// TestLargeRuns walks over a run that is too large to be remembered, until a key is deleted.
func TestLargeRuns(t *testing.T) {
	const n = (rememberedBytes-1)/runEnd + 1
	e := runsEngine(t)
	apply(t, e, func(b *kv.Batch) {
		for i := range uint64(n) {
			b.Set(runKey("p", i), []byte{})
		}
	})
	collected := func() bool {
		s := snapshotOf(t, e)
		defer s.Close()
		it := iterateRun(t, s, "p").(*iterator)
		defer it.Close()
		return it.run != nil
	}
	walk := func(want int) (known bool) {
		s := snapshotOf(t, e)
		defer s.Close()
		list, known := walkRun(t, s, "p")
		if len(list) != want {
			t.Errorf("%d keys, want %d", len(list), want)
		}
		return known
	}
	walk(n)
	if !collected() {
		t.Error("the second walk is not collected")
	}
	walk(n)
	if collected() || walk(n) {
		t.Error("a run that was too large is collected again")
	}
	apply(t, e, func(b *kv.Batch) { b.Delete(runKey("p", 5)) })
	walk(n - 1)
	if !walk(n - 1) {
		t.Error("a run that has become smaller is not remembered")
	}
}

// TestRunsOfOldSnapshots changes a run while no batch looks for one, then walks over it in the state before.
func TestRunsOfOldSnapshots(t *testing.T) {
	for walks := range 3 {
		e := runsEngine(t)
		apply(t, e, func(b *kv.Batch) { b.Set(runKey("p", 1), []byte{}) })
		before := snapshotOf(t, e)
		it := iterateRun(t, before, "p")
		for range walks {
			it.Next()
		}
		if err := it.Close(); err != nil {
			t.Fatal(err)
		}
		if n := e.remembered.runs.Load(); n != 0 {
			t.Fatalf("batches look for %d runs", n)
		}
		apply(t, e, func(b *kv.Batch) { b.Set(runKey("p", 2), []byte{}) })
		after := snapshotOf(t, e)
		for range 3 {
			if list, _ := walkRun(t, before, "p"); len(list) != 1 {
				t.Errorf("the state before has %q", list)
			}
			if list, _ := walkRun(t, after, "p"); len(list) != 2 {
				t.Errorf("the state after has %q", list)
			}
		}
		for _, s := range []kv.Snapshot{before, after} {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// unreadableEngine is an engine whose tables cannot be read while the toggle is on.
func unreadableEngine(tb testing.TB) (e *Engine, reads *errorfs.Toggle) {
	tb.Helper()
	reads = &errorfs.Toggle{Injector: errorfs.InjectorFunc(func(op errorfs.Op) error {
		if strings.HasSuffix(op.Path, ".sst") && op.Kind.ReadOrWrite() == errorfs.OpIsRead {
			return errorfs.ErrInjected
		}
		return nil
	})}
	return start(tb, Options{FS: errorfs.Wrap(vfs.NewMem(), reads)}), reads
}

// TestUnreadableRun lets a walk over a run fail in the middle: what it has seen is not remembered as all that there is.
func TestUnreadableRun(t *testing.T) {
	e, reads := unreadableEngine(t)
	e.remembered.always()
	const n = (rememberedBytes - 1) / runEnd // more than a block has
	apply(t, e, func(b *kv.Batch) {
		for range n {
			b.Set(runKey("p", rand.Uint64()), []byte{})
		}
	})
	if err := e.Compact(t.Context(), nil, nil); err != nil {
		t.Fatal(err)
	}
	s := snapshotOf(t, e)
	if list, _ := walkRun(t, s, "p"); len(list) != n {
		t.Fatalf("%d of %d keys", len(list), n)
	}
	if err := e.Shrink(t.Context()); err != nil {
		t.Fatal(err)
	}
	it, seen := iterateRun(t, s, "p"), 0
	for it.Next() {
		seen++
		reads.On()
	}
	if it.Err() == nil || seen == 0 || seen == n {
		t.Errorf("%d of %d keys, then %v", seen, n, it.Err())
	}
	if err := it.Close(); fault.KindOf(err) != fault.KindOf(it.Err()) {
		t.Errorf("close: %v", err)
	}
	if runs := e.remembered.runs.Load(); runs != 0 {
		t.Errorf("batches look for %d runs", runs)
	}
	reads.Off()
	if list, known := walkRun(t, s, "p"); len(list) != n || known {
		t.Errorf("%d of %d keys, remembered: %v", len(list), n, known)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	stop(t, e)
}

// TestRunMoves moves over a run that is remembered as over one that is not.
func TestRunMoves(t *testing.T) {
	e := runsEngine(t)
	for n := range 4 {
		prefix := fmt.Sprintf("%d/", n)
		apply(t, e, func(b *kv.Batch) {
			for i := range n {
				b.Set(runKey(prefix, uint64(10*i)), []byte{})
			}
		})
		s := snapshotOf(t, e)
		walkRun(t, s, prefix)
		walkRun(t, s, prefix)
		if _, known := walkRun(t, s, prefix); !known {
			t.Fatal("the run is not remembered")
		}
		upper := afterRun(prefix)
		for range 2000 {
			known := iterateRun(t, s, prefix)
			plain := &iterator{engine: e, upper: upper}
			var err error
			plain.walk, err = e.db.NewIter(&pebble.IterOptions{LowerBound: []byte(prefix), UpperBound: upper})
			if err != nil {
				t.Fatal(err)
			}
			e.open.Add(1)
			var moves []string
			for range 6 {
				var a, b bool
				switch key := runKey(prefix, uint64(rand.IntN(35))); rand.IntN(4) {
				case 0:
					a, b = known.Prev(), plain.Prev()
					moves = append(moves, "prev")
				case 1:
					if rand.IntN(4) == 0 {
						key = []byte([]string{"", "z"}[rand.IntN(2)])
					}
					a, b = known.Seek(key), plain.Seek(key)
					moves = append(moves, fmt.Sprintf("seek %q", key))
				default:
					a, b = known.Next(), plain.Next()
					moves = append(moves, "next")
				}
				if a != b || a && !bytes.Equal(known.Key(), plain.Key()) {
					t.Fatalf("%d keys, %v: %v, want %v", n, moves, a, b)
				}
			}
			for range 2 {
				if err := known.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if err := plain.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if e.open.Load() != 0 {
		t.Errorf("%d iterators are open", e.open.Load())
	}
}

// TestRunsLinearizable moves a number along in two runs from many goroutines. No reader sees an older number than one
// that was acknowledged or seen before, and no snapshot has two different ones.
func TestRunsLinearizable(t *testing.T) {
	e := runsEngine(t)
	duration := 2 * time.Second
	if testing.Short() {
		duration = 500 * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(t.Context(), duration)
	defer cancel()
	const pairs = 4
	run := func(pair int, of string) string { return fmt.Sprint(of, pair, "/") }
	var seen [pairs]atomic.Uint64
	raise := func(pair int, n uint64) {
		for old := seen[pair].Load(); old < n && !seen[pair].CompareAndSwap(old, n); old = seen[pair].Load() {
		}
	}
	var remembered atomic.Int64
	number := func(r kv.Snapshot, prefix string) (n uint64) {
		list, known := walkRun(t, r, prefix)
		if known {
			remembered.Add(1)
		}
		if len(list) > 1 {
			t.Errorf("a run has %d numbers", len(list))
		}
		if len(list) > 0 {
			n = binary.BigEndian.Uint64([]byte(list[0][len(prefix):]))
		}
		return n
	}
	var wait sync.WaitGroup
	for pair := range pairs {
		wait.Go(func() {
			for n := uint64(1); ctx.Err() == nil && !t.Failed(); n++ {
				var b kv.Batch
				for _, of := range []string{"a", "b"} {
					prefix := run(pair, of)
					if n%64 == 0 { // rarely: Pebble's memtable takes long for many ranges
						b.DeleteRange(runKey(prefix, n-1), runKey(prefix, n))
					} else {
						b.Delete(runKey(prefix, n-1))
					}
					b.Set(runKey(prefix, n), []byte{})
				}
				if err := e.Apply(context.Background(), &b); err != nil {
					t.Error(err)
					return
				}
				raise(pair, n)
				for i := 0; n%8 == 0 && i < 200; i++ { // so that readers remember something
					runtime.Gosched()
				}
			}
		})
	}
	for range 3 {
		wait.Go(func() {
			for ctx.Err() == nil && !t.Failed() {
				pair := rand.IntN(pairs)
				before := seen[pair].Load()
				s := snapshotOf(t, e)
				n := number(s, run(pair, "a"))
				_ = s.Close()
				if n < before {
					t.Errorf("%d was read after %d", n, before)
				}
				raise(pair, n)
			}
		})
		wait.Go(func() {
			for ctx.Err() == nil && !t.Failed() {
				pair := rand.IntN(pairs)
				before := seen[pair].Load()
				s := snapshotOf(t, e)
				a := number(s, run(pair, "a"))
				for range rand.IntN(3) {
					newer := snapshotOf(t, e)
					number(newer, run(pair, "b")) // remembers what is newer than the snapshot
					_ = newer.Close()
				}
				b := number(s, run(pair, "b"))
				_ = s.Close()
				if a != b || a < before {
					t.Errorf("a snapshot has %d and %d after %d", a, b, before)
				}
			}
		})
	}
	wait.Wait()
	if remembered.Load() == 0 {
		t.Error("no run was remembered")
	}
	if e.remembered.forget(); e.remembered.runs.Load() != 0 {
		t.Errorf("batches look for %d runs after all was forgotten", e.remembered.runs.Load())
	}
}
