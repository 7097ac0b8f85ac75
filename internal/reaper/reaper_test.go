package reaper_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/pebble"
	"github.com/mayflydb/mayfly/internal/reaper"
	"github.com/mayflydb/mayfly/internal/store"
)

var ctx = context.Background()

// A yard is a database with a reaper and a clock that the test moves.
type yard struct {
	*reaper.Reaper
	t       testing.TB
	fs      vfs.FS
	wrap    func(kv.Engine) kv.Engine
	rate    int
	ranges  int // of its containers
	clock   *clock.Virtual
	engine  kv.Engine
	catalog *catalog.Catalog
	store   *store.Store
	db      *catalog.Database
	log     *slog.Logger
}

// withRanges runs a test on containers of one range and of several. What it expects may not depend on the number.
func withRanges(t *testing.T, test func(t *testing.T, ranges int)) {
	for _, n := range []int{1, 4} {
		t.Run(fmt.Sprintf("ranges=%d", n), func(t *testing.T) { test(t, n) })
	}
}

// A complaint fails the test: nothing here should be worth a log line.
type complaint struct{ t testing.TB }

func (c complaint) Write(line []byte) (int, error) {
	c.t.Errorf("logged: %s", line)
	return len(line), nil
}

func newYard(t testing.TB, change func(*yard)) *yard {
	y := &yard{t: t, fs: vfs.NewMem(), clock: clock.NewVirtual(time.Unix(1_000_000, 0))}
	y.wrap = func(e kv.Engine) kv.Engine { return e }
	y.log = slog.New(slog.NewTextHandler(complaint{t}, nil))
	if change != nil {
		change(y)
	}
	y.open()
	var err error
	y.db, err = y.catalog.CreateDatabase(ctx, y.now(), "d", nil)
	y.ok(err)
	t.Cleanup(y.close)
	return y
}

func (y *yard) open() {
	y.t.Helper()
	engine, err := pebble.Open(pebble.Options{Dir: "data", FS: y.fs})
	y.ok(err)
	y.engine = y.wrap(engine)
	y.catalog, err = catalog.Open(ctx, y.engine, nil)
	y.ok(err)
	y.store, err = store.Open(ctx, y.engine, y.catalog)
	y.ok(err)
	y.Reaper = reaper.New(reaper.Options{Store: y.store, Clock: y.clock, Rate: y.rate, Logger: y.log})
}

func (y *yard) close() {
	y.t.Helper()
	y.Stop()
	y.ok(y.store.Close())
	y.ok(y.engine.Close())
}

func (y *yard) ok(err error) {
	y.t.Helper()
	if err != nil {
		y.t.Fatal(err)
	}
}

func (y *yard) now() int64 { return y.clock.Now().Unix() }

// container makes one with a default life of ten seconds.
func (y *yard) container(name string) *store.Container {
	y.t.Helper()
	c, err := y.catalog.CreateContainer(ctx, y.now(), y.db, catalog.Definition{
		Name:      name,
		Partition: catalog.PartitionKey{Paths: []string{"/pk"}, Version: 2},
		TTL:       10,
		Indexing:  catalog.Indexing{Included: []string{"/*"}},
		Unique:    [][]string{{"/id"}},

		Partitions: y.ranges,
	}, nil)
	y.ok(err)
	return c
}

// fill writes documents from number on whose ttl is one of ttls in turn, 0 for none.
func (y *yard) fill(c *store.Container, from, count int, ttls ...int) {
	y.t.Helper()
	for i := from; i < from+count; {
		var ops []store.Op
		for range min(100, from+count-i) {
			id := fmt.Sprint(i)
			text := fmt.Sprintf(`{"id":%q,"pk":"p%d","n":%d`, id, i%11, i)
			if ttl := ttls[i%len(ttls)]; ttl != 0 {
				text += fmt.Sprintf(`,"ttl":%d`, ttl)
			}
			body, err := doc.FromJSON(nil, []byte(text+"}"), doc.ParseOptions{})
			y.ok(err)
			ops = append(ops, store.Op{Verb: store.Create, Key: y.key(i), Body: body})
			i++
		}
		_, err := y.store.WriteAll(ctx, c, y.now(), ops)
		y.ok(err)
	}
}

func (y *yard) key(i int) store.Key {
	return store.Key{Partition: []doc.Value{doc.String(fmt.Sprint("p", i%11))}, ID: fmt.Sprint(i)}
}

// stored is how many documents are on disk.
func (y *yard) stored(c *store.Container) uint64 {
	y.t.Helper()
	u, err := y.store.Backlog(ctx, c, y.now())
	y.ok(err)
	return u.Stored
}

