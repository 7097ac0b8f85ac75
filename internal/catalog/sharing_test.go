package catalog_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/audit"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/kvtest"
	"github.com/mayflydb/mayfly/internal/kv/memory"
)

// A street is houses that share their data, each with a machine's clock of its own.
type street struct {
	t       testing.TB
	cluster *kvtest.Cluster
	houses  []*house
}

func newStreet(t testing.TB, n int) *street {
	s := &street{t: t, cluster: kvtest.NewCluster(memory.New(), time.Unix(1_000_000, 0))}
	for range n {
		h := &house{t: t, engine: s.cluster.Process()}
		var err error
		h.Catalog, err = catalog.Open(ctx, h.engine, nil)
		h.ok(err)
		s.houses = append(s.houses, h)
	}
	t.Cleanup(func() {
		if err := s.cluster.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// find does what an API does with the names of a request.
func (h *house) find(database, container string) (*catalog.Container, error) {
	h.ok(h.Refresh(ctx))
	db, err := h.Database(database)
	if err != nil {
		return nil, err
	}
	return h.Container(db, container)
}

func (h *house) enter(database, container string, now expiry.Stamp) catalog.View {
	h.t.Helper()
	ct, err := h.find(database, container)
	h.ok(err)
	v, err := ct.Enter(ctx, now)
	h.ok(err)
	return v
}

// TestSharedNumbers makes containers through two processes in turn. No number is given out twice, and each process
// finds at once what the other has made.
func TestSharedNumbers(t *testing.T) {
	s := newStreet(t, 2)
	s.houses[0].database("d")
	seen := map[uint32]bool{}
	for i := range 6 {
		a, b := s.houses[i%2], s.houses[(i+1)%2]
		a.ok(a.Refresh(ctx))
		db, err := a.Database("d")
		a.ok(err)
		name := fmt.Sprint("c", i)
		ct := a.container(db, name)
		if seen[ct.ID] {
			t.Errorf("number %d is given out twice", ct.ID)
		}
		seen[ct.ID] = true
		if v := b.enter("d", name, 0); v.Container.ID != ct.ID {
			t.Errorf("%s is %d here and %d there", name, v.Container.ID, ct.ID)
		}
		// Even without a look at the names, a name is not given out twice.
		_, err = b.CreateContainer(ctx, 100, db, definition(name), nil)
		b.fails(err, fault.Exists)
	}
}

// TestSharedNames deletes, creates and renames through one process; another one follows.
func TestSharedNames(t *testing.T) {
	s := newStreet(t, 2)
	a, b := s.houses[0], s.houses[1]
	db := a.database("d")
	first := a.container(db, "c")
	held := b.enter("d", "c", 0)
	a.ok(a.DeleteContainer(ctx, first))
	_, err := held.Container.Enter(ctx, 0)
	b.fails(err, fault.OwnerNotFound)
	second := a.container(db, "c")
	if v := b.enter("d", "c", 0); v.Container.ID != second.ID {
		t.Errorf("the name leads to %d, want the new container %d", v.Container.ID, second.ID)
	}
	a.ok(a.RenameContainer(ctx, second, "other", false))
	_, err = b.find("d", "c")
	b.fails(err, fault.NotFound)
	third := a.container(db, "c")
	if v := b.enter("d", "other", 0); v.Container.ID != second.ID || v.Name != "other" {
		t.Errorf("the new name leads to %d %q, want %d", v.Container.ID, v.Name, second.ID)
	}
	if v := b.enter("d", "c", 0); v.Container.ID != third.ID {
		t.Errorf("the old name leads to %d, want %d", v.Container.ID, third.ID)
	}
	b.ok(b.Refresh(ctx))
	there, err := b.Database("d")
	b.ok(err)
	b.ok(b.DeleteDatabase(ctx, there))
	_, err = third.Enter(ctx, 0)
	a.fails(err, fault.OwnerNotFound)
	_, err = a.find("d", "c")
	a.fails(err, fault.NotFound)
	a.ok(a.Purge(ctx, func(context.Context, *kv.Batch) error { return nil })) // by one of the processes, later
	if a.left(first.ID)+a.left(second.ID)+a.left(third.ID) > 0 {
		t.Error("keys of deleted containers are left")
	}
	lower, upper := keys.Prefixed(keys.System("epoch"))
	if a.count(lower, upper) > 0 {
		t.Error("epochs of deleted containers are left")
	}
}

// TestSharedState changes a container through one process. The next request through another one has the new state,
// whatever its machine's clock shows, and the instant of both is the engine's.
func TestSharedState(t *testing.T) {
	s := newStreet(t, 2)
	a, b := s.houses[0], s.houses[1]
	ct := a.container(a.database("d"), "c")
	before := b.enter("d", "c", 5)
	a.replace(100, ct, func(d *catalog.Definition) { d.TTL = 10 })
	after, err := before.Container.Enter(ctx, 9_000_000)
	b.ok(err)
	if after.Policy.Default != 10 || after.TTL != 10 {
		t.Errorf("the other process goes by %v", after.Policy)
	}
	if before.Now != 1_000_000 || after.Now != 1_000_000 {
		t.Errorf("requests are at %d and %d, want the time of the engine", before.Now, after.Now)
	}
	if before.Epoch() >= after.Epoch() {
		t.Errorf("epochs %d and %d", before.Epoch(), after.Epoch())
	}
	// A writer that goes by the old state is sent back by the counter; one that goes by the new one is not.
	_, epoch, err := after.Pass(counterOf(t, b, ct), batchAt(s))
	b.ok(err)
	if epoch != after.Epoch() {
		t.Errorf("the counter gets the epoch %d, want %d", epoch, after.Epoch())
	}
	_, _, err = before.Pass(counterOf(t, b, ct), batchAt(s))
	b.fails(err, fault.Conflict)
	_, _, err = before.Pass(keys.Counter{}, batchAt(s)) // as when the container is gone
	b.fails(err, fault.Conflict)
}

// TestSharedPolicyCloses moves the time while a change of lifetime is about to be committed: it must be closed at the
// second of its commit, so that no request has seen a later one under the old policy.
func TestSharedPolicyCloses(t *testing.T) {
	s := newStreet(t, 2)
	a, b := s.houses[0], s.houses[1]
	ct := a.container(a.database("d"), "c")
	a.replace(100, ct, func(d *catalog.Definition) { d.TTL = 10 })
	s.cluster.Move(500 * time.Millisecond)
	moves := 0
	var last catalog.View
	s.cluster.Placed = func() {
		moves++
		s.cluster.Move(700 * time.Millisecond)
		last = b.enter("d", "c", 0)
	}
	st := a.replace(100, ct, func(d *catalog.Definition) { d.TTL = 1_000 })
	s.cluster.Placed = nil
	if moves != 2 || last.Policy.Default != 10 {
		t.Fatalf("committed at attempt %d, want the second; the last request went by %v", moves, last.Policy)
	}
	if st.Policy.InheritFloor < last.Now-10 {
		t.Errorf("the policy is closed at %d, but a request at %d went by it", st.Policy.InheritFloor+10, last.Now)
	}
}

// TestSharedResources changes small resources through two processes.
func TestSharedResources(t *testing.T) {
	s := newStreet(t, 2)
	a, b := s.houses[0], s.houses[1]
	db := a.database("d")
	owner := catalog.Owner{Database: db.ID}
	one, err := a.CreateResource(ctx, 100, catalog.User, owner, "one", body(`{"a":1}`))
	a.ok(err)
	two, err := b.CreateResource(ctx, 100, catalog.User, owner, "two", body(`{"a":1}`))
	b.ok(err)
	if one.Number == two.Number {
		t.Error("two resources have one number")
	}
	// Names change places.
	a.ok(a.Refresh(ctx))
	two, err = a.Resource(catalog.User, owner, "two")
	a.ok(err)
	spare, err := a.ReplaceResource(ctx, 100, one, "spare", one.Body)
	a.ok(err)
	_, err = a.ReplaceResource(ctx, 100, two, "one", two.Body)
	a.ok(err)
	_, err = a.ReplaceResource(ctx, 100, spare, "two", spare.Body)
	a.ok(err)
	b.ok(b.Refresh(ctx))
	if picture(a.Catalog) != picture(b.Catalog) {
		t.Errorf("one process has\n%s\nthe other\n%s", picture(a.Catalog), picture(b.Catalog))
	}
	for name, number := range map[string]uint64{"one": two.Number, "two": one.Number} {
		if r, err := b.Resource(catalog.User, owner, name); err != nil || r.Number != number {
			t.Errorf("%s is %+v, %v, want number %d", name, r, err, number)
		}
	}
	gone, err := b.Resource(catalog.User, owner, "one")
	b.ok(err)
	b.ok(b.DeleteResource(ctx, gone))
	now, err := a.Resource(catalog.User, owner, "one")
	a.ok(err)
	_, err = a.ReplaceResource(ctx, 100, now, "one", now.Body)
	a.fails(err, fault.NotFound)
}

// TestSharedTrail writes events through several processes at the same time, and reads them through another one.
func TestSharedTrail(t *testing.T) {
	s := newStreet(t, 3)
	for _, h := range s.houses {
		h.SetClock(s.cluster.Now)
	}
	var all sync.WaitGroup
	for i, h := range s.houses[:2] {
		all.Go(func() {
			for j := range 20 {
				if j%2 == 0 {
					if err := h.Audit(ctx, audit.Event{Action: "test"}); err != nil {
						t.Error(err)
					}
				} else if _, err := h.CreateDatabase(ctx, 100, fmt.Sprint("d", i, "-", j), nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	n := uint64(0)
	for e, err := range s.houses[2].Events(context.Background(), catalog.Stretch{}) {
		s.houses[2].ok(err)
		if n++; e.Number != n {
			t.Fatalf("event %d is in place %d", e.Number, n)
		}
	}
	if n != 40 {
		t.Errorf("%d events, want 40", n)
	}
}

// TestSharedDeclareDead declares dead through one process while another one changes the container: neither change is
// lost.
func TestSharedDeclareDead(t *testing.T) {
	s := newStreet(t, 2)
	a, b := s.houses[0], s.houses[1]
	ct := a.container(a.database("d"), "c")
	a.replace(100, ct, func(d *catalog.Definition) { d.TTL = 10 })
	here := b.enter("d", "c", 0).Container
	s.cluster.Move(time.Minute)
	st, err := b.DeclareDead(ctx, 0, here)
	b.ok(err)
	if want := expiry.Stamp(1_000_000 + 60 - 10); st.Policy.InheritFloor != want {
		t.Errorf("floor %d, want %d", st.Policy.InheritFloor, want)
	}
	a.replace(100, ct, func(d *catalog.Definition) { d.Indexing.Excluded = []string{"/x/*"} })
	if got := b.enter("d", "c", 0).Policy.InheritFloor; got != st.Policy.InheritFloor {
		t.Errorf("the floor is %d after another change, want %d", got, st.Policy.InheritFloor)
	}
}

// counterOf is the counter of the first range.
func counterOf(t testing.TB, h *house, ct *catalog.Container) (counter keys.Counter) {
	t.Helper()
	_, err := h.engine.Get(ctx, ct.KeysOf(0).Order(nil), func(value []byte) (err error) {
		counter, err = keys.DecodeCounter(value)
		return err
	})
	h.ok(err)
	return counter
}

// batchAt is a batch as an engine hands it to its orders.
func batchAt(s *street) *kv.Batch { return &kv.Batch{Time: s.cluster.Now()} }

// TestSharedFailedDeletion looks at a container through the process that is about to delete it: until the commit, which
// may fail, it is there.
func TestSharedFailedDeletion(t *testing.T) {
	s := newStreet(t, 1)
	a := s.houses[0]
	ct := a.container(a.database("d"), "c")
	s.cluster.Placed = func() {
		if _, err := ct.Enter(ctx, 0); err != nil {
			t.Errorf("before the deletion is committed, entering gives %v", err)
		}
	}
	a.ok(a.DeleteContainer(ctx, ct))
	s.cluster.Placed = nil
	_, err := ct.Enter(ctx, 0)
	a.fails(err, fault.OwnerNotFound)
}

// A lateReader is a process that does something before the first read of the next view.
type lateReader struct {
	kv.Engine
	first func()
}

func (e *lateReader) Shared() bool { return true }

func (e *lateReader) View(ctx context.Context) (kv.View, error) {
	v, err := e.Engine.View(ctx)
	if first := e.first; first != nil {
		e.first = nil
		v.Reader = lateView{v.Reader, sync.OnceFunc(first)}
	}
	return v, err
}

type lateView struct {
	kv.Reader
	first func()
}

func (v lateView) Get(ctx context.Context, key []byte, use func([]byte) error) (bool, error) {
	v.first()
	return v.Reader.Get(ctx, key, use)
}

// TestSharedLateState deletes a container while a request with an earlier view loads its state. The deletion stays
// known.
func TestSharedLateState(t *testing.T) {
	s := newStreet(t, 1)
	b := s.houses[0]
	late := &lateReader{Engine: s.cluster.Process()}
	a := &house{t: t, engine: late}
	var err error
	a.Catalog, err = catalog.Open(ctx, late, nil)
	a.ok(err)
	ct := a.container(a.database("d"), "c")
	b.replace(100, b.enter("d", "c", 0).Container, func(d *catalog.Definition) { d.TTL = 10 })
	late.first = func() { a.ok(a.DeleteContainer(ctx, ct)) }
	_, err = ct.Enter(ctx, 0)
	a.ok(err)
	if !ct.State().Deleted {
		t.Error("a request with an earlier view makes the process forget that the container was deleted")
	}
}

// TestSharedCorrupt damages the data. Whoever cannot load it says so each time, and keeps what it knows.
func TestSharedCorrupt(t *testing.T) {
	s := newStreet(t, 2)
	a, b := s.houses[0], s.houses[1]
	db := b.database("d")
	b.container(db, "c")
	known := a.enter("d", "c", 0).Container
	other := b.container(db, "c2")
	damage := &kv.Batch{}
	damage.Set(keys.CatalogKey('C', other.ID), []byte("{"))
	b.ok(b.engine.Apply(ctx, damage))
	for range 2 {
		a.fails(a.Refresh(ctx), fault.Corrupt)
	}
	again, err := a.Database("d")
	a.ok(err)
	if ct, err := a.Container(again, "c"); ct != known {
		t.Errorf("after damage elsewhere the known container is %v, %v", ct, err)
	}
}

// TestSharedWait sends a request while a change is under way. It waits no longer than its context.
func TestSharedWait(t *testing.T) {
	s := newStreet(t, 1)
	a := s.houses[0]
	ended, end := context.WithCancel(ctx)
	end()
	s.cluster.Placed = func() {
		if _, err := a.CreateDatabase(ended, 100, "late", nil); err != context.Canceled {
			t.Errorf("a change that waits gives %v, want that its context has ended", err)
		}
	}
	db := a.database("d")
	a.container(db, "c")
}

// A lastProcess is one that another one always comes before.
type lastProcess struct{ kv.Engine }

func (lastProcess) Shared() bool { return true }

func (e lastProcess) Apply(ctx context.Context, b *kv.Batch) error {
	if len(b.Reads) > 0 {
		return fault.New(fault.Conflict, "another process came first")
	}
	return e.Engine.Apply(ctx, b)
}

// TestSharedAttempts shows that a change gives up at last.
func TestSharedAttempts(t *testing.T) {
	s := newStreet(t, 1)
	last, err := catalog.Open(ctx, lastProcess{s.cluster.Process()}, nil)
	s.houses[0].ok(err)
	_, err = last.CreateDatabase(ctx, 100, "d", nil)
	s.houses[0].fails(err, fault.Busy)
}
