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

// A write of large documents takes the memory for their index entries from the share of its context (budget.Of) before
// it makes them, yields the processor while it does, and waits for a turn for the commit, which cannot stop halfway.
// One document of 1.7 MB may have 250,000 entries, which take about 50 MB until the engine has them. Small documents
// take too little to account for.

// What makes a write a large one.
const (
	largeBody    = 64 << 10 // bytes of documents, before and after
	largeEntries = 4_096    // entries: their commit takes milliseconds
)

// entryBytes is what one entry takes in addition to its key: its places in terms.list and writeSet.entries, its kv.Op,
// and what the engine keeps about it. The key is in memory twice, in the write set and in the engine's batch.
const entryBytes = 8 + 12 + 72 + 24

// entryTime is about how long the engine takes for one entry of a batch.
const entryTime = 700 * time.Nanosecond

// A work counts the steps of a large write, which lets others run in between and may have to end.
type work struct {
	ctx   context.Context
	share *budget.Share
	steps int
	err   error // why it must end
}

// stepsOfYield is how many steps, each of less than a microsecond, pass between two calls of Yield.
const stepsOfYield = 1 << 10

// step reports whether the work must end.
func (w *work) step() (over bool) {
	if w.steps++; w.steps%stepsOfYield == 0 && w.err == nil {
		w.err = w.share.Yield(w.ctx)
	}
	return w.err != nil
}

// hold takes memory until the transaction ends.
func (ws *writeSet) hold(ctx context.Context, n int) error {
	if ws.share == nil {
		ws.share = budget.Of(ctx)
	}
	if err := ws.share.Take(ctx, int64(n)); err != nil {
		return err
	}
	ws.taken += int64(n)
	return nil
}

// holdBody takes the memory of a document that is read or copied, if it is large.
func (ws *writeSet) holdBody(body doc.Doc) error {
	if ws.ctx == nil || len(body) < largeBody {
		return nil
	}
	return ws.hold(ws.ctx, len(body))
}

// giveBack returns all memory that hold has taken.
func (ws *writeSet) giveBack() {
	if ws.share != nil {
		ws.share.Give(ws.taken)
	}
	ws.ctx, ws.share, ws.taken, ws.work = nil, nil, 0, work{}
	ws.terms[0].work, ws.terms[1].work = nil, nil
}

// reenter enters the container again if the write may have waited, so that its stamp is not from before the wait. An
// engine that keeps time tells the instant of a write itself.
func (ws *writeSet) reenter(ctx context.Context) error {
	if ws.v.Read != nil || ws.s.now == nil || !budget.Of(ctx).Counted() {
		return nil
	}
	_, err := ws.v.Container.Enter(ctx, ws.s.now())
	return err
}

// large reports whether what the transaction writes makes it a large write.
func (ws *writeSet) large() bool {
	n := 0
	for _, sl := range ws.slots {
		if sl.written {
			n += len(sl.body) + len(sl.record)
		}
	}
	return n >= largeBody
}

// reserve counts the terms that compareAll makes, takes the memory for them, and allocates just as much. Growing slices
// would need up to twice that, which nobody has accounted for.
func (ws *writeSet) reserve(ctx context.Context) error {
	// Twice through the documents, to count first: that costs less than memory that nobody has accounted for.
	w := &ws.work
	*w = work{ctx: ctx, share: budget.Of(ctx)}
	for side := range ws.terms {
		x := &ws.terms[side]
		x.work, x.counting, x.count, x.size = w, true, 0, 0
	}
	for _, sl := range ws.slots {
		if sl.written {
			ws.gatherAll(sl)
		}
	}
	all, size := 0, 0
	for side := range ws.terms {
		x := &ws.terms[side]
		x.counting = false
		all, size = all+x.count, size+x.size
	}
	if w.err != nil {
		return w.err
	}
	if err := ws.hold(ctx, all*entryBytes+2*size); err != nil {
		return err
	}
	for side := range ws.terms {
		x := &ws.terms[side]
		x.bytes, x.list = slices.Grow(x.bytes, x.size), slices.Grow(x.list, x.count)
	}
	ws.entries = slices.Grow(ws.entries, all)
	return nil
}

// gatherAll goes through the entries that come and go with a slot's change in all indexes, with some that stay.
func (ws *writeSet) gatherAll(sl *slot) {
	for i, m := range ws.x.matchers {
		if m != nil && !m.none {
			ws.gatherGeneration(sl, i)
		}
	}
	for _, n := range ws.x.named {
		if !sl.changed() || !n.sameEntries(sl.side(0), sl.side(1)) {
			_ = ws.gatherNamed(sl, n) // compareNamed meets the error again
		}
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

// changed reports whether a document has two versions with one number, before and after.
func (sl *slot) changed() bool { return sl.body != nil && sl.record != nil && !sl.renewed }

// lanes let large writes of one document run one after the other. Optimistically, each one that loses a race would have
// made its entries for nothing, and would make them again. Documents may share a lane, which costs only time.
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

// enter waits for the lane of a document, and returns the function that leaves it. It fails with fault.Busy after
// lanePatience.
func (l *lanes) enter(ctx context.Context, container uint32, id string) (leave func(), err error) {
	lane := l.all[(maphash.String(l.seed, id)+uint64(container))%uint64(len(l.all))]
	select {
	case lane <- struct{}{}:
		return func() { <-lane }, nil
	default:
	}
	budget.Of(ctx).Rest() // a write that waits computes nothing, so others may have its turn
	timed, cancel := context.WithTimeoutCause(ctx, lanePatience, errLane)
	defer cancel()
	select {
	case lane <- struct{}{}:
		return func() { <-lane }, nil
	case <-timed.Done():
		return nil, context.Cause(timed)
	}
}

// lanePatience is how long a write waits for a lane. While it waits it holds the memory of its document, which others
// may need.
const lanePatience = 5 * time.Second

var errLane = fault.New(fault.Busy, "Other large writes of the same document are under way. Try again.")
