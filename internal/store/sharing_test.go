package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/kvtest"
	"github.com/mayflydb/mayfly/internal/kv/memory"
	"github.com/mayflydb/mayfly/internal/store"
)

// A street is worlds that share their data, as several processes do. All have the container of the first.
type street struct {
	cluster *kvtest.Cluster
	worlds  []*world
}

func newStreet(t testing.TB, n int, def catalog.Definition) *street {
	t.Helper()
	s := &street{cluster: kvtest.NewCluster(memory.New(), time.Unix(1_000_000, 0))}
	for i := range n {
		w := &world{t: t, now: 1_000_000 + 7*expiry.Stamp(i)} // each machine has a clock of its own
		s.start(w)
		w.again = func() {
			w.ok(w.store.Close())
			s.start(w)
			w.c = w.find(def.Name)
		}
		s.worlds = append(s.worlds, w)
	}
	first := s.worlds[0]
	db, err := first.catalog.CreateDatabase(context.Background(), first.now, "d", nil)
	first.ok(err)
	_, err = first.catalog.CreateContainer(context.Background(), first.now, db, def, nil)
	first.ok(err)
	for _, w := range s.worlds {
		w.c = w.find(def.Name)
	}
	t.Cleanup(func() {
		for _, w := range s.worlds {
			w.ok(w.store.Close())
		}
		first.ok(s.cluster.Close())
	})
	return s
}

func (s *street) start(w *world) {
	w.t.Helper()
	engine := slowProcess{s.cluster.Process()}
	var err error
	w.catalog, err = catalog.Open(context.Background(), engine, nil)
	w.ok(err)
	w.store, err = store.Open(context.Background(), engine, w.catalog)
	w.ok(err)
}

// A slowProcess lets others go first now and then, as the network does.
type slowProcess struct{ kv.Engine }

func (e slowProcess) Shared() bool { return true }

func (e slowProcess) View(ctx context.Context) (kv.View, error) {
	hesitate()
	v, err := e.Engine.View(ctx)
	hesitate()
	return v, err
}

func (e slowProcess) Apply(ctx context.Context, b *kv.Batch) error {
	hesitate()
	return e.Engine.Apply(ctx, b)
}

// find does what an API does with the name of a container.
func (w *world) find(name string) *catalog.Container {
	w.t.Helper()
	w.ok(w.catalog.Refresh(context.Background()))
	db, err := w.catalog.Database("d")
	w.ok(err)
	c, err := w.catalog.Container(db, name)
	w.ok(err)
	return c
}

// TestSharedDocuments makes containers through two processes. Neither has documents of the other.
func TestSharedDocuments(t *testing.T) {
	s := newStreet(t, 2, definition(expiry.Unset))
	for i, w := range s.worlds {
		def := definition(expiry.Unset)
		def.Name = fmt.Sprint("made", i)
		w.ok(w.catalog.Refresh(context.Background()))
		db, err := w.catalog.Database("d")
		w.ok(err)
		w.c, err = w.catalog.CreateContainer(context.Background(), w.now, db, def, nil)
		w.ok(err)
		_, err = w.write(w.put(store.Create, "p", def.Name, ""))
		w.ok(err)
	}
	for i, w := range s.worlds {
		for j := range s.worlds {
			w.c = w.find(fmt.Sprint("made", j))
			if got, want := w.scan(access.Access{}), fmt.Sprint("made", j); got != want {
				t.Errorf("process %d finds %q in %s", i, got, want)
			}
		}
	}
}

// TestSharedLifetime sets a lifetime through one process. The other one obeys it at once, and no clock of a machine
// matters.
func TestSharedLifetime(t *testing.T) {
	s := newStreet(t, 2, definition(expiry.Unset))
	a, b := s.worlds[0], s.worlds[1]
	for i, w := range s.worlds {
		_, err := w.write(w.put(store.Create, "p", fmt.Sprint("d", i), ""))
		w.ok(err)
	}
	s.cluster.Move(4 * time.Second)
	a.setTTL(5)
	for second := range 3 {
		for i, w := range s.worlds {
			for j := range s.worlds {
				if got, want := w.alive("p", fmt.Sprint("d", j)), second < 1; got != want {
					t.Errorf("%d s later process %d says that the document of %d is alive: %v", second, i, j, got)
				}
			}
		}
		s.cluster.Move(time.Second)
	}
	// What is dead stays dead, whoever lengthens the lifetime.
	b.setTTL(expiry.Never)
	if a.alive("p", "d1") || b.alive("p", "d0") {
		t.Error("a longer lifetime has brought a document back")
	}
	_, err := b.write(b.put(store.Create, "p", "d0", ""))
	b.ok(err)
	if !a.alive("p", "d0") {
		t.Error("the new document is not there")
	}
	a.consistent()
}

