package store_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv/kvtest"
	"github.com/mayflydb/mayfly/internal/store"
)

var crashes = flag.Int("crashes", 5, "lives that TestCrash begins, each with a dozen crashes")

const (
	writers     = 4
	itemsOfEach = 5
	opsOfEach   = 120
	longLife    = 100_000 // a ttl that no test lives to see
)

// TestCrash lets writers, policy changes, index builds, splits, reclaiming, sweeps and deletions of containers run side
// by side, and copies the file system at random moments with a random share of what was not synced. A store opened on a
// copy has everything that was acknowledged and nothing in part, agrees with itself, and knows as dead whatever someone
// was told is dead. Life goes on from one of the copies.
func TestCrash(t *testing.T) {
	s := *seed
	if s == 0 {
		s = rand.Uint64()
	}
	t.Logf("seed %d", s)
	rng := rand.New(rand.NewPCG(s, 0))
	c := newCrasher(t)
	for range times(*crashes) {
		stops := c.live(rng)
		if t.Failed() || len(stops) == 0 {
			return
		}
		next := rng.IntN(len(stops))
		for i := range stops {
			if i != next {
				c.examine(&stops[i]).close()
			}
		}
		if t.Failed() {
			return
		}
		c.goOn(c.examine(&stops[next]))
	}
	c.close()
}

// A cell is one document as its only writer knows it.
type cell struct {
	n     int64 // 0: there is none
	ttl   expiry.TTL
	stamp expiry.Stamp
	dead  bool // its writer was told so
}

type cells [itemsOfEach]cell

// A writer owns the documents of one partition. states[p] is what they were after its p-th call.
type writer struct {
	*crasher
	pk  string
	rng *rand.Rand

	group *store.SyncGroup // of its calls, nil while each is durable when it returns

	mu      sync.Mutex
	begun   int
	states  []cells
	durable int // calls
}

// A crasher is a world that crashes, and what it has promised.
type crasher struct {
	*world
	fs  *vfs.MemFS
	now atomic.Int64

	writers []*writer
	policy  progress // policies set, by the number in their echo
	churn   progress // containers made and deleted, see churnOnce
	made    []uint32 // the containers of churn
	life    int
}

// A progress counts calls: those begun and those acknowledged.
type progress struct{ begun, done atomic.Int64 }

type bounds struct{ from, until int64 }

// A stop is a copy of the file system and how far everything was around it.
type stop struct {
	fs            *vfs.MemFS
	percent       int
	now           expiry.Stamp // not before anything that was seen
	writers       []bounds
	policy, churn bounds
	recovered     []cells // found by examine
}

func newCrasher(t *testing.T) *crasher {
	c := &crasher{fs: vfs.NewCrashableMem()}
	c.now.Store(1_000_000)
	c.world = &world{t: t, fs: kvtest.Cloneable{MemFS: c.fs}}
	c.open()
	db, err := c.catalog.CreateDatabase(context.Background(), c.now.Load(), "d", nil)
	c.ok(err)
	def := definition(3)
	def.Unique = [][]string{{"/u"}}
	def.Echo = echo(0)
	c.world.c, err = c.catalog.CreateContainer(context.Background(), c.now.Load(), db, def, nil)
	c.ok(err)
	for w := range writers {
		c.writers = append(c.writers, &writer{crasher: c, pk: fmt.Sprint("w", w), states: []cells{{}}})
	}
	return c
}

func echo(n int64) doc.Doc {
	d, err := doc.FromJSON(nil, fmt.Appendf(nil, `{"n":%d}`, n), doc.ParseOptions{})
	if err != nil {
		panic(err)
	}
	return d
}

// goOn makes the world that examine has opened the present one.
func (c *crasher) goOn(ex *examination) {
	c.close()
	c.world, c.fs = ex.world, ex.stop.fs
	c.life++
	c.now.Store(ex.stop.now)
	for i, w := range c.writers {
		w.begun, w.states, w.durable, w.group = 0, []cells{ex.stop.recovered[i]}, 0, nil
	}
	n, _ := doc.AsInt(doc.Lookup(c.c.State().Echo, "n"))
	c.policy.done.Store(n)
	c.policy.begun.Store(n)
	c.churn.done.Store(0)
	c.churn.begun.Store(0)
	c.made = nil
}

