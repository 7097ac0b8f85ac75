package store_test

import (
	"context"
	"iter"
	"testing"

	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/pebble"
	"github.com/mayflydb/mayfly/internal/store"
)

// A walk over many ranges takes memory for what it has open in each of them, and gives it back at its end. If there is
// not enough, the request fails rather than the process.
func TestMergedWalkTakesMemory(t *testing.T) {
	def := definition(expiry.Never)
	def.Partitions = 64
	w := newWorld(t, def)
	for _, pk := range []string{"a", "b", "c"} {
		_, err := w.write(w.put(store.Create, pk, "x", `"n":1`))
		w.ok(err)
	}
	const least = 64 * 30 << 10
	for _, c := range []struct {
		name   string
		memory int64
		want   fault.Kind
	}{
		{"enough", 64 << 20, 0},
		{"too little", 1 << 20, fault.TooLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			var share budget.Share
			budget.New(budget.Options{Memory: c.memory}).Open(&share)
			defer share.Close()
			next, stop := iter.Pull2(w.store.Scan(budget.With(t.Context(), &share), w.view(), walkOf("n", nil)))
			defer stop()
			_, err, _ := next()
			if fault.KindOf(err) != c.want {
				t.Fatalf("got %v, want kind %v", err, c.want)
			}
			if c.want == 0 && share.Held() < least {
				t.Errorf("the walk holds %d bytes, want %d or more", share.Held(), least)
			}
			stop()
			if n := share.Held(); n != 0 {
				t.Errorf("after its end the walk holds %d bytes", n)
			}
		})
	}
}

// A paging engine has iterators that keep a page of 100 KB in memory, like those of an engine on other machines.
type paging struct{ *pebble.Engine }

const pageBytes = 100_000

func (e paging) Snapshot(ctx context.Context) (kv.Snapshot, error) {
	s, err := e.Engine.Snapshot(ctx)
	return pagingSnapshot{s}, err
}

type pagingSnapshot struct{ kv.Snapshot }

func (s pagingSnapshot) Iterate(ctx context.Context, lower, upper []byte) (kv.Iterator, error) {
	it, err := s.Snapshot.Iterate(ctx, lower, upper)
	return pagingIterator{it}, err
}

type pagingIterator struct{ kv.Iterator }

func (pagingIterator) PageBytes() int { return pageBytes }

// What iterators have fetched from other machines is taken and given back as well.
func TestMergedWalkTakesMemoryForPages(t *testing.T) {
	def := definition(expiry.Never)
	def.Partitions = 8
	w := newWorld(t, def)
	w.through(paging{w.engine})
	ranges := map[uint16]bool{}
	for _, pk := range []string{"a", "b", "c", "d", "e", "f"} {
		_, err := w.write(w.put(store.Create, pk, "x", `"n":1`))
		w.ok(err)
		ranges[w.rangeOf(pk)] = true
	}
	var share budget.Share
	budget.New(budget.Options{Memory: 64 << 20}).Open(&share)
	defer share.Close()
	documents := 0
	for _, err := range w.store.Scan(budget.With(t.Context(), &share), w.view(), walkOf("n", nil)) {
		w.ok(err)
		if documents++; documents > 1 {
			continue
		}
		if least := int64(len(ranges)) * 2 * pageBytes; share.Held() < least {
			t.Errorf("the walk holds %d bytes, want %d or more", share.Held(), least)
		}
	}
	if n := share.Held(); n != 0 || documents != 6 {
		t.Errorf("after %d documents the walk holds %d bytes", documents, n)
	}
}