// TestSharedIndexing replaces the indexing through one process. Writes of the other one keep the new index.
func TestSharedIndexing(t *testing.T) {
	s := newStreet(t, 2, definition(expiry.Unset))
	a, b := s.worlds[0], s.worlds[1]
	_, err := b.write(b.put(store.Create, "p", "before", `"n":1`))
	b.ok(err)
	_, err = a.catalog.ReplaceContainer(context.Background(), a.now, a.c,
		func(st *catalog.State) (catalog.Definition, error) {
			def := st.Definition
			def.Indexing = catalog.Indexing{Included: []string{"/n/?"}}
			return def, nil
		})
	a.ok(err)
	_, err = b.write(b.put(store.Create, "p", "between", `"n":2`))
	b.ok(err)
	a.built()
	_, err = b.write(b.put(store.Create, "p", "after", `"n":3`))
	b.ok(err)
	for _, w := range s.worlds {
		walk := &access.Walk{Range: access.Range{Path: at("n")}}
		if got := w.scan(access.Access{Of: walk}); got != "before between after" {
			t.Errorf("a walk along the new index finds %q", got)
		}
		w.consistent()
	}
}

// TestSharedDeadline holds a replacement between its last look at the time and its commit, until the document that it
// replaces has died: it must find none.
func TestSharedDeadline(t *testing.T) {
	s := newStreet(t, 2, definition(expiry.Never))
	a, b := s.worlds[0], s.worlds[1]
	_, err := a.write(a.put(store.Create, "p", "a", `"ttl":1`))
	a.ok(err)
	moved := false
	s.cluster.Placed = func() {
		if !moved {
			moved = true
			s.cluster.Move(time.Second)
			if b.alive("p", "a") {
				t.Error("the document outlives its deadline")
			}
		}
	}
	_, err = a.write(a.put(store.Replace, "p", "a", ""))
	if fault.KindOf(err) != fault.NotFound {
		t.Errorf("a replacement at the deadline gives %v", err)
	}
	if b.alive("p", "a") {
		t.Error("a document that was reported dead is back")
	}
}

// TestSharedDeletion deletes and creates a container of the same name through one process, while the other one writes.
func TestSharedDeletion(t *testing.T) {
	s := newStreet(t, 2, definition(expiry.Unset))
	a, b := s.worlds[0], s.worlds[1]
	_, err := b.write(b.put(store.Create, "p", "old", ""))
	b.ok(err)
	old := b.c
	swapped := false
	s.cluster.Placed = nil
	meanwhile := func(access.Document) (doc.Doc, error) {
		if !swapped {
			swapped = true
			a.ok(a.catalog.DeleteContainer(context.Background(), a.c))
			a.c, err = a.catalog.CreateContainer(context.Background(), a.now, old.Database, definition(expiry.Unset),
				nil)
			a.ok(err)
		}
		return b.body(`{"id":"old","pk":"p","late":true}`), nil
	}
	_, err = b.write(store.Op{Verb: store.Patch, Key: key("p", "old"), Edit: meanwhile})
	if fault.KindOf(err) != fault.OwnerNotFound {
		t.Errorf("a write that its container's deletion came before gives %v", err)
	}
	b.c = b.find("c")
	if b.c.ID == old.ID || b.scan(access.Access{}) != "" {
		t.Errorf("the new container has %q", b.scan(access.Access{}))
	}
	a.consistent()
}

