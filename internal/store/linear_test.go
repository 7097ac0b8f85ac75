package store_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/pebble"
	"github.com/mayflydb/mayfly/internal/store"
)

var histories = flag.Int("histories", 12, "histories that TestLinearizable makes")

const (
	linearItems   = 3
	linearClients = 6
	linearOps     = 60 // of each client
	uniqueValues  = 4
)

// TestLinearizable lets many clients work on few documents while the clock moves,
// policies change and the dead are reclaimed, and asks whether one serial order,
// that of the sequences of each range, explains everything that anyone was told. In it a document that is dead once
// stays dead.
func TestLinearizable(t *testing.T) {
	for run := range times(*histories) {
		s := *seed
		if s == 0 {
			s = rand.Uint64()
		}
		t.Run(fmt.Sprintf("seed=%d", s), func(t *testing.T) {
			withRanges(t, func(t *testing.T, ranges int) { checkHistory(t, s, run%2 == 1, ranges) })
		})
	}
}

// An attempt is what a client asks for: a move of the clock, a policy, or operations.
type attempt struct {
	tick    expiry.Stamp // the clock moves here
	since   expiry.Stamp // no stamp that is given out can be older
	policy  *expiry.TTL
	ops     []linearOp
	indexed string // an indexing policy, which must not matter to anyone
	divides bool   // a range is split, which must not either
}

// A linearOp is one operation as the model understands it.
type linearOp struct {
	verb    store.Verb
	item    int
	n       int64 // the value written
	unique  int   // under the unique constraint
	ttl     expiry.TTL
	ifMatch *access.Version
}

// An answer is what the client was told.
type answer struct {
	failed fault.Kind // 0 if it went through
	index  int        // of the operation that failed
	told   []told
}

type told struct {
	version access.Version
	n       int64
	created bool
}

// linearState is the model: living documents only, since what is dead stays so.
type linearState struct {
	now   expiry.Stamp
	split bool      // the last item is in a partition of another range
	lag   bool      // a stamp may be older than the commit, which takes time, and nobody waits for it (D-91)
	seq   [2]uint64 // of each range
	ttl   expiry.TTL
	items [linearItems]linearItem
}

// home is the partition that an item is in.
func home(split bool, item int) int {
	if split && item == linearItems-1 {
		return 1
	}
	return 0
}

// write gives out the next sequence of an item's range. told is the stamp that the client was told.
func (s *linearState) write(item int, since, told expiry.Stamp) access.Version {
	seq := &s.seq[home(s.split, item)]
	*seq++
	if s.lag && since <= told && told < s.now {
		return access.Version{Sequence: *seq, Stamp: told}
	}
	return access.Version{Sequence: *seq, Stamp: s.now}
}

type linearItem struct {
	alive  bool
	wrote  access.Version
	n      int64
	unique int
	ttl    expiry.TTL
}

// settle takes those out whose time has come.
func (s linearState) settle() linearState {
	for i, d := range s.items {
		life := d.ttl
		if life == expiry.Unset {
			life = s.ttl
		}
		if d.alive && s.ttl != expiry.Unset && life > 0 && d.wrote.Stamp+int64(life) <= s.now {
			s.items[i] = linearItem{}
		}
	}
	return s
}

// step is the whole specification.
func (s linearState) step(a attempt, out answer) (bool, linearState) {
	switch {
	case a.tick != 0:
		s.now = a.tick
		return true, s.settle()
	case a.policy != nil:
		s.ttl = *a.policy
		return true, s.settle()
	case a.indexed != "":
		return true, s
	}
	before := s
	for i, op := range a.ops {
		var stamp expiry.Stamp
		if i < len(out.told) {
			stamp = out.told[i].version.Stamp
		}
		kind, result := s.do(op, a.since, stamp)
		if kind != 0 {
			return out.failed == kind && out.index == i, before
		}
		if out.failed == 0 && out.told[i] != result {
			return false, before
		}
	}
	return out.failed == 0, s.settle()
}

