package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv/kvtest"
	"github.com/mayflydb/mayfly/internal/store"
)

// TestGroupConflicts lets something happen between what a group does and its commit.
func TestGroupConflicts(t *testing.T) {
	read := func(text string) func(*world, *store.ContainerTransaction) error {
		return func(w *world, x *store.ContainerTransaction) error {
			_, err := x.Do(context.Background(), w.doing(store.Read, text, ""))
			return err
		}
	}
	write := func(verb store.Verb, text, rest string) func(*world, *store.ContainerTransaction) error {
		return func(w *world, x *store.ContainerTransaction) error {
			_, err := x.Do(context.Background(), w.doing(verb, text, rest))
			return err
		}
	}
	outside := func(verb store.Verb, text, rest string) func(*world) {
		return func(w *world) { w.at(w.c, w.doing(verb, text, rest)) }
	}
	nothing := func(*world) {}
	for _, c := range []struct {
		name          string
		before, after func(*world) // the group's operation
		do            func(*world, *store.ContainerTransaction) error
		atOnce        bool // the operation fails
		atCommit      bool
	}{
		{"nothing", nothing, nothing, write(store.Replace, "a", `"n":2`), false, false},
		{"replaced before", outside(store.Replace, "a", `"n":9`), nothing, write(store.Replace, "a", `"n":2`), true,
			true},
		{"replaced after", nothing, outside(store.Replace, "a", `"n":9`), write(store.Replace, "a", `"n":2`), false,
			true},
		{"patched after", nothing, outside(store.Patch, "a", `"n":9`), write(store.Delete, "a", ""), false, true},
		{"deleted before", outside(store.Delete, "a", ""), nothing, write(store.Replace, "a", `"n":2`), true, true},
		{"deleted after", nothing, outside(store.Delete, "a", ""), write(store.Delete, "a", ""), false, true},
		{"created before", outside(store.Create, "new", ""), nothing, write(store.Create, "new", ""), true, true},
		{"created after", nothing, outside(store.Create, "new", ""), write(store.Upsert, "new", ""), false, true},
		{"what was read is replaced before", outside(store.Replace, "a", `"n":9`), nothing, read("a"), false, false},
		{"what was read is replaced after", nothing, outside(store.Replace, "a", `"n":9`), read("a"), false, false},
		{"what was read is deleted", nothing, outside(store.Delete, "a", ""), read("a"), false, false},
		{"another one is replaced", nothing, outside(store.Replace, "b", `"n":9`), write(store.Replace, "a", `"n":2`),
			false, false},
		{"a unique key is taken before", outside(store.Create, "x", `"u":5`), nothing,
			write(store.Create, "new", `"u":5`), true, true},
		{"a unique key is taken after", nothing, outside(store.Create, "x", `"u":5`),
			write(store.Create, "new", `"u":5`), false, true},
		{"another unique key is taken", nothing, outside(store.Create, "x", `"u":6`),
			write(store.Create, "new", `"u":5`), false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, collection("c", expiry.Unset))
			w.addIndex(w.c,
				catalog.NamedIndex{Name: "u", Unique: true, Sparse: true, Columns: []catalog.NamedColumn{{Path: "u"}}})
			w.at(w.c, w.doing(store.Create, "a", `"n":1`))
			w.at(w.c, w.doing(store.Create, "b", `"n":1`))
			g := w.beginSnapshot()
			x := g.On(w.view())
			w.wrote(x, w.doing(store.Upsert, "own", `"n":1`))
			c.before(w)
			err := c.do(w, x)
			if got := fault.KindOf(err) == fault.Conflict && err != nil; got != c.atOnce || err != nil && !got {
				t.Errorf("the operation fails with %v, want a conflict: %v", err, c.atOnce)
			}
			c.after(w)
			err = g.Commit(context.Background())
			if got := fault.KindOf(err) == fault.Conflict && err != nil; got != c.atCommit || err != nil && !got {
				t.Errorf("the commit fails with %v, want a conflict: %v", err, c.atCommit)
			}
			if got := strings.Contains(w.inside(w.c), "own=1"); got == c.atCommit {
				t.Errorf("what the group wrote is there: %v", got)
			}
			w.consistent()
		})
	}
}

