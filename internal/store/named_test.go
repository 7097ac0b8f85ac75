package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/store"
)

// byName makes the world of a container whose documents have an _id, {"_id": i, "n": i % 10, "tags": [...]}.
func byName(t *testing.T, documents int) *world {
	t.Helper()
	w := newWorld(t, collection("c", 0))
	w.fillNamed(documents)
	return w
}

func (w *world) fillNamed(documents int) {
	w.t.Helper()
	var ops []store.Op
	for i := range documents {
		body := w.body(fmt.Sprintf(`{"_id":%d,"n":%d,"tags":["t%d","t%d"]}`, i, i%10, i%3, i%5))
		ops = append(ops,
			store.Op{Verb: store.Create, Key: store.Identity(doc.Lookup(body, "_id")), Body: body, Lenient: true})
	}
	_, err := w.store.WriteAll(context.Background(), w.c, w.now, ops)
	w.ok(err)
}

// announce adds indexes that are still to be built.
func (w *world) announce(list ...catalog.NamedIndex) {
	w.t.Helper()
	_, err := w.catalog.ReplaceIndexes(context.Background(), w.now, w.c,
		func(st *catalog.State) ([]catalog.NamedIndex, error) {
			for i := range list {
				list[i].Building, list[i].Spec = true, w.body(`{}`)
			}
			return append(slices.Clone(st.Named), list...), nil
		})
	w.ok(err)
}

// visit lists the _ids that a visit gives, a page of so many at a time.
func (w *world) visit(v access.IndexScan, page int) (ids []int64) {
	w.t.Helper()
	var after access.Position
	for {
		n := 0
		for d, err := range w.store.Scan(context.Background(), w.view(),
			access.Access{Of: &access.IndexScans{v}, After: after}) {
			w.ok(err)
			id, _ := doc.AsInt(doc.Lookup(d.Body, "_id"))
			ids = append(ids, id)
			after = append(after[:0:0], d.Position...)
			if n++; n == page {
				break
			}
		}
		if n < page {
			return ids
		}
	}
}

func column(path string, descending bool) []catalog.NamedColumn {
	return []catalog.NamedColumn{{Path: path, Descending: descending}}
}

// A build that a crash has interrupted goes on when the data is opened again, and the index
// answers only then.
func TestNamedBuildGoesOnAfterRestart(t *testing.T) {
	w := byName(t, 500)
	w.announce(catalog.NamedIndex{Name: "n_1", Columns: column("n", false)})
	if list, err := w.store.Named(context.Background(), w.view()); err != nil || len(list) != 1 {
		t.Errorf("%d indexes before the build, %v", len(list), err)
	}
	w.reopen()
	for range 1000 {
		if !w.c.State().Named[0].Building {
			break
		}
		w.ok(clock.Pause(t.Context(), 10*time.Millisecond))
	}
	list, err := w.store.Named(context.Background(), w.view())
	w.ok(err)
	if len(list) != 2 {
		t.Fatalf("%d indexes after the restart", len(list))
	}
	three := access.Interval{Equal: []doc.Value{doc.Int(3)}}
	if ids := w.visit(access.IndexScan{Index: list[1].Index, Intervals: []access.Interval{three}}, 7); len(ids) != 50 ||
		ids[0] != 3 || ids[49] != 493 {
		t.Errorf("%d documents: %v", len(ids), ids)
	}
	report, err := w.store.Check(context.Background())
	if err != nil || report.Found > 0 {
		t.Errorf("%v, %v", report.Problems, err)
	}
}

