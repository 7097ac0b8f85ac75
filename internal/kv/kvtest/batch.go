package kvtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
)

func laterWins(t *testing.T, e kv.Engine) {
	var b kv.Batch
	b.Set([]byte("a"), []byte("1"))
	b.Set([]byte("a"), []byte("2"))
	b.Set([]byte("b"), []byte("1"))
	b.Delete([]byte("b"))
	b.Delete([]byte("c"))
	b.Set([]byte("c"), []byte("1"))
	apply(t, e, &b)
	want(t, e, "a", "2", "b", absent, "c", "1")
}

func deleteRange(t *testing.T, e kv.Engine) {
	if r, ok := e.(kv.RangeDeleter); !ok || !r.DeletesRanges() {
		t.Skip("not a RangeDeleter")
	}
	letters(t, e)
	before := snapshot(t, e)
	defer before.Close()
	var b kv.Batch
	b.Set([]byte("e"), []byte("before the range"))
	b.DeleteRange([]byte("d"), []byte("h"))
	b.Set([]byte("g"), []byte("after the range"))
	apply(t, e, &b)
	if got := strings.Join(walk(t, e, nil, nil), ""); got != "bgh" {
		t.Errorf("keys are %q, want \"bgh\"", got)
	}
	if got := strings.Join(walk(t, before, nil, nil), ""); got != "bdfh" {
		t.Errorf("the snapshot has keys %q, want \"bdfh\"", got)
	}
	b = kv.Batch{}
	b.DeleteRange([]byte("b"), []byte("b"))
	b.DeleteRange([]byte("h"), []byte("b"))
	apply(t, e, &b)
	want(t, e, "b", "B", "h", "H")
	b = kv.Batch{}
	b.DeleteRange([]byte("b"), nil)
	wantKind(t, e.Apply(context.Background(), &b), fault.Invalid)
	want(t, e, "b", "B")
}

// whole lets observers read while batches keep ten keys equal.
func whole(t *testing.T, e kv.Engine) {
	const keys, observers = 10, 3
	key := func(i int) []byte { return fmt.Appendf(nil, "%c/%d", 'a'+2*i, i) }
	done := make(chan struct{})
	var running sync.WaitGroup
	for observer := range observers {
		running.Go(func() {
			for last := uint64(0); ; {
				select {
				case <-done:
					return
				default:
				}
				n, err := seen(e, observer, keys)
				if err != nil || n < last {
					t.Errorf("observer sees %d after %d, %v", n, last, err)
					return
				}
				last = n
			}
		})
	}
	for n := range times(300) {
		var b kv.Batch
		b.NoSync = n%2 == 0
		for i := range keys {
			b.Set(key(i), bytesOf(uint64(n+1)))
		}
		apply(t, e, &b)
	}
	close(done)
	running.Wait()
}

// seen is what an observer sees: the first one through a view, the second one through a snapshot, others directly.
func seen(e kv.Engine, observer, keys int) (uint64, error) {
	switch observer {
	case 0:
		v, err := e.View(context.Background())
		if err != nil {
			return 0, err
		}
		return equal(v, keys)
	case 1:
		s, err := e.Snapshot(context.Background())
		if err != nil {
			return 0, err
		}
		n, err := equal(s, keys)
		return n, errors.Join(err, s.Close())
	}
	return equal(e, keys)
}

// equal reads all keys through one iterator and checks that they agree.
func equal(r kv.Reader, keys int) (n uint64, err error) {
	it, err := r.Iterate(context.Background(), nil, nil)
	if err != nil {
		return 0, err
	}
	seen := 0
	for ; it.Next(); seen++ {
		if v := number(it.Value()); seen == 0 {
			n = v
		} else if v != n {
			err = fmt.Errorf("%q is %d, keys before it are %d", it.Key(), v, n)
		}
	}
	if err == nil && seen != 0 && seen != keys {
		err = fmt.Errorf("sees %d of %d keys", seen, keys)
	}
	return n, errors.Join(err, it.Close())
}

func emptyBatch(t *testing.T, e kv.Engine) {
	set(t, e, "a", "1")
	apply(t, e, &kv.Batch{})
	reads := func(v kv.View) *kv.Batch {
		b := &kv.Batch{Since: v.Mark}
		b.Read([]byte("a"))
		return b
	}
	applySince(t, e, reads)
	v := view(t, e)
	set(t, e, "a", "2")
	wantKind(t, e.Apply(context.Background(), reads(v)), fault.Conflict)
}