func (s *linearState) do(op linearOp, since, stamp expiry.Stamp) (fault.Kind, told) {
	d := &s.items[op.item]
	switch {
	case op.verb == store.Create && d.alive:
		return fault.Exists, told{}
	case !d.alive && op.verb != store.Create && op.verb != store.Upsert:
		return fault.NotFound, told{}
	case op.ifMatch != nil && d.alive && *op.ifMatch != d.wrote:
		return fault.Precondition, told{}
	case op.verb == store.Read:
		return 0, told{version: d.wrote, n: d.n}
	case op.verb == store.Delete:
		gone := told{version: s.write(op.item, since, stamp), n: d.n}
		*d = linearItem{}
		return 0, gone
	}
	next := linearItem{alive: true, n: op.n, unique: op.unique, ttl: op.ttl}
	if op.verb == store.Patch {
		next.n = d.n + 1
	}
	for i, other := range s.items {
		same := home(s.split, i) == home(s.split, op.item)
		if i != op.item && same && other.alive && other.unique == next.unique {
			return fault.Exists, told{}
		}
	}
	next.wrote = s.write(op.item, since, stamp)
	created := !d.alive
	*d = next
	return 0, told{version: next.wrote, n: next.n, created: created}
}

// A race is one history in the making.
type race struct {
	*world
	street  *street      // whose processes the clients use in turn, nil if there is only the world
	split   bool         // see linearState
	order   atomic.Int64 // gives every call and return its place
	now     atomic.Int64
	ticking sync.Mutex
	mu      sync.Mutex
	history []porcupine.Operation
}

func checkHistory(t *testing.T, seed uint64, batches bool, ranges int) {
	def := definition(2)
	def.Unique, def.Partitions = [][]string{{"/u"}}, ranges
	r := &race{world: newWorld(t, def), split: ranges > 1}
	r.through(hesitant{r.engine})
	r.run(seed, batches, ranges)
}

// run makes a history and checks it.
func (r *race) run(seed uint64, batches bool, ranges int) {
	t := r.t
	if r.split && r.rangeOf(linearPartitions[0]) == r.rangeOf(linearPartitions[1]) {
		t.Fatal("both partitions are in one range")
	}
	r.now.Store(r.world.now)
	start := linearState{now: r.world.now, ttl: 2, split: r.split, lag: r.street != nil}
	rng := rand.New(rand.NewPCG(seed, 1))
	over := make(chan struct{})
	var background, clients sync.WaitGroup
	background.Go(func() { r.housekeeping(over, rand.New(rand.NewPCG(seed, 2))) })
	followed := make([][]feedStep, ranges)
	for number := range followed {
		background.Go(func() { followed[number] = r.follow(uint16(number), over) })
	}
	for id := range linearClients {
		own := rand.New(rand.NewPCG(rng.Uint64(), 3))
		clients.Go(func() { r.client(id, own, batches) })
	}
	clients.Wait()
	close(over)
	background.Wait()
	if t.Failed() {
		return
	}
	r.checkFeed(slices.Concat(followed...))
	r.world.now = r.now.Load()
	r.consistent()
	model := porcupine.Model{
		Init: func() any { return start },
		Step: func(state, in, out any) (bool, any) {
			return state.(linearState).step(in.(attempt), out.(answer))
		},
		DescribeOperation: func(in, out any) string { return fmt.Sprintf("%s -> %+v", in.(attempt), out) },
	}
	switch verdict, info := porcupine.CheckOperationsVerbose(model, r.history, time.Minute); verdict {
	case porcupine.Illegal:
		t.Error("no serial order explains the history")
		r.explain(model, info)
	case porcupine.Unknown:
		t.Error("the history is too hard to check within a minute")
	}
}

func (a attempt) String() string {
	switch {
	case a.tick != 0:
		return fmt.Sprint("clock ", a.tick)
	case a.policy != nil:
		return fmt.Sprint("ttl ", *a.policy)
	case a.indexed != "":
		return "indexing"
	case a.divides:
		return "split"
	}
	text := ""
	for _, op := range a.ops {
		text += fmt.Sprintf("[verb %d item %d n %d u %d ttl %d match %v]", op.verb, op.item, op.n, op.unique, op.ttl,
			op.ifMatch)
	}
	return text
}

// explain shows the calls around the first that no order explains.
func (r *race) explain(model porcupine.Model, info porcupine.LinearizationInfo) {
	longest := info.PartialLinearizationsOperations()[0]
	best := longest[0]
	for _, l := range longest {
		if len(l) > len(best) {
			best = l
		}
	}
	taken := map[int64]bool{}
	for _, op := range best {
		taken[op.Call] = true
	}
	for _, op := range best[max(0, len(best)-12):] {
		r.t.Logf("explained [%d,%d] %s", op.Call, op.Return, model.DescribeOperation(op.Input, op.Output))
	}
	shown := 0
	for _, op := range r.history {
		if !taken[op.Call] && shown < 12 {
			shown++
			r.t.Logf("left      [%d,%d] %s", op.Call, op.Return, model.DescribeOperation(op.Input, op.Output))
		}
	}
}

