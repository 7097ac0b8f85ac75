package store_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/store"
)

// scanned goes through a scan of up to limit documents, asking each for one member.
func (w *world) scanned(a access.Access, limit int) (count int) {
	for d, err := range w.store.Scan(context.Background(), w.view(), a) {
		w.ok(err)
		if doc.IsUndefined(doc.Lookup(d.Body, "group")) {
			continue
		}
		if count++; count == limit {
			break
		}
	}
	return count
}

// BenchmarkEquality finds 100 documents of 1 KiB among many by an indexed value.
func BenchmarkEquality(b *testing.B) {
	for _, count := range []int{1_000, 10_000, 100_000} {
		w := newDisk(b, benchDefinition(expiry.Never), true)
		w.fillGroups(count, count/100)
		for _, c := range []struct {
			name string
			a    access.Access
		}{
			{"set", only(is("3", "group"))},
			{"set of two",
				only(all(is("3", "group"), &access.Range{Path: at("n"), Low: typed("0"), High: typed("0")}))},
			{"set in a partition", inPartition("p3", only(is("3", "group")))},
		} {
			b.Run(fmt.Sprintf("%s/documents=%d", c.name, count), func(b *testing.B) {
				b.ReportAllocs()
				found := 0
				for b.Loop() {
					found = w.scanned(c.a, -1)
				}
				b.ReportMetric(float64(found), "rows")
			})
		}
	}
}

// fillGroups writes documents, count divided by groups of them with the same group.
func (w *world) fillGroups(count, groups int) {
	for i := 0; i < count; {
		var ops []store.Op
		for range 100 {
			pk, id := fmt.Sprint("p", i%1000), fmt.Sprint("item-", i)
			rest := fmt.Sprintf(`"n":%d,"group":%d,"name":"name %d","text":%q`, i, i%groups, i*7919, filler)
			ops = append(ops, w.put(store.Create, pk, id, rest))
			i++
		}
		_, err := w.store.WriteAll(context.Background(), w.c, w.now, ops)
		w.ok(err)
	}
}

// BenchmarkFind finds few documents in ways that need no set.
func BenchmarkFind(b *testing.B) {
	w := newDisk(b, benchDefinition(expiry.Never), true)
	w.fillGroups(10_000, 100)
	for _, c := range []struct {
		name string
		a    access.Access
	}{
		{"id", inPartition("p3", lookupOf("item-3"))},
		{"partition of 10", inPartition("p3", access.Access{})},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w.scanned(c.a, -1)
			}
		})
	}
}

// BenchmarkFindNamed finds documents by a named index.
func BenchmarkFindNamed(b *testing.B) {
	w := newWorld(b, collection("c", 0))
	w.addIndex(w.c, catalog.NamedIndex{Name: "n_1", Columns: column("n", false), Spec: w.body(`{}`)})
	w.addIndex(w.c, catalog.NamedIndex{Name: "n_1_other_1__id_1", Columns: append(append(column("n", false),
		column("other", false)...), column("_id", false)...), Spec: w.body(`{}`)})
	w.fillNamed(1_000)
	is := func(v doc.Value) []access.Interval {
		bound := &access.Bound{Value: v}
		return []access.Interval{{Low: bound, High: bound}}
	}
	for _, c := range []struct {
		name   string
		index  uint32
		value  doc.Value
		checks []access.Check
	}{
		{"_id", access.Identity, doc.Int(7), nil},
		{"100 of 1000", w.c.State().Named[0].ID, doc.Int(3), nil},
		{"1 of 100 by a check", w.c.State().Named[1].ID, doc.Int(3),
			[]access.Check{{Column: 2, Within: is(doc.Int(503))}}},
	} {
		v := access.IndexScan{Index: c.index, Intervals: is(c.value), Checks: c.checks}
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for _, err := range w.store.Scan(context.Background(), w.view(),
					access.Access{Of: &access.IndexScans{v}}) {
					w.ok(err)
				}
			}
		})
	}
}

// BenchmarkPage reads pages of 20 in some order.
func BenchmarkPage(b *testing.B) {
	const count = 100_000
	w := newDisk(b, benchDefinition(expiry.Never), true)
	w.fillGroups(count, count/100)
	behind := func(a access.Access, n int) access.Access {
		rows := w.rows(a, n)
		a.After = rows[len(rows)-1].Position
		return a
	}
	byName := walkOf("name", withAbsent)
	ofGroup := walkOf("name", func(w *access.Walk) { w.Absent, w.Set = true, is("3", "group") })
	half := only(&access.Range{Path: at("n"), Low: closedAt("50000"), High: typed("0")})
	for _, c := range []struct {
		name string
		a    access.Access
	}{
		{"walk", byName},
		{"walk in reverse", walkOf("name", reversed)},
		{"walk resumed", behind(byName, 1000)},
		{"walk of stamps", walkOf("_ts", reversed)},
		{"walk in a partition of 100", inPartition("p3", byName)},
		{"walk of a set of 100", ofGroup},
		{"everything resumed", behind(access.Access{}, 1000)},
		{"range of a half", half},
		{"range of a half resumed", behind(half, 1000)},
		{"range of one in a hundred", only(&access.Range{Path: at("n"), Low: closedAt("99000"), High: typed("0")})},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w.scanned(c.a, 20)
			}
		})
	}
}

// BenchmarkFullScan reads every document with a cheap look at each, and the same records
// from the bare engine.
func BenchmarkFullScan(b *testing.B) {
	const count = 20_000 // fits in the engine's cache
	w := newDisk(b, benchDefinition(expiry.Never), true)
	w.fillGroups(count, 100)
	w.ok(w.engine.Compact(context.Background(), nil, nil))
	b.Run("store", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			w.scanned(access.Access{}, -1)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*count), "ns/row")
	})
	b.Run("partitions", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			w.scanned(access.Access{Of: &access.Span{}}, -1)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*count), "ns/row")
	})
	b.Run("raw", func(b *testing.B) {
		b.ReportAllocs()
		lower, upper := w.c.KeysOf(0).Bounds(keys.KindRecord)
		for b.Loop() {
			it, err := w.engine.Iterate(context.Background(), lower, upper)
			w.ok(err)
			for it.Next() {
				it.Value()
			}
			w.ok(it.Close())
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*count), "ns/row")
	})
}

// BenchmarkCount counts without reading documents, where it can.
func BenchmarkCount(b *testing.B) {
	const count = 20_000
	w := newDisk(b, benchDefinition(expiry.Never), true)
	w.fillGroups(count, 100)
	for _, c := range []struct {
		name string
		a    access.Access
	}{
		{"everything", access.Access{}},
		{"equality of 200", only(is("3", "group"))},
		{"range of 20,000", only(&access.Range{Path: at("n")})},
		{"partition of 20", inPartition("p3", access.Access{})},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, ok, err := w.store.Count(context.Background(), w.view(), c.a)
				w.ok(err)
				if !ok {
					b.Fatal("not counted")
				}
			}
		})
	}
}