func limits(t *testing.T, e kv.Engine) {
	set(t, e, "old", "1")
	ctx := context.Background()
	long := make([]byte, longestKey(e)+1)
	mega := make([]byte, 1<<20)
	for _, c := range []struct {
		name string
		kind fault.Kind
		fill func(b *kv.Batch)
	}{
		{"long key set", fault.TooLarge, func(b *kv.Batch) { b.Set(long, nil) }},
		{"long key deleted", fault.TooLarge, func(b *kv.Batch) { b.Delete(long) }},
		{"long counter", fault.TooLarge, func(b *kv.Batch) { b.Follow(long, increment) }},
		{"empty key set", fault.Invalid, func(b *kv.Batch) { b.Set(nil, nil) }},
		{"empty key deleted", fault.Invalid, func(b *kv.Batch) { b.Delete(nil) }},
		{"many keys", fault.TooLarge, func(b *kv.Batch) {
			b.Ops = slices.Repeat([]kv.Op{{Key: []byte("k")}}, kv.MaxBatchKeys+1)
		}},
		{"many bytes", fault.TooLarge, func(b *kv.Batch) {
			for i := range kv.MaxBatchBytes>>20 + 1 {
				b.Set(bytesOf(uint64(i)), mega)
			}
		}},
		{"many bytes from place", fault.TooLarge, func(b *kv.Batch) {
			b.Follow([]byte("n"), func(last []byte, b *kv.Batch) ([]byte, error) {
				for i := range kv.MaxBatchBytes>>20 + 1 {
					b.Set(bytesOf(uint64(i)), mega)
				}
				return last, nil
			})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b kv.Batch
			b.Delete([]byte("old"))
			c.fill(&b)
			wantKind(t, e.Apply(ctx, &b), c.kind)
			if got := walk(t, e, nil, nil); len(got) != 1 {
				t.Errorf("a refused batch left keys %.40q", got)
			}
		})
	}
	var b kv.Batch
	for i := range 40 {
		b.Set(bytesOf(uint64(i)), mega)
	}
	apply(t, e, &b)
	if found, err := e.Get(context.Background(), bytesOf(39), func(v []byte) error {
		if !bytes.Equal(v, mega) {
			t.Error("a value of a large batch is damaged")
		}
		return nil
	}); !found || err != nil {
		t.Errorf("get from a large batch: %v, %v", found, err)
	}
}

func ended(t *testing.T, e kv.Engine) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var b kv.Batch
	b.Set([]byte("a"), []byte("1"))
	if err := e.Apply(ctx, &b); !errors.Is(err, context.Canceled) {
		t.Errorf("apply with an ended context: %v", err)
	}
	want(t, e, "a", absent)

	stopped := func(what string, err error) bool {
		t.Helper()
		if err != nil && !errors.Is(err, context.Canceled) && fault.KindOf(err) != fault.Unavailable {
			t.Errorf("%s with an ended context: %v", what, err)
		}
		return err != nil
	}
	set(t, e, "b", "1")
	if s, err := e.Snapshot(ctx); !stopped("snapshot", err) {
		want(t, s, "b", "1")
		s.Close()
	}
	if v, err := e.View(ctx); !stopped("view", err) {
		want(t, v, "b", "1")
	}
	got := ""
	if _, err := e.Get(ctx, []byte("b"), func(v []byte) error { got = string(v); return nil }); !stopped("get", err) &&
		got != "1" {
		t.Errorf("get with an ended context: %q", got)
	}
	if it, err := e.Iterate(ctx, nil, nil); !stopped("iterate", err) {
		if !it.Next() && !stopped("next", it.Err()) {
			t.Error("an iterator with an ended context stops without an error")
		}
		it.Close()
	}
}

// endedInApply lets the context end when Apply has begun: it finishes, or says that it has not written, or that it
// cannot tell.
func endedInApply(t *testing.T, e kv.Engine) {
	ctx, cancel := context.WithCancel(context.Background())
	var b kv.Batch
	b.Set([]byte("a"), []byte("1"))
	b.Follow([]byte("n"), func(_ []byte, b *kv.Batch) ([]byte, error) {
		cancel()
		return bytesOf(1), nil
	})
	err := e.Apply(ctx, &b)
	after := view(t, e) // the engine may still be writing
	n, readErr := count(after, "n")
	a, readErr2 := read(after, "a")
	if readErr != nil || readErr2 != nil {
		t.Fatal(readErr, readErr2)
	}
	if (n == 1) != (a == "1") {
		t.Errorf("a batch in part: n is %d, a is %q", n, a)
	}
	switch {
	case err == nil:
		if n != 1 {
			t.Error("a batch that passed is not there")
		}
	case fault.KindOf(err) == fault.Undetermined:
	case errors.Is(err, context.Canceled), fault.KindOf(err) == fault.Unavailable:
		if n != 0 {
			t.Errorf("a batch that failed is there: %v", err)
		}
	default:
		t.Errorf("apply whose context ends: %v", err)
	}
}

