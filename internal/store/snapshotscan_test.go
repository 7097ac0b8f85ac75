package store_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/store"
)

// scanWorld has a container with documents a to f, n from 1 to 6, and an index on n, and a group that
// has replaced b, deleted c, deleted and made d again, and created x and y, and deleted y.
func scanWorld(t *testing.T) (*world, *store.SnapshotTransaction, *store.ContainerTransaction) {
	w := newWorld(t, collection("c", expiry.Unset))
	w.addIndex(w.c, catalog.NamedIndex{Name: "n", Columns: []catalog.NamedColumn{{Path: "n"}}})
	for i, text := range []string{"a", "b", "c", "d", "e", "f"} {
		w.at(w.c, w.doing(store.Create, text, fmt.Sprintf(`"n":%d`, i+1)))
	}
	g := w.beginSnapshot()
	x := g.On(w.view())
	for _, op := range []store.Op{
		w.doing(store.Read, "a", ""),
		w.doing(store.Replace, "b", `"n":20`),
		w.doing(store.Delete, "c", ""),
		w.doing(store.Delete, "d", ""),
		w.doing(store.Create, "d", `"n":40`),
		w.doing(store.Create, "x", `"n":1`),
		w.doing(store.Create, "y", `"n":1`),
		w.doing(store.Delete, "y", ""),
	} {
		w.wrote(x, op)
	}
	return w, g, x
}

func selections(w *world) map[string]access.Access {
	index := w.c.State().Named[0].ID
	up := access.IndexScan{Index: index,
		Intervals: []access.Interval{{Low: &access.Bound{Value: doc.Int(1)}, High: &access.Bound{Value: doc.Int(5)}}}}
	down := access.IndexScan{Index: index, Reverse: true}
	byID := access.IndexScan{Index: access.Identity}
	return map[string]access.Access{
		"all":            {},
		"index up":       {Of: &access.IndexScans{up}},
		"index down":     {Of: &access.IndexScans{down}},
		"identity":       {Of: &access.IndexScans{byID}},
		"two of them":    {Of: &access.IndexScans{up, down}},
		"whole by stamp": {Of: &access.Filter{Set: &access.Range{Path: access.Path{{Name: "_ts"}}}}},
	}
}

func TestGroupScan(t *testing.T) {
	w, g, x := scanWorld(t)
	for name, a := range selections(w) {
		want := "a=1 b=20 d=40 e=5 f=6 x=1"
		if name == "index up" {
			want = "a=1 b=20 d=40 e=5 x=1" // what the group wrote comes in any case
		}
		if got := w.all(x, a); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if got := w.inside(w.c); got != "a=1 b=2 c=3 d=4 e=5 f=6" {
		t.Errorf("others see %s", got)
	}
	w.ok(g.Commit(context.Background()))
	if got := w.inside(w.c); got != "a=1 b=20 d=40 e=5 f=6 x=1" {
		t.Errorf("there is %s", got)
	}
	w.consistent()
}

// TestGroupScanOrder checks that what is not written comes in the order of the selection,
// and what is written behind it.
func TestGroupScanOrder(t *testing.T) {
	w, g, x := scanWorld(t)
	defer g.Rollback()
	var list []string
	for d, err := range x.Scan(context.Background(), selections(w)["index down"]) {
		w.ok(err)
		list = append(list, brief(d))
	}
	if got := strings.Join(list, " "); got != "f=6 e=5 a=1 b=20 d=40 x=1" {
		t.Errorf("the order is %s", got)
	}
}

// TestGroupScanResumes goes on behind each position, with new writes in between: each
// document comes once all the same.
func TestGroupScanResumes(t *testing.T) {
	for _, step := range []int{1, 2, 4} {
		w, g, x := scanWorld(t)
		for name, a := range selections(w) {
			if name == "index up" {
				continue
			}
			seen := map[string]int{}
			for more := true; more; {
				more = false
				left := step
				for d, err := range x.Scan(context.Background(), a) {
					w.ok(err)
					if left == 0 {
						more = true
						break
					}
					left--
					id, _, _ := strings.Cut(brief(d), "=")
					seen[id]++
					a.After = append(access.Position(nil), d.Position...)
					w.wrote(x, w.doing(store.Upsert, id, fmt.Sprintf(`"n":%d`, 100+len(seen))))
					if id == "a" {
						w.wrote(x, w.doing(store.Upsert, "new of "+name, `"n":-5`))
					}
				}
			}
			for _, id := range []string{"a", "b", "d", "e", "f", "x"} {
				if seen[id] != 1 {
					t.Errorf("%s, %d at a time: %s came %d times", name, step, id, seen[id])
				}
			}
			for id, n := range seen {
				if n != 1 || id == "c" || id == "y" {
					t.Errorf("%s, %d at a time: %s came %d times", name, step, id, n)
				}
			}
		}
		g.Rollback()
	}
}

// TestGroupScanMeetsItsWrites changes what a scan under way has still before it.
func TestGroupScanMeetsItsWrites(t *testing.T) {
	w := newWorld(t, collection("c", expiry.Unset))
	for i, text := range []string{"a", "b", "c", "d"} {
		w.at(w.c, w.doing(store.Create, text, fmt.Sprintf(`"n":%d`, i+1)))
	}
	g := w.beginSnapshot()
	defer g.Rollback()
	x := g.On(w.view())
	var list []string
	for d, err := range x.Scan(context.Background(), access.Access{}) {
		w.ok(err)
		if list = append(list, brief(d)); len(list) == 1 {
			w.wrote(x, w.doing(store.Replace, "a", `"n":9`))
			w.wrote(x, w.doing(store.Replace, "b", `"n":20`))
			w.wrote(x, w.doing(store.Delete, "c", ""))
			w.wrote(x, w.doing(store.Create, "e", ""))
		}
	}
	if got := strings.Join(list, " "); got != "a=1 b=20 d=4" {
		t.Errorf("the scan gives %s", got)
	}
}

func TestGroupScanPositions(t *testing.T) {
	_, g, x := scanWorld(t)
	defer g.Rollback()
	for _, p := range []access.Position{{}, {1}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 5}, {1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2}} {
		var failed error
		for _, err := range x.Scan(context.Background(), access.Access{After: p}) {
			failed = err
		}
		if failed == nil {
			t.Errorf("position %x is taken", p)
		}
	}
}
