package pebble

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/mayflydb/mayfly/internal/kv"
)

// What orders are given is the newest value of their key, whatever has changed it: orders, other changes in the same
// batch or in others, and deleted ranges, also in batches that fail.
func TestOrdersSeeTheNewestValue(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	e := start(t, Options{})
	defer stop(t, e)
	key := func() []byte { return fmt.Appendf(nil, "%0*d", 1+rng.IntN(3), rng.IntN(4)) }
	read := func(key []byte) (value []byte) {
		_, err := e.Get(context.Background(), key, func(v []byte) error { value = bytes.Clone(v); return nil })
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	for n := range 5000 {
		var b kv.Batch
		for range rng.IntN(3) {
			switch k := key(); rng.IntN(8) {
			case 0:
				b.Delete(k)
			case 1:
				if other := key(); bytes.Compare(k, other) < 0 {
					b.DeleteRange(k, other)
				}
			default:
				b.Set(k, fmt.Appendf(nil, "set %d", n))
			}
		}
		counter, want := key(), []byte(nil)
		before := read(counter)
		fails := rng.IntN(10) == 0
		b.Follow(counter, func(last []byte, b *kv.Batch) ([]byte, error) {
			want = bytes.Clone(last)
			if fails {
				return nil, fmt.Errorf("batch %d fails", n)
			}
			if rng.IntN(4) == 0 {
				b.Set(key(), fmt.Appendf(nil, "placed %d", n))
			}
			return fmt.Appendf(nil, "next %d", n), nil
		})
		if err := e.Apply(context.Background(), &b); (err != nil) != fails {
			t.Fatal(err)
		}
		if !bytes.Equal(want, before) {
			t.Fatalf("batch %d: the order of %s is given %q, and its value is %q", n, counter, want, before)
		}
	}
}

// A batch that passes as many counters as there are ranges, and more, does not fill the memory.
func TestCachedCountersAreLimited(t *testing.T) {
	e := start(t, Options{})
	defer stop(t, e)
	for range 2 {
		for i := range maxCounters + 10 {
			var b kv.Batch
			b.Follow(fmt.Appendf(nil, "%d", i), func([]byte, *kv.Batch) ([]byte, error) {
				return []byte("next"), nil
			})
			if err := e.Apply(context.Background(), &b); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := len(e.counters.values); n > maxCounters {
		t.Errorf("%d values are cached", n)
	}
}