// live runs everything side by side until the writers have done their calls.
func (c *crasher) live(rng *rand.Rand) (stops []stop) {
	var mu sync.Mutex
	halt := func(rng *rand.Rand) {
		mu.Lock()
		defer mu.Unlock()
		stops = append(stops, c.stop(rng))
	}
	over := make(chan struct{})
	var background, work sync.WaitGroup
	for i, step := range []func(*rand.Rand) error{c.changePolicy, c.churnOnce, c.reclaim, c.settle, c.divide} {
		own := rand.New(rand.NewPCG(rng.Uint64(), uint64(i)))
		background.Go(func() { c.repeat(over, own, step, halt) })
	}
	for _, w := range c.writers {
		w.rng = rand.New(rand.NewPCG(rng.Uint64(), 9))
		work.Go(func() {
			for range opsOfEach {
				if err := w.act(); err != nil {
					c.t.Errorf("writer %s: %v", w.pk, err)
					return
				}
				if w.rng.IntN(60) == 0 {
					halt(w.rng)
				}
				if w.rng.IntN(40) == 0 {
					c.now.Add(1)
				}
			}
		})
	}
	work.Wait()
	close(over)
	background.Wait()
	return stops
}

func (c *crasher) repeat(over <-chan struct{}, rng *rand.Rand, step func(*rand.Rand) error, halt func(*rand.Rand)) {
	for n := 0; ; n++ {
		select {
		case <-over:
			return
		default:
		}
		if err := step(rng); err != nil {
			c.t.Error(err)
			return
		}
		if n < 500 && rng.IntN(60) == 0 {
			halt(rng)
		}
	}
}

func (c *crasher) stop(rng *rand.Rand) stop {
	st := stop{percent: []int{0, 0, 5, 50, 95, 100}[rng.IntN(6)]}
	for _, w := range c.writers {
		w.mu.Lock()
		st.writers = append(st.writers, bounds{from: int64(w.durable)})
		w.mu.Unlock()
	}
	st.policy.from, st.churn.from = c.policy.done.Load(), c.churn.done.Load()
	st.fs = c.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: st.percent, RNG: rng})
	for i, w := range c.writers {
		w.mu.Lock()
		st.writers[i].until = int64(w.begun)
		w.mu.Unlock()
	}
	st.policy.until, st.churn.until = c.policy.begun.Load(), c.churn.begun.Load()
	st.now = c.now.Load()
	return st
}

// act does one call and writes down what the writer knows after it. Some calls share a sync with those after them.
func (w *writer) act() error {
	switch {
	case w.group == nil && w.rng.IntN(8) == 0:
		w.group = w.store.NewSyncGroup()
	case w.group != nil && w.rng.IntN(8) == 0:
		if err := w.group.Sync(context.Background()); err != nil {
			return err
		}
		w.group = nil
		w.mu.Lock()
		w.durable = len(w.states) - 1
		w.mu.Unlock()
	}
	w.mu.Lock()
	w.begun++
	next := w.states[len(w.states)-1]
	w.mu.Unlock()
	err := w.call(&next)
	w.mu.Lock()
	w.states = append(w.states, next)
	if w.group == nil {
		w.durable = len(w.states) - 1
	}
	w.mu.Unlock()
	return err
}

