package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv/kvtest"
	"github.com/mayflydb/mayfly/internal/store"
)

// make makes a container in a group.
func (w *world) make(g *store.SnapshotTransaction, db, name string) *catalog.Container {
	w.t.Helper()
	c, err := g.CreateContainer(w.now, db, collection(name, expiry.Unset))
	w.ok(err)
	return c
}

// there lists the containers, as database.container, but for the first.
func (w *world) there() string {
	var list []string
	for _, c := range w.catalog.AllContainers() {
		if c.ID != w.c.ID {
			list = append(list, c.Database.Name+"."+c.State().Name)
		}
	}
	return strings.Join(list, " ")
}

// Another group sees all that a group has made, or nothing of it, whenever it begins.
func TestGroupMakesAllAtOnce(t *testing.T) {
	w := newWorld(t, collection("c", expiry.Unset))
	g := w.beginSnapshot()
	a, b := w.make(g, "e", "a"), w.make(g, "e", "b")
	w.ok(g.Commit(context.Background()))
	if a.Born() != b.Born() {
		t.Errorf("one is from epoch %d, the other from %d", a.Born(), b.Born())
	}
}

// TestGroupMakes lets something happen between the making of a container and the commit.
func TestGroupMakes(t *testing.T) {
	create := func(db, name string) func(*world) {
		return func(w *world) {
			d, err := w.catalog.Database(db)
			if err != nil {
				d, err = w.catalog.CreateDatabase(context.Background(), w.now, db, nil)
			}
			w.ok(err)
			_, err = w.catalog.CreateContainer(context.Background(), w.now, d, collection(name, expiry.Unset), nil)
			w.ok(err)
		}
	}
	drop := func(db string) func(*world) {
		return func(w *world) {
			d, err := w.catalog.Database(db)
			w.ok(err)
			w.ok(w.catalog.DeleteDatabase(context.Background(), d))
		}
	}
	for _, c := range []struct {
		name, db  string
		meanwhile func(*world)
		fails     bool
		there     string
	}{
		{"nothing", "e", func(*world) {}, false, "e.new"},
		{"in a new database", "new", func(*world) {}, false, "new.new"},
		{"the same one", "e", create("e", "new"), true, "e.new"},
		{"another one", "e", create("e", "other"), false, "e.new e.other"},
		{"the database", "new", create("new", "other"), false, "new.new new.other"},
		{"the same one in a new database", "new", create("new", "new"), true, "new.new"},
		{"the database is dropped", "e", drop("e"), true, ""},
		{"the database is dropped and made again", "e", func(w *world) {
			drop("e")(w)
			create("e", "other")(w)
		}, true, "e.other"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, collection("c", expiry.Unset))
			_, err := w.catalog.CreateDatabase(context.Background(), w.now, "e", nil)
			w.ok(err)
			w.ok(w.store.KeepLog(context.Background(), w.now, store.LogOptions{}))
			g := w.beginSnapshot()
			made := w.make(g, c.db, "new")
			g.AppendLog(made, store.LogEntry{Kind: "create", Wall: 1000 * w.now})
			w.wrote(g.On(w.viewOf(made)), w.doing(store.Create, "a", `"n":1`))
			w.wrote(g.On(w.view()), w.doing(store.Create, "b", `"n":1`))
			if got := w.there(); got != "" {
				t.Errorf("before the commit there is %s", got)
			}
			if _, err := g.CreateContainer(w.now, c.db,
				collection("new", expiry.Unset)); fault.KindOf(err) != fault.Exists {
				t.Errorf("a second one of the name: %v", err)
			}
			c.meanwhile(w)
			err = g.Commit(context.Background())
			if failed := fault.KindOf(err) == fault.Conflict && err != nil; failed != c.fails || err != nil && !failed {
				t.Errorf("the commit fails with %v, want a conflict: %v", err, c.fails)
			}
			if got := w.inside(w.c) == "b=1"; got == c.fails {
				t.Errorf("what the group wrote elsewhere is there: %v", got)
			}
			w.consistent()
			w.reopen()
			if got := w.there(); got != c.there {
				t.Errorf("there is %s, want %s", got, c.there)
			}
			for _, x := range w.catalog.AllContainers() {
				if x.State().Name == "new" && x.Database.Name == c.db && !c.fails {
					if got := w.inside(x); got != "a=1" {
						t.Errorf("the new container has %s", got)
					}
				}
			}
			oldest, err := w.store.LogOldest(context.Background())
			w.ok(err)
			kinds := ""
			for e, err := range w.store.Log(context.Background(), oldest) {
				w.ok(err)
				kinds += e.Kind + " "
			}
			if want := map[bool]string{true: "", false: "create insert insert "}[c.fails]; kinds != want {
				t.Errorf("the log has %s, want %s", kinds, want)
			}
			w.consistent()
		})
	}
}