func TestTwoGroupsOnOneDocument(t *testing.T) {
	w := newWorld(t, collection("c", expiry.Unset))
	w.at(w.c, w.doing(store.Create, "a", `"n":1`))
	g, h := w.beginSnapshot(), w.beginSnapshot()
	w.wrote(g.On(w.view()), w.doing(store.Patch, "a", `"n":2`))
	_, err := h.On(w.view()).Do(context.Background(), w.doing(store.Patch, "a", `"n":3`))
	w.becomes(err, fault.Conflict)
	_, err = h.On(w.view()).Do(context.Background(), w.doing(store.Create, "b", ""))
	w.becomes(err, fault.Conflict) // it is over
	w.becomes(h.Commit(context.Background()), fault.Conflict)
	w.ok(g.Commit(context.Background()))
	if got := w.inside(w.c); got != "a=2" {
		t.Errorf("there is %s", got)
	}
	again := w.beginSnapshot()
	w.wrote(again.On(w.view()), w.doing(store.Patch, "a", `"n":4`))
	again.Rollback()
	last := w.beginSnapshot()
	w.wrote(last.On(w.view()), w.doing(store.Patch, "a", `"n":5`))
	w.ok(last.Commit(context.Background()))
	w.becomes(last.Commit(context.Background()), fault.Internal)
	_, err = last.On(w.view()).Do(context.Background(), w.doing(store.Create, "b", ""))
	w.becomes(err, fault.Internal)
	if got := w.inside(w.c); got != "a=5" {
		t.Errorf("there is %s", got)
	}
	w.consistent()
}

// TestGroupReadsOneMoment checks that no group sees the half of what happens meanwhile, and
// that two groups may each write what the other one has read.
func TestGroupReadsOneMoment(t *testing.T) {
	w := newWorld(t, collection("c", expiry.Unset))
	d := w.another(collection("d", expiry.Unset))
	w.at(w.c, w.doing(store.Create, "a", `"n":1`))
	w.at(d, w.doing(store.Create, "b", `"n":1`))
	g := w.beginSnapshot()
	x, y := g.On(w.view()), g.On(w.viewOf(d))
	if got := w.all(x, access.Access{}); got != "a=1" {
		t.Errorf("c has %s", got)
	}
	w.at(w.c, w.doing(store.Replace, "a", `"n":2`))
	w.at(d, w.doing(store.Replace, "b", `"n":2`))
	w.at(d, w.doing(store.Create, "late", ""))
	if got := w.all(x, access.Access{}) + " " + w.all(y, access.Access{}); got != "a=1 b=1" {
		t.Errorf("the group sees %s", got)
	}
	if r := w.wrote(y, w.doing(store.Read, "b", "")); brief(r.Document) != "b=1" {
		t.Errorf("the group reads %s", brief(r.Document))
	}
	_, err := y.Do(context.Background(), w.doing(store.Read, "late", ""))
	w.becomes(err, fault.NotFound)
	w.ok(g.Commit(context.Background()))

	g, h := w.beginSnapshot(), w.beginSnapshot()
	w.wrote(g.On(w.view()), w.doing(store.Read, "a", ""))
	w.wrote(h.On(w.viewOf(d)), w.doing(store.Read, "b", ""))
	w.wrote(g.On(w.viewOf(d)), w.doing(store.Replace, "b", `"n":7`))
	w.wrote(h.On(w.view()), w.doing(store.Replace, "a", `"n":8`))
	w.ok(g.Commit(context.Background()))
	w.ok(h.Commit(context.Background()))
	if got := w.inside(w.c) + " " + w.inside(d); got != "a=8 b=7 late=0" {
		t.Errorf("there is %s", got)
	}
	w.consistent()
}

