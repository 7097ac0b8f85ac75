package store_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/kvtest"
	"github.com/mayflydb/mayfly/internal/kv/memory"
	"github.com/mayflydb/mayfly/internal/store"
)

// A fleet is several processes that share data. Nothing renews their leases by itself.
type fleet struct {
	*testing.T
	cluster *kvtest.Cluster
}

// A member is one process of a fleet.
type member struct {
	*fleet
	*store.Store
	catalog *catalog.Catalog
	engine  *wire
	c       *catalog.Container
}

// A wire is a process's connection to the engine. It may be cut.
type wire struct {
	kv.Engine

	mu      sync.Mutex
	cut     bool
	batches int  // that still get through, if it is cut
	silent  bool // the answer to the last of them is lost
	entries int  // index entries written
}

func (w *wire) Shared() bool { return true }

func (w *wire) Apply(ctx context.Context, b *kv.Batch) error {
	w.mu.Lock()
	through, silent := !w.cut || w.batches > 0, w.cut && w.batches == 1 && w.silent
	w.batches--
	w.mu.Unlock()
	if !through {
		return fault.New(fault.Unavailable, "no connection")
	}
	if err := w.Engine.Apply(ctx, b); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, op := range b.Ops {
		ofContainer := len(op.Key) > 8 && op.Key[0] != keys.System("")[0]
		if ofContainer && keys.Kind(op.Key[7]) == keys.KindEntry && op.Value != nil {
			w.entries++
		}
	}
	if silent {
		return fault.New(fault.Undetermined, "no answer")
	}
	return nil
}

// cutAfter lets so many batches through, and no more.
func (w *wire) cutAfter(batches int, silent bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut, w.batches, w.silent = true, batches, silent
}

func (w *wire) mend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = false
}

func newFleet(t *testing.T) *fleet {
	f := &fleet{t, kvtest.NewCluster(memory.New(), time.Unix(1_000_000, 0))}
	t.Cleanup(func() { f.ok(f.cluster.Close()) })
	return f
}

