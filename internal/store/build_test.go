package store_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/pebble"
	"github.com/mayflydb/mayfly/internal/store"
)

var built = 5_000 // documents, of which a tenth has expired

const (
	buildWriters = 2
	fewestWrites = 300 // of each writer while a build is under way
	mostWrites   = 30_000
)

// rebuilt is the indexing that replaces everything.
var rebuilt = catalog.Indexing{
	Included:  []string{"/n/?", "/list/[]/?"},
	Excluded:  []string{"/*"},
	Composite: [][]catalog.CompositePath{{{Path: "/n"}, {Path: "/tag", Descending: true}}},
}

// TestRebuild changes the indexing of a large container while documents are
// written, expire and are reclaimed, stops the store in the middle of the build and opens it
// again: the build completes and its entries are those of the documents, no more and no fewer.
func TestRebuild(t *testing.T) {
	s := *seed
	if s == 0 {
		s = rand.Uint64()
	}
	t.Logf("seed %d", s)
	if testing.Short() {
		built = 1_000 // for the race detector
	}
	w := newWorld(t, definition(expiry.Never))
	b := &builder{Engine: w.engine, stopAt: int64(built / 128), stopped: make(chan struct{})}
	w.through(b)
	w.load()
	w.now += 10
	w.setIndexing(rebuilt)

	w.writeUntil(s, func() bool { return closed(b.stopped) }, nil)
	if st := w.c.State(); st.Building == nil || w.store.IndexProgress(w.c) >= 100 {
		t.Fatalf("progress %d, building %v, in the middle of a build", w.store.IndexProgress(w.c), st.Building)
	}
	if list := w.store.Builds(); len(list) != 1 || list[0].Container != w.c || list[0].Total == 0 ||
		list[0].Done > list[0].Total {
		t.Errorf("builds under way: %+v", list)
	}
	w.reopen()
	if w.c.State().Building == nil {
		t.Fatal("the build is over, nothing is left to go on with")
	}
	w.writeUntil(s+1, func() bool { return w.store.IndexProgress(w.c) == 100 }, w.reclaimSome)

	st := w.c.State()
	if st.Building != nil || st.Active.Generation != 2 || !st.Active.Indexing.Equal(rebuilt) {
		t.Errorf("in use is %+v, building %+v", st.Active, st.Building)
	}
	w.expectGeneration(1, nil)
	ix := &indexed{world: w, indexing: rebuilt}
	ix.free()
	w.expectGeneration(2, ix.linesOfDocuments())
	w.consistent()
}

// TestOvertakenBuild changes the indexing again while a build is under way.
func TestOvertakenBuild(t *testing.T) {
	w := newWorld(t, definition(expiry.Never))
	b := &builder{Engine: w.engine, stopAt: 3, stopped: make(chan struct{}), release: make(chan struct{})}
	w.through(b)
	for i := range 400 {
		_, err := w.write(w.put(store.Create, "p", fmt.Sprint(i), fmt.Sprintf(`"n":%d,"tag":"x"`, i)))
		w.ok(err)
	}
	w.setIndexing(paths("/*", "-/tag/?"))
	<-b.stopped
	w.setIndexing(rebuilt)
	close(b.release)
	for w.store.IndexProgress(w.c) < 100 || len(w.store.Builds()) > 0 {
		runtime.Gosched()
	}
	w.consistent()
	w.expectGeneration(1, nil)
	w.expectGeneration(2, nil)
	ix := &indexed{world: w, indexing: rebuilt}
	w.expectGeneration(3, ix.linesOfDocuments())
}

// TestReclaimWaitsForABuild reclaims expired documents while a build that has seen
// them is on its way to the engine: it may not make entries for what is swept already.
func TestReclaimWaitsForABuild(t *testing.T) {
	w := newWorld(t, definition(expiry.Never))
	b := &builder{Engine: w.engine, stopAt: 1, stopped: make(chan struct{}), release: make(chan struct{})}
	w.through(b)
	for i := range 1200 { // enough for the engine to delete them as a range
		_, err := w.write(w.put(store.Create, "p", fmt.Sprint(i), fmt.Sprintf(`"n":%d,"tag":"x","ttl":5`, i)))
		w.ok(err)
	}
	w.now += 5
	_, err := w.store.Reclaim(context.Background(), w.c, w.now, 1) // makes final that all are dead
	w.ok(err)
	w.setIndexing(rebuilt)
	<-b.stopped
	ix := &indexed{world: w, indexing: rebuilt}
	freed := make(chan struct{})
	go func() {
		defer close(freed)
		ix.free()
	}()
	soon, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	select {
	case <-freed:
	case <-soon.Done():
	}
	close(b.release)
	<-freed
	for w.store.IndexProgress(w.c) < 100 {
		runtime.Gosched()
	}
	ix.free()
	w.consistent()
	w.expectGeneration(2, nil)
}

