package kvtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
)

func viewSees(t *testing.T, e kv.Engine) {
	for _, value := range []string{"1", "2"} {
		set(t, e, "a", value, value, "new")
		v := view(t, e)
		want(t, v, "a", value, value, "new", "absent", absent)
		if got := walk(t, v, nil, []byte("b")); len(got) == 0 || got[len(got)-1] != "a" {
			t.Errorf("a walk through the view gives %q", got)
		}
	}
	remove(t, e, "a")
	want(t, view(t, e), "a", absent, "1", "new")
}

// viewConflict changes keys after a view was opened. What the view then shows is the old state or the new one; a batch
// that depends on it conflicts.
func viewConflict(t *testing.T, e kv.Engine) {
	set(t, e, "a", "1", "b", "1")
	for _, key := range []string{"a", "b", "c"} {
		v := view(t, e)
		old, err := read(e, key)
		if err != nil {
			t.Fatal(err)
		}
		set(t, e, key, "new")
		if got, err := read(v, key); err != nil || got != old && got != "new" {
			t.Errorf("%q is %q, %v through a view, was %q", key, got, err, old)
		}
		wantKind(t, e.Apply(context.Background(), depending(v, key)), fault.Conflict)
		want(t, e, "mine", absent)
	}
}

// viewTime checks that time does not go back, from one view to the next and over a batch.
func viewTime(t *testing.T, e kv.Engine) {
	last := view(t, e)
	for i := range 50 {
		if i%10 == 0 {
			set(t, e, "a", "1")
		}
		v := view(t, e)
		if v.Time.IsZero() != last.Time.IsZero() {
			t.Fatalf("an engine keeps time now and then: %v, %v", last.Time, v.Time)
		}
		if v.Time.Before(last.Time) {
			t.Fatalf("time goes back from %v to %v", last.Time, v.Time)
		}
		last = v
	}
}

// batchTime looks at the time that an engine that keeps one gives a batch: between that of a view before the batch and
// that of one after it. An engine that keeps none leaves it alone, and says nothing of other processes.
func batchTime(t *testing.T, e kv.Engine) {
	first := view(t, e)
	var at time.Time
	b := &kv.Batch{Since: first.Mark}
	for _, key := range []string{"m", "n"} {
		b.Follow([]byte(key), func(last []byte, b *kv.Batch) ([]byte, error) {
			if at = b.Time; at.IsZero() != first.Time.IsZero() || at.Before(first.Time) {
				t.Errorf("a batch at %v after a view at %v", at, first.Time)
			}
			return increment(last, b)
		})
	}
	apply(t, e, b)
	if after := view(t, e); at.After(after.Time) {
		t.Errorf("a batch at %v before a view at %v", at, after.Time)
	}
	if s, ok := e.(kv.Shared); ok && s.Shared() && first.Time.IsZero() {
		t.Error("an engine that several processes share keeps no time")
	}
}

// batchTimeWaits lets batches wait for a counter that others hold, and then fail to pass. The time of each is not
// before any moment at which another one held the counter. A first counter of its own keeps each from being committed
// together with others.
func batchTimeWaits(t *testing.T, e kv.Engine) {
	if view(t, e).Time.IsZero() {
		return
	}
	const workers, each = 4, 8
	mine := errors.New("mine")
	var held time.Time // the last moment at which a batch held the counter
	var writers sync.WaitGroup
	for i := range workers {
		writers.Go(func() {
			for range each {
				var b kv.Batch
				b.Follow(fmt.Appendf(nil, "m%d", i), increment)
				b.Follow([]byte("n"), func(_ []byte, b *kv.Batch) ([]byte, error) {
					if b.Time.Before(held) {
						t.Errorf("a batch at %v passes a counter that another one held at %v", b.Time, held)
					}
					v, err := e.View(context.Background())
					held = v.Time
					return nil, errors.Join(err, mine)
				})
				if err := e.Apply(context.Background(), &b); !errors.Is(err, mine) {
					t.Errorf("apply: %v, want the error of place", err)
				}
			}
		})
	}
	writers.Wait()
}

// before commits batches with a bound. An engine that keeps no time ignores it; of the others, a batch that would be
// committed at the bound or later conflicts and writes nothing.
func before(t *testing.T, e kv.Engine) {
	set(t, e, "a", "1")
	bounded := func(v kv.View, after time.Duration) *kv.Batch {
		b := depending(v, "a")
		b.Before = v.Time.Add(after)
		b.Follow([]byte("n"), increment)
		return b
	}
	if view(t, e).Time.IsZero() {
		applySince(t, e, func(v kv.View) *kv.Batch { return bounded(v, time.Nanosecond) })
		want(t, e, "mine", "1", "n", string(bytesOf(1)))
		return
	}
	for _, after := range []time.Duration{0, -time.Millisecond, -time.Hour} {
		wantKind(t, e.Apply(context.Background(), bounded(view(t, e), after)), fault.Conflict)
		blind := kv.Batch{Before: view(t, e).Time.Add(after)} // without a view, and without a counter
		blind.Set([]byte("mine"), []byte("1"))
		wantKind(t, e.Apply(context.Background(), &blind), fault.Conflict)
		want(t, e, "mine", absent, "n", absent, "log/00000001", absent)
	}
	applySince(t, e, func(v kv.View) *kv.Batch { return bounded(v, time.Hour) })
	want(t, e, "mine", "1", "n", string(bytesOf(1)), "log/00000001", string(bytesOf(1)))
}

// orderLowersBefore sets the bound where the order is known, as the store does when it has read a deadline there.
func orderLowersBefore(t *testing.T, e kv.Engine) {
	lowering := func(v kv.View, after time.Duration) *kv.Batch {
		b := depending(v)
		b.Before = v.Time.Add(2 * time.Hour)
		b.Follow([]byte("n"), func(last []byte, b *kv.Batch) ([]byte, error) {
			b.Before = v.Time.Add(after)
			return increment(last, b)
		})
		return b
	}
	if !view(t, e).Time.IsZero() {
		wantKind(t, e.Apply(context.Background(), lowering(view(t, e), 0)), fault.Conflict)
		want(t, e, "mine", absent, "n", absent, "log/00000001", absent)
	}
	applySince(t, e, func(v kv.View) *kv.Batch { return lowering(v, time.Hour) })
	want(t, e, "mine", "1", "n", string(bytesOf(1)))
}