// client does operations one after the other and writes down what it was told.
func (r *race) client(id int, rng *rand.Rand, batches bool) {
	known := map[int]access.Version{}
	for range linearOps {
		a := r.choose(rng, known, batches)
		if rng.IntN(12) == 0 {
			r.tick(id)
		}
		a.since = r.now.Load() - 1 // a process may not have heard of the last second
		call := r.order.Add(1)
		out, err := r.perform(r.at(id), a, r.now.Load())
		done := r.order.Add(1)
		if err != nil {
			r.t.Errorf("%v: %v", a, err)
			return
		}
		r.note(porcupine.Operation{ClientId: id, Input: a, Output: out, Call: call, Return: done})
		for i, x := range out.told {
			known[a.ops[i].item] = x.version
		}
	}
}

func (r *race) tick(id int) {
	r.ticking.Lock()
	defer r.ticking.Unlock()
	call := r.order.Add(1)
	to := r.now.Add(1)
	if r.street != nil {
		r.street.cluster.Move(time.Second)
	}
	r.note(porcupine.Operation{ClientId: id, Input: attempt{tick: to}, Output: answer{}, Call: call,
		Return: r.order.Add(1)})
}

func (r *race) note(op porcupine.Operation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history = append(r.history, op)
}

func (r *race) choose(rng *rand.Rand, known map[int]access.Version, batches bool) attempt {
	switch n := rng.IntN(40); {
	case n == 0:
		ttl := []expiry.TTL{expiry.Unset, expiry.Never, 1, 2, 3}[rng.IntN(5)]
		return attempt{policy: &ttl}
	case n == 1:
		return attempt{indexed: []string{"/n/?", "/u/?"}[rng.IntN(2)]}
	case n == 2:
		return attempt{divides: true}
	}
	count := 1
	if batches && rng.IntN(2) == 0 {
		count = 2
	}
	var a attempt
	for range count {
		a.ops = append(a.ops, chooseOp(rng, known))
	}
	if count == 2 && a.ops[0].item == a.ops[1].item {
		// A second operation on one document has no version to match: the first gets its own only with the commit.
		a.ops[1].ifMatch = nil
		if rng.IntN(2) == 0 {
			a.ops[0].verb, a.ops[1].verb = store.Delete, store.Create // another document of the same name
		}
	}
	return a
}

func chooseOp(rng *rand.Rand, known map[int]access.Version) linearOp {
	op := linearOp{
		verb: []store.Verb{store.Read, store.Read, store.Read, store.Create, store.Create, store.Upsert,
			store.Replace, store.Replace, store.Patch, store.Patch, store.Delete}[rng.IntN(11)],
		item:   rng.IntN(linearItems),
		n:      rng.Int64N(1 << 40),
		unique: rng.IntN(uniqueValues),
		ttl:    []expiry.TTL{expiry.Unset, expiry.Unset, expiry.Never, 1, 2, 3}[rng.IntN(6)],
	}
	if v, ok := known[op.item]; ok && rng.IntN(3) == 0 && op.verb != store.Create && op.verb != store.Read {
		op.ifMatch = &v
	}
	return op
}

// at is the world that a client uses.
func (r *race) at(client int) *world {
	if r.street == nil {
		return r.world
	}
	return r.street.worlds[client%len(r.street.worlds)]
}

// perform does an attempt at the instant now. The error is one that no client should see.
func (r *race) perform(w *world, a attempt, now expiry.Stamp) (answer, error) {
	ctx := context.Background()
	if a.divides {
		return answer{}, w.splitAny(int(now))
	}
	if a.policy != nil || a.indexed != "" {
		_, err := w.catalog.ReplaceContainer(ctx, now, w.c, func(st *catalog.State) (catalog.Definition, error) {
			def := st.Definition
			if a.policy != nil {
				def.TTL = *a.policy
			} else {
				def.Indexing.Excluded = []string{a.indexed}
			}
			return def, nil
		})
		return answer{}, err
	}
	if op := a.ops[0]; len(a.ops) == 1 && op.verb == store.Read && op.n%2 == 0 {
		return r.pointRead(w, op, now)
	}
	ops := make([]store.Op, len(a.ops))
	for i, op := range a.ops {
		ops[i] = r.storeOp(op)
	}
	results, err := w.store.WriteAll(ctx, w.c, now, ops)
	if err != nil {
		return refused(err)
	}
	var out answer
	for i, result := range results {
		out.told = append(out.told, told{version: result.Version, n: linearN(result.Body), created: result.Created})
		if a.ops[i].verb == store.Delete {
			out.told[i].created = false
		}
	}
	return out, nil
}

