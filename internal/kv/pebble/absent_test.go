package pebble

import (
	"context"
	"encoding/binary"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mayflydb/mayfly/internal/kv"
)

const testFamily = "\x02\x00\x00\x00\x07\x00\x00k"

func absentEngine(tb testing.TB) *Engine {
	tb.Helper()
	e := start(tb, Options{Memory: true})
	tb.Cleanup(func() { stop(tb, e) })
	return e
}

// has reports whether a reader finds a key.
func has(tb testing.TB, r kv.Reader, key string) bool {
	tb.Helper()
	found, err := r.Get(context.Background(), []byte(key), func([]byte) error { return nil })
	if err != nil {
		tb.Error(err)
	}
	return found
}

func remove(tb testing.TB, e *Engine, key string) {
	tb.Helper()
	apply(tb, e, func(b *kv.Batch) { b.Delete([]byte(key)) })
}

// setMany sets the keys of a family with the numbers from a to b.
func setMany(tb testing.TB, e *Engine, family string, a, b int) {
	tb.Helper()
	for a < b {
		apply(tb, e, func(batch *kv.Batch) {
			for end := min(b, a+1000); a < end; a++ {
				batch.Set(fmt.Appendf(nil, "%s%07d", family, a), []byte("v"))
			}
		})
	}
}

// miss makes gets that find nothing, and waits for the filter that may follow.
func miss(tb testing.TB, e *Engine, family string, n int) (made *filter) {
	tb.Helper()
	for i := range n {
		if key := fmt.Sprintf("%snothing%d", family, i); has(tb, e, key) {
			tb.Errorf("%q was found", key)
		}
	}
	return waitForFilter(e, family)
}

func waitForFilter(e *Engine, family string) *filter {
	for e.absent.making.Load() {
		runtime.Gosched()
	}
	if f := e.absent.family([]byte(family)); f != nil {
		return f.filter.Load()
	}
	return nil
}

// known is how many of a hundred keys that do not exist are known not to.
func known(e *Engine, family string) (n int) {
	for i := range 100 {
		key := fmt.Appendf(nil, "%sunseen%d", family, i)
		if e.absent.lacks(e.remembered.hash(key), key, e.newest.Load()) {
			n++
		}
	}
	return n
}

