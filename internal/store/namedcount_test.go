package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// TestCountEntries: n has the values 0 to 9, 50 times each, and _id has 0 to 499.
func TestCountEntries(t *testing.T) {
	w := byName(t, 500)
	w.announce(catalog.NamedIndex{Name: "n_1", Columns: column("n", false)})
	w.reopen()
	for range 1000 {
		if !w.c.State().Named[0].Building {
			break
		}
		w.ok(clock.Pause(t.Context(), 10*time.Millisecond))
	}
	n := w.c.State().Named[0].ID
	equal := func(values ...int64) (list []access.Interval) {
		for _, v := range values {
			list = append(list, access.Interval{Equal: []doc.Value{doc.Int(v)}})
		}
		return list
	}
	above := func(v int64) []access.Interval {
		return []access.Interval{{Low: &access.Bound{Value: doc.Int(v), Open: true}}}
	}
	for _, c := range []struct {
		name       string
		of         access.IndexScan
		most, want int
	}{
		{"all", access.IndexScan{Index: n}, 1000, 501},
		{"a value", access.IndexScan{Index: n, Intervals: equal(3)}, 1000, 51},
		{"more than wanted", access.IndexScan{Index: n, Intervals: equal(3)}, 20, 20},
		{"as many as wanted", access.IndexScan{Index: n, Intervals: equal(3)}, 51, 51},
		{"two values", access.IndexScan{Index: n, Intervals: equal(3, 5)}, 1000, 102},
		{"seeks count", access.IndexScan{Index: n, Intervals: equal(70, 80, 90)}, 2, 2},
		{"a range", access.IndexScan{Index: n, Intervals: above(7)}, 1000, 101},
		{"a range of _id", access.IndexScan{Index: access.Identity, Intervals: above(489)}, 1000, 11},
		{"nothing", access.IndexScan{Index: n, Intervals: []access.Interval{}}, 1000, 0},
	} {
		of := c.of
		got, err := w.store.CountEntries(context.Background(), w.view(), &of, c.most)
		if err != nil || got != c.want {
			t.Errorf("%s: %d, %v, want %d", c.name, got, err, c.want)
		}
	}
	gone := access.IndexScan{Index: n + 1}
	if _, err := w.store.CountEntries(context.Background(), w.view(), &gone, 10); fault.KindOf(err) != fault.Conflict {
		t.Errorf("an index that is gone: %v", err)
	}
}

// BenchmarkCountEntries counts a hundred of 10,000 entries, as a plan does.
func BenchmarkCountEntries(b *testing.B) {
	w := newWorld(b, collection("c", 0))
	w.fillNamed(10_000)
	low := doc.Int(9_900)
	of := access.IndexScan{Index: access.Identity, Intervals: []access.Interval{{Low: &access.Bound{Value: low}}}}
	b.ReportAllocs()
	for b.Loop() {
		if n, err := w.store.CountEntries(context.Background(), w.view(), &of, 8192); err != nil || n != 101 {
			b.Fatal(n, err)
		}
	}
}
