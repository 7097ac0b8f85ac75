package store_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/pebble"
	"github.com/mayflydb/mayfly/internal/store"
)

func (w *world) deletePartition(partition ...string) int {
	w.t.Helper()
	var values []doc.Value
	for _, text := range partition {
		values = append(values, doc.String(text))
	}
	n, err := w.store.DeletePartition(context.Background(), w.c, w.now, values)
	w.ok(err)
	return n
}

// fillPartition creates documents x0, x1 and so on, and gives their number back.
func (w *world) fillPartition(pk, prefix string, count int, rest string) {
	w.t.Helper()
	for i := range count {
		_, err := w.write(w.put(store.Create, pk, fmt.Sprint(prefix, i), rest))
		w.ok(err)
	}
}

// TestDeletePartition counts only what lives, whether the dead are reclaimed or not.
func TestDeletePartition(t *testing.T) {
	for _, reclaimed := range []bool{false, true} {
		t.Run(fmt.Sprintf("reclaimed=%v", reclaimed), func(t *testing.T) {
			w := newWorld(t, definition(expiry.Never))
			w.fillPartition("p", "dead", 70, `"ttl":5`)
			w.fillPartition("p", "alive", 150, `"ttl":50`)
			w.fillPartition("p", "later-dead", 3, `"ttl":5`)
			w.fillPartition("q", "other", 3, ``)
			w.now += 5
			if reclaimed {
				(&indexed{world: w}).free()
			}
			if n := w.deletePartition("p"); n != 150 {
				t.Errorf("%d documents deleted, want the 150 that lived", n)
			}
			if n := w.deletePartition("p"); n != 0 {
				t.Errorf("%d documents deleted from an empty partition", n)
			}
			if n := w.deletePartition("nobody"); n != 0 {
				t.Errorf("%d documents deleted from a partition that never was", n)
			}
			if !w.alive("q", "other0") || !w.alive("q", "other2") {
				t.Error("another partition has lost documents")
			}
			w.consistent()
			(&indexed{world: w}).free()
			w.consistent()
			usage, err := w.store.Usage(context.Background(), w.view())
			w.ok(err)
			if usage.Documents != 3 || usage.Stored != 3 {
				t.Errorf("%+v is left, want 3 documents", usage)
			}
		})
	}
}

// A meddler does something before each batch that deletes records.
type meddler struct {
	*pebble.Engine
	meddle func()
	busy   bool
}

func (e *meddler) Apply(ctx context.Context, b *kv.Batch) error {
	if !e.busy && e.meddle != nil && deletesPartition(b) {
		e.busy = true
		e.meddle()
		e.busy = false
	}
	return e.Engine.Apply(ctx, b)
}

// deletesPartition reports whether a batch may be a step of DeletePartition: it
// drops index entries before its place is given out.
func deletesPartition(b *kv.Batch) bool {
	return slices.ContainsFunc(b.Reads, func(key []byte) bool {
		_, kind, _, err := keys.Split(key)
		return err == nil && kind == keys.KindLookup
	})
}

// TestDeletePartitionAmongOthers writes to a partition while it is deleted.
func TestDeletePartitionAmongOthers(t *testing.T) {
	n := 0
	cases := []struct {
		name   string
		meddle func(w *world)
		want   int // deleted of 200
		left   string
	}{
		{"documents created since the call stay", func(w *world) {
			if n++; n <= 500 {
				w.fillPartition("p", fmt.Sprint("new", n, "-"), 1, ``)
			}
		}, 200, "new1-0 new2-0 new3-0 new4-0"},
		{"documents deleted by others do not count", func(w *world) {
			if n++; n == 1 {
				for _, id := range []string{"x0", "x63", "x199"} {
					_, err := w.write(store.Op{Verb: store.Delete, Key: key("p", id)})
					w.ok(err)
				}
			}
		}, 197, ""},
		{"documents replaced by others stay", func(w *world) {
			if n++; n == 1 {
				for _, id := range []string{"x0", "x63", "x199"} {
					_, err := w.write(w.put(store.Replace, "p", id, `"n":1`))
					w.ok(err)
				}
			}
		}, 197, "x0 x63 x199"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, definition(expiry.Never))
			e := &meddler{Engine: w.engine}
			w.through(e)
			w.fillPartition("p", "x", 200, ``)
			n, e.meddle = 0, func() { c.meddle(w) }
			deleted := w.deletePartition("p")
			e.meddle = nil
			if deleted != c.want {
				t.Errorf("%d documents deleted, want %d", deleted, c.want)
			}
			if left := strings.TrimSpace(w.scan(access.Access{})); left != c.left {
				t.Errorf("left are %q, want %q", left, c.left)
			}
			w.consistent()
		})
	}
}
