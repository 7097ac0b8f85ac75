package store

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/lease"
)

// Reclaimed is what one step of reclaiming has done.
type Reclaimed struct {
	Documents uint64
	Bytes     uint64 // of their bodies
	Entries   uint64 // index entries swept
	Elsewhere bool   // another process does it, and this one has done nothing
	More      bool   // there is more to do right now
}

// A reclaim is where the reclaiming of one range stands. Its lock is held during a step, so that no two steps, and no
// step and index build, work on one range at once. Reads and writes do not take it.
type reclaim struct {
	mu     sync.Mutex
	loaded bool
	lease  *lease.Lease // under which the rest was read; nil allows no step
	queueMarks
	dates   datePass
	last    run    // the newest run, which the next one may continue
	pending uint64 // documents reclaimed whose index entries are not swept
	sweep   *sweep // nil when none is under way

	// For a container whose deadlines are in no order (expiry.Policy.Ordered): in which round it was passed last, and
	// where that pass goes on.
	round  uint64
	next   uint64
	passed bool // to the end
}

// queueMarks say how far the queues are reclaimed.
type queueMarks struct {
	feed    uint64       // every inheriting document up to this sequence is reclaimed
	own     expiry.Stamp // every document with its own deadline up to this one is
	ownNext []byte       // the deadline entry to go on from, nil for the first behind own
}

// A run is an interval of document numbers that are all reclaimed.
type run struct{ first, last uint64 }

// rangeDelete is the length from which a run of records is deleted as one range. Each range tombstone slows down every
// get until a compaction has taken it, so short ones cost more than they save: 3,000 of 32 records made a get 150 times
// slower.
const rangeDelete = 512

// A victim is a document to reclaim and the queue entries that lead to it.
type victim struct {
	number   uint64
	feed     []byte
	deadline []byte // nil if it inherits
	bytes    uint64
	id       doc.Value // its _id, if the document was read
}

// Reclaim frees the space of at most limit expired documents of a container: the records and their places in the
// queues. The floors that declare them dead are durable before the first deletion, so neither a crash nor a change of
// the policy brings back a document that is half deleted. Lookups and index entries, which then lead nowhere, stay
// until Sweep.
//
// The ranges of the container take turns: each call begins with the one after that at which the last call ended.
func (s *Store) Reclaim(ctx context.Context, c *catalog.Container, now expiry.Stamp, limit int) (Reclaimed, error) {
	rs := s.reclaimsOf(c)
	rs.step.Lock()
	defer rs.step.Unlock()
	if tends, err := s.Tends(ctx, c); err != nil || !tends {
		return Reclaimed{Elsewhere: err == nil}, err
	}
	v, err := c.Enter(ctx, now)
	if err != nil {
		return Reclaimed{}, err
	}
	var all Reclaimed
	ranges, spent := v.Ranges(), effortOf{limit: limit}
	rs.begin(v)
	for range ranges {
		number := ranges[rs.turn%len(ranges)].Number
		rs.turn++
		if v.Splitting.Of(number) { // see catalog.Split; its end leaves behind what is dead
			continue
		}
		done, err := s.reclaimIn(ctx, v, number, &spent)
		if err == lease.ErrLost {
			return Reclaimed{Documents: all.Documents, Bytes: all.Bytes, Elsewhere: true}, nil
		}
		if fault.KindOf(err) == fault.Conflict { // the container has changed: the next step sees how
			all.More = true
			break
		}
		if err != nil {
			return Reclaimed{}, err
		}
		all.Documents, all.Bytes = all.Documents+done.Documents, all.Bytes+done.Bytes
		if done.More {
			all.More = true
			break
		}
	}
	if !all.More && !v.Policy.Ordered() {
		if all.More, err = s.endRound(ctx, v, rs); err != nil {
			return Reclaimed{}, err
		}
	}
	return all, nil
}