// splitAny begins to split one of the ranges, unless that is not possible at present.
func (w *world) splitAny(at int) error {
	ranges := w.c.State().Ranges()
	if len(ranges) >= 10 {
		return nil
	}
	_, err := w.store.Split(context.Background(), w.c, ranges[at%len(ranges)].Number, nil)
	switch fault.KindOf(err) {
	case fault.Exists, fault.NotFound: // another split or an index build is under way, or the range is split already
		return nil
	}
	return err
}

// refused makes an answer of a failure that a client may see.
func refused(err error) (answer, error) {
	kind := fault.KindOf(err)
	switch kind {
	case fault.NotFound, fault.Exists, fault.Precondition:
	default:
		return answer{}, err
	}
	var batch *store.BatchError
	if errors.As(err, &batch) {
		return answer{failed: kind, index: batch.Index}, nil
	}
	return answer{failed: kind}, nil
}

// pointRead goes the short way of reads.
func (r *race) pointRead(w *world, op linearOp, now expiry.Stamp) (answer, error) {
	v, err := w.c.Enter(context.Background(), now)
	if err != nil {
		return answer{}, err
	}
	var out answer
	err = w.store.Read(context.Background(), v, r.linearKey(op.item), func(d access.Document) error {
		out.told = []told{{version: d.Version, n: linearN(d.Body)}}
		return nil
	})
	if err != nil {
		return refused(err)
	}
	return out, nil
}

// linearPartitions are in two ranges of four.
var linearPartitions = []string{"p", "r"}

func (r *race) linearKey(item int) store.Key {
	return key(linearPartitions[home(r.split, item)], fmt.Sprint("d", item))
}

func linearN(body doc.Doc) int64 {
	n, _ := doc.AsInt(doc.Lookup(body, "n"))
	return n
}

func (r *race) linearBody(op linearOp, n int64) (doc.Doc, error) {
	pk := linearPartitions[home(r.split, op.item)]
	text := fmt.Sprintf(`{"id":"d%d","pk":%q,"n":%d,"u":%d`, op.item, pk, n, op.unique)
	if op.ttl != expiry.Unset {
		text += fmt.Sprintf(`,"ttl":%d`, op.ttl)
	}
	return doc.FromJSON(nil, []byte(text+"}"), doc.ParseOptions{})
}

func (r *race) storeOp(op linearOp) store.Op {
	body, err := r.linearBody(op, op.n)
	if err != nil {
		r.t.Error(err)
	}
	o := store.Op{Verb: op.verb, Key: r.linearKey(op.item), Body: body, IfMatch: op.ifMatch}
	if op.verb == store.Patch {
		o.Body = nil
		o.Edit = func(d access.Document) (doc.Doc, error) { return r.linearBody(op, linearN(d.Body)+1) }
	}
	return o
}

// housekeeping does what no client may notice.
func (r *race) housekeeping(over <-chan struct{}, rng *rand.Rand) {
	for {
		select {
		case <-over:
			return
		default:
		}
		if _, err := r.store.Reclaim(context.Background(), r.c, r.now.Load(), 1+rng.IntN(3)); err != nil {
			r.t.Errorf("reclaim: %v", err)
			return
		}
		if _, err := r.store.Sweep(context.Background(), r.c, 1+rng.IntN(20)); err != nil {
			r.t.Errorf("sweep: %v", err)
			return
		}
	}
}

// A feedStep is one change that a follower of the feed was shown.
type feedStep struct {
	id       string
	sequence uint64
}

// follow reads the change feed of a range, and of those which it is split into, from sequence to sequence until all is
// over and it has seen the end.
func (r *race) follow(number uint16, over <-chan struct{}) (seen []feedStep) {
	places := map[uint16]uint64{}
	for last := false; ; {
		v, err := r.c.Enter(context.Background(), r.now.Load())
		if err != nil {
			r.t.Error(err)
			return nil
		}
		moved := false
		for _, x := range v.Ranges() {
			if !x.Descends(number) {
				continue
			}
			after := places[x.Number]
			for _, parent := range x.Parents { // a place is good for each of the ranges that come of its range
				after = max(after, places[parent])
			}
			for d, err := range r.store.Changes(context.Background(), v, x.Number, nil, after) {
				if err == store.ErrRangeGone {
					moved = true
					break
				}
				if err != nil {
					r.t.Error(err)
					return nil
				}
				if d.Sequence <= after {
					r.t.Errorf("the feed shows sequence %d after %d", d.Sequence, after)
				}
				after = d.Sequence
				id, _ := doc.AsString(doc.Lookup(d.Body, "id"))
				seen = append(seen, feedStep{string([]byte(id)), d.Sequence})
			}
			places[x.Number] = after
		}
		if moved {
			continue
		}
		if last {
			return seen
		}
		select {
		case <-over:
			last = true
		default:
		}
	}
}

