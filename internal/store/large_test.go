package store_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/store"
)

// A write that may have waited for memory lives from the moment that it is made on, not from the one that it came.
func TestWaitDoesNotShortenALife(t *testing.T) {
	w := newWorld(t, definition(expiry.Unset))
	w.store.SetClock(func() expiry.Stamp { return w.now + 60 })
	b := budget.New(budget.Options{Memory: 64 << 20})
	for _, c := range []struct {
		name string
		held int64
		want expiry.Stamp
	}{
		{"small", 0, w.now},
		{"large", 1 << 20, w.now + 60},
	} {
		var share budget.Share
		b.Open(&share)
		if err := share.Take(t.Context(), c.held); err != nil {
			t.Fatal(err)
		}
		r, err := w.store.Write(budget.With(t.Context(), &share), w.c, w.now, w.put(store.Create, "p", c.name, ""))
		if err != nil || r.Stamp != c.want {
			t.Errorf("%s: stamp %d, %v, want %d", c.name, r.Stamp, err, c.want)
		}
		share.Close()
	}
	w.consistent()
}

// TestLargeWriteThatPanics: the memory of a write that panicked while it counted its terms is used again, and the next
// write has all of its entries.
func TestLargeWriteThatPanics(t *testing.T) {
	panics := false
	w := newCollectionWorld(t, func(doc.Doc) (func(doc.Doc) bool, error) {
		return func(doc.Doc) bool {
			if panics {
				panic("a defect")
			}
			return true
		}, nil
	})
	w.announce(catalog.NamedIndex{Name: "v", Columns: column("v", false), Partial: w.body(`{"on":true}`)})
	w.ok(w.buildNamed())
	create := func(id int64, pad int) {
		body := w.body(fmt.Sprintf(`{"_id":%d,"v":1,"pad":%q}`, id, strings.Repeat("x", pad)))
		_, err := w.write(store.Op{Verb: store.Create, Key: store.Identity(doc.Int(id)), Body: body})
		w.ok(err)
	}
	panics = true
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		create(1, 64<<10)
	}()
	panics = false
	create(2, 0)
	w.consistent()
}