// reclaimIn reclaims in one range.
func (s *Store) reclaimIn(ctx context.Context, v catalog.View, number uint16, spent *effortOf) (Reclaimed, error) {
	c := v.Container
	r := s.reclaimOf(c, number)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := s.loadReclaim(ctx, c.KeysOf(number), r); err != nil {
		return Reclaimed{}, err
	}
	if r.lease == nil {
		return Reclaimed{}, lease.ErrLost
	}
	step := reclaimStep{rng: c.KeysOf(number), effortOf: *spent, feed: r.feed, own: r.own, ownNext: r.ownNext}
	defer func() { *spent = step.effortOf }()
	if !v.Policy.Ordered() {
		return s.reclaimByProperty(ctx, v, r, &step)
	}
	// The two queues end at different instants: documents with a ttl of their own live by another rule than those
	// without.
	inheritFloor, ownFloor := v.Policy.Floors(v.Now)
	step.dates = r.dates.from(v.Now)
	if err := step.gatherOwn(ctx, s.engine, ownFloor); err != nil {
		return Reclaimed{}, err
	}
	if err := step.gatherInheriting(ctx, s.engine, inheritFloor); err != nil {
		return Reclaimed{}, err
	}
	if err := step.gatherDates(ctx, s.engine, v); err != nil {
		return Reclaimed{}, err
	}
	if len(step.victims) > 0 { // otherwise an idle container would cost a write each time
		if _, err := s.catalog.DeclareDead(ctx, v.Now, c); err != nil {
			return Reclaimed{}, err
		}
	}
	done, err := s.remove(ctx, v, r, &step)
	if err == nil { // else the victims are still there, and the next step has to find them
		r.dates = step.dates
	}
	return done, err
}

// Bounds of one step, in addition to the number of victims: how many entries and documents it looks at for each victim
// that it may have, and how many bytes of documents it reads. Without them, a step could walk over millions of entries
// that are not due, with the lock held.
const (
	looksPerVictim = 4
	readStep       = 4 << 20
)

// An effortOf is what a step of reclaiming may do, and what it has done.
type effortOf struct {
	limit  int // of found
	found  int // victims
	looked int // entries and documents
	read   int // bytes of documents
}

func (x *effortOf) full() bool {
	return x.found >= x.limit || x.looked >= looksPerVictim*x.limit || x.read >= readStep
}

// A reclaimStep is one step of reclaiming in one range, and the victims that it has found.
type reclaimStep struct {
	rng keys.Range
	effortOf
	arena   arena
	victims []victim
	stale   [][]byte // entries of named indexes that go
	feed    uint64
	own     expiry.Stamp
	ownNext []byte
	dates   datePass
	more    bool
	single  bool // records go one by one, since others depend on them
}

// take adds a victim.
func (step *reclaimStep) take(x victim) {
	step.victims = append(step.victims, x)
	step.found++
}

// gatherOwn takes documents from the queue of own deadlines up to the floor.
func (step *reclaimStep) gatherOwn(ctx context.Context, r kv.Reader, floor expiry.Stamp) error {
	if floor <= step.own {
		return nil
	}
	from := step.ownNext
	if from == nil {
		from = step.rng.Deadline(nil, step.own+1, 0)
	}
	err := walk(ctx, r, from, step.rng.Deadline(nil, floor+1, 0), func(it kv.Iterator) error {
		deadline, err := keys.Deadline(it.Key())
		if err != nil {
			return corrupt(err, "deadline entry")
		}
		if step.full() { // perhaps in the middle of a second
			step.more, step.own, step.ownNext = true, deadline-1, append([]byte(nil), it.Key()...)
			return errStopped
		}
		number, err := keys.Number(it.Key())
		if err != nil {
			return corrupt(err, "deadline entry")
		}
		e, err := keys.DecodeDeadline(it.Value())
		if err != nil {
			return corrupt(err, "deadline entry")
		}
		if step.victims == nil {
			step.victims = make([]victim, 0, step.limit-step.found)
		}
		step.take(victim{
			number:   number,
			feed:     step.rng.Feed(step.arena.room(numberedBytes), e.Sequence),
			deadline: step.arena.keep(it.Key()),
			bytes:    uint64(e.Bytes),
		})
		return nil
	})
	if err == errStopped {
		return nil
	}
	if err == nil {
		step.own, step.ownNext = floor, nil
	}
	return err
}