// checkFeed holds what the follower has seen against what there is in the end.
func (r *race) checkFeed(seen []feedStep) {
	newest := map[string]uint64{}
	for _, s := range seen {
		newest[s.id] = s.sequence
	}
	r.world.now = r.now.Load()
	for d, err := range r.store.Scan(context.Background(), r.view(), access.Access{}) {
		if err != nil {
			r.t.Fatal(err)
		}
		id, _ := doc.AsString(doc.Lookup(d.Body, "id"))
		if newest[id] != d.Sequence {
			r.t.Errorf("the follower has seen %s at sequence %d last, it is at %d", id, newest[id], d.Sequence)
		}
	}
}

// through opens catalog and store anew on an engine that wraps the present one.
func (w *world) through(engine kv.Engine) {
	w.t.Helper()
	w.ok(w.store.Close())
	var err error
	w.catalog, err = catalog.Open(context.Background(), engine, nil)
	w.ok(err)
	w.store, err = store.Open(context.Background(), engine, w.catalog)
	w.ok(err)
	w.c, err = w.catalog.ContainerByID(w.c.ID)
	w.ok(err)
}

// A hesitant engine lets others go first now and then, so that calls that are over in microseconds meet.
type hesitant struct{ *pebble.Engine }

func hesitate() {
	for range rand.IntN(4) {
		runtime.Gosched()
	}
}

func (e hesitant) Get(ctx context.Context, key []byte, use func([]byte) error) (bool, error) {
	hesitate()
	return e.Engine.Get(ctx, key, use)
}

func (e hesitant) View(ctx context.Context) (kv.View, error) {
	v, err := e.Engine.View(ctx)
	v.Reader = e
	return v, err
}

func (e hesitant) Apply(ctx context.Context, b *kv.Batch) error {
	hesitate()
	for i := range b.Orders {
		place := b.Orders[i].Place
		b.Orders[i].Place = func(last []byte, b *kv.Batch) ([]byte, error) {
			next, err := place(last, b)
			hesitate()
			return next, err
		}
	}
	return e.Engine.Apply(ctx, b)
}

// A halting engine stops one batch when its place is given out and before it is visible.
type halting struct {
	*pebble.Engine
	halt    atomic.Pointer[func()] // what happens meanwhile, nil once it has
	arrived chan struct{}          // has something when another batch has come meanwhile
}

func (e *halting) Apply(ctx context.Context, b *kv.Batch) error {
	meanwhile := e.halt.Swap(nil)
	if meanwhile == nil {
		select {
		case e.arrived <- struct{}{}:
		default:
		}
		return e.Engine.Apply(ctx, b)
	}
	for i := range b.Orders {
		place := b.Orders[i].Place
		b.Orders[i].Place = func(last []byte, b *kv.Batch) ([]byte, error) {
			next, err := place(last, b)
			(*meanwhile)()
			return next, err
		}
	}
	return e.Engine.Apply(ctx, b)
}

// TestNoWriteRevivesWhatIsReportedDead holds a replacement of a document between its
// last look at the clock and its commit, while somebody asks for the document at its deadline.
func TestNoWriteRevivesWhatIsReportedDead(t *testing.T) {
	w := newWorld(t, definition(expiry.Never))
	e := &halting{Engine: w.engine}
	w.through(e)
	_, err := w.write(w.put(store.Create, "p", "a", `"ttl":1`))
	w.ok(err)
	answered := make(chan error, 1)
	meanwhile := func() {
		read := make(chan struct{})
		go func() {
			v, err := w.c.Enter(context.Background(), w.now+1)
			if err == nil {
				err = w.store.Read(context.Background(), v, key("p", "a"), func(access.Document) error { return nil })
			}
			answered <- err
			close(read)
		}()
		select {
		case <-read:
		case <-e.arrived:
		}
	}
	e.arrived = make(chan struct{}, 1)
	e.halt.Store(&meanwhile)
	if _, err = w.write(w.put(store.Replace, "p", "a", `"ttl":100`)); err != nil {
		t.Fatalf("replace: %v", err)
	}
	told := <-answered
	w.now++
	if alive := w.alive("p", "a"); alive != (told == nil) {
		t.Errorf("a read at the deadline was told %v, a later one finds the document %v", told, alive)
	}
}