// TestSharedTransaction begins a transaction with snapshot isolation in one process, and writes through the other.
func TestSharedTransaction(t *testing.T) {
	s := newStreet(t, 2, definition(expiry.Unset))
	a, b := s.worlds[0], s.worlds[1]
	for _, id := range []string{"x", "y"} {
		_, err := a.write(a.put(store.Create, "p", id, `"n":0`))
		a.ok(err)
	}
	g := a.beginSnapshot()
	defer g.Rollback()
	_, err := b.write(b.put(store.Replace, "p", "x", `"n":1`))
	b.ok(err)
	part := g.On(a.view())
	_, err = part.Do(context.Background(), a.put(store.Replace, "p", "y", `"n":2`))
	a.ok(err)
	d, err := part.Do(context.Background(), store.Op{Verb: store.Read, Key: key("p", "x")})
	a.ok(err)
	if linearN(d.Body) != 0 {
		t.Error("the transaction sees a later write")
	}
	err = g.Commit(context.Background())
	a.ok(err)
	if !b.alive("p", "y") {
		t.Error("what was committed is not there")
	}

	// A change of the container through the other process comes before the commit.
	g = a.beginSnapshot()
	defer g.Rollback()
	part = g.On(a.view())
	_, err = part.Do(context.Background(), a.put(store.Replace, "p", "x", `"n":3`))
	a.ok(err)
	b.setTTL(100)
	if err = g.Commit(context.Background()); fault.KindOf(err) != fault.Conflict {
		t.Errorf("a commit after a change of the container gives %v", err)
	}
	// And a transaction that began before the change does not take the new state for that of its snapshot.
	g = a.beginSnapshot()
	defer g.Rollback()
	b.setTTL(200)
	_, err = g.On(a.view()).Do(context.Background(), a.put(store.Replace, "p", "x", `"n":4`))
	if fault.KindOf(err) != fault.Conflict {
		t.Errorf("a transaction in a container that was changed since gives %v", err)
	}
	// Nor an older state, which its snapshot does not have any more.
	older := a.view()
	b.setTTL(300)
	g = a.beginSnapshot()
	defer g.Rollback()
	_, err = g.On(older).Do(context.Background(), a.put(store.Replace, "p", "x", `"n":5`))
	if fault.KindOf(err) != fault.Conflict {
		t.Errorf("a transaction in a container that was changed between its view and its snapshot gives %v", err)
	}
}

// TestSharedDraft publishes containers of transactions in two processes.
func TestSharedDraft(t *testing.T) {
	s := newStreet(t, 2, collection("c", expiry.Unset))
	var commits []error
	var groups []*store.SnapshotTransaction
	for i, w := range s.worlds {
		g := w.beginSnapshot()
		groups = append(groups, g)
		for _, name := range []string{"same", fmt.Sprint("own", i)} {
			c := w.make(g, "d", name)
			v, err := c.Enter(context.Background(), w.now)
			w.ok(err)
			_, err = g.On(v).Do(context.Background(), w.member(store.Create, i))
			w.ok(err)
		}
	}
	for i, g := range groups {
		err := g.Commit(context.Background())
		commits = append(commits, err)
		g.Rollback()
		if i == 0 && err != nil {
			t.Errorf("the first commit: %v", err)
		}
	}
	if fault.KindOf(commits[1]) != fault.Conflict {
		t.Errorf("the second transaction with a container of the same name gives %v", commits[1])
	}
	for i, w := range s.worlds {
		c := w.find("same")
		v, err := c.Enter(context.Background(), w.now)
		w.ok(err)
		usage, err := w.store.Usage(context.Background(), v)
		w.ok(err)
		if usage.Documents != uint64(1+i) {
			t.Errorf("process %d finds %d documents in the new container", i, usage.Documents)
		}
		w.c = c
		_, err = w.write(w.member(store.Upsert, 5+i))
		w.ok(err)
	}
	s.worlds[1].consistent()
}

// TestSharedLogTime reclaims a dead document. The log has its end at an instant of the engine's clock.
func TestSharedLogTime(t *testing.T) {
	s := newStreet(t, 1, collection("c", 5))
	w := s.worlds[0]
	w.keepLog()
	_, err := w.write(w.member(store.Create, 1))
	w.ok(err)
	s.cluster.Move(time.Minute)
	_, err = w.store.Reclaim(context.Background(), w.c, 0, 10)
	w.ok(err)
	deleted := 0
	for e, err := range w.store.Log(context.Background(), w.oldest()) {
		w.ok(err)
		if e.Kind != store.LogDelete {
			continue
		}
		deleted++
		if at := time.UnixMilli(e.Wall); s.cluster.Now().Sub(at) > time.Minute/2 {
			t.Errorf("the document's end is logged at %v, and it is %v", at, s.cluster.Now())
		}
	}
	if deleted != 1 {
		t.Errorf("%d deletions are logged", deleted)
	}
}