func noSync(t *testing.T, e kv.Engine) {
	for i := range 100 {
		b := kv.Batch{NoSync: i%3 != 0}
		b.Set([]byte("a"), bytesOf(uint64(i)))
		apply(t, e, &b)
		want(t, e, "a", string(bytesOf(uint64(i))))
	}
}

func closed(t *testing.T, e kv.Engine) {
	set(t, e, "a", "1")
	old := view(t, e)
	for range 2 {
		if err := e.Close(); err != nil {
			t.Fatalf("close: %v", err)
		}
	}
	ctx := context.Background()
	_, err := e.Get(context.Background(), []byte("a"), func([]byte) error { return nil })
	wantKind(t, err, fault.Unavailable)
	_, err = e.Iterate(context.Background(), nil, nil)
	wantKind(t, err, fault.Unavailable)
	wantKind(t, e.Apply(ctx, &kv.Batch{}), fault.Unavailable)
	_, err = e.Snapshot(ctx)
	wantKind(t, err, fault.Unavailable)
	_, err = e.View(ctx)
	wantKind(t, err, fault.Unavailable)
	_, err = old.Get(ctx, []byte("a"), func([]byte) error { return nil })
	wantKind(t, err, fault.Unavailable)
	_, err = old.Iterate(ctx, nil, nil)
	wantKind(t, err, fault.Unavailable)
	if c, ok := e.(kv.Compacter); ok {
		wantKind(t, c.Compact(ctx, nil, nil), fault.Unavailable)
	}
	if s, ok := e.(kv.Sizer); ok {
		s.Load()
	}
}

// closeWaits closes while a Get and an Apply are halfway and many calls arrive.
func closeWaits(t *testing.T, e kv.Engine) {
	set(t, e, "a", "1")
	var running sync.WaitGroup
	inside, release := make(chan struct{}), make(chan struct{})
	running.Go(func() {
		_, err := e.Get(context.Background(), []byte("a"), func([]byte) error {
			inside <- struct{}{}
			<-release
			return nil
		})
		if err != nil {
			t.Errorf("get during close: %v", err)
		}
	})
	running.Go(func() {
		var b kv.Batch
		b.Follow([]byte("n"), func(last []byte, b *kv.Batch) ([]byte, error) {
			inside <- struct{}{}
			<-release
			return bytesOf(1), nil
		})
		if err := e.Apply(context.Background(), &b); err != nil {
			t.Errorf("apply during close: %v", err)
		}
	})
	<-inside
	<-inside
	done := make(chan error)
	go func() { done <- e.Close() }()
	for { // until Close has begun
		_, err := e.Get(context.Background(), []byte("a"), func([]byte) error { return nil })
		if fault.KindOf(err) == fault.Unavailable {
			break
		}
	}
	select {
	case <-done:
		t.Error("close did not wait")
	default:
	}
	close(release)
	running.Wait()
	if err := <-done; err != nil {
		t.Errorf("close: %v", err)
	}
}

func closeEarly(t *testing.T, e kv.Engine) {
	set(t, e, "a", "1")
	it := iterate(t, e, nil, nil)
	if err := e.Close(); err == nil {
		t.Error("close with an open iterator says nothing")
	}
	if !it.Next() || string(it.Key()) != "a" {
		t.Error("the iterator does not go on")
	}
	if err := it.Close(); err != nil {
		t.Errorf("close of the iterator: %v", err)
	}
}

// space checks that an engine with free space accepts every batch, and reports neither a full disk nor a failure.
func space(t *testing.T, e kv.Engine) {
	for _, frees := range []bool{false, true} {
		b := kv.Batch{Frees: frees}
		b.Set([]byte("a"), []byte("1"))
		apply(t, e, &b)
	}
	if r, ok := e.(kv.Refuser); ok && r.Refuses() != nil {
		t.Errorf("an engine with free space rejects writes: %v", r.Refuses())
	}
	if f, ok := e.(kv.Failer); ok {
		select {
		case <-f.Failed():
			t.Error("a new engine has failed")
		default:
		}
	}
}
