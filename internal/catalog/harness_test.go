package catalog_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/pebble"
)

var ctx = context.Background()

// A house is a catalog on an engine that can be opened again.
type house struct {
	*catalog.Catalog
	t      testing.TB
	fs     vfs.FS
	engine kv.Engine
	plain  bool // without the engine's capabilities
}

// A plainEngine hides every optional capability.
type plainEngine struct{ kv.Engine }

func newHouse(t testing.TB, plain bool) *house {
	h := &house{t: t, fs: vfs.NewMem(), plain: plain}
	h.open()
	t.Cleanup(func() { h.ok(h.engine.Close()) })
	return h
}

func (h *house) open() {
	h.t.Helper()
	engine, err := pebble.Open(pebble.Options{Dir: "data", FS: h.fs})
	h.ok(err)
	h.engine = engine
	if h.plain {
		h.engine = plainEngine{engine}
	}
	h.Catalog, err = catalog.Open(ctx, h.engine, nil)
	h.ok(err)
}

func (h *house) reopen() {
	h.t.Helper()
	h.ok(h.engine.Close())
	h.open()
}

func (h *house) ok(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// fails reports a test whose error is of another kind.
func (h *house) fails(err error, want fault.Kind) {
	h.t.Helper()
	if err == nil || fault.KindOf(err) != want {
		h.t.Errorf("got %v, want a failure of kind %v", err, want)
	}
}

func (h *house) database(name string) *catalog.Database {
	h.t.Helper()
	db, err := h.CreateDatabase(ctx, 100, name, nil)
	h.ok(err)
	return db
}

func (h *house) container(db *catalog.Database, name string) *catalog.Container {
	h.t.Helper()
	ct, err := h.CreateContainer(ctx, 100, db, definition(name), nil)
	h.ok(err)
	return ct
}

func definition(name string) catalog.Definition {
	return catalog.Definition{
		Name:      name,
		Partition: catalog.PartitionKey{Paths: []string{"/pk"}, Version: 2},
		TTL:       expiry.Never,
		Indexing:  catalog.Indexing{Included: []string{"/*"}},
	}
}

// replace changes a container's definition.
func (h *house) replace(now expiry.Stamp, ct *catalog.Container, change func(*catalog.Definition)) *catalog.State {
	h.t.Helper()
	st, err := h.ReplaceContainer(ctx, now, ct, func(st *catalog.State) (catalog.Definition, error) {
		def := st.Definition
		change(&def)
		return def, nil
	})
	h.ok(err)
	return st
}

func body(text string) doc.Doc {
	d, err := doc.FromJSON(nil, []byte(text), doc.ParseOptions{})
	if err != nil {
		panic(err)
	}
	return d
}

// fill writes n keys of a kind into a container, past the catalog.
func (h *house) fill(ct *catalog.Container, kind keys.Kind, n int) {
	h.t.Helper()
	b := &kv.Batch{}
	for i := range n {
		b.Set(fmt.Appendf(ct.Keys().AppendPrefix(nil, kind), "%08d", i), []byte("x"))
	}
	h.ok(h.engine.Apply(ctx, b))
}

// left counts the keys of a container that are there.
func (h *house) left(container uint32) int {
	h.t.Helper()
	lower, upper := keys.ContainerBounds(container)
	return h.count(lower, upper)
}

func (h *house) count(lower, upper []byte) int {
	h.t.Helper()
	it, err := h.engine.Iterate(ctx, lower, upper)
	h.ok(err)
	n := 0
	for it.Next() {
		n++
	}
	h.ok(it.Close())
	return n
}

// picture is all that a catalog shows, as text.
func picture(c *catalog.Catalog) string {
	var out strings.Builder
	for _, db := range c.Databases() {
		fmt.Fprintf(&out, "database %+v\n", *db)
		for _, ct := range c.Containers(db) {
			st := *ct.State()
			fmt.Fprintf(&out, "  container %d in %d: %+v stamp %d sequence %d policy %+v active %+v building %+v\n",
				ct.ID, ct.Database.ID, st.Definition, st.Stamp, st.Sequence, st.Policy, st.Active, st.Building)
			fmt.Fprintf(&out, "    paths %v %v\n", st.PartitionPaths(), st.UniquePaths())
			for _, kind := range []catalog.ResourceKind{catalog.Procedure, catalog.Trigger, catalog.Function} {
				pictureOf(&out, c, kind, catalog.Owner{Database: db.ID, Container: ct.ID})
			}
			if offer, err := c.OfferOf(catalog.Owner{Database: db.ID, Container: ct.ID}); err == nil {
				fmt.Fprintf(&out, "    throughput %+v\n", *offer)
			}
		}
		users := catalog.Owner{Database: db.ID}
		pictureOf(&out, c, catalog.User, users)
		for _, u := range c.Resources(catalog.User, users) {
			pictureOf(&out, c, catalog.Permission, catalog.Owner{Database: db.ID, User: u.Number})
		}
		if offer, err := c.OfferOf(users); err == nil {
			fmt.Fprintf(&out, "  throughput %+v\n", *offer)
		}
	}
	pictureOf(&out, c, catalog.Offer, catalog.Owner{})
	fmt.Fprintf(&out, "clock %v\n", c.ClockMark().UTC())
	return out.String()
}

func pictureOf(out *strings.Builder, c *catalog.Catalog, kind catalog.ResourceKind, owner catalog.Owner) {
	for _, r := range c.Resources(kind, owner) {
		fmt.Fprintf(out, "    %c %+v\n", kind, *r)
	}
}
