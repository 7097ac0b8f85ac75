package kvtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
)

func order(t *testing.T, e kv.Engine) {
	for n := range uint64(3) {
		applySince(t, e, func(v kv.View) *kv.Batch {
			b := depending(v, "n")
			b.Follow([]byte("n"), func(last []byte, b *kv.Batch) ([]byte, error) {
				if n == 0 && last != nil {
					t.Errorf("an absent counter is %q, want nil", last)
				}
				if number(last) != n {
					t.Errorf("counter is %d, want %d", number(last), n)
				}
				return increment(last, b)
			})
			return b
		})
		want(t, e, "n", string(bytesOf(n+1)), fmt.Sprintf("log/%08d", n+1), string(bytesOf(n+1)))
	}
	var b kv.Batch
	b.Follow([]byte("empty"), func([]byte, *kv.Batch) ([]byte, error) { return nil, nil })
	apply(t, e, &b)
	b = kv.Batch{}
	b.Follow([]byte("empty"), func(last []byte, _ *kv.Batch) ([]byte, error) {
		if last == nil {
			t.Error("an empty counter looks absent")
		}
		return last, nil
	})
	apply(t, e, &b)
}

// orderTwice passes two counters, one of them twice, in one batch.
func orderTwice(t *testing.T, e kv.Engine) {
	for range 2 {
		var b kv.Batch
		b.Follow([]byte("n"), increment)
		b.Follow(
			[]byte("same"),
			func(last []byte, _ *kv.Batch) ([]byte, error) { return append([]byte("x"), last...), nil },
		)
		b.Follow([]byte("n"), increment)
		b.Follow([]byte("kept"), func(last []byte, _ *kv.Batch) ([]byte, error) { return last, nil })
		b.Follow([]byte("same"), func(last []byte, _ *kv.Batch) ([]byte, error) { return last, nil })
		apply(t, e, &b)
	}
	want(t, e, "n", string(bytesOf(4)), "log/00000004", string(bytesOf(4)), "same", "xx", "kept", "")
}

// orderOverwritten changes the counter by ordinary writes between orders.
func orderOverwritten(t *testing.T, e kv.Engine) {
	pass := func(wantLast string) {
		t.Helper()
		var b kv.Batch
		b.Set([]byte("n"), []byte("lost: the order comes later"))
		b.Follow([]byte("n"), func(last []byte, b *kv.Batch) ([]byte, error) {
			if string(last) != wantLast {
				t.Errorf("counter is %q, want %q", last, wantLast)
			}
			return []byte("passed"), nil
		})
		apply(t, e, &b)
		want(t, e, "n", "passed")
	}
	pass("")
	pass("passed")
	set(t, e, "n", "set")
	pass("set")
	remove(t, e, "n")
	pass("")
	if r, ok := e.(kv.RangeDeleter); ok && r.DeletesRanges() {
		var b kv.Batch
		b.DeleteRange([]byte("m"), []byte("o"))
		apply(t, e, &b)
		pass("")
	}
}

func orderConflict(t *testing.T, e kv.Engine) {
	first, second := view(t, e), view(t, e)
	var b kv.Batch
	b.Follow([]byte("n"), increment)
	apply(t, e, &b)
	wantKind(t, e.Apply(context.Background(), depending(first, "n")), fault.Conflict)
	wantKind(t, e.Apply(context.Background(), depending(second, "log/00000001")), fault.Conflict)

	v := view(t, e)
	set(t, e, "late", "1")
	late := &kv.Batch{Since: v.Mark}
	late.Follow([]byte("n"), func(last []byte, b *kv.Batch) ([]byte, error) {
		b.Read([]byte("late"))
		return increment(last, b)
	})
	wantKind(t, e.Apply(context.Background(), late), fault.Conflict)
	want(t, e, "n", string(bytesOf(1)))
}