func (f *fleet) ok(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// join starts a process, which uses the container c of database d if there is one.
func (f *fleet) join() *member {
	f.Helper()
	m := &member{fleet: f, engine: &wire{Engine: f.cluster.Process()}}
	var err error
	m.catalog, err = catalog.Open(f.Context(), m.engine, nil)
	f.ok(err)
	m.Store, err = store.Open(f.Context(), m.engine, m.catalog)
	f.ok(err)
	m.find()
	f.Cleanup(func() {
		m.engine.mend()
		f.ok(m.Store.Close())
	})
	return m
}

func (m *member) find() {
	m.Helper()
	m.ok(m.catalog.Refresh(m.Context()))
	for _, c := range m.catalog.AllContainers() {
		m.c = c
	}
}

// make makes the container.
func (m *member) make(def catalog.Definition) {
	m.Helper()
	db, err := m.catalog.CreateDatabase(m.Context(), 0, "d", nil)
	m.ok(err)
	m.c, err = m.catalog.CreateContainer(m.Context(), 0, db, def, nil)
	m.ok(err)
}

// fill makes n documents with ids from first on.
func (m *member) fill(first, n int) {
	m.Helper()
	for i := first; i < first+n; i++ {
		id := fmt.Sprintf("%04d", i)
		body, err := doc.FromJSON(nil, fmt.Appendf(nil, `{"id":%q,"pk":"p","n":%d}`, id, i), doc.ParseOptions{})
		m.ok(err)
		key := store.Key{Partition: []doc.Value{doc.String("p")}, ID: id}
		_, err = m.Write(m.Context(), m.c, 0, store.Op{Verb: store.Create, Key: key, Body: body})
		m.ok(err)
	}
}

func (m *member) reclaim(limit int) store.Reclaimed {
	m.Helper()
	done, err := m.Reclaim(m.Context(), m.c, 0, limit)
	m.ok(err)
	return done
}

// records counts the documents on disk, dead ones included.
func (m *member) records() (n int) {
	m.Helper()
	lower, upper := m.c.KeysOf(0).Bounds(keys.KindRecord)
	return m.countKeys(lower, upper)
}

func (f *fleet) countKeys(lower, upper []byte) (n int) {
	f.Helper()
	it, err := f.cluster.Process().Iterate(f.Context(), lower, upper)
	f.ok(err)
	for it.Next() {
		n++
	}
	f.ok(it.Close())
	return n
}

// alive counts the living documents in two ways.
func (m *member) alive() (n uint64) {
	m.Helper()
	v, err := m.c.Enter(m.Context(), 0)
	m.ok(err)
	usage, err := m.Usage(m.Context(), v)
	m.ok(err)
	counted, exact, err := m.Count(m.Context(), v, access.Access{})
	m.ok(err)
	if !exact || counted != usage.Documents {
		m.Errorf("counted %d (exact: %t), and the usage is %d documents", counted, exact, usage.Documents)
	}
	return counted
}

func (m *member) renew() {
	m.Helper()
	m.ok(m.RenewLeases(m.Context()))
}

// consistent checks the data through this process.
func (m *member) consistent() {
	m.Helper()
	report, err := m.Check(m.Context())
	m.ok(err)
	for _, p := range report.Problems {
		m.Error(p)
	}
}

func TestOneProcessReclaims(t *testing.T) {
	f := newFleet(t)
	a := f.join()
	a.make(definition(60))
	b := f.join()
	a.fill(0, 50)
	f.cluster.Move(30 * time.Second)
	b.fill(50, 50)
	f.cluster.Move(35 * time.Second) // the first half is dead
	a.renew()
	if done := a.reclaim(20); done.Documents != 20 || done.Elsewhere {
		t.Fatalf("%+v, want 20 documents", done)
	}
	b.renew()
	if done := b.reclaim(20); done.Documents != 0 || !done.Elsewhere {
		t.Errorf("%+v, want that another process reclaims", done)
	}
	if a.alive() != 50 || b.alive() != 50 {
		t.Errorf("%d and %d are alive, want 50", a.alive(), b.alive())
	}
	f.cluster.Move(11 * time.Second) // a is paused
	b.renew()
	if done := b.reclaim(10); done.Documents != 10 || done.Elsewhere {
		t.Errorf("%+v, want 10 documents", done)
	}
	// a does not know, and its marks are old.
	if done := a.reclaim(1000); done.Documents != 0 || !done.Elsewhere {
		t.Errorf("%+v, want that another process reclaims", done)
	}
	if n := b.records(); n != 70 {
		t.Errorf("%d records, want 70", n)
	}
	if a.alive() != 50 || b.alive() != 50 {
		t.Errorf("%d and %d are alive, want 50", a.alive(), b.alive())
	}
	f.cluster.Move(time.Minute)
	b.renew()
	for b.reclaim(1000).More {
	}
	for {
		done, err := b.Sweep(t.Context(), b.c, 100)
		f.ok(err)
		if !done.More {
			break
		}
	}
	if n := b.records(); n != 0 || a.alive() != 0 {
		t.Errorf("%d records, %d alive, want none", n, a.alive())
	}
	a.consistent()
	b.consistent()
}

// A step of which nobody knows whether it was committed is not counted twice.
func TestReclaimWithoutAnswer(t *testing.T) {
	f := newFleet(t)
	a := f.join()
	a.make(definition(60))
	a.fill(0, 50)
	f.cluster.Move(61 * time.Second)
	if done := a.reclaim(10); done.Documents != 10 {
		t.Fatalf("%+v, want 10 documents", done)
	}
	a.engine.cutAfter(1, true)
	if _, err := a.Reclaim(t.Context(), a.c, 0, 10); fault.KindOf(err) != fault.Undetermined {
		t.Fatalf("got %v, want undetermined", err)
	}
	a.engine.mend()
	if n := a.records(); n != 30 {
		t.Fatalf("%d records, want 30", n)
	}
	for a.reclaim(10).More {
	}
	b := f.join()
	if a.alive() != 0 || b.alive() != 0 {
		t.Errorf("%d and %d are alive, want none", a.alive(), b.alive())
	}
	a.consistent()
}

func TestRestLeavesTheWorkToOthers(t *testing.T) {
	f := newFleet(t)
	a := f.join()
	a.make(definition(60))
	a.fill(0, 10)
	b := f.join()
	f.cluster.Move(61 * time.Second)
	a.reclaim(5)
	f.ok(a.Rest(t.Context()))
	if done := b.reclaim(100); done.Documents != 5 {
		t.Errorf("%+v, want 5 documents", done)
	}
	b.fill(10, 5)
	f.cluster.Move(61 * time.Second)
	b.renew()
	f.ok(a.TendHere(t.Context(), a.c)) // b is alive
	if done := b.reclaim(100); !done.Elsewhere {
		t.Errorf("%+v, want that another process reclaims", done)
	}
	if done := a.reclaim(100); done.Documents != 5 {
		t.Errorf("%+v, want 5 documents", done)
	}
}

// awaitIndex waits until no index of the container is building.
func (m *member) awaitIndex() {
	m.Helper()
	for m.Context().Err() == nil {
		m.ok(m.ResumeBuilds(m.Context()))
		st := m.c.State()
		building := st.Building != nil
		for _, x := range st.Named {
			building = building || x.Building
		}
		if !building {
			return
		}
	}
}

// A process is cut off in the middle of an index build. Another one goes on from where it was.
func TestAnotherProcessEndsAnIndexBuild(t *testing.T) {
	f := newFleet(t)
	a := f.join()
	a.make(catalog.Definition{
		Name: "c", Partition: catalog.PartitionKey{Paths: []string{"/pk"}, Version: 2},
		Indexing: catalog.Indexing{Included: []string{"/pk/?"}, Excluded: []string{"/*"}},
	})
	a.fill(0, 1000)
	b := f.join()
	a.engine.cutAfter(7, false) // the change, the lease, and five steps of 64 documents
	_, err := a.catalog.ReplaceContainer(t.Context(), 0, a.c, func(st *catalog.State) (catalog.Definition, error) {
		def := st.Definition
		def.Indexing = catalog.Indexing{Included: []string{"/n/?"}, Excluded: []string{"/*"}}
		return def, nil
	})
	f.ok(err)
	for a.ResumeBuilds(t.Context()) == nil { // until it has failed, in the background
	}
	position := a.progress(keys.BuildOfPolicy)
	if position != 321 {
		t.Fatalf("the build goes on with document %d, want 321", position)
	}
	b.renew()
	f.ok(b.ResumeBuilds(t.Context()))
	if got := a.progress(keys.BuildOfPolicy); got != position {
		t.Errorf("b has built while a is alive: document %d", got)
	}
	f.cluster.Move(11 * time.Second)
	b.renew()
	b.awaitIndex()
	if got := b.entries(); got != 2*1000 || b.engine.entries != 2*680 {
		t.Errorf("%d entries, %d of them by b; want 2000, and 1360 of the last 680 documents", got, b.engine.entries)
	}
	b.consistent()
}

// entries counts the index entries of the generation in use.
func (m *member) entries() int {
	lower, upper := m.c.KeysOf(0).GenerationBounds(keys.KindEntry, m.c.State().Active.Generation)
	return m.countKeys(lower, upper)
}

// progress is the document with which a build goes on.
func (m *member) progress(kind byte) (next uint64) {
	m.Helper()
	_, err := m.engine.Get(m.Context(), m.c.KeysOf(0).Building(nil, kind), func(value []byte) error {
		p, err := keys.DecodeProgress(value)
		next = p.Next
		return err
	})
	m.ok(err)
	return next
}

// TestProcessesLookElsewhere shows that processes which look for containers to reclaim begin at different places, and
// that each looks at all of them.
func TestProcessesLookElsewhere(t *testing.T) {
	s := newStreet(t, 4, definition(expiry.Unset))
	first := s.worlds[0]
	for i := range 63 {
		def := definition(expiry.Unset)
		def.Name = fmt.Sprint("more", i)
		_, err := first.catalog.CreateContainer(context.Background(), first.now, first.c.Database, def, nil)
		first.ok(err)
	}
	begin := map[uint32]bool{}
	for _, w := range s.worlds {
		w.ok(w.catalog.Refresh(context.Background()))
		seen := map[uint32]bool{}
		for _, c := range w.store.Containers() {
			if len(seen) == 0 {
				begin[c.ID] = true
			}
			seen[c.ID] = true
		}
		if len(seen) != 64 {
			t.Errorf("a process looks at %d containers, want 64", len(seen))
		}
	}
	if len(begin) == 1 {
		t.Error("all processes begin at the same container")
	}
}
