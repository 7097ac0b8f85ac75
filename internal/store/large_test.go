package store_test

import (
	"testing"

	"github.com/mayflydb/mayfly/internal/budget"
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