// count is how many keys of a kind a container has.
func (y *yard) count(c *store.Container, kind byte) int {
	y.t.Helper()
	n := 0
	for _, r := range c.State().Ranges() {
		prefix := c.KeysOf(r.Number).AppendPrefix(nil, 0)
		prefix[len(prefix)-1] = kind
		it, err := y.engine.Iterate(ctx, prefix, append(prefix[:len(prefix)-1:len(prefix)-1], kind+1))
		y.ok(err)
		for it.Next() {
			n++
		}
		y.ok(it.Close())
	}
	return n
}

func (y *yard) consistent() {
	y.t.Helper()
	report, err := y.store.Check(ctx)
	y.ok(err)
	for _, p := range report.Problems {
		y.t.Error(p)
	}
}

// until waits for something that happens in the background.
func (y *yard) until(what string, done func() bool) {
	y.t.Helper()
	for range 20_000 {
		if done() {
			return
		}
		y.ok(clock.Pause(ctx, time.Millisecond))
	}
	y.t.Fatalf("waited in vain for %s", what)
}

// swept checks that a container holds count documents and nothing beside them.
func (y *yard) swept(c *store.Container, count int) {
	y.t.Helper()
	for _, kind := range []struct {
		kind byte
		want int
	}{{'d', count}, {'k', count}, {'p', count}, {'f', count}, {'u', count}, {'r', 0}} {
		if got := y.count(c, kind.kind); got != kind.want {
			y.t.Errorf("%d keys of kind %c are left, want %d", got, kind.kind, kind.want)
		}
	}
	y.consistent()
}

func TestReclaimNow(t *testing.T) { withRanges(t, testReclaimNow) }

func testReclaimNow(t *testing.T, ranges int) {
	third, more := 1000, 500
	if testing.Short() { // under the race detector
		third, more = 100, 50
	}
	y := newYard(t, func(y *yard) { y.ranges = ranges })
	a, b := y.container("a"), y.container("b")
	y.fill(a, 0, 3*third, 0, 5, -1) // a third each: inherits, its own, never
	y.fill(b, 0, more, 0)
	stats := func(documents, backlog int, lag time.Duration) {
		t.Helper()
		s, err := y.Stats(ctx)
		y.ok(err)
		if s.Documents != int64(documents) || s.Backlog != int64(backlog) || s.Lag != lag {
			t.Errorf("%+v, want %d reclaimed, %d to reclaim since %v", s, documents, backlog, lag)
		}
	}
	stats(0, 0, 0)
	y.ok(y.clock.Advance(6 * time.Second))
	stats(0, third, time.Second)
	y.ok(y.ReclaimNow(ctx))
	stats(third, 0, 0)
	y.swept(a, 2*third)
	y.ok(y.clock.Advance(7 * time.Second))
	stats(third, third+more, 3*time.Second)
	y.ok(y.ReclaimNow(ctx))
	stats(2*third+more, 0, 0)
	y.swept(a, third)
	y.swept(b, 0)
	if n := y.count(a, 'x') + y.count(b, 'x') + y.count(b, 'i'); n != 0 {
		t.Errorf("%d deadlines and index entries are left", n)
	}
	s, err := y.Stats(ctx)
	y.ok(err)
	if s.Bytes == 0 || s.Entries == 0 {
		t.Errorf("%+v", s)
	}
}

// A sweep that is under way knows only what was dead when it began.
func TestReclaimNowDuringASweep(t *testing.T) { withRanges(t, testReclaimNowDuringASweep) }

func testReclaimNowDuringASweep(t *testing.T, ranges int) {
	y := newYard(t, func(y *yard) { y.ranges = ranges })
	c := y.container("c")
	y.fill(c, 0, 300, 5, 8, -1)
	y.ok(y.clock.Advance(5 * time.Second))
	_, err := y.store.Reclaim(ctx, c, y.now(), 1000)
	y.ok(err)
	_, err = y.store.Sweep(ctx, c, 10)
	y.ok(err)
	y.ok(y.clock.Advance(3 * time.Second))
	y.ok(y.ReclaimNow(ctx))
	y.swept(c, 100)
}

func TestBackground(t *testing.T) { withRanges(t, testBackground) }

