package catalog_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

func TestDatabases(t *testing.T) {
	h := newHouse(t, false)
	a := h.database("a")
	b := h.database("b b/ü")
	if a.ID == b.ID || a.Stamp != 100 || a.Sequence >= b.Sequence {
		t.Errorf("%+v and %+v", *a, *b)
	}
	_, err := h.CreateDatabase(ctx, 100, "a", nil)
	h.fails(err, fault.Exists)
	if list := h.Databases(); len(list) != 2 || list[0] != a || list[1] != b {
		t.Errorf("listed %v", list)
	}
	for _, find := range []func() (*catalog.Database, error){
		func() (*catalog.Database, error) { return h.Database("b b/ü") },
		func() (*catalog.Database, error) { return h.DatabaseByID(b.ID) },
	} {
		if got, err := find(); err != nil || got != b {
			t.Errorf("found %v, %v", got, err)
		}
	}
	_, err = h.Database("A")
	h.fails(err, fault.NotFound)
	_, err = h.DatabaseByID(99)
	h.fails(err, fault.NotFound)
	h.ok(h.DeleteDatabase(ctx, a))
	h.fails(h.DeleteDatabase(ctx, a), fault.NotFound)
	_, err = h.Database("a")
	h.fails(err, fault.NotFound)
	if again := h.database("a"); again.ID == a.ID {
		t.Error("an id was used again")
	}
}

func TestContainers(t *testing.T) {
	h := newHouse(t, false)
	db, other := h.database("a"), h.database("b")
	c1, c2 := h.container(db, "c1"), h.container(db, "c2")
	same := h.container(other, "c1")
	_, err := h.CreateContainer(ctx, 100, db, definition("c1"), nil)
	h.fails(err, fault.Exists)
	if list := h.Containers(db); len(list) != 2 || list[0] != c1 || list[1] != c2 {
		t.Errorf("listed %v", list)
	}
	if list := h.AllContainers(); len(list) != 3 {
		t.Errorf("listed %v", list)
	}
	if got, err := h.Container(other, "c1"); err != nil || got != same {
		t.Errorf("found %v, %v", got, err)
	}
	if got, err := h.ContainerByID(c2.ID); err != nil || got != c2 {
		t.Errorf("found %v, %v", got, err)
	}
	_, err = h.Container(db, "c3")
	h.fails(err, fault.NotFound)
	_, err = h.ContainerByID(99)
	h.fails(err, fault.NotFound)

	h.ok(h.DeleteContainer(ctx, c1))
	h.fails(h.DeleteContainer(ctx, c1), fault.OwnerNotFound)
	_, err = c1.Enter(ctx, 100)
	h.fails(err, fault.OwnerNotFound)
	_, err = h.ReplaceContainer(ctx, 100, c1, func(st *catalog.State) (catalog.Definition, error) {
		return st.Definition, nil
	})
	h.fails(err, fault.OwnerNotFound)
	if again := h.container(db, "c1"); again.ID == c1.ID {
		t.Error("an id was used again: an old handle would find the new documents")
	}

	h.ok(h.DeleteDatabase(ctx, db))
	_, err = c2.Enter(ctx, 100)
	h.fails(err, fault.OwnerNotFound)
	_, err = h.CreateContainer(ctx, 100, db, definition("c"), nil)
	h.fails(err, fault.OwnerNotFound)
	if _, err = same.Enter(ctx, 100); err != nil {
		t.Errorf("the other database's container: %v", err)
	}
}

