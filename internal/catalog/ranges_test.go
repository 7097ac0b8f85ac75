package catalog_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// cut creates a container of n ranges.
func (h *house) cut(db *catalog.Database, name string, n int) *catalog.Container {
	h.t.Helper()
	def := definition(name)
	def.Partitions = n
	ct, err := h.CreateContainer(ctx, 100, db, def, nil)
	h.ok(err)
	return ct
}

func TestRangesOfAContainer(t *testing.T) {
	h := newHouse(t, false)
	db := h.database("db")
	h.cut(db, "one", 0)
	h.cut(db, "four", 4)
	for range 2 {
		for name, want := range map[string]int{"one": 1, "four": 4} {
			ct, err := h.Container(db, name)
			h.ok(err)
			ranges := ct.State().Ranges()
			if len(ranges) != want {
				t.Fatalf("%s has %d ranges, want %d", name, len(ranges), want)
			}
			for i, r := range ranges {
				if i == 0 && len(r.Low) > 0 || i > 0 && !bytes.Equal(r.Low, ranges[i-1].High) {
					t.Errorf("%s: range %d begins at %X, not where the one before ends", name, i, r.Low)
				}
				if int(r.Number) != i || len(r.Parents) > 0 {
					t.Errorf("%s: range %d is %+v", name, i, r)
				}
			}
			if !bytes.Equal(ranges[want-1].High, keys.EPKEnd) {
				t.Errorf("%s ends at %X", name, ranges[want-1].High)
			}
		}
		h.reopen()
		var err error
		db, err = h.Database("db")
		h.ok(err)
	}
}

// TestRangeOfAgreesWithBounds asks for the range of many partitions, in both of the ways, and holds the answers against
// the bounds that clients see.
func TestRangeOfAgreesWithBounds(t *testing.T) {
	h := newHouse(t, false)
	db := h.database("db")
	for i, key := range []catalog.PartitionKey{
		{Paths: []string{"/pk"}, Version: 1},
		{Paths: []string{"/pk"}, Version: 2},
		{Paths: []string{"/a", "/b"}, Version: 2, Multi: true},
	} {
		def := definition(fmt.Sprint("c", i))
		def.Partition, def.Partitions = key, 5
		ct, err := h.CreateContainer(ctx, 100, db, def, nil)
		h.ok(err)
		st := ct.State()
		met := map[uint16]bool{}
		for n := range 400 {
			values := []doc.Value{doc.String(fmt.Sprint("tenant", n))}
			if n%7 == 0 {
				values[0] = doc.Int(int64(n))
			}
			if key.Multi && n%2 == 0 {
				values = append(values, doc.Int(int64(n)))
			}
			number := st.RangeOf(values)
			met[number] = true
			epk := keys.EffectivePartitionKey(nil, key.Version, key.Multi, values)
			if r, ok := st.RangeNumbered(number); !ok || !keys.InEPKRange(epk, r.Low, r.High) {
				t.Errorf("%v: %X is not in range %d, [%X, %X)", key, epk, number, r.Low, r.High)
			}
			if other := st.RangeOfForm(st.Identity().AppendPartition(nil, values)); other != number {
				t.Errorf("%v: the form of %X is in range %d, not %d", key, epk, other, number)
			}
			if in := st.RangesIn(epk, append(bytes.Clone(epk), 0)); len(in) != 1 || in[0].Number != number {
				t.Errorf("%v: the span of %X touches %v, not range %d alone", key, epk, in, number)
			}
		}
		if len(met) != 5 {
			t.Errorf("%v: documents are in %d of 5 ranges", key, len(met))
		}
	}
}

func TestRangesInASpan(t *testing.T) {
	h := newHouse(t, false)
	st := h.cut(h.database("db"), "c", 4).State()
	ranges := st.Ranges()
	for _, c := range []struct {
		low, high []byte
		want      []uint16
	}{
		{nil, nil, []uint16{0, 1, 2, 3}},
		{nil, keys.EPKEnd, []uint16{0, 1, 2, 3}},
		{ranges[1].Low, ranges[1].High, []uint16{1}},
		{ranges[1].Low, ranges[2].High, []uint16{1, 2}},
		{nil, []byte{0x01}, []uint16{0}},
		{[]byte{0x3F}, nil, []uint16{3}},
		{[]byte{0x0F}, []byte{0x10}, []uint16{0, 1}},
		{[]byte{0x20}, []byte{0x10}, nil},
	} {
		var got []uint16
		for _, r := range st.RangesIn(c.low, c.high) {
			got = append(got, r.Number)
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("[%X, %X) touches %v, want %v", c.low, c.high, got, c.want)
		}
	}
}

func TestNumberOfRangesIsBounded(t *testing.T) {
	h := newHouse(t, false)
	db := h.database("db")
	for _, c := range []struct {
		n       int
		dialect catalog.Dialect
	}{{-1, catalog.NoSQL}, {catalog.MaxPartitions + 1, catalog.NoSQL}, {2, catalog.Mongo}} {
		def := definition("c")
		def.Partitions, def.Dialect = c.n, c.dialect
		_, err := h.CreateContainer(ctx, 100, db, def, nil)
		h.fails(err, fault.Invalid)
	}
	ct := h.cut(db, "most", catalog.MaxPartitions)
	st := h.replace(101, ct, func(d *catalog.Definition) { d.Partitions = 2 })
	if len(st.Ranges()) != catalog.MaxPartitions {
		t.Errorf("a replacement changed the number of ranges to %d", len(st.Ranges()))
	}
}

// TestPolicyClosesAboveEveryRange closes a lifetime that counts from a property while ranges have come to different
// sequences: the sequence at which it ended must be above those of all of them, and each goes on above it.
func TestPolicyClosesAboveEveryRange(t *testing.T) {
	h := newHouse(t, false)
	ct := h.cut(h.database("db"), "c", 3)
	h.replace(101, ct, func(d *catalog.Definition) { d.TTL, d.TTLProperty = 10, "/at" })
	for number, sequence := range []uint64{7, 0, 4} {
		b := &kv.Batch{}
		b.Set(ct.KeysOf(uint16(number)).Order(nil), keys.Counter{Sequence: sequence, Stamp: 101}.Append(nil))
		h.ok(h.engine.Apply(ctx, b))
	}
	st := h.replace(102, ct, func(d *catalog.Definition) { d.TTLProperty = "/until" })
	if n := len(st.Policy.Past); n != 1 || st.Policy.Past[0].Sequence != 7 || st.Floor != 7 {
		t.Errorf("past policies %+v, floor %d", st.Policy.Past, st.Floor)
	}
}
