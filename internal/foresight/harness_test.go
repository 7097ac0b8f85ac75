package foresight_test

import (
	"context"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/foresight"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/memory"
	"github.com/mayflydb/mayfly/internal/kv/pebble"
	"github.com/mayflydb/mayfly/internal/store"
)

var ctx = context.Background()

// A world is one container whose time is now.
type world struct {
	t       testing.TB
	catalog *catalog.Catalog
	store   *store.Store
	f       *foresight.Foresight
	c       *catalog.Container
	now     expiry.Stamp
}

// start is the time of a new world: 2026-03-01 10:41:14 UTC.
const start = 1_772_361_674

func newWorld(t testing.TB, def catalog.Definition) *world {
	t.Helper()
	engine := memory.New()
	t.Cleanup(func() { engine.Close() })
	return worldOn(t, engine, def)
}

// onDisk is the engine that data on disk has.
func onDisk(t testing.TB) kv.Engine {
	t.Helper()
	engine, err := pebble.Open(pebble.Options{Dir: "data", FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { engine.Close() })
	return engine
}

func worldOn(t testing.TB, engine kv.Engine, def catalog.Definition) *world {
	t.Helper()
	w := &world{t: t, now: start}
	var err error
	w.catalog, err = catalog.Open(ctx, engine, onlyOn)
	w.ok(err)
	w.store, err = store.Open(ctx, engine, w.catalog)
	w.ok(err)
	t.Cleanup(func() { w.ok(w.store.Close()) })
	w.f = foresight.New(w.catalog, w.store)
	db, err := w.catalog.CreateDatabase(ctx, w.now, "d", nil)
	w.ok(err)
	w.c, err = w.catalog.CreateContainer(ctx, w.now, db, def, nil)
	w.ok(err)
	return w
}

func noSQL(ttl expiry.TTL) catalog.Definition {
	return catalog.Definition{
		Name: "c", Partition: catalog.PartitionKey{Paths: []string{"/pk"}, Version: 2}, TTL: ttl,
		Indexing: catalog.Indexing{Included: []string{"/*"}},
	}
}

func mongo(ttl expiry.TTL) catalog.Definition {
	return catalog.Definition{
		Name: "c", Dialect: catalog.Mongo,
		Partition: catalog.PartitionKey{Paths: []string{"/_partitionKey"}, Version: 2},
		TTL:       ttl, Indexing: catalog.Indexing{None: true},
	}
}

// onlyOn compiles the one filter that the indexes of these tests have.
func onlyOn(doc.Doc) (func(doc.Doc) bool, error) {
	return func(d doc.Doc) bool {
		on, _ := doc.AsBool(doc.Lookup(d, "on"))
		return on
	}, nil
}

func (w *world) ok(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) view() catalog.View {
	w.t.Helper()
	v, err := w.c.Enter(ctx, w.now)
	w.ok(err)
	return v
}

func itemKey(pk, id string) store.Key {
	return store.Key{Partition: []doc.Value{doc.String(pk)}, ID: id}
}

// item upserts {id, pk} and members.
func (w *world) item(pk, id string, members ...bson.E) {
	w.t.Helper()
	w.upsert(itemKey(pk, id), append(bson.D{{Key: "id", Value: id}, {Key: "pk", Value: pk}}, members...))
}

// document upserts {_id} and members.
func (w *world) document(id int, members ...bson.E) {
	w.t.Helper()
	w.upsert(store.Identity(doc.Int(int64(id))), append(bson.D{{Key: "_id", Value: int64(id)}}, members...))
}

func (w *world) upsert(key store.Key, d bson.D) {
	w.t.Helper()
	body, err := bson.Marshal(d)
	w.ok(err)
	_, err = w.store.Write(ctx, w.c, w.now, store.Op{Verb: store.Upsert, Key: key, Body: body, Lenient: true})
	w.ok(err)
}

// replace changes the lifetime of the container.
func (w *world) replace(ttl expiry.TTL, property string) error {
	_, err := w.catalog.ReplaceContainer(ctx, w.now, w.c, func(st *catalog.State) (catalog.Definition, error) {
		def := st.Definition
		def.TTL, def.TTLProperty = ttl, property
		return def, nil
	})
	return err
}

// index makes an index complete.
func (w *world) index(x catalog.NamedIndex) error {
	x.Building = true
	_, err := w.catalog.ReplaceIndexes(ctx, w.now, w.c, func(st *catalog.State) ([]catalog.NamedIndex, error) {
		return append(append([]catalog.NamedIndex(nil), st.Named...), x), nil
	})
	if err == nil {
		_, err = w.store.BuildNamed(ctx, w.c, w.now)
	}
	return err
}

// life is the bytes of each living document, by number.
func (w *world) life() map[uint64]uint64 {
	w.t.Helper()
	living := map[uint64]uint64{}
	for d, err := range w.store.Scan(ctx, w.view(), access.Access{}) {
		w.ok(err)
		living[d.Number] = uint64(len(d.Body))
	}
	return living
}

func amountOf(life map[uint64]uint64) (a foresight.Amount) {
	for _, bytes := range life {
		a.Documents++
		a.Bytes += bytes
	}
	return a
}

// lost is what has ended since before.
func lost(before, after map[uint64]uint64) (a foresight.Amount) {
	for number, bytes := range before {
		if _, lives := after[number]; !lives {
			a.Documents++
			a.Bytes += bytes
		}
	}
	return a
}

func pointer[T any](v T) *T { return &v }