func TestGroupOverSeveralContainers(t *testing.T) {
	w := newWorld(t, collection("c", expiry.Unset))
	d, e := w.another(collection("d", expiry.Unset)), w.another(renamed(definition(expiry.Unset), "e"))
	w.at(w.c, w.doing(store.Create, "a", `"n":1`))
	g := w.beginSnapshot()
	if first, again := g.On(w.view()), g.On(w.view()); first != again {
		t.Error("a container has two parts")
	}
	w.wrote(g.On(w.viewOf(e)), w.put(store.Create, "p", "nosql", ""))
	w.wrote(g.On(w.viewOf(d)), w.doing(store.Create, "b", `"n":1`))
	w.wrote(g.On(w.view()), w.doing(store.Delete, "a", ""))
	w.wrote(g.On(w.view()), w.doing(store.Create, "a", `"n":2`))
	if got := w.inside(w.c) + w.inside(d); got != "a=1" {
		t.Errorf("before the commit there is %s", got)
	}
	_, err := g.On(w.view()).Commit(context.Background())
	w.becomes(err, fault.Internal)
	w.ok(g.Commit(context.Background()))
	if got := w.inside(w.c) + " " + w.inside(d); got != "a=2 b=1" {
		t.Errorf("there is %s", got)
	}
	found := false
	err = w.store.Read(context.Background(), w.viewOf(e), key("p", "nosql"), func(access.Document) error {
		found = true
		return nil
	})
	if w.ok(err); !found {
		t.Error("nothing is in the third container")
	}
	w.consistent()
	w.reopen()
	w.consistent()
}

// TestGroupConflictLeavesNothing has its conflict in the second of two containers.
func TestGroupConflictLeavesNothing(t *testing.T) {
	for _, change := range []string{"document", "policy", "drop"} {
		t.Run(change, func(t *testing.T) {
			w := newWorld(t, collection("c", expiry.Unset))
			d := w.another(collection("d", expiry.Unset))
			w.at(d, w.doing(store.Create, "b", `"n":1`))
			g := w.beginSnapshot()
			w.wrote(g.On(w.view()), w.doing(store.Create, "a", ""))
			w.wrote(g.On(w.viewOf(d)), w.doing(store.Replace, "b", `"n":2`))
			switch change {
			case "document":
				w.at(d, w.doing(store.Replace, "b", `"n":3`))
			case "policy":
				_, err := w.catalog.ReplaceContainer(context.Background(), w.now, d,
					func(st *catalog.State) (catalog.Definition, error) {
						def := st.Definition
						def.TTL = 5
						return def, nil
					})
				w.ok(err)
			case "drop":
				w.ok(w.catalog.DeleteContainer(context.Background(), d))
			}
			w.becomes(g.Commit(context.Background()), fault.Conflict)
			if got := w.inside(w.c); got != "" {
				t.Errorf("there is %s", got)
			}
			w.consistent()
		})
	}
}

// TestGroupMeetsAChangedContainer looks at a container that was changed after the group began.
func TestGroupMeetsAChangedContainer(t *testing.T) {
	w := newWorld(t, collection("c", expiry.Unset))
	w.at(w.c, w.doing(store.Create, "a", `"n":1`))
	g := w.beginSnapshot()
	defer g.Rollback()
	later := w.another(collection("later", expiry.Unset))
	w.wrote(g.On(w.viewOf(later)), w.doing(store.Create, "a", "")) // it is empty in any snapshot
	w.addIndex(w.c, catalog.NamedIndex{Name: "n", Columns: []catalog.NamedColumn{{Path: "n"}}})
	_, err := g.On(w.view()).Do(context.Background(), w.doing(store.Read, "a", ""))
	w.becomes(err, fault.Conflict)
}

func TestGroupScanMeetsAChangedContainer(t *testing.T) {
	w := newWorld(t, collection("c", expiry.Unset))
	w.at(w.c, w.doing(store.Create, "a", `"n":1`))
	g := w.beginSnapshot()
	defer g.Rollback()
	x := g.On(w.view())
	w.addIndex(w.c, catalog.NamedIndex{Name: "n", Columns: []catalog.NamedColumn{{Path: "n"}}})
	var failed error
	for _, err := range x.Scan(context.Background(), access.Access{}) {
		failed = err
	}
	w.becomes(failed, fault.Conflict)
}