// TestBuildOfAnEmptyContainer has nothing to visit.
func TestBuildOfAnEmptyContainer(t *testing.T) {
	w := newWorld(t, definition(expiry.Never))
	w.setIndexing(rebuilt)
	for w.store.IndexProgress(w.c) < 100 {
		runtime.Gosched()
	}
	_, err := w.write(w.put(store.Create, "p", "a", `"n":1`))
	w.ok(err)
	w.consistent()
	w.expectGeneration(1, nil)
	w.expectGeneration(2, (&indexed{world: w, indexing: rebuilt}).linesOfDocuments())
}

// TestBuildKeepsBatchesSmall rebuilds wide documents: no batch may be larger
// than package kv promises, unless a single document is.
func TestBuildKeepsBatchesSmall(t *testing.T) {
	w := newWorld(t, definition(expiry.Never))
	b := &builder{Engine: w.engine}
	w.through(b)
	const width = 1_500
	var members []string
	for i := range width {
		members = append(members, fmt.Sprintf(`"m%d":%d`, i, i))
	}
	for i := range 12 {
		_, err := w.write(w.put(store.Create, "p", fmt.Sprint(i), strings.Join(members, ",")))
		w.ok(err)
	}
	w.setIndexing(paths("/*", "-/m0/?"))
	for w.store.IndexProgress(w.c) < 100 {
		runtime.Gosched()
	}
	if got := b.largest.Load(); got > 5_000 {
		t.Errorf("a batch of %d keys, want 5,000 at most", got)
	}
	w.consistent()
	w.expectGeneration(1, nil)
}

// A builder is an engine that watches the batches of index builds, and halts
// the one numbered stopAt until its context ends or it is released.
type builder struct {
	*pebble.Engine
	stopAt  int64
	stopped chan struct{} // closed when the batch has come
	release chan struct{}
	batches atomic.Int64
	largest atomic.Int64 // batch, in keys
}

func (e *builder) Apply(ctx context.Context, b *kv.Batch) error {
	if !ofBuild(b) {
		return e.Engine.Apply(ctx, b)
	}
	if e.batches.Add(1) == e.stopAt {
		close(e.stopped)
		select {
		case <-ctx.Done():
		case <-e.release:
		}
	}
	err := e.Engine.Apply(ctx, b)
	e.largest.Store(max(e.largest.Load(), int64(len(b.Ops))))
	return err
}

