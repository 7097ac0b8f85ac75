package catalog_test

import (
	"context"
	"errors"
	"testing"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// What is dropped goes, and nothing else, also where an engine cannot delete ranges.
func TestDrop(t *testing.T) {
	for _, plain := range []bool{false, true} {
		h := newHouse(t, plain)
		db := h.database("d")
		before, ct, after := h.container(db, "before"), h.container(db, "c"), h.container(db, "after")
		for _, x := range []*catalog.Container{before, ct, after} {
			h.fill(x, keys.KindRecord, 2500)
			h.fill(x, keys.KindEntry, 1)
		}
		h.ok(h.DeleteContainer(ctx, ct))
		for _, x := range []struct {
			ct   *catalog.Container
			want int
		}{{before, 2501}, {ct, 0}, {after, 2501}} {
			if n := h.left(x.ct.ID); n != x.want {
				t.Errorf("plain %v: container %d has %d keys, want %d", plain, x.ct.ID, n, x.want)
			}
		}
		h.ok(h.DeleteDatabase(ctx, db))
		if n := h.left(before.ID) + h.left(after.ID); n != 0 {
			t.Errorf("plain %v: %d keys are left of the database", plain, n)
		}
		if n := h.orders(); n != 0 {
			t.Errorf("plain %v: %d orders to purge are left", plain, n)
		}
	}
}

// orders counts the purges that wait.
func (h *house) orders() int {
	prefix := keys.CatalogKey('P')
	return h.count(prefix, keys.End(prefix))
}

// A failing engine takes so many batches and no more.
type failing struct {
	kv.Engine
	left int
}

var errBroken = errors.New("the machine stopped")

func (e *failing) Apply(ctx context.Context, b *kv.Batch) error {
	if e.left--; e.left < 0 {
		return errBroken
	}
	return e.Engine.Apply(ctx, b)
}

// A purge that is cut short is finished by the next start.
func TestPurgeGoesOnAfterACrash(t *testing.T) {
	for batches := 1; batches < 5; batches++ {
		h := newHouse(t, true)
		ct := h.container(h.database("d"), "c")
		h.fill(ct, keys.KindRecord, 2500)
		engine := &failing{h.engine, 1}
		c, err := catalog.Open(ctx, engine, nil)
		h.ok(err)
		engine.left = batches
		ct, err = c.ContainerByID(ct.ID)
		h.ok(err)
		if err := c.DeleteContainer(ctx, ct); (err == nil) != (batches > 3) {
			t.Errorf("with %d batches: %v", batches, err)
		}
		if _, err := ct.Enter(ctx, 1); err != catalog.ErrNoOwner {
			t.Errorf("the container answers still: %v", err)
		}
		h.reopen()
		if n := h.left(ct.ID) + h.orders(); n != 0 {
			t.Errorf("with %d batches: %d keys and orders are left", batches, n)
		}
		_, err = h.ContainerByID(ct.ID)
		h.fails(err, fault.NotFound)
	}
}

func TestGenerations(t *testing.T) {
	for _, plain := range []bool{false, true} {
		h := newHouse(t, plain)
		ct := h.container(h.database("d"), "c")
		told := 0
		h.Changed = func(*catalog.Container) { told++ }
		entry := func(generation uint16) []byte {
			return append(ct.KeysOf(0).EntryPrefix(nil, generation, nil), 'x')
		}
		have := func(want ...uint16) {
			t.Helper()
			for generation := uint16(1); generation < 6; generation++ {
				found, err := h.engine.Get(ctx, entry(generation), func([]byte) error { return nil })
				h.ok(err)
				expect := false
				for _, g := range want {
					expect = expect || g == generation
				}
				if found != expect {
					t.Errorf("plain %v: entries of generation %d: %v", plain, generation, found)
				}
			}
		}
		write := func(generation uint16) {
			b := &kv.Batch{}
			b.Set(entry(generation), nil)
			b.Set(append(ct.KeysOf(0).CompositePrefix(nil, generation, 0), 'x'), nil)
			h.ok(h.engine.Apply(ctx, b))
		}
		exclude := func(paths ...string) *catalog.State {
			return h.replace(100, ct, func(d *catalog.Definition) { d.Indexing.Excluded = paths })
		}
		write(1)
		if st := exclude("/a/?"); st.Active.Generation != 1 || st.Building.Generation != 2 {
			t.Errorf("%+v, %+v", st.Active, st.Building)
		}
		write(2)
		exclude("/a/?") // the same again: nothing to do but to tell that it is under way
		have(1, 2)
		if st := exclude("/b/?"); st.Building.Generation != 3 {
			t.Errorf("%+v", st.Building)
		}
		have(1)
		write(3)
		h.ok(h.CompleteIndex(ctx, ct, 2)) // overtaken
		have(1, 3)
		h.ok(h.CompleteIndex(ctx, ct, 3))
		have(3)
		if st := ct.State(); st.Active.Generation != 3 || st.Building != nil ||
			st.Active.Indexing.Excluded[0] != "/b/?" {
			t.Errorf("%+v, %+v", st.Active, st.Building)
		}
		if told < 2 {
			t.Errorf("told of %d changes", told)
		}
		before := picture(h.Catalog)
		h.reopen()
		if after := picture(h.Catalog); after != before {
			t.Errorf("after a restart\n%s\nbefore it\n%s", after, before)
		}
	}
}