func testBackground(t *testing.T, ranges int) {
	y := newYard(t, func(y *yard) { y.ranges = ranges })
	a, b := y.container("a"), y.container("b")
	y.fill(a, 0, 2000, 0)
	y.fill(b, 0, 200, 3, -1)
	y.Start()
	y.ok(y.clock.Advance(10 * time.Second))
	y.until("the wave to be gone", func() bool { return y.stored(a) == 0 && y.stored(b) == 100 })
	y.until("the sweeps", func() bool { return y.count(a, 'r') == 0 && y.count(b, 'r') == 0 })
	y.swept(a, 0)
	y.swept(b, 100)
}

func TestPause(t *testing.T) {
	y := newYard(t, nil)
	c := y.container("c")
	y.fill(c, 0, 100, 0)
	y.Pause()
	y.Start()
	for range 20 {
		y.ok(y.clock.Advance(time.Second))
		y.ok(clock.Pause(ctx, time.Millisecond))
	}
	s, err := y.Stats(ctx)
	y.ok(err)
	if s.Documents != 0 || s.Backlog != 100 || !s.Paused {
		t.Errorf("paused: %+v", s)
	}
	v, err := c.Enter(ctx, y.now())
	y.ok(err)
	if err := y.store.Read(ctx, v, y.key(1), func(access.Document) error {
		return nil
	}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("while the reaper rests a read says %v", err)
	}
	y.Resume()
	y.ok(y.clock.Advance(time.Second))
	y.until("the reaper to go on", func() bool { return y.stored(c) == 0 })

	y.Pause()
	y.fill(c, 200, 50, 1)
	y.ok(y.clock.Advance(time.Second))
	y.ok(y.ReclaimNow(ctx))
	y.swept(c, 0)
}

// The rate bounds every stretch of time but for one small step.
func TestRate(t *testing.T) {
	const rate = 1000
	y := newYard(t, func(y *yard) { y.rate = rate })
	c := y.container("c")
	y.fill(c, 0, 500, 1)
	y.Start()
	watch := clock.Start()
	y.ok(y.clock.Advance(time.Second))
	var reclaimed int64
	y.until("the wave to be gone", func() bool {
		s, err := y.Stats(ctx)
		took := watch.Elapsed()
		y.ok(err)
		reclaimed = s.Documents
		if most := int64(took.Seconds()*rate) + rate/8; reclaimed > most {
			t.Errorf("%d documents after %v at %d a second", reclaimed, took, rate)
		}
		return reclaimed == 500 || t.Failed()
	})
}

// How far it has come, and what is to be swept, is known to the next start.
func TestRestart(t *testing.T) { withRanges(t, testRestart) }

func testRestart(t *testing.T, ranges int) {
	y := newYard(t, func(y *yard) { y.ranges = ranges })
	c := y.container("c")
	y.fill(c, 0, 400, 0, 5, -1, 0)
	y.ok(y.clock.Advance(20 * time.Second))
	left := uint64(400)
	for step := 0; left > 100; step++ {
		done, err := y.store.Reclaim(ctx, c, y.now(), 40)
		y.ok(err)
		if done.Documents > 40 || done.Documents == 0 {
			t.Fatalf("a step reclaimed %d documents, %d are left", done.Documents, left)
		}
		if left -= done.Documents; y.stored(c) != left {
			t.Fatalf("%d documents are stored, want %d", y.stored(c), left)
		}
		if step%3 == 0 {
			_, err = y.store.Sweep(ctx, c, 100)
			y.ok(err)
		}
		y.close()
		y.open()
		c, err = y.catalog.ContainerByID(c.ID)
		y.ok(err)
		y.consistent()
	}
	if done, err := y.store.Reclaim(ctx, c, y.now(), 40); err != nil || done.Documents+done.Bytes != 0 || done.More {
		t.Errorf("at the end: %+v, %v", done, err)
	}
	y.ok(y.ReclaimNow(ctx))
	y.swept(c, 100)
	if s, err := y.Stats(ctx); err != nil || s.Documents != 0 {
		t.Errorf("the last one had nothing to reclaim: %+v, %v", s, err)
	}
}

// Containers that are deleted while the reaper works on them cause no error, and stay deleted.
func TestDeletedWhileTended(t *testing.T) {
	y := newYard(t, nil)
	y.Start()
	var work sync.WaitGroup
	for w := range 3 {
		work.Go(func() {
			for n := range 15 {
				c := y.container(fmt.Sprintf("c%d-%d", w, n))
				y.fill(c, 0, 200, 1, 0)
				if err := y.clock.Advance(2 * time.Second); err != nil {
					t.Error(err)
				}
				work.Go(func() {
					if err := y.ReclaimNow(ctx); err != nil {
						t.Error(err)
					}
				})
				for y.stored(c) == 200 && n%2 == 0 {
					y.ok(clock.Pause(ctx, 100*time.Microsecond))
				}
				if err := y.catalog.DeleteContainer(ctx, c); err != nil {
					t.Error(err)
				}
				for _, kind := range "dkpfxiurmo" {
					if left := y.count(c, byte(kind)); left != 0 {
						t.Errorf("the deleted container %s has %d keys of kind %c", c.State().Name, left, kind)
					}
				}
			}
		})
	}
	work.Wait()
	y.ok(y.ReclaimNow(ctx))
}