// ofBuild reports whether a batch only makes index entries.
func ofBuild(b *kv.Batch) bool {
	if !b.NoSync || len(b.Ops) == 0 || b.Ops[0].Value == nil {
		return false
	}
	_, kind, _, err := keys.Split(b.Ops[0].Key)
	return err == nil && (kind == keys.KindEntry || kind == keys.KindComposite)
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func (w *world) setIndexing(x catalog.Indexing) {
	w.t.Helper()
	_, err := w.catalog.ReplaceContainer(context.Background(), w.now, w.c,
		func(st *catalog.State) (catalog.Definition, error) {
			def := st.Definition
			def.Indexing = x
			return def, nil
		})
	w.ok(err)
}

// load writes the documents that are there before the build. The first of them expire
// after 5 seconds.
func (w *world) load() {
	w.t.Helper()
	var ops []store.Op
	for i := range built {
		rest := membersOf(i)
		if i < built/10 {
			rest += `,"ttl":5`
		}
		ops = append(ops, w.put(store.Create, "p", fmt.Sprint("d", i), rest))
		if len(ops) == 100 {
			_, err := w.store.WriteAll(context.Background(), w.c, w.now, ops)
			w.ok(err)
			ops = nil
		}
	}
}

func membersOf(n int) string {
	return fmt.Sprintf(`"n":%d,"tag":"t%d","list":[%d,%d,"x",%d.0],"other":{"n":%d}`, n%100, n%7, n%3, n%5, n%3, n)
}

// writeUntil lets several writers work, each on documents of its own, and do
// something else beside them, until over says so. Every writer writes a minimum meanwhile.
func (w *world) writeUntil(seed uint64, over func() bool, beside func()) {
	w.t.Helper()
	var work sync.WaitGroup
	for n := range buildWriters {
		rng := rand.New(rand.NewPCG(seed, uint64(n)))
		work.Go(func() {
			for writes := 0; writes < fewestWrites || !over(); writes++ {
				if writes == mostWrites {
					w.t.Errorf("the build is at %d %% after %d writes", w.store.IndexProgress(w.c), writes)
					return
				}
				if err := w.writeSome(rng, n); err != nil {
					w.t.Error(err)
					return
				}
			}
		})
	}
	for beside != nil && !over() && !w.t.Failed() {
		beside()
	}
	work.Wait()
	if w.t.Failed() {
		w.t.FailNow()
	}
}

func (w *world) reclaimSome() {
	w.t.Helper()
	_, err := w.store.Reclaim(context.Background(), w.c, w.now, 16)
	w.ok(err)
	_, err = w.store.Sweep(context.Background(), w.c, 64)
	w.ok(err)
}

// writeSome does one write of a random document whose number leaves the
// remainder mine.
func (w *world) writeSome(rng *rand.Rand, mine int) error {
	i := rng.IntN(built/buildWriters)*buildWriters + mine
	id := fmt.Sprint("d", i)
	if rng.IntN(4) == 0 {
		_, err := w.write(store.Op{Verb: store.Delete, Key: key("p", id)})
		if fault.KindOf(err) == fault.NotFound {
			return nil
		}
		return err
	}
	text := fmt.Sprintf(`{"id":%q,"pk":"p",%s}`, id, membersOf(rng.IntN(1000)))
	body, err := doc.FromJSON(nil, []byte(text), doc.ParseOptions{})
	if err == nil {
		_, err = w.write(store.Op{Verb: store.Upsert, Key: key("p", id), Body: body})
	}
	return err
}

// expectGeneration compares the entries of one generation.
func (w *world) expectGeneration(generation uint16, want []string) {
	w.t.Helper()
	ix := &indexed{world: w, indexing: rebuilt}
	var got []string
	for _, rng := range w.ranges() {
		for _, kind := range []keys.Kind{keys.KindEntry, keys.KindComposite} {
			lower, upper := rng.GenerationBounds(kind, generation)
			it, err := w.engine.Iterate(context.Background(), lower, upper)
			w.ok(err)
			for it.Next() {
				number, err := keys.Number(it.Key())
				w.ok(err)
				got = append(got, fmt.Sprintf("%d: %s", number, ix.line(it.Key())))
			}
			w.ok(it.Close())
		}
	}
	missing, extra := differences(want, got)
	if len(missing)+len(extra) > 0 {
		w.t.Errorf("generation %d: %d entries, want %d; missing %q, too many %q", generation, len(got), len(want),
			missing[:min(5, len(missing))], extra[:min(5, len(extra))])
	}
}

// differences is what only one of two lists has; repeats count.
func differences(want, got []string) (missing, extra []string) {
	count := map[string]int{}
	for _, line := range want {
		count[line]++
	}
	for _, line := range got {
		count[line]--
	}
	for _, line := range slices.Sorted(maps.Keys(count)) {
		if count[line] > 0 {
			missing = append(missing, line)
		}
		if count[line] < 0 {
			extra = append(extra, line)
		}
	}
	return missing, extra
}

// linesOfDocuments is what the entries of the living documents must be under
// the indexing rebuilt, made without the store's matcher.
func (ix *indexed) linesOfDocuments() []string {
	ix.t.Helper()
	var lines []string
	for d, err := range ix.store.Scan(context.Background(), ix.view(), access.Access{}) {
		ix.ok(err)
		n, tag := doc.Lookup(d.Body, "n"), doc.Lookup(d.Body, "tag")
		lines = append(lines,
			fmt.Sprintf("%d: /id %s", d.Number, shown(doc.Lookup(d.Body, "id"), false)),
			fmt.Sprintf("%d: /n %s", d.Number, shown(n, false)),
			fmt.Sprintf("%d: composite 0: %s, %s down", d.Number, shown(n, false), shown(tag, false)))
		elements := map[string]bool{}
		for e := range doc.Elements(doc.Lookup(d.Body, "list")) {
			elements[shown(e, false)] = true
		}
		for e := range elements {
			lines = append(lines, fmt.Sprintf("%d: /list/[] %s", d.Number, e))
		}
	}
	return lines
}
