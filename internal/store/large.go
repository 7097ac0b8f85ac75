package store

import (
	"context"
	"hash/maphash"
	"slices"
	"time"

	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
)

// A write of large documents takes the memory for their index entries from the share of its context before it makes
// them (budget.Of), shares the processors while it does, and has a turn of its own for the commit, which cannot stop halfway. One document
// of 1.7 MB may have 250,000 entries, which take about 50 MB until the engine has them. What small documents take is not worth a look.

// What makes a write a large one.
const (
	largeBody    = 64 << 10 // bytes of documents, before and after
	largeEntries = 4_096    // entries, of which a commit is not over in a moment
)

// What one entry takes besides its key, which is there twice, in the transaction and in the batch of the engine: its places
// in terms.list and txn.entries, its kv.Op, and the engine's own account of it.
const entryBytes = 8 + 12 + 72 + 24

// entryTime is about how long the engine takes for one entry of a batch.
const entryTime = 700 * time.Nanosecond

// A work is what a large write has to do with others: it may be told to wait, or to end.
type work struct {
	ctx   context.Context
	share *budget.Share
	steps int
	err   error // why it must end

	counting bool // entries are counted, and not kept
	count    int
	size     int
}

// stepsOfYield is how many steps, each of less than a microsecond, pass between two questions.
const stepsOfYield = 1 << 10

// step reports whether the work must end.
func (w *work) step() (over bool) {
	if w.steps++; w.steps%stepsOfYield == 0 && w.err == nil {
		w.err = w.share.Yield(w.ctx)
	}
	return w.err != nil
}

// counts counts an entry. It reports false when entries are kept.
func (w *work) counts(bytes int) bool {
	if w.counting {
		w.count++
		w.size += bytes
	}
	return w.counting
}

// hold takes memory until the transaction ends.
func (t *txn) hold(ctx context.Context, n int) error {
	if t.share == nil {
		t.share = budget.Of(ctx)
	}
	if err := t.share.Take(ctx, int64(n)); err != nil {
		return err
	}
	t.taken += int64(n)
	return nil
}

// holdBody is hold for a document that is read or copied, if it is a large one.
func (t *txn) holdBody(body doc.Doc) error {
	if t.ctx == nil || len(body) < largeBody {
		return nil
	}
	return t.hold(t.ctx, len(body))
}

// giveBack ends what hold has begun.
func (t *txn) giveBack() {
	if t.share != nil {
		t.share.Give(t.taken)
	}
	t.ctx, t.share, t.taken, t.work = nil, nil, 0, work{}
	t.terms[0].work, t.terms[1].work = nil, nil
}

// arrive enters the container once more when the write may have waited.
func (t *txn) arrive(ctx context.Context) error {
	if t.s.now == nil || !budget.Of(ctx).Counted() {
		return nil
	}
	_, err := t.v.Container.Enter(ctx, t.s.now())
	return err
}

// large reports whether what the transaction writes makes it a large write.
func (t *txn) large() bool {
	n := 0
	for _, sl := range t.slots {
		if sl.written {
			n += len(sl.body) + len(sl.record)
		}
	}
	return n >= largeBody
}

// weigh counts the entries that the documents have, before and after, takes the memory for them, and makes room
// for them of just that size.
func (t *txn) weigh(ctx context.Context) error {
	w := &t.work
	*w = work{ctx: ctx, share: budget.Of(ctx)}
	all, size := 0, 0
	var counts, sizes [2]int
	for side := range t.terms {
		w.counting, w.count, w.size = true, 0, 0
		t.terms[side].work = w
		for _, sl := range t.slots {
			if sl.written {
				t.gatherAll(&t.terms[side], sl.side(side))
			}
		}
		counts[side], sizes[side] = w.count, w.size
		all, size = all+w.count, size+w.size
	}
	if w.counting = false; w.err != nil {
		return w.err
	}
	if err := t.hold(ctx, all*entryBytes+2*size); err != nil {
		return err
	}
	for side := range t.terms {
		x := &t.terms[side]
		x.bytes, x.list = slices.Grow(x.bytes, sizes[side]), slices.Grow(x.list, counts[side])
	}
	t.entries = slices.Grow(t.entries, all)
	return nil
}

// gatherAll goes through the entries of a document in all indexes.
func (t *txn) gatherAll(x *terms, body doc.Doc) {
	rng := t.v.Container.Keys()
	for i, m := range t.x.matchers {
		if m != nil {
			x.gather(m, rng, t.x.generations[i], body)
		}
	}
	for _, n := range t.x.named {
		_, _ = x.gatherNamed(n, rng, body) // who makes the entries meets the error again
	}
}

// side is the document before the transaction, and after it.
func (sl *slot) side(side int) doc.Doc {
	switch {
	case side == 0:
		return sl.body
	case sl.record == nil:
		return nil
	}
	return sl.record[keys.HeaderBytes:]
}

// lanes let large writes of one document go one after the other: each of those that met another one would make
// its entries again, for nothing. Documents may share a lane.
type lanes struct {
	seed maphash.Seed
	all  [256]chan struct{}
}

func newLanes() *lanes {
	l := &lanes{seed: maphash.MakeSeed()}
	for i := range l.all {
		l.all[i] = make(chan struct{}, 1)
	}
	return l
}

// enter waits for the lane of a document, and gives the function that leaves it.
func (l *lanes) enter(ctx context.Context, container uint32, id string) (leave func(), err error) {
	lane := l.all[(maphash.String(l.seed, id)+uint64(container))%uint64(len(l.all))]
	select {
	case lane <- struct{}{}:
		return func() { <-lane }, nil
	default:
	}
	budget.Of(ctx).Rest()
	timed, cancel := context.WithTimeoutCause(ctx, lanePatience, errLane)
	defer cancel()
	select {
	case lane <- struct{}{}:
		return func() { <-lane }, nil
	case <-timed.Done():
		return nil, context.Cause(timed)
	}
}

// lanePatience is how long a write waits for a lane. It holds its document meanwhile, which others may need the memory of.
const lanePatience = 5 * time.Second

var errLane = fault.New(fault.Busy, "Other large writes of the same document are under way. Try again.")