func (w *writer) call(next *cells) error {
	count := 1
	if w.rng.IntN(3) == 0 {
		count = 2 + w.rng.IntN(2)
	}
	trial := *next
	var ops []store.Op
	var items []int
	for _, item := range w.rng.Perm(itemsOfEach)[:count] {
		op, err := w.operation(item, &trial[item])
		if err != nil {
			return err
		}
		ops, items = append(ops, op), append(items, item)
	}
	results, err := w.store.WriteAll(w.group.With(context.Background()), w.c, w.now.Load(), ops)
	if err == nil {
		for i, item := range items {
			if ops[i].Verb == store.Read {
				if n := linearN(results[i].Body); n != next[item].n || next[item].dead {
					return fmt.Errorf("item %d reads %d, was written as %+v", item, n, next[item])
				}
				continue
			}
			trial[item].stamp = results[i].Stamp
		}
		*next = trial
		return nil
	}
	var failed *store.BatchError
	if !errors.As(err, &failed) {
		return err
	}
	item := items[failed.Index]
	switch kind := fault.KindOf(err); {
	case kind == fault.NotFound:
		if next[item].n != 0 && !next[item].mayDie() {
			return fmt.Errorf("item %d is not found and was written as %+v", item, next[item])
		}
		next[item].dead = true
		return nil
	case kind == fault.Exists: // by its id or its unique key
		return nil
	}
	return err
}

// mayDie reports whether a document's life can end during a test.
func (d cell) mayDie() bool { return d.ttl != expiry.Never && d.ttl != longLife }

// mustLive reports whether it cannot have ended by now: no policy gives less than 2 seconds.
func (d cell) mustLive(now expiry.Stamp) bool {
	return d.n != 0 && !d.dead && (!d.mayDie() || d.stamp+2 > now)
}

// operation makes a random operation on an item and shows what it makes of its cell.
func (w *writer) operation(item int, d *cell) (store.Op, error) {
	verb := []store.Verb{store.Read, store.Create, store.Upsert, store.Upsert, store.Upsert, store.Replace,
		store.Replace, store.Delete}[w.rng.IntN(8)]
	op := store.Op{Verb: verb, Key: key(w.pk, fmt.Sprint(item))}
	switch verb {
	case store.Read:
		return op, nil
	case store.Delete:
		*d = cell{}
		return op, nil
	}
	*d = cell{n: w.rng.Int64N(1<<40) + 1, ttl: []expiry.TTL{expiry.Unset, expiry.Never, 2, 4, longLife}[w.rng.IntN(5)]}
	text := fmt.Sprintf(`{"id":"%d","pk":%q,"n":%d,"u":%d,"pad":%q,"list":[%d,{"x":%d}]`, item, w.pk, d.n,
		w.rng.IntN(3*itemsOfEach),
		strings.Repeat("mayfly ", w.rng.IntN(500)), w.rng.IntN(9), w.rng.IntN(9))
	if d.ttl != expiry.Unset {
		text += fmt.Sprintf(`,"ttl":%d`, d.ttl)
	}
	var err error
	op.Body, err = doc.FromJSON(nil, []byte(text+"}"), doc.ParseOptions{})
	return op, err
}

func (c *crasher) changePolicy(rng *rand.Rand) error {
	n := c.policy.begun.Add(1)
	_, err := c.catalog.ReplaceContainer(context.Background(), c.now.Load(), c.c,
		func(st *catalog.State) (catalog.Definition, error) {
			def := st.Definition
			def.Echo = echo(n)
			def.TTL = []expiry.TTL{expiry.Unset, expiry.Never, 2, 3, 6}[rng.IntN(5)]
			if rng.IntN(4) == 0 {
				def.Indexing.Excluded = [][]string{nil, {"/pad/?"}, {"/list/*"}, {"/*"}}[rng.IntN(4)]
				def.Indexing.Composite = [][]catalog.CompositePath{{{Path: "/n"},
					{Path: "/u", Descending: rng.IntN(2) == 0}}}
			}
			return def, nil
		})
	c.policy.done.Store(n)
	if err != nil {
		return err
	}
	return clock.Pause(context.Background(), time.Duration(rng.IntN(2000))*time.Microsecond)
}

