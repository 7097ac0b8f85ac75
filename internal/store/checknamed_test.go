package store_test

import (
	"context"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/store"
)

// indexKeys lists the keys of a container with that kind, which stands between the container's and the
// index's number.
func (w *world) indexKeys(kind byte) (found [][]byte) {
	w.t.Helper()
	prefix := w.c.Keys().AppendPrefix(nil, 'd')
	prefix = append(prefix[:len(prefix)-1], kind)
	at, err := w.engine.Snapshot(w.t.Context())
	w.ok(err)
	defer at.Close()
	it, err := at.Iterate(w.t.Context(), prefix, append(prefix[:len(prefix)-1:len(prefix)-1], kind+1))
	w.ok(err)
	defer it.Close()
	for it.Next() {
		found = append(found, append([]byte(nil), it.Key()...))
	}
	w.ok(it.Err())
	return found
}

// TestCheckNamed breaks indexes that have names in all ways, and looks whether the check finds it.
func TestCheckNamed(t *testing.T) {
	cases := []struct {
		name   string
		broken func(w *world, b *kv.Batch)
		want   string
	}{
		{"nothing", func(*world, *kv.Batch) {}, ""},
		{"an entry is missing", func(w *world, b *kv.Batch) { b.Delete(w.indexKeys('n')[0]) }, "has no entry of index"},
		{"a unique key is missing", func(w *world, b *kv.Batch) {
			b.Delete(w.indexKeys('u')[0])
		}, "its unique key of index"},
		{"a unique key leads to another", func(w *world, b *kv.Batch) {
			b.Set(w.indexKeys('u')[0], []byte{2})
		}, "unique key of index"},
		{"no mark of several entries", func(w *world, b *kv.Batch) { b.Delete(w.indexKeys('y')[0]) }, "not marked so"},
		{"an entry too many", func(w *world, b *kv.Batch) {
			key := w.indexKeys('n')[0]
			key[len(key)-1] ^= 3 // document 1 becomes 2
			b.Set(key, nil)
		}, "not its own"},
		{"an entry for no document", func(w *world, b *kv.Batch) {
			key := w.indexKeys('n')[0]
			key[len(key)-1] ^= 0x40
			b.Set(key, nil)
		}, "which is not there"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := newDatedWorld(t)
			for i, v := range []any{"a", bson.A{"b", "c"}} {
				body, err := bson.Marshal(bson.D{{Key: "_id", Value: i}, {Key: "v", Value: v}})
				w.ok(err)
				_, err = w.write(store.Op{Verb: store.Create, Key: store.Identity(doc.Int(int64(i))), Body: body})
				w.ok(err)
			}
			_, err := w.catalog.ReplaceIndexes(t.Context(), w.now, w.c,
				func(*catalog.State) ([]catalog.NamedIndex, error) {
					return []catalog.NamedIndex{{Name: "v_1", Columns: []catalog.NamedColumn{{Path: "v"}}, Unique: true,
						Building: true}}, nil
				})
			w.ok(err)
			w.ok(w.buildNamed())
			w.consistent()
			b := &kv.Batch{}
			c.broken(w, b)
			w.ok(w.engine.Apply(context.Background(), b))
			report, err := w.store.Check(t.Context())
			w.ok(err)
			found := strings.Join(report.Problems, "\n")
			if c.want == "" && found != "" || !strings.Contains(found, c.want) {
				t.Errorf("found %q, want %q", found, c.want)
			}
		})
	}
}