// gatherInheriting takes documents without a ttl of their own from the feed, which is in the order of their stamps, up
// to the floor. It passes over the others once: the mark moves behind them, and their own queue has them.
func (step *reclaimStep) gatherInheriting(ctx context.Context, r kv.Reader, floor expiry.Stamp) error {
	if step.full() || floor == 0 {
		step.more = step.more || floor != 0 && step.full()
		return nil
	}
	_, upper := step.rng.Bounds(keys.KindFeed)
	err := walk(ctx, r, step.rng.Feed(nil, step.feed+1), upper, func(it kv.Iterator) error {
		e, err := keys.DecodeFeed(it.Value())
		if err != nil {
			return corrupt(err, "change feed entry")
		}
		sequence, err := keys.FeedSequence(it.Key())
		if err != nil {
			return corrupt(err, "change feed entry")
		}
		// Stamps rise along the feed, so nothing behind this entry has expired.
		if e.Stamp > floor || step.full() {
			step.more = e.Stamp <= floor
			step.feed = sequence - 1 // what lies before is gone
			return errStopped
		}
		step.feed = sequence
		step.looked++
		// One with a ttl of its own is in the queue of deadlines. One that never expires is passed over for good: a
		// write would give it a new place in the feed.
		if e.TTL == int32(expiry.Unset) {
			step.take(victim{number: e.Number, feed: step.arena.keep(it.Key()), bytes: uint64(e.Bytes)})
		}
		return nil
	})
	if err == errStopped {
		return nil
	}
	return err
}

// reclaimByProperty continues the pass of a round over every document of a range of a container whose deadlines are in
// no order. It does nothing in a range that the round has passed.
func (s *Store) reclaimByProperty(
	ctx context.Context, v catalog.View, r *reclaim, step *reclaimStep,
) (Reclaimed, error) {
	if round := s.reclaimsOf(v.Container).round.number; r.round != round {
		r.round, r.next, r.passed = round, 0, false
	}
	if r.passed {
		return Reclaimed{}, nil
	}
	// v judges no document that was written under a later policy: the snapshot has none if v still holds in it.
	at, err := s.engine.Snapshot(ctx)
	if err != nil {
		return Reclaimed{}, err
	}
	defer at.Close()
	if holds, err := v.Holds(ctx, at); err != nil || !holds {
		return Reclaimed{More: err == nil}, err
	}
	next := uint64(0)
	_, upper := step.rng.Bounds(keys.KindRecord)
	err = walk(ctx, at, step.rng.Record(nil, r.next), upper, func(it kv.Iterator) error {
		number, err := keys.Number(it.Key())
		if err != nil {
			return corrupt(err, "document")
		}
		if step.full() {
			step.more, next = true, number
			return errStopped
		}
		h, body, err := keys.DecodeHeader(it.Value())
		if err != nil {
			return corrupt(err, "document")
		}
		step.looked++
		// This way of reclaiming has to read documents, unlike the queues, so bytes are limited as well.
		step.read += len(body)
		if dead(v, h, body) {
			step.take(step.victimOf(number, h, body))
		}
		return nil
	})
	if err != nil && err != errStopped {
		return Reclaimed{}, err
	}
	done, err := s.remove(ctx, v, r, step)
	if err != nil {
		return done, err
	}
	r.next, r.passed = next, next == 0
	return done, nil
}

func (step *reclaimStep) victimOf(number uint64, h keys.Header, body doc.Doc) victim {
	x := victim{number: number, feed: step.rng.Feed(step.arena.room(numberedBytes), h.Sequence),
		bytes: uint64(len(body))}
	if deadline, ok := expiry.TTL(h.TTL).Deadline(h.Stamp); ok {
		x.deadline = step.rng.Deadline(nil, deadline, number)
	}
	return x
}