func TestInvalidDefinitions(t *testing.T) {
	h := newHouse(t, false)
	db := h.database("d")
	for _, c := range []struct {
		name  string
		spoil func(*catalog.Definition)
	}{
		{"partition", func(d *catalog.Definition) { d.Partition.Paths = []string{"pk"} }},
		{"unique", func(d *catalog.Definition) { d.Unique = [][]string{{"/a", `/"b`}} }},
		{"property", func(d *catalog.Definition) { d.TTLProperty = "/" }},
	} {
		def := definition("c")
		c.spoil(&def)
		if _, err := h.CreateContainer(ctx, 100, db, def, nil); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if n := len(h.AllContainers()); n != 0 {
		t.Errorf("%d containers were made all the same", n)
	}
	ct := h.container(db, "c")
	before := picture(h.Catalog)
	_, err := h.ReplaceContainer(ctx, 200, ct, func(st *catalog.State) (catalog.Definition, error) {
		def := st.Definition
		def.TTL, def.TTLProperty = 5, "no slash"
		return def, nil
	})
	h.fails(err, fault.Invalid)
	if after := picture(h.Catalog); after != before {
		t.Errorf("a refused replacement has left\n%s\nof\n%s", after, before)
	}
}

func TestLimits(t *testing.T) {
	h := newHouse(t, false)
	for n := range catalog.MaxDatabases {
		h.database(fmt.Sprint(n))
	}
	_, err := h.CreateDatabase(ctx, 100, "one too many", nil)
	h.fails(err, fault.Forbidden)
	db, err := h.Database("7")
	h.ok(err)
	h.ok(h.DeleteDatabase(ctx, db))
	db = h.database("instead")
	for n := range catalog.MaxContainers {
		h.container(db, fmt.Sprint(n))
	}
	_, err = h.CreateContainer(ctx, 100, db, definition("one too many"), nil)
	h.fails(err, fault.Forbidden)
	ct, err := h.Container(db, "7")
	h.ok(err)
	h.ok(h.DeleteContainer(ctx, ct))
	owner := catalog.Owner{Database: db.ID, Container: h.container(db, "instead").ID}
	for n := range catalog.MaxResources {
		_, err = h.CreateResource(ctx, 100, catalog.Function, owner, fmt.Sprint(n), nil)
		h.ok(err)
	}
	_, err = h.CreateResource(ctx, 100, catalog.Function, owner, "one too many", nil)
	h.fails(err, fault.Forbidden)
	_, err = h.CreateResource(ctx, 100, catalog.Trigger, owner, "another kind", nil)
	h.ok(err)
}

func TestReplaceKeepsWhatMayNotChange(t *testing.T) {
	h := newHouse(t, false)
	def := definition("c")
	def.Unique = [][]string{{"/u"}}
	ct, err := h.CreateContainer(ctx, 100, h.database("d"), def, nil)
	h.ok(err)
	first := ct.State()
	st := h.replace(150, ct, func(d *catalog.Definition) {
		d.Name, d.Unique, d.Partition.Paths = "other", nil, []string{"/other"}
		d.TTL, d.Echo = 7, body(`{"x":1}`)
	})
	if st.Name != "c" || len(st.Unique) != 1 || st.Partition.Paths[0] != "/pk" {
		t.Errorf("replaced to %+v", st.Definition)
	}
	if st.TTL != 7 || st.Policy.Default != 7 || st.Stamp != 150 || st.Sequence <= first.Sequence || ct.State() != st {
		t.Errorf("replaced to %+v", st)
	}
	if first.Policy.Default != expiry.Never {
		t.Error("a state that was handed out has changed")
	}
	if st = h.replace(120, ct, func(d *catalog.Definition) {}); st.Stamp != 150 {
		t.Errorf("the stamp fell to %d", st.Stamp)
	}
}

// A policy that ends takes with it, for good, what it has ended.
func TestReplaceClosesThePolicy(t *testing.T) {
	h := newHouse(t, false)
	ct := h.container(h.database("d"), "c")
	set := func(now expiry.Stamp, ttl expiry.TTL) {
		h.replace(now, ct, func(d *catalog.Definition) { d.TTL = ttl })
	}
	floors := func(inherit, own expiry.Stamp) {
		t.Helper()
		if p := ct.State().Policy; p.InheritFloor != inherit || p.OwnFloor != own {
			t.Errorf("floors %d and %d, want %d and %d", p.InheritFloor, p.OwnFloor, inherit, own)
		}
	}
	set(1000, 10)
	floors(0, 1000)
	set(2000, 20)
	floors(1990, 2000)
	set(2000, 20)
	floors(1990, 2000)
	_, err := ct.Enter(ctx, 2500) // someone has seen this instant
	h.ok(err)
	set(2400, expiry.Unset)
	floors(2480, 2500)
	set(3000, 5)
	floors(2480, 2500)
	st, err := h.DeclareDead(ctx, 3100, ct)
	h.ok(err)
	floors(3095, 3100)
	if again, err := h.DeclareDead(ctx, 3100, ct); err != nil || again != st {
		t.Errorf("declaring the same again made %v, %v", again, err)
	}
	before := ct.State()
	h.reopen()
	ct, err = h.ContainerByID(ct.ID)
	h.ok(err)
	if got := ct.State().Policy; got.InheritFloor != before.Policy.InheritFloor ||
		got.OwnFloor != before.Policy.OwnFloor || got.Default != 5 {
		t.Errorf("after a restart: %+v", got)
	}
	v, err := ct.Enter(ctx, 3000)
	h.ok(err)
	if v.Now < 3100 {
		t.Errorf("a restart went back to %d: what is written now with a short life is born dead", v.Now)
	}
}

func TestPropertyPoliciesAreBounded(t *testing.T) {
	h := newHouse(t, false)
	ct := h.container(h.database("d"), "c")
	turn := func(n int) error {
		_, err := h.ReplaceContainer(ctx, 1000+expiry.Stamp(n), ct,
			func(st *catalog.State) (catalog.Definition, error) {
				def := st.Definition
				def.TTL, def.TTLProperty = 10+expiry.TTL(n), "/at"
				return def, nil
			})
		return err
	}
	for n := range expiry.MaxPast + 1 {
		h.ok(turn(n))
	}
	h.fails(turn(expiry.MaxPast+1), fault.Invalid)
	h.ok(h.ForgetPast(ctx, ct, ct.State().Policy.Past[:3]))
	if n := len(ct.State().Policy.Past); n != expiry.MaxPast-3 {
		t.Errorf("%d closed policies are left", n)
	}
	h.ok(turn(expiry.MaxPast + 1))
	h.reopen()
	ct, err := h.ContainerByID(ct.ID)
	h.ok(err)
	if n := len(ct.State().Policy.Past); n != expiry.MaxPast-2 {
		t.Errorf("%d closed policies after a restart", n)
	}
}

func TestClockMark(t *testing.T) {
	h := newHouse(t, false)
	if !h.ClockMark().IsZero() {
		t.Errorf("a new catalog has seen %v", h.ClockMark())
	}
	at := time.Date(2026, 7, 1, 12, 0, 0, 123456789, time.FixedZone("", 3600))
	h.ok(h.SaveClockMark(ctx, at))
	h.ok(h.SaveClockMark(ctx, at.Add(-time.Hour)))
	if !h.ClockMark().Equal(at) {
		t.Errorf("the mark is %v", h.ClockMark())
	}
	h.reopen()
	if !h.ClockMark().Equal(at) {
		t.Errorf("the mark after a restart is %v", h.ClockMark())
	}
	h.ok(h.SaveClockMark(ctx, at.Add(time.Nanosecond)))
	h.reopen()
	if !h.ClockMark().Equal(at.Add(time.Nanosecond)) {
		t.Errorf("the mark after another restart is %v", h.ClockMark())
	}
}

// TestReopen makes one of everything and opens the catalog again.
func TestReopen(t *testing.T) {
	h := newHouse(t, false)
	db, err := h.CreateDatabase(ctx, 100, "d", body(`{"content":{"offerThroughput":400}}`))
	h.ok(err)
	def := definition("c")
	def.Partition = catalog.PartitionKey{Paths: []string{"/a", `/"b c"`}, Version: 2, Multi: true}
	def.Unique = [][]string{{"/u"}, {"/x/y", "/z"}}
	def.TTL, def.TTLProperty = 60, "/at"
	def.Indexing = catalog.Indexing{Included: []string{"/*"}, Excluded: []string{"/a/?"},
		Composite: [][]catalog.CompositePath{{{Path: "/a"}, {Path: "/b", Descending: true}}}}
	def.Echo = body(`{"indexingPolicy":{"automatic":true},"n":1.5,"ü":[null,"\u0000"]}`)
	ct, err := h.CreateContainer(ctx, 101, db, def, body(`{"content":{"offerThroughput":1000}}`))
	h.ok(err)
	h.container(db, "plain")
	h.replace(200, ct, func(d *catalog.Definition) { d.TTLProperty = "/other" })
	h.replace(300, ct, func(d *catalog.Definition) { d.TTL, d.TTLProperty = 9, "" })
	h.replace(400, ct, func(d *catalog.Definition) { d.Indexing.Excluded = nil })
	owner := catalog.Owner{Database: db.ID, Container: ct.ID}
	for kind, name := range map[catalog.ResourceKind]string{catalog.Procedure: "sp", catalog.Trigger: "tr",
		catalog.Function: "fn"} {
		_, err = h.CreateResource(ctx, 100, kind, owner, name, body(`{"body":"function(){}"}`))
		h.ok(err)
	}
	user, err := h.CreateResource(ctx, 100, catalog.User, catalog.Owner{Database: db.ID}, "u", nil)
	h.ok(err)
	_, err = h.CreateResource(ctx, 100, catalog.Permission, catalog.Owner{Database: db.ID, User: user.Number}, "p",
		body(`{"permissionMode":"All"}`))
	h.ok(err)
	h.ok(h.SaveClockMark(ctx, time.Unix(500, 0)))
	before := picture(h.Catalog)
	h.reopen()
	if after := picture(h.Catalog); after != before {
		t.Errorf("after a restart\n%s\nbefore it\n%s", after, before)
	}
	next := h.database("e")
	if next.ID <= db.ID {
		t.Errorf("counters began anew: %+v", *next)
	}
}

func TestDamagedRecords(t *testing.T) {
	for _, kind := range []byte{'M', 'D', 'C', 'R', 'P'} {
		h := newHouse(t, false)
		h.container(h.database("d"), "c")
		b := &kv.Batch{}
		b.Set(keys.CatalogKey(kind, 0, 1), []byte(`{"id":`))
		if kind == 'M' {
			b = &kv.Batch{}
			b.Set(keys.CatalogKey(kind), []byte(`[]`))
		}
		h.ok(h.engine.Apply(ctx, b))
		if _, err := catalog.Open(ctx, h.engine, nil); fault.KindOf(err) != fault.Corrupt {
			t.Errorf("damaged record of kind %c: %v", kind, err)
		}
	}
}

func TestDocIsKeptAsItIs(t *testing.T) {
	h := newHouse(t, false)
	given := body(`{"a":1}`)
	r, err := h.CreateResource(ctx, 1, catalog.User, catalog.Owner{Database: h.database("d").ID}, "u", given)
	h.ok(err)
	for i := range given {
		given[i] = 0
	}
	if got := doc.Lookup(r.Body, "a"); doc.IsUndefined(got) {
		t.Error("the resource shares the caller's memory")
	}
}