// Documents with several entries come once, whatever the direction and the size of pages.
func TestVisitsGiveEachDocumentOnce(t *testing.T) {
	w := byName(t, 100)
	w.announce(catalog.NamedIndex{Name: "tags_1", Columns: column("tags", false)},
		catalog.NamedIndex{Name: "n_-1", Columns: column("n", true)})
	w.ok(w.buildNamed())
	list, err := w.store.Named(context.Background(), w.view())
	w.ok(err)
	tags := access.Interval{Low: &access.Bound{Value: doc.String("t0")},
		High: &access.Bound{Value: doc.String("t3"), Open: true}}
	for _, reverse := range []bool{false, true} {
		for _, page := range []int{1, 3, 1000} {
			ids := w.visit(access.IndexScan{Index: list[1].Index, Intervals: []access.Interval{tags}, Reverse: reverse},
				page)
			slices.Sort(ids)
			if len(ids) != 100 || len(slices.Compact(ids)) != 100 {
				t.Errorf("reverse %v, pages of %d: %d documents", reverse, page, len(ids))
			}
			all := w.visit(access.IndexScan{Index: list[2].Index, Reverse: reverse}, page)
			if first, want := all[0]%10, int64(9); len(all) != 100 || reverse && first != 0 ||
				!reverse && first != want {
				t.Errorf("reverse %v, pages of %d: %d documents, the first has n %d", reverse, page, len(all), first)
			}
		}
	}
	if n, ok, err := w.store.Count(context.Background(), w.view(),
		access.Access{Of: &access.IndexScans{{Index: list[1].Index}}}); ok || err != nil {
		t.Errorf("an index scan is counted: %d, %v", n, err)
	}
	single := access.Access{Of: &access.IndexScans{{Index: list[1].Index, Single: true}}}
	for _, err := range w.store.Scan(context.Background(), w.view(), single) {
		if err == nil {
			t.Error("a plan that relies on one entry for each document runs")
		}
		break
	}
}

// A unique index refuses what is there twice, is gone then, and the next one is built.
func TestUniqueNamedIndex(t *testing.T) {
	w := byName(t, 20)
	w.announce(catalog.NamedIndex{Name: "n_1", Columns: column("n", false), Unique: true})
	err := w.buildNamed()
	var d *store.Duplicate
	if !errors.As(err, &d) || d.Index.Name != "n_1" || len(d.Values) != 1 {
		t.Fatalf("%v", err)
	}
	if len(w.c.State().Named) != 0 {
		t.Error("the index is still there")
	}
	for i := range 10 {
		_, err := w.store.Write(context.Background(), w.c, w.now,
			store.Op{Verb: store.Delete, Key: store.Identity(doc.Int(int64(i)))})
		w.ok(err)
	}
	w.announce(catalog.NamedIndex{Name: "n_1", Columns: column("n", false), Unique: true})
	w.ok(w.buildNamed())
	body := w.body(`{"_id":"new","n":4.0}`)
	_, err = w.store.Write(context.Background(), w.c, w.now,
		store.Op{Verb: store.Create, Key: store.Identity(doc.Lookup(body, "_id")), Body: body})
	if !errors.As(err, &d) {
		t.Errorf("a second 4: %v", err)
	}
}

// TestNamedEntriesOfRandomChanges replaces documents by others that are like them.
func TestNamedEntriesOfRandomChanges(t *testing.T) {
	r := newRandom(t)
	w := byName(t, 0)
	w.announce(
		catalog.NamedIndex{Name: "a", Columns: column("a", false)},
		catalog.NamedIndex{Name: "a.b", Columns: column("a.b", true)},
		catalog.NamedIndex{Name: "b and c", Columns: append(column("b.a", false), column("c", true)...)},
		catalog.NamedIndex{Name: "sparse", Columns: column("c.a", false), Sparse: true},
		catalog.NamedIndex{Name: "unique", Columns: append(column("a.a", false), column("c", false)...), Unique: true},
		catalog.NamedIndex{Name: "wildcard", Columns: column("", false), Wildcard: true},
	)
	w.ok(w.buildNamed())
	put := func(verb store.Verb, members string) error {
		body := w.body(`{"_id":1,` + members + `}`)
		_, err := w.write(store.Op{Verb: verb, Key: store.Identity(doc.Int(1)), Body: body, Lenient: true})
		return err
	}
	before := `"a":0`
	w.ok(put(store.Create, before))
	for range times(300) {
		after := randomChange(r, before)
		if err := put(store.Replace, after); errors.Is(err, store.ErrParallelArrays) {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		w.consistent()
		if t.Failed() {
			t.Fatalf("before %s\nafter %s", before, after)
		}
		before = after
	}
}