// removeOnce deletes the victims, and stores how far it has come in the same batch. Without a log it needs no sync:
// after a crash the step happens again.
//
// It fails with fault.Conflict if the container has changed since v: a range of it may be split now.
func (s *Store) removeOnce(
	ctx context.Context, v catalog.View, r *reclaim, step *reclaimStep,
) (Reclaimed, error) {
	c := v.Container
	// An empty step saves its progress in memory only. After a restart the walk passes over the same entries again,
	// which costs less than a write for each step.
	if len(step.victims) == 0 && len(step.stale) == 0 {
		r.feed, r.own, r.ownNext = step.feed, step.own, step.ownNext
		return Reclaimed{More: step.more}, nil
	}
	b := &kv.Batch{NoSync: true, Frees: true}
	// Record, feed entry, deadline and a run for each victim; mark and counter.
	b.Ops = make([]kv.Op, 0, 4*len(step.victims)+len(step.stale)+2)
	entries, err := s.logVictims(ctx, c, b, step)
	if err != nil {
		return Reclaimed{}, err
	}
	if err := r.lease.Guard(ctx, b); err != nil {
		return Reclaimed{}, err
	}
	done := Reclaimed{Documents: uint64(len(step.victims)), More: step.more}
	for _, x := range step.victims {
		done.Bytes += x.bytes
		b.Delete(x.feed)
		if x.deadline != nil {
			b.Delete(x.deadline)
		}
	}
	for _, key := range step.stale {
		b.Delete(key)
	}
	// In the order of numbers, neighbours make runs.
	slices.SortFunc(step.victims, func(a, b victim) int {
		if a.number < b.number {
			return -1
		}
		return 1
	})
	// r.last is only replaced after the batch has succeeded.
	last := s.removeRecords(b, step, r.last)
	mark := keys.ReclaimMark{Feed: step.feed, Own: step.own, Pending: r.pending + done.Documents}
	b.Set(step.rng.Mark(nil), mark.Append(nil))
	b.Follow(step.rng.Order(nil), func(value []byte, b *kv.Batch) ([]byte, error) {
		counter, err := keys.DecodeCounter(value)
		if err != nil {
			return nil, corrupt(err, "order counter")
		}
		// Changes of a container, its deletion included, pass this counter too, so this look is exact.
		if _, _, err := v.Pass(counter, b); err != nil {
			return nil, err
		}
		// A step that a crash has undone is repeated, and so is this subtraction: both are in one batch.
		counter.Documents -= min(counter.Documents, done.Documents)
		counter.Bytes -= min(counter.Bytes, done.Bytes)
		return counter.Append(nil), nil
	})
	s.log.follow(b, entries, func() int64 {
		if b.Time.IsZero() {
			return 1000 * c.Seen()
		}
		return 1000 * b.Time.Unix()
	})
	if err := s.apply(ctx, b); err != nil {
		r.loaded = !s.catalog.Shared() // it may have happened, see fault.Undetermined
		return Reclaimed{}, err
	}
	if len(entries) > 0 {
		s.log.grown()
	}
	r.feed, r.own, r.ownNext, r.last = step.feed, step.own, step.ownNext, last
	r.pending += done.Documents
	return done, nil
}

// removeRecords deletes records and stores their numbers as runs. The first run may continue the newest stored one, so
// documents that die in the order of their creation make one run.
func (s *Store) removeRecords(b *kv.Batch, step *reclaimStep, newest run) run {
	for i := 0; i < len(step.victims); {
		j := i + 1
		for j < len(step.victims) && step.victims[j].number == step.victims[j-1].number+1 {
			j++
		}
		found := run{step.victims[i].number, step.victims[j-1].number}
		s.deleteRecords(b, step, found)
		// Extending the newest run overwrites its key. A container whose documents die in order of creation has one
		// run, however long it lives.
		if newest.last != 0 && found.first == newest.last+1 {
			found.first = newest.first
		}
		b.Set(step.rng.Reclaimed(nil, found.first), keys.AppendNumber(nil, found.last))
		newest, i = found, j
	}
	return newest
}

func (s *Store) deleteRecords(b *kv.Batch, step *reclaimStep, x run) {
	rng := step.rng
	ranges, ok := s.engine.(kv.RangeDeleter)
	if ok && !step.single && ranges.DeletesRanges() && x.last-x.first+1 >= rangeDelete {
		b.DeleteRange(rng.Record(nil, x.first), rng.Record(nil, x.last+1))
		return
	}
	for n := x.first; n <= x.last; n++ {
		b.Delete(rng.Record(step.arena.room(numberedBytes), n))
	}
}

// loadReclaim reads the marks that are stored, unless what this process remembers holds: because it alone has the data,
// or because it has read them under the lease that it still has. Older marks mislead nobody who only reads, because
// marks rise.
func (s *Store) loadReclaim(ctx context.Context, rng keys.Range, r *reclaim) error {
	if r.loaded && r.lease != nil && !s.catalog.Shared() {
		return nil
	}
	held := s.held(fmt.Sprint(reclaimLease, rng.Container))
	if r.loaded && (held != nil && held == r.lease || !s.catalog.Shared()) {
		r.lease = held
		return nil
	}
	r.loaded, r.lease = false, held
	r.queueMarks, r.dates, r.last = queueMarks{}, datePass{}, run{}
	r.pending, r.sweep, r.round = 0, nil, 0
	_, err := s.engine.Get(ctx, rng.Mark(nil), func(value []byte) error {
		mark, err := keys.DecodeReclaimMark(value)
		if err != nil {
			return corrupt(err, "reclaim mark")
		}
		r.feed, r.own, r.pending = mark.Feed, mark.Own, mark.Pending
		return nil
	})
	r.loaded = err == nil
	return err
}