// TestAbsent looks for keys that are there, were there and were never there, before a filter knows them and after it.
func TestAbsent(t *testing.T) {
	e := absentEngine(t)
	setMany(t, e, testFamily, 0, 1000)
	key := func(n int) string { return fmt.Sprintf("%s%07d", testFamily, n) }
	if f := miss(t, e, testFamily, filterAfter-1); f != nil {
		t.Error("a filter of a family with few misses")
	}
	before := snapshotOf(t, e)
	remove(t, e, key(7))
	if f := miss(t, e, testFamily, 1); f == nil {
		t.Fatal("no filter")
	}
	if n := known(e, testFamily); n < 95 {
		t.Errorf("%d of 100 keys are known not to exist", n)
	}
	for n := range 1000 {
		if has(t, e, key(n)) != (n != 7) || !has(t, before, key(n)) {
			t.Errorf("key %d: %v now, %v before", n, has(t, e, key(n)), has(t, before, key(n)))
		}
	}
	if has(t, e, key(1000)) {
		t.Error("a key that was never set")
	}
	set(t, e, key(1000), "")
	if !has(t, e, key(1000)) || has(t, before, key(1000)) {
		t.Error("a new key")
	}
	after := snapshotOf(t, e)
	remove(t, e, key(1000))
	if has(t, e, key(1000)) || !has(t, after, key(1000)) {
		t.Error("a deleted key")
	}
	for _, s := range []kv.Snapshot{before, after} {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := e.Shrink(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, size := known(e, testFamily), e.absent.size(); n != 0 || size != 0 {
		t.Errorf("%d keys and %d bytes are left", n, size)
	}
}

// TestAbsentSizes: a filter is made of as many keys as it pays for, grows with the family, and gives way.
func TestAbsentSizes(t *testing.T) {
	e := absentEngine(t)
	e.absent.limit = 1 << 20
	const few = filterAfter * filterWalk
	setMany(t, e, testFamily, 0, few+1)
	if f := miss(t, e, testFamily, filterAfter); f != nil {
		t.Error("a walk over too many keys")
	}
	if f := miss(t, e, testFamily, 3*filterAfter-1); f != nil {
		t.Error("tried again too soon")
	}
	first := miss(t, e, testFamily, 1)
	if first == nil {
		t.Fatal("not tried again")
	}
	setMany(t, e, testFamily, few+1, filterKeys+1) // many of which look as if they were there
	setMany(t, e, testFamily, 0, 1000)             // which need no room
	if f := waitForFilter(e, testFamily); f != first {
		t.Error("another filter, though there was room")
	}
	for n := filterKeys; waitForFilter(e, testFamily) == first; n += 1000 {
		setMany(t, e, testFamily, n, n+1000)
		if n > 2*filterKeys {
			t.Fatal("the filter does not grow")
		}
	}
	larger := waitForFilter(e, testFamily)
	if larger == nil || larger.size() < 3*first.size()/2 || known(e, testFamily) < 95 {
		t.Error("the filter has not grown")
	}

	e.absent.limit = larger.size() + first.size()/2
	other := "\x02\x00\x00\x00\x08\x00\x00k"
	if f := miss(t, e, other, filterAfter); f != nil {
		t.Error("two filters, where one is used and both do not fit")
	}
	if f := miss(t, e, other, 4*filterAfter); f == nil || waitForFilter(e, testFamily) != nil {
		t.Error("a filter that is not used stays")
	}
	e.absent.limit = 1
	if f := miss(t, e, "\x02\x00\x00\x00\x09\x00\x00k", filterAfter); f != nil {
		t.Error("more bytes than allowed")
	}
}

// TestAbsentUnreadable: a walk that cannot read all keys makes no filter.
func TestAbsentUnreadable(t *testing.T) {
	e, reads := unreadableEngine(t)
	setMany(t, e, testFamily, 0, 10_000)
	if err := e.Compact(t.Context(), nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := e.Shrink(t.Context()); err != nil {
		t.Fatal(err)
	}
	e.absent.missed([]byte(testFamily))
	f := e.absent.family([]byte(testFamily))
	for _, fail := range []bool{true, false} {
		f.misses.Store(filterMost)
		if fail {
			reads.On()
		}
		e.makeFilter(f)
		if made := waitForFilter(e, testFamily); (made == nil) != fail {
			t.Errorf("reads fail: %v, a filter: %v", fail, made != nil)
		}
		reads.Off()
		if !has(t, e, testFamily+"0009999") {
			t.Errorf("reads fail: %v, and then a key is missing", fail)
		}
	}
	e.makeFilter(f) // which does not keep Close from ending
	stop(t, e)
}

// TestAbsentPlaces: of families with the same place, the one with more misses has it, and one whose filter is used.
func TestAbsentPlaces(t *testing.T) {
	e := absentEngine(t)
	var same []string
	for n := 0; len(same) < 2; n++ {
		if name := fmt.Sprintf("%08d", n); e.absent.place(binary.BigEndian.Uint64([]byte(name))) ==
			e.absent.place(binary.BigEndian.Uint64([]byte("00000000"))) {
			same = append(same, name)
		}
	}
	miss(t, e, same[0], 100)
	miss(t, e, same[1], 50)
	if e.absent.family([]byte(same[0])) == nil {
		t.Error("the family with more misses is gone")
	}
	if f := miss(t, e, same[1], filterAfter+50); f == nil {
		t.Error("the family with more misses has no filter")
	}
	for i := range 2 * filterAfter {
		if has(t, e, same[0]); i%100 == 0 {
			known(e, same[1])
		}
	}
	if e.absent.family([]byte(same[1])) == nil {
		t.Error("a family whose filter is used is gone")
	}
	for range 2 * filterAfter {
		has(t, e, same[0])
	}
	if e.absent.family([]byte(same[1])) != nil {
		t.Error("a family whose filter is not used stays")
	}
	if has(t, e, "short") {
		t.Error("a key that is shorter than that of a family")
	}
}

// TestAbsentLinearizable sets, finds, deletes and misses keys from several goroutines, while filters are made one after
// the other.
func TestAbsentLinearizable(t *testing.T) {
	e := absentEngine(t)
	setMany(t, e, testFamily, 0, 100)
	miss(t, e, testFamily, filterAfter)
	var done atomic.Bool
	var made atomic.Int64
	var making, writing sync.WaitGroup
	making.Go(func() {
		for i := 0; !done.Load(); i++ {
			if i%10 == 9 {
				e.absent.forget()
			}
			e.absent.missed([]byte(testFamily))
			f := e.absent.family([]byte(testFamily))
			f.misses.Store(filterMost) // they pay for any walk
			e.makeFilter(f)
			if waitForFilter(e, testFamily) != nil {
				made.Add(1)
			}
		}
	})
	var keys [4]int // that each has set
	for w := range keys {
		writing.Go(func() {
			for i := 0; i < 3000 || made.Load() < 10 && i < 100_000; i++ {
				keys[w] = i + 1
				key := fmt.Sprintf("%s%d-%d", testFamily, w, i)
				if has(t, e, key) {
					t.Errorf("%q is there before it was set", key)
				}
				set(t, e, key, "v")
				with := snapshotOf(t, e)
				if !has(t, e, key) {
					t.Errorf("%q is not there after it was set", key)
				}
				remove(t, e, key)
				if has(t, e, key) || !has(t, with, key) {
					t.Errorf("%q is there after it was deleted, or not in the state before", key)
				}
				if err := with.Close(); err != nil {
					t.Error(err)
				}
				set(t, e, key, "v")
			}
		})
	}
	writing.Wait()
	done.Store(true)
	making.Wait()
	if made.Load() < 10 {
		t.Errorf("only %d filters were made", made.Load())
	}
	for w, set := range keys {
		for i := range set {
			if key := fmt.Sprintf("%s%d-%d", testFamily, w, i); !has(t, e, key) {
				t.Errorf("%q is not there at the end", key)
			}
		}
	}
}