// A container that cannot be read does not keep the others from their turn.
func TestDamagedContainer(t *testing.T) {
	var log strings.Builder
	var mu sync.Mutex
	y := newYard(t, func(y *yard) {
		y.log = slog.New(slog.NewTextHandler(writer(func(line []byte) {
			mu.Lock()
			log.Write(line)
			mu.Unlock()
		}), nil))
	})
	a, b := y.container("broken"), y.container("b")
	y.fill(a, 0, 10, 0)
	y.fill(b, 0, 10, 0)
	damage := &kv.Batch{}
	damage.Set(a.KeysOf(0).Feed(nil, 3), []byte("?"))
	y.ok(y.engine.Apply(ctx, damage))
	y.Start()
	y.ok(y.clock.Advance(time.Minute))
	y.until("the healthy container", func() bool { return y.stored(b) == 0 })
	y.Stop()
	mu.Lock()
	defer mu.Unlock()
	if !strings.Contains(log.String(), "container=broken") {
		t.Errorf("logged: %q", log.String())
	}
}

type writer func([]byte)

func (w writer) Write(line []byte) (int, error) { w(line); return len(line), nil }

// mark rises with every write.
func (y *yard) mark() kv.Mark {
	v, err := y.engine.View(ctx)
	y.ok(err)
	return v.Mark
}

// A container in which nothing has expired costs no write, however much time passes.
func TestIdleWritesNothing(t *testing.T) {
	y := newYard(t, nil)
	c := y.container("c")
	y.fill(c, 0, 100, -1)
	before := y.mark()
	for range 10 {
		y.ok(y.clock.Advance(time.Second))
		if done, err := y.store.Reclaim(ctx, c, y.now(), 100); err != nil || done != (store.Reclaimed{}) {
			t.Errorf("%+v, %v", done, err)
		}
		if y.store.SweepDue(ctx, c, 0) {
			t.Error("a sweep is due")
		}
	}
	if y.mark() != before {
		t.Error("something was written")
	}
}

// A strict engine takes only batches of a size that distributed engines take.
type strict struct {
	kv.Engine
	t testing.TB
}

func (e strict) Apply(ctx context.Context, b *kv.Batch) error {
	bytes := 0
	for _, op := range b.Ops {
		bytes += len(op.Key) + len(op.Value)
	}
	if len(b.Ops) > 5000 || bytes > 4<<20 {
		e.t.Errorf("a batch of %d keys and %d bytes", len(b.Ops), bytes)
	}
	return e.Engine.Apply(ctx, b)
}

// No step of the background work is without bounds, also where no range can be deleted.
func TestBoundedBatches(t *testing.T) {
	if testing.Short() {
		t.Skip("12,000 documents take minutes under the race detector")
	}
	y := newYard(t, func(y *yard) { y.wrap = func(e kv.Engine) kv.Engine { return strict{e, y.t} } })
	c := y.container("c")
	y.fill(c, 0, 12_000, 1, -1)
	var list strings.Builder
	for i := range 300 {
		fmt.Fprintf(&list, ",%d", i)
	}
	for i := range 100 {
		body, err := doc.FromJSON(nil,
			fmt.Appendf(nil, `{"id":"%d","pk":"p%d","list":[%s]}`, 20_000+i, (20_000+i)%11, list.String()[1:]),
			doc.ParseOptions{})
		y.ok(err)
		_, err = y.store.Write(ctx, c, y.now(), store.Op{Verb: store.Create, Key: y.key(20_000 + i), Body: body})
		y.ok(err)
	}
	y.ok(y.clock.Advance(time.Second))
	y.ok(y.ReclaimNow(ctx))
	y.swept(c, 6100)
	_, err := y.catalog.ReplaceContainer(ctx, y.now(), c, func(st *catalog.State) (catalog.Definition, error) {
		def := st.Definition
		def.Indexing.Excluded = []string{"/n/?"}
		return def, nil
	})
	y.ok(err)
	y.until("the index", func() bool { return c.State().Building == nil })
	y.consistent()
}