// TestGroupLifetime lets documents expire while a group is under way.
func TestGroupLifetime(t *testing.T) {
	w := newWorld(t, collection("c", expiry.Never))
	w.at(w.c, w.doing(store.Create, "short", `"n":1,"ttl":5`))
	w.at(w.c, w.doing(store.Create, "dead", `"n":1,"ttl":1`))
	w.now += 2
	old := w.view()
	g := w.beginSnapshot()
	x := g.On(old)
	if got := w.all(x, access.Access{}); got != "short=1" {
		t.Errorf("the group sees %s", got)
	}
	w.wrote(x, w.doing(store.Create, "dead", `"n":2,"ttl":100`))
	w.now += 10
	if w.inside(w.c) != "" {
		t.Error("what has expired is there")
	}
	if got := w.all(g.On(w.view()), access.Access{}); got != "dead=2 short=1" {
		t.Errorf("the group sees %s", got)
	}
	w.wrote(x, w.doing(store.Read, "short", ""))
	w.ok(g.Commit(context.Background())) // it depends on nothing that has expired
	if got := w.inside(w.c); got != "dead=2" {
		t.Errorf("there is %s", got)
	}

	w.at(w.c, w.doing(store.Create, "short", `"n":1,"ttl":5`))
	g = w.beginSnapshot()
	w.wrote(g.On(w.view()), w.doing(store.Patch, "short", `"n":2`))
	w.now += 5
	w.inside(w.c) // someone is told
	w.becomes(g.Commit(context.Background()), fault.Conflict)

	g = w.beginSnapshot()
	w.wrote(g.On(w.view()), w.doing(store.Create, "short", `"n":3`))
	for {
		done, err := w.store.Reclaim(context.Background(), w.c, w.now, 100)
		w.ok(err)
		if !done.More {
			break
		}
	}
	w.ok(g.Commit(context.Background())) // that it was reclaimed meanwhile changes nothing
	if got := w.inside(w.c); got != "dead=2 short=3" {
		t.Errorf("there is %s", got)
	}
	w.consistent()
}

func TestGroupLimits(t *testing.T) {
	w := newWorld(t, collection("c", expiry.Unset))
	d := w.another(collection("d", expiry.Unset))
	g := w.beginSnapshot()
	text := strings.Repeat("x", 1<<20)
	var err error
	n := 0
	for ; err == nil && n < 100; n++ {
		c := []*catalog.Container{w.c, d}[n%2]
		op := w.doing(store.Upsert, fmt.Sprint(n), fmt.Sprintf(`"t":%q`, text))
		_, err = g.On(w.viewOf(c)).Do(context.Background(), op)
	}
	w.becomes(err, fault.TooLarge)
	if !g.On(w.view()).Full() || n < 30 || n > 40 {
		t.Errorf("full: %v after %d MiB", g.On(w.view()).Full(), n)
	}
	w.ok(g.Commit(context.Background()))
	w.consistent()
}

// TestGroupsMoveMoney moves amounts between documents of two containers from many sides
// at once. Whoever looks, in a group or at the end, finds the sum that there was.
func TestGroupsMoveMoney(t *testing.T) {
	w := newWorld(t, collection("c", expiry.Unset))
	d := w.another(collection("d", expiry.Unset))
	const accounts, movers, each = 6, 4, 40
	for _, c := range []*catalog.Container{w.c, d} {
		for i := range accounts {
			w.at(c, w.doing(store.Create, fmt.Sprint(i), `"n":100`))
		}
	}
	vc, vd := w.view(), w.viewOf(d)
	sum := func(g *store.SnapshotTransaction) (total int64) {
		for _, v := range []catalog.View{vc, vd} {
			for d, err := range g.On(v).Scan(context.Background(), access.Access{}) {
				if err != nil {
					t.Error(err)
				}
				n, _ := doc.AsInt(doc.Lookup(d.Body, "n"))
				total += n
			}
		}
		return total
	}
	add := func(x *store.ContainerTransaction, account string, amount int64) error {
		op := w.doing(store.Patch, account, "")
		op.Edit = func(d access.Document) (doc.Doc, error) {
			n, _ := doc.AsInt(doc.Lookup(d.Body, "n"))
			return doc.FromJSON(nil, fmt.Appendf(nil, `{"_id":%q,"n":%d}`, account, n+amount), doc.ParseOptions{})
		}
		_, err := x.Do(context.Background(), op)
		return err
	}
	var work sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for m := range movers {
		rng := rand.New(rand.NewPCG(1, uint64(m)))
		work.Go(func() {
			for range each {
				g := w.beginSnapshot()
				from, to, amount := fmt.Sprint(rng.IntN(accounts)), fmt.Sprint(rng.IntN(accounts)), rng.Int64N(10)
				err := add(g.On(vc), from, -amount)
				if err == nil {
					err = add(g.On(vd), to, amount)
				}
				if err == nil {
					if got := sum(g); got != 2*accounts*100 {
						t.Errorf("the sum is %d", got)
					}
					err = g.Commit(context.Background())
				}
				g.Rollback()
				if err == nil {
					mu.Lock()
					done++
					mu.Unlock()
				} else if fault.KindOf(err) != fault.Conflict {
					t.Error(err)
				}
			}
		})
	}
	work.Wait()
	g := w.beginSnapshot()
	defer g.Rollback()
	if got := sum(g); got != 2*accounts*100 || done == 0 {
		t.Errorf("the sum is %d after %d movements", got, done)
	}
	w.consistent()
}