// TestSharedEffect sets a lifetime by another clock than the engine's. What it ends is counted by the engine's.
func TestSharedEffect(t *testing.T) {
	s := newStreet(t, 1, definition(expiry.Unset))
	w := s.worlds[0]
	_, err := w.write(w.put(store.Create, "p", "a", ""))
	w.ok(err)
	s.cluster.Move(time.Minute)
	_, effect, err := w.store.ReplaceContainer(context.Background(), 1_000_000, w.c,
		func(st *catalog.State) (catalog.Definition, error) {
			def := st.Definition
			def.TTL = 30
			return def, nil
		})
	w.ok(err)
	if effect == nil || effect.Expired != 1 {
		t.Errorf("the change ends %+v, want one document", effect)
	}
}

// member is an operation on the document with that _id of a collection.
func (w *world) member(verb store.Verb, n int) store.Op {
	return store.Op{Verb: verb, Key: store.Identity(doc.Int(int64(n))), Body: w.body(fmt.Sprintf(`{"_id":%d}`, n))}
}

// TestSharedLinearizable is TestLinearizable with clients of three processes, while policies and indexing are changed
// through all of them.
func TestSharedLinearizable(t *testing.T) {
	for run := range times(max(1, *histories/2)) {
		s := *seed
		if s == 0 {
			s = rand.Uint64()
		}
		t.Run(fmt.Sprintf("seed=%d", s), func(t *testing.T) {
			withRanges(t, func(t *testing.T, ranges int) {
				def := definition(2)
				def.Unique, def.Partitions = [][]string{{"/u"}}, ranges
				street := newStreet(t, 3, def)
				r := &race{world: street.worlds[0], street: street, split: ranges > 1}
				r.run(s, run%2 == 1, ranges)
			})
		})
	}
}

// TestSharedModel is TestModel over two processes, each step in one of them.
func TestSharedModel(t *testing.T) {
	for range max(1, *runs/2) {
		s := *seed
		if s == 0 {
			s = rand.Uint64()
		}
		t.Run(fmt.Sprintf("seed=%d", s), func(t *testing.T) {
			street := newStreet(t, 2, definition(expiry.Never))
			p := newPlayer(street.worlds[0], s)
			p.play(func() {
				now := p.now
				street.cluster.Move(time.Unix(now, 0).Sub(street.cluster.Now().Truncate(time.Second)))
				p.world = street.worlds[p.rng.IntN(len(street.worlds))]
				p.now = now
			})
		})
		if *seed != 0 {
			return
		}
	}
}

// TestSharedFind replaces a document behind a view. Both ways to read it show what the view shows.
func TestSharedFind(t *testing.T) {
	s := newStreet(t, 2, definition(expiry.Unset))
	a, b := s.worlds[0], s.worlds[1]
	_, err := b.write(b.put(store.Create, "p", "a", `"n":1`))
	b.ok(err)
	v, number := a.view(), uint64(0)
	_, err = b.write(b.put(store.Replace, "p", "a", `"n":2`))
	b.ok(err)
	want := func(d access.Document) error {
		number = d.Number
		if n := linearN(d.Body); n != 1 {
			t.Errorf("the view shows n = %d, want 1", n)
		}
		return nil
	}
	a.ok(a.store.Read(context.Background(), v, key("p", "a"), want))
	a.ok(a.store.Find(context.Background(), v, number, want))
}

// An applyCounter counts the batches of a process.
type applyCounter struct {
	slowProcess
	applied int
}

func (e *applyCounter) Apply(ctx context.Context, b *kv.Batch) error {
	e.applied++
	return e.slowProcess.Apply(ctx, b)
}

// TestSharedReads reads several documents at once. One view shows all of them, so nothing is left to prove.
func TestSharedReads(t *testing.T) {
	s := newStreet(t, 1, definition(expiry.Unset))
	w := s.worlds[0]
	for _, id := range []string{"a", "b"} {
		_, err := w.write(w.put(store.Create, "p", id, ""))
		w.ok(err)
	}
	engine := &applyCounter{slowProcess: slowProcess{s.cluster.Process()}}
	names, err := catalog.Open(context.Background(), engine, nil)
	w.ok(err)
	second, err := store.Open(context.Background(), engine, names)
	w.ok(err)
	defer func() { w.ok(second.Close()) }()
	c, err := names.ContainerByID(w.c.ID)
	w.ok(err)
	before := engine.applied
	_, err = second.WriteAll(context.Background(), c, w.now, []store.Op{
		{Verb: store.Read, Key: key("p", "a")}, {Verb: store.Read, Key: key("p", "b")},
	})
	w.ok(err)
	if engine.applied != before {
		t.Errorf("reading asks the engine for %d batches, want none", engine.applied-before)
	}
}