// churnOnce goes one step on: it makes a container, puts a document into it, deletes it, and begins anew.
func (c *crasher) churnOnce(rng *rand.Rand) error {
	ctx, at := context.Background(), c.churn.begun.Add(1)
	defer c.churn.done.Store(at)
	name := fmt.Sprint("churn ", c.life, "/", (at-1)/3)
	switch at % 3 {
	case 1:
		def := definition(1)
		def.Name = name
		ct, err := c.catalog.CreateContainer(ctx, c.now.Load(), c.c.Database, def, nil)
		if err == nil {
			c.made = append(c.made, ct.ID)
		}
		return err
	case 2:
		ct, err := c.catalog.Container(c.c.Database, name)
		if err != nil {
			return err
		}
		for n := range 4 {
			body, err := doc.FromJSON(nil, fmt.Appendf(nil, `{"id":"%d","pk":"p","ttl":%d}`, n, []int{-1, 1}[n%2]),
				doc.ParseOptions{})
			if err != nil {
				return err
			}
			if _, err = c.store.Write(ctx, ct, c.now.Load(),
				store.Op{Verb: store.Upsert, Key: key("p", fmt.Sprint(n)), Body: body}); err != nil {
				return err
			}
		}
		return nil
	}
	ct, err := c.catalog.Container(c.c.Database, name)
	if err != nil {
		return err
	}
	return c.catalog.DeleteContainer(ctx, ct)
}

func (c *crasher) reclaim(rng *rand.Rand) error {
	for _, ct := range c.store.Containers() {
		_, err := c.store.Reclaim(context.Background(), ct, c.now.Load(), 1+rng.IntN(40))
		if err == nil && rng.IntN(2) == 0 {
			_, err = c.store.Sweep(context.Background(), ct, 1+rng.IntN(200))
		}
		if err != nil && fault.KindOf(err) != fault.OwnerNotFound {
			return fmt.Errorf("reclaim: %w", err)
		}
	}
	return nil
}

// settle compacts now and then, so that crashes meet flushes too.
func (c *crasher) settle(rng *rand.Rand) error {
	if err := clock.Pause(context.Background(), time.Duration(rng.IntN(20))*time.Millisecond); err != nil {
		return err
	}
	return c.store.Settle(context.Background(), c.c)
}

// divide splits a range now and then.
func (c *crasher) divide(rng *rand.Rand) error {
	if err := clock.Pause(context.Background(), time.Duration(rng.IntN(10))*time.Millisecond); err != nil {
		return err
	}
	return c.splitAny(rng.IntN(1 << 20))
}

// An examination is a world opened on a copy.
type examination struct {
	*world
	stop *stop
}

// examine opens a copy and holds it against what was promised.
func (c *crasher) examine(st *stop) *examination {
	c.t.Helper()
	ex := &examination{world: &world{t: c.t, fs: kvtest.Cloneable{MemFS: st.fs}, c: c.world.c, now: st.now}, stop: st}
	ex.open()
	ex.consistent()
	ex.policy(c)
	ex.churn(c)
	if rand.IntN(2) == 0 {
		ex.splitEnds()
	}
	var alive []string
	for i, w := range c.writers {
		alive = append(alive, ex.writer(w, st.writers[i])...)
	}
	ex.splitEnds()
	for name, got := range map[string]string{"scan": ex.scan(access.Access{}), "feed": ex.feed(nil, 0)} {
		list := strings.Fields(got)
		slices.Sort(list)
		slices.Sort(alive)
		if !slices.Equal(list, alive) {
			c.t.Errorf("%s: the %s has %v, point reads %v", ex, name, list, alive)
		}
	}
	ex.built()
	ex.consistent()
	return ex
}

func (ex *examination) String() string {
	return fmt.Sprintf("crash with %d%% of unsynced data at %d", ex.stop.percent, ex.now)
}

// writer finds a moment of the writer's history that explains all its documents, and returns those alive.
func (ex *examination) writer(w *writer, in bounds) (alive []string) {
	var got cells
	for item := range got {
		got[item].dead = true
		err := ex.store.Read(context.Background(), ex.view(), key(w.pk, fmt.Sprint(item)),
			func(d access.Document) error {
				got[item] = cell{n: linearN(d.Body), ttl: d.TTL, stamp: d.Stamp}
				return nil
			})
		if err == nil {
			alive = append(alive, fmt.Sprint(item))
		} else if fault.KindOf(err) != fault.NotFound {
			ex.t.Errorf("%s: %v", ex, err)
		}
	}
	for p := in.from; p <= in.until; p++ {
		was := w.states[p]
		if !explains(was, got, ex.now) {
			continue
		}
		for item := range was {
			was[item].dead = was[item].dead || got[item].dead
		}
		ex.stop.recovered = append(ex.stop.recovered, was)
		return alive
	}
	ex.t.Errorf("%s: writer %s has\n%+v\nafter calls %d to %d it had\n%+v", ex, w.pk, got, in.from, in.until,
		w.states[in.from:in.until+1])
	return alive
}

