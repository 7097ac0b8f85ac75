package kvtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
)

// depending makes a batch that read keys since v and sets "mine".
func depending(v kv.View, keys ...string) *kv.Batch {
	b := &kv.Batch{Since: v.Mark}
	for _, key := range keys {
		b.Read([]byte(key))
	}
	b.Set([]byte("mine"), []byte("1"))
	return b
}

func conflict(t *testing.T, e kv.Engine) {
	for _, c := range []struct {
		name   string
		change func()
	}{
		{"created", func() { set(t, e, "a", "1") }},
		{"set", func() { set(t, e, "a", "2") }},
		{"set to the same", func() { set(t, e, "a", "2") }},
		{"deleted", func() { remove(t, e, "a") }},
		{"deleted again", func() { remove(t, e, "a") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := view(t, e)
			c.change()
			wantKind(t, e.Apply(context.Background(), depending(v, "b", "a")), fault.Conflict)
		})
	}
}

func noConflict(t *testing.T, e kv.Engine) {
	set(t, e, "a", "1")
	var before kv.View
	for range 2 {
		before = view(t, e)
		applySince(t, e, func(v kv.View) *kv.Batch {
			set(t, e, "b", "1")
			return depending(v, "a", "absent")
		})
	}
	wantKind(t, e.Apply(context.Background(), depending(before, "mine")), fault.Conflict)
	applySince(t, e, func(v kv.View) *kv.Batch { return depending(v, "a", "b", "mine") })
}

func conflictWritesNothing(t *testing.T, e kv.Engine) {
	v := view(t, e)
	set(t, e, "a", "1")
	b := depending(v, "a")
	b.Delete([]byte("a"))
	b.Follow([]byte("n"), func([]byte, *kv.Batch) ([]byte, error) {
		t.Error("place is called though the preconditions do not hold")
		return nil, nil
	})
	wantKind(t, e.Apply(context.Background(), b), fault.Conflict)
	want(t, e, "a", "1", "mine", absent, "n", absent)
	applySince(t, e, func(v kv.View) *kv.Batch { return depending(v, "a", "mine", "n") })
}

// conflictRace reads through views, and directly after opening one, while another goroutine commits. It checks that a
// batch that depends on an outdated read never passes: when it passes, the value read must be the one that stood just
// before it.
func conflictRace(t *testing.T, e kv.Engine) {
	rounds := 2000
	if !view(t, e).Time.IsZero() {
		rounds = 300 // engines on other machines need milliseconds for a batch, and meet as often in fewer
	}
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() {
		for n := range rounds {
			b := kv.Batch{NoSync: true}
			b.Set([]byte("a"), bytesOf(uint64(n)))
			if err := e.Apply(context.Background(), &b); err != nil {
				t.Errorf("apply: %v", err)
			}
		}
	})
	for round := range rounds {
		v := view(t, e)
		r := kv.Reader(v)
		if round%2 == 0 {
			r = e
		}
		before, err := count(r, "a")
		if err != nil {
			t.Fatal(err)
		}
		b := &kv.Batch{Since: v.Mark, NoSync: true}
		b.Read([]byte("a"))
		now := before
		b.Follow([]byte("n"), func(last []byte, b *kv.Batch) ([]byte, error) {
			now, err = count(e, "a") // nothing commits in between
			return last, err
		})
		switch err := e.Apply(context.Background(), b); {
		case err == nil && now != before:
			t.Fatalf("passed having read %d while %d stood", before, now)
		case err != nil && fault.KindOf(err) != fault.Conflict:
			t.Fatal(err)
		}
	}
}

// lostUpdate adds to one key from several goroutines, each trying again after a conflict.
func lostUpdate(t *testing.T, e kv.Engine) {
	const workers = 8
	each := times(100)
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			for range each {
				if err := retry(e, addOne); err != nil {
					t.Error(err)
				}
			}
		})
	}
	running.Wait()
	if n, err := count(e, "sum"); n != uint64(workers*each) || err != nil {
		t.Errorf("sum is %d, %v, want %d", n, err, workers*each)
	}
}

func addOne(v kv.View, b *kv.Batch) error {
	b.Read([]byte("sum"))
	n, err := count(v, "sum")
	b.Set([]byte("sum"), bytesOf(n+1))
	return err
}

// retry fills a batch and applies it until it meets no conflict. Each try has a view of its own.
func retry(e kv.Engine, fill func(v kv.View, b *kv.Batch) error) error {
	for {
		v, err := e.View(context.Background())
		if err != nil {
			return err
		}
		b := &kv.Batch{Since: v.Mark, NoSync: true}
		if err := fill(v, b); err != nil {
			return err
		}
		err = e.Apply(context.Background(), b)
		if err == nil || fault.KindOf(err) != fault.Conflict {
			return err
		}
	}
}

// writeSkew lets two goroutines each turn one of two keys off when both are on. Since each reads both keys, one must
// always remain.
func writeSkew(t *testing.T, e kv.Engine) {
	for round := range times(300) {
		set(t, e, "left", "on", "right", "on")
		var passed atomic.Int32
		var running sync.WaitGroup
		for _, mine := range []string{"left", "right"} {
			running.Go(func() {
				late := errors.New("the other one was there first")
				err := retry(e, func(v kv.View, b *kv.Batch) error {
					for _, key := range []string{"left", "right"} {
						b.Read([]byte(key))
						if value, err := read(v, key); err != nil {
							return err
						} else if value != "on" {
							return late
						}
					}
					b.Delete([]byte(mine))
					return nil
				})
				switch err {
				case nil:
					passed.Add(1)
				case late:
				default:
					t.Error(err)
				}
			})
		}
		running.Wait()
		if passed.Load() != 1 {
			t.Fatalf("round %d: %d passed, want 1", round, passed.Load())
		}
	}
}

func increment(last []byte, b *kv.Batch) ([]byte, error) {
	n := number(last) + 1
	b.Set(fmt.Appendf(nil, "log/%08d", n), bytesOf(n))
	return bytesOf(n), nil
}