// TestGroupMakesNothing gives groups up, whose containers leave nothing.
func TestGroupMakesNothing(t *testing.T) {
	w := newWorld(t, collection("c", expiry.Unset))
	g := w.beginSnapshot()
	made := w.make(g, "new", "new")
	w.wrote(g.On(w.viewOf(made)), w.doing(store.Create, "a", `"n":1`))
	if got := w.all(g.On(w.viewOf(made)), access.Access{}); got != "a=1" {
		t.Errorf("the group sees %s", got)
	}
	g.Rollback()
	if _, err := made.Enter(context.Background(), w.now); err != catalog.ErrNoOwner {
		t.Errorf("a container that was given up answers %v", err)
	}
	next := w.another(collection("next", expiry.Unset))
	if next.ID == made.ID {
		t.Error("its number was given out again")
	}
	w.reopen()
	if got := w.there(); got != "d.next" {
		t.Errorf("there is %s", got)
	}
	if _, err := w.catalog.Database("new"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("its database: %v", err)
	}
	w.consistent()
}

// TestGroupSees is about containers that were made after a group began.
func TestGroupSees(t *testing.T) {
	w := newWorld(t, collection("c", expiry.Unset))
	g, h := w.beginSnapshot(), w.beginSnapshot()
	defer g.Rollback()
	made := w.make(h, "d", "made")
	later := w.another(collection("later", expiry.Unset))
	for _, c := range []struct {
		who       string
		group     *store.SnapshotTransaction
		container *catalog.Container
		want      bool
	}{
		{"one that was there", g, w.c, true},
		{"a later one", g, later, false},
		{"one's own", h, made, true},
	} {
		if got := c.group.Sees(c.container); got != c.want {
			t.Errorf("%s: %v", c.who, got)
		}
	}
	w.ok(h.Commit(context.Background()))
	if g.Sees(made) {
		t.Error("a group sees what another one has made since")
	}
	after := w.beginSnapshot()
	defer after.Rollback()
	if !after.Sees(made) || !after.Sees(later) {
		t.Error("a group does not see what was there")
	}
}

// TestGroupMakesCrash stops the machine at random moments: a container that a group makes is there
// with all of its documents, or is not there.
func TestGroupMakesCrash(t *testing.T) {
	fs := vfs.NewCrashableMem()
	w := &world{t: t, fs: kvtest.Cloneable{MemFS: fs}, now: 1_000_000}
	w.open()
	db, err := w.catalog.CreateDatabase(context.Background(), w.now, "d", nil)
	w.ok(err)
	w.c, err = w.catalog.CreateContainer(context.Background(), w.now, db, collection("c", expiry.Unset), nil)
	w.ok(err)
	rng := rand.New(rand.NewPCG(3, 4))
	for n := range 30 {
		g := w.beginSnapshot()
		made := w.make(g, fmt.Sprint("db", n/4), fmt.Sprint("made", n))
		pad := fmt.Sprintf(`"n":%d,"pad":%q`, n, strings.Repeat("mayfly ", rng.IntN(400)))
		w.wrote(g.On(w.viewOf(made)), w.doing(store.Create, "a", pad))
		w.wrote(g.On(w.viewOf(made)), w.doing(store.Create, "b", pad))
		if n%5 == 4 {
			g.Rollback()
			continue
		}
		before := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: rng.IntN(101), RNG: rng})
		w.ok(g.Commit(context.Background()))
		after := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: []int{0, 50, 100}[n%3], RNG: rng})
		w.afterMaking(before, n-1)
		w.afterMaking(after, n)
	}
	w.close()
}

// afterMaking examines what there is when all but each fifth of the groups up to last have been acknowledged.
func (w *world) afterMaking(fs *vfs.MemFS, last int) {
	w.t.Helper()
	after := &world{t: w.t, fs: kvtest.Cloneable{MemFS: fs}, c: w.c, now: w.now}
	after.open()
	defer after.close()
	found := map[string]bool{}
	for _, c := range after.catalog.AllContainers() {
		if c.ID == w.c.ID {
			continue
		}
		n := strings.TrimPrefix(c.State().Name, "made")
		found[n] = true
		if got, want := after.inside(c), fmt.Sprintf("a=%s b=%s", n, n); got != want {
			w.t.Errorf("%s has %s, want %s", c.State().Name, got, want)
		}
	}
	for n := range last + 1 {
		if found[fmt.Sprint(n)] == (n%5 == 4) {
			w.t.Errorf("group %d of %d has made its container: %v", n, last, n%5 == 4)
		}
	}
	after.another(collection("one more", expiry.Unset)) // under a number of its own
	after.consistent()
}