func explains(was, got cells, now expiry.Stamp) bool {
	for item, d := range was {
		if got[item].dead {
			if d.mustLive(now) {
				return false
			}
		} else if d.dead || got[item].n != d.n || got[item].ttl != d.ttl || got[item].stamp != d.stamp {
			return false
		}
	}
	return true
}

func (ex *examination) policy(c *crasher) {
	n, _ := doc.AsInt(doc.Lookup(ex.c.State().Echo, "n"))
	if in := ex.stop.policy; n < in.from || n > in.until {
		ex.t.Errorf("%s: policy %d is in force, those from %d to %d may be", ex, n, in.from, in.until)
	}
}

// churn checks that deleted containers left nothing and the others are there.
func (ex *examination) churn(c *crasher) {
	for i, id := range c.made {
		made, deleted := int64(3*i+1), int64(3*i+3)
		_, err := ex.catalog.ContainerByID(id)
		switch in := ex.stop.churn; {
		case in.from >= deleted && err == nil, in.until < deleted && in.from >= made && err != nil:
			ex.t.Errorf("%s: container %d, made by call %d and deleted by call %d of %d to %d: %v", ex, id, made,
				deleted, in.from, in.until, err)
		}
		if err != nil {
			ex.nothingLeft(id)
		}
	}
}

// nothingLeft checks that a container that is not there has no keys.
func (w *world) nothingLeft(container uint32) {
	w.t.Helper()
	lower, upper := keys.ContainerBounds(container)
	it, err := w.engine.Iterate(context.Background(), lower, upper)
	w.ok(err)
	for it.Next() {
		w.t.Errorf("deleted container %d has left %q", container, it.Key())
	}
	w.ok(it.Close())
}

// built waits until no index build is under way.
func (w *world) built() {
	w.t.Helper()
	for w.c.State().Building != nil {
		w.ok(clock.Pause(context.Background(), time.Millisecond))
	}
}

// TestReclaimDeclaresDeath stops the machine after the first of three dead
// documents was reclaimed, and lets its clock go wrong: the others are dead for good all the same.
func TestReclaimDeclaresDeath(t *testing.T) {
	c := newCrasher(t)
	w := c.world
	for i, rest := range []string{``, ``, `"ttl":2`, `"ttl":3`, `"ttl":50`} {
		w.now = c.now.Load()
		_, err := w.write(w.put(store.Create, "p", fmt.Sprint(i),
			rest+strings.Repeat(`,`, min(1, len(rest)))+fmt.Sprintf(`"u":%d`, i)))
		w.ok(err)
	}
	w.now += 3
	done, err := w.store.Reclaim(context.Background(), w.c, w.now, 1)
	w.ok(err)
	if done.Documents != 1 || !done.More {
		t.Fatalf("reclaimed %+v", done)
	}
	for _, percent := range []int{0, 100} {
		copied := c.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rand.New(rand.NewPCG(1, 1))})
		after := &world{t: t, fs: kvtest.Cloneable{MemFS: copied}, c: w.c, now: w.now - 3}
		after.open()
		for _, ttl := range []expiry.TTL{3, 1000, expiry.Unset, expiry.Never} {
			after.setTTL(ttl)
			for i := range 5 {
				if alive := after.alive("p", fmt.Sprint(i)); alive != (i == 4) {
					t.Errorf("%d%% of unsynced data, container ttl %d: document %d alive %v", percent, ttl, i, alive)
				}
			}
		}
		after.setTTL(10)
		_, err := after.write(after.put(store.Create, "p", "new", `"ttl":1`))
		after.ok(err)
		if !after.alive("p", "new") {
			t.Error("a new document is born dead")
		}
		after.consistent()
		after.close()
	}
	c.close()
}