// TestGroupCrash stops the machine at random moments: of each group, both containers have
// everything or nothing, and what was acknowledged is there.
func TestGroupCrash(t *testing.T) {
	fs := vfs.NewCrashableMem()
	w := &world{t: t, fs: kvtest.Cloneable{MemFS: fs}, now: 1_000_000}
	w.open()
	db, err := w.catalog.CreateDatabase(context.Background(), w.now, "d", nil)
	w.ok(err)
	w.c, err = w.catalog.CreateContainer(context.Background(), w.now, db, collection("c", expiry.Unset), nil)
	w.ok(err)
	d := w.another(collection("d", expiry.Unset))
	w.ok(w.store.KeepLog(context.Background(), w.now, store.LogOptions{}))
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 60 {
		g := w.beginSnapshot()
		rest := fmt.Sprintf(`"n":%d,"pad":%q`, n, strings.Repeat("mayfly ", rng.IntN(400)))
		w.wrote(g.On(w.view()), w.doing(store.Upsert, "a", rest))
		w.wrote(g.On(w.viewOf(d)), w.doing(store.Upsert, "a", rest))
		w.wrote(g.On(w.viewOf(d)), w.doing(store.Create, fmt.Sprint(n), rest))
		var before *vfs.MemFS
		if n%3 == 0 {
			before = fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: rng.IntN(101), RNG: rng})
		}
		w.ok(g.Commit(context.Background()))
		for _, copied := range []*vfs.MemFS{before,
			fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: []int{0, 50, 100}[n%3], RNG: rng})} {
			if copied == nil || n == 0 {
				continue
			}
			least := n
			if copied == before {
				least--
			}
			w.afterGroupCrash(copied, d.ID, least)
		}
	}
	w.close()
}

func (w *world) afterGroupCrash(fs *vfs.MemFS, second uint32, least int) {
	w.t.Helper()
	after := &world{t: w.t, fs: kvtest.Cloneable{MemFS: fs}, c: w.c, now: w.now}
	after.open()
	defer after.close()
	d, err := after.catalog.ContainerByID(second)
	after.ok(err)
	number := func(c *catalog.Container, text string) (n int64) {
		after.ok(after.store.Read(context.Background(), after.viewOf(c), byID(text), func(d access.Document) error {
			n, _ = doc.AsInt(doc.Lookup(d.Body, "n"))
			return nil
		}))
		return n
	}
	n := number(after.c, "a")
	if m := number(d, "a"); n != m || n < int64(least) || number(d, fmt.Sprint(n)) != n {
		w.t.Errorf("one container has group %d, the other one %d, the least is %d", n, m, least)
	}
	after.ok(after.store.KeepLog(context.Background(), after.now, store.LogOptions{}))
	oldest, err := after.store.LogOldest(context.Background())
	after.ok(err)
	logged := 0
	for _, err := range after.store.Log(context.Background(), oldest) {
		after.ok(err)
		logged++
	}
	if logged != 3*(int(n)+1) {
		w.t.Errorf("the log has %d entries of %d groups", logged, n+1)
	}
	after.consistent()
}