// orderConcurrent lets many batches pass one counter. Their numbers must have
// no gap and no double, and a reader that sees a number must see all lower ones.
func orderConcurrent(t *testing.T, e kv.Engine) {
	const workers, each = 8, 60
	var mu sync.Mutex
	var passed []uint64
	done := make(chan struct{})
	var readers, writers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if err := gapless(e); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for w := range workers {
		writers.Go(func() {
			for i := range each {
				b := kv.Batch{NoSync: (w+i)%3 == 0}
				var n uint64
				b.Follow([]byte("n"), func(last []byte, b *kv.Batch) ([]byte, error) {
					n = number(last) + 1
					return increment(last, b)
				})
				if err := e.Apply(context.Background(), &b); err != nil {
					t.Error(err)
				}
				mu.Lock()
				passed = append(passed, n)
				mu.Unlock()
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
	slices.Sort(passed)
	for i, n := range passed {
		if n != uint64(i+1) {
			t.Fatalf("number %d at place %d: a gap or a double", n, i+1)
		}
	}
	if err := gapless(e); err != nil || len(passed) != workers*each {
		t.Errorf("%d passed, %v", len(passed), err)
	}
}

// orderPair lets batches pass two counters, and others one of them. A snapshot never has
// the first one moved by a batch and the second one not.
func orderPair(t *testing.T, e kv.Engine) {
	const workers, each = 4, 60
	done := make(chan struct{})
	var readers, writers sync.WaitGroup
	readers.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			if err := paired(e); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for w := range workers {
		writers.Go(func() {
			for i := range each {
				b := kv.Batch{NoSync: (w+i)%3 == 0}
				if i%4 == 0 {
					b.Follow(
						[]byte("alone"),
						func(last []byte, _ *kv.Batch) ([]byte, error) { return bytesOf(number(last) + 1), nil },
					)
				} else {
					b.Follow([]byte("n"), increment)
					b.Follow([]byte("pair"), func(last []byte, b *kv.Batch) ([]byte, error) {
						b.Set(fmt.Appendf(nil, "pair/%08d", number(last)+1), nil)
						return bytesOf(number(last) + 1), nil
					})
				}
				if err := e.Apply(context.Background(), &b); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
	passed := string(bytesOf(workers * each * 3 / 4))
	want(t, e, "n", passed, "pair", passed, "alone", string(bytesOf(workers*each/4)))
}

// paired checks that a snapshot has both counters at the same number.
func paired(e kv.Engine) error {
	s, err := e.Snapshot(context.Background())
	if err != nil {
		return err
	}
	n, err := count(s, "n")
	m, err2 := count(s, "pair")
	if err == nil && err2 == nil && n != m {
		err = fmt.Errorf("one counter is %d, the other one %d", n, m)
	}
	return errors.Join(err, err2, s.Close())
}

// gapless reads the counter and then checks that its log is complete so far.
func gapless(e kv.Engine) error {
	n, err := count(e, "n")
	if err != nil {
		return err
	}
	it, err := e.Iterate(context.Background(), []byte("log/"), []byte("log0"))
	if err != nil {
		return err
	}
	seen := uint64(0)
	for it.Next() {
		if seen++; number(it.Value()) != seen {
			err = fmt.Errorf("%q follows number %d", it.Key(), seen-1)
		}
	}
	if seen < n {
		err = fmt.Errorf("counter is %d but the log ends at %d", n, seen)
	}
	return errors.Join(err, it.Close())
}

func orderError(t *testing.T, e kv.Engine) {
	mine := errors.New("mine")
	b := depending(view(t, e))
	b.Follow([]byte("n"), increment)
	b.Follow([]byte("m"), func([]byte, *kv.Batch) ([]byte, error) { return bytesOf(9), mine })
	if err := e.Apply(context.Background(), b); err != mine {
		t.Errorf("apply: %v, want the error of place as it is", err)
	}
	if got := walk(t, e, nil, nil); got != nil {
		t.Errorf("keys are %q after an error of place", got)
	}
	b = &kv.Batch{}
	b.Follow([]byte("n"), increment)
	apply(t, e, b)
	want(t, e, "n", string(bytesOf(1)))
}

// orderAgain uses the same place function for the second try after a conflict.
func orderAgain(t *testing.T, e kv.Engine) {
	calls := 0
	place := func(last []byte, b *kv.Batch) ([]byte, error) {
		calls++
		return increment(last, b)
	}
	first := depending(view(t, e), "a")
	first.Follow([]byte("n"), place)
	applySince(t, e, func(v kv.View) *kv.Batch {
		other := depending(v, "a")
		other.Set([]byte("a"), []byte("other"))
		other.Follow([]byte("n"), increment)
		return other
	})
	wantKind(t, e.Apply(context.Background(), first), fault.Conflict)
	applySince(t, e, func(v kv.View) *kv.Batch {
		again := depending(v, "a")
		again.Follow([]byte("n"), place)
		return again
	})
	if last, err := count(e, "n"); err != nil || last != 2 || calls == 0 {
		t.Errorf("counter is %d, %v after %d calls of place, want 2", last, err, calls)
	}
	want(t, e, "log/00000001", string(bytesOf(1)), "log/00000002", string(bytesOf(2)), "log/00000003", absent)
}
