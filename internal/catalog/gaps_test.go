package catalog_test

import (
	"slices"
	"testing"

	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// TestEveryRangeLeavesAGapAfterACrash: each range may have had writes that a client has seen and the disk has lost, the
// first one of a range included. The data counts as closed again at the next clean end, whether or not anybody has
// written to all ranges.
func TestEveryRangeLeavesAGapAfterACrash(t *testing.T) {
	h := newHouse(t, false)
	ct := h.cut(h.database("db"), "c", 3)
	b := &kv.Batch{}
	written := keys.Counter{Sequence: 7, Number: 5, Stamp: 101, Documents: 2, Bytes: 30}
	b.Set(ct.KeysOf(1).Order(nil), written.Append(nil))
	h.ok(h.engine.Apply(ctx, b))
	sequences := func() []uint64 {
		list := make([]uint64, 3)
		for number := range uint16(3) {
			_, err := h.engine.Get(ctx, ct.KeysOf(number).Order(nil), func(value []byte) error {
				counter, err := keys.DecodeCounter(value)
				list[number] = counter.Sequence
				if counter.Sequence = written.Sequence; number == 1 && counter != written {
					t.Errorf("the gap has changed the counter to %+v, want %+v", counter, written)
				}
				return err
			})
			h.ok(err)
		}
		return list
	}
	for _, c := range []struct {
		name  string
		clean bool
		want  []uint64
	}{
		{"a clean end", true, []uint64{0, 7, 0}},
		{"a crash", false, []uint64{1 << 20, 1<<20 + 7, 1 << 20}},
		{"a clean end after the crash", true, []uint64{1 << 20, 1<<20 + 7, 1 << 20}},
		{"another crash", false, []uint64{2 << 20, 2<<20 + 7, 2 << 20}},
	} {
		if c.clean {
			h.ok(h.Close(ctx))
		}
		h.reopen()
		if got := sequences(); !slices.Equal(got, c.want) {
			t.Errorf("after %s the ranges stand at %d, want %d", c.name, got, c.want)
		}
		if h.Clean() != c.clean {
			t.Errorf("after %s the data counts as closed: %t", c.name, h.Clean())
		}
	}
}
