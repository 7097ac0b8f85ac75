package store_test

import (
	"context"
	"flag"
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv/pebble"
	"github.com/mayflydb/mayfly/internal/store"
)

// A world is one container on an engine that can be opened again.
type world struct {
	t       testing.TB
	fs      vfs.FS
	engine  *pebble.Engine
	catalog *catalog.Catalog
	store   *store.Store
	c       *catalog.Container
	now     expiry.Stamp

	condition catalog.Condition // of partial indexes
	reserve   int64             // that the engine leaves alone
	again     func()            // opens it again, nil for the engine on disk
}

var partitions = flag.Int("partitions", 1, "ranges of the containers of tests that say nothing of them")

// withRanges runs a test on containers of one range and of several. What it expects may not depend on the number.
func withRanges(t *testing.T, test func(t *testing.T, ranges int)) {
	for _, n := range []int{1, 4} {
		t.Run(fmt.Sprintf("ranges=%d", n), func(t *testing.T) { test(t, n) })
	}
}

// newWorld opens an empty world with one container. Its time is 1,000,000.
func newWorld(t testing.TB, def catalog.Definition) *world {
	t.Helper()
	w := &world{t: t, fs: vfs.NewMem(), now: 1_000_000}
	w.open()
	if def.Dialect == catalog.NoSQL && def.Partitions == 0 {
		def.Partitions = *partitions
	}
	db, err := w.catalog.CreateDatabase(context.Background(), w.now, "d", nil)
	w.ok(err)
	w.c, err = w.catalog.CreateContainer(context.Background(), w.now, db, def, nil)
	w.ok(err)
	t.Cleanup(w.close)
	return w
}

func definition(ttl expiry.TTL) catalog.Definition {
	return catalog.Definition{
		Name:      "c",
		Partition: catalog.PartitionKey{Paths: []string{"/pk"}, Version: 2},
		TTL:       ttl,
		Indexing:  catalog.Indexing{Included: []string{"/*"}},
	}
}

func (w *world) open() {
	w.t.Helper()
	var err error
	w.engine, err = pebble.Open(pebble.Options{Dir: "data", FS: w.fs, Reserve: w.reserve})
	w.ok(err)
	w.catalog, err = catalog.Open(context.Background(), w.engine, w.condition)
	w.ok(err)
	w.store, err = store.Open(context.Background(), w.engine, w.catalog)
	w.ok(err)
	if w.c != nil {
		w.c, err = w.catalog.ContainerByID(w.c.ID)
		w.ok(err)
	}
}

func (w *world) close() {
	w.t.Helper()
	w.ok(w.store.Close())
	w.ok(w.engine.Close())
}

func (w *world) reopen() {
	w.t.Helper()
	if w.again != nil {
		w.again()
		return
	}
	w.close()
	w.open()
}

func (w *world) ok(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) buildNamed() error {
	_, err := w.store.BuildNamed(w.t.Context(), w.c, w.now)
	return err
}

func (w *world) view() catalog.View {
	w.t.Helper()
	v, err := w.c.Enter(context.Background(), w.now)
	w.ok(err)
	return v
}

// begin starts a transaction in the container.
func (w *world) begin() *store.ContainerTransaction {
	w.t.Helper()
	x, err := w.store.Begin(context.Background(), w.view())
	w.ok(err)
	return x
}

func (w *world) beginSnapshot() *store.SnapshotTransaction {
	w.t.Helper()
	g, err := w.store.BeginSnapshot(context.Background())
	w.ok(err)
	return g
}

// body makes a document of JSON.
func (w *world) body(text string) doc.Doc {
	w.t.Helper()
	d, err := doc.FromJSON(nil, []byte(text), doc.ParseOptions{})
	w.ok(err)
	return d
}

func key(pk, id string) store.Key {
	return store.Key{Partition: []doc.Value{doc.String(pk)}, ID: id}
}

// put makes an operation that writes {id, pk, and what rest says}.
func (w *world) put(verb store.Verb, pk, id, rest string) store.Op {
	w.t.Helper()
	if rest != "" {
		rest = "," + rest
	}
	return store.Op{Verb: verb, Key: key(pk, id), Body: w.body(fmt.Sprintf(`{"id":%q,"pk":%q%s}`, id, pk, rest))}
}

func (w *world) write(op store.Op) (store.Result, error) {
	return w.store.Write(context.Background(), w.c, w.now, op)
}

// ranges are the keys of each range, in the order of their numbers.
func (w *world) ranges() (list []keys.Range) {
	for _, r := range w.c.State().Ranges() {
		list = append(list, w.c.KeysOf(r.Number))
	}
	return list
}

// rangeOf is the number of the range of a partition.
func (w *world) rangeOf(pk string) uint16 { return w.c.State().RangeOf([]doc.Value{doc.String(pk)}) }

// alive reports whether a point read finds the document.
func (w *world) alive(pk, id string) bool {
	return w.store.Read(context.Background(), w.view(), key(pk, id), func(access.Document) error { return nil }) == nil
}

// setTTL switches the container's lifetime.
func (w *world) setTTL(ttl expiry.TTL) {
	w.t.Helper()
	_, err := w.catalog.ReplaceContainer(context.Background(), w.now, w.c,
		func(st *catalog.State) (catalog.Definition, error) {
			def := st.Definition
			def.TTL = ttl
			return def, nil
		})
	w.ok(err)
}

// consistent fails the test if the consistency check finds anything.
func (w *world) consistent() {
	w.t.Helper()
	report, err := w.store.Check(context.Background())
	w.ok(err)
	for _, p := range report.Problems {
		w.t.Error(p)
	}
	if report.Found > 0 {
		w.t.FailNow()
	}
}

// times is n, or a sixth of it where tests are to be short: the race detector makes each run ten times as long.
func times(n int) int {
	if testing.Short() {
		return max(1, n/6)
	}
	return n
}
