package store

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// commit writes what has become of the documents. What takes long, making index entries, comes before the engine is
// asked; what depends on the order of writes is left to place.
func (ws *writeSet) commit(ctx context.Context) error {
	if !ws.writes() {
		return ws.confirm(ctx)
	}
	if err := ws.awaitSplit(ctx); err != nil {
		return err
	}
	// Entries are made before the engine is asked, outside of its critical section.
	if err := ws.compareAll(ctx); err != nil {
		return err
	}
	// Deletions must succeed on a full disk, or nobody could make room.
	ws.b.Frees = ws.deletes()
	for _, p := range ws.group() {
		ws.b.Follow(ws.key(p.rng.Order), func(last []byte, b *kv.Batch) ([]byte, error) { return ws.place(p, last, b) })
	}
	ws.bound(&ws.b)
	// The log's counter comes after the container's, so that the log has the order of the commits, and its entries the
	// stamp that place gives out.
	var log [][]byte
	if len(ws.changes) > 0 {
		log = ws.logEntries()
		ws.s.log.follow(&ws.b, log, func() int64 { return 1000 * ws.stamp })
	}
	ws.expect(log)
	// A commit of many entries occupies the engine for long, so such commits take turns.
	if len(ws.entries) > largeEntries {
		if err := ws.prepareLarge(ctx); err != nil {
			return err
		}
		defer ws.share.Rest()
	}
	// Waiting for memory or a turn must not shorten the life of what is written: the instant is taken again.
	if err := ws.reenter(ctx); err != nil {
		return err
	}
	// Before the clock is read in place: the container must know that a stamp is about to be used, see
	// catalog.Container.Enter.
	ws.v.Container.BeginWrite()
	written := 0
	defer func() { ws.v.Container.EndWrite(written) }()
	group := groupOf(ctx)
	ws.b.SyncLater = group.defers(ws.sequences())
	if err := ws.s.apply(ctx, &ws.b); err != nil {
		return err
	}
	written = ws.stored()
	if ws.b.SyncLater {
		group.rests.Store(true)
	}
	if len(ws.changes) > 0 {
		ws.s.log.grown()
	}
	return nil
}

// sequences is how many the commit gives out.
func (ws *writeSet) sequences() (n int) {
	for _, sl := range ws.slots {
		n += len(sl.results)
	}
	return n
}

func (ws *writeSet) writes() bool {
	for _, sl := range ws.slots {
		if sl.written {
			return true
		}
	}
	return false
}

// stored is how many documents are written that are no deletions.
func (ws *writeSet) stored() (documents int) {
	for _, sl := range ws.slots {
		if sl.written && sl.record != nil {
			documents++
		}
	}
	return documents
}

// deletes reports whether everything that is written is a deletion. The engine accepts such a batch on a full disk.
func (ws *writeSet) deletes() bool {
	for _, sl := range ws.slots {
		if sl.written && sl.record != nil {
			return false
		}
	}
	return true
}

// confirm ends a write set that writes nothing, because it only reads or has failed. It read its documents one after
// the other, but what it reports must have been true at one moment. fault.Conflict if it may not have been. A single
// read is always true, and so are all reads of one view of an engine that keeps time.
func (ws *writeSet) confirm(ctx context.Context) error {
	if moved, err := ws.v.Container.Moved(ctx, ws.v.State); err != nil || moved != nil {
		return cmp.Or(err, ErrRangeGone) // what it has not found may be under other keys
	}
	if len(ws.b.Reads) < 2 || !ws.view.Time.IsZero() { // they were read at one moment
		return nil
	}
	if err := ws.s.engine.Apply(ctx, &kv.Batch{Since: ws.b.Since, Reads: ws.b.Reads, NoSync: true}); err != nil {
		return err
	}
	now, err := ws.v.Refresh()
	if err == nil && now != ws.v.Now {
		err = errExpired
	}
	return err
}

// A part is the slots of a write set that are in one range.
type part struct {
	rng   keys.Range
	slots []*slot
}

// group divides what is written among the ranges, in the order in which commits pass their counters.
func (ws *writeSet) group() []part {
	ws.parts = ws.parts[:0]
	inOrder := slices.IsSortedFunc(ws.slots, bySlotRange)
	if !inOrder { // not yet: most write sets have one document
		slices.SortStableFunc(ws.slots, bySlotRange) // in a range, operations keep their order
	}
	for from := 0; from < len(ws.slots); {
		to, writes := from, false
		for ; to < len(ws.slots) && ws.slots[to].rng == ws.slots[from].rng; to++ {
			writes = writes || ws.slots[to].written
		}
		if writes {
			ws.parts = append(ws.parts, part{ws.slots[from].rng, ws.slots[from:to]})
		}
		from = to
	}
	return ws.parts
}

func bySlotRange(a, b *slot) int { return cmp.Compare(a.rng.Range, b.rng.Range) }

// place runs at the moment of the commit, for one batch of a range at a time (kv.Order). It gives out stamp, sequences
// and numbers, and fills in the keys that contain them. The engine may call it again, so it starts from what compareAll
// has prepared and changes nothing there.
func (ws *writeSet) place(p part, last []byte, b *kv.Batch) ([]byte, error) {
	counter, err := keys.DecodeCounter(last)
	if err != nil {
		return nil, corrupt(err, "order counter")
	}
	now, epoch, err := ws.v.Pass(counter, b)
	if err != nil {
		return nil, err
	}
	counter.Epoch = epoch
	// One commit has one instant in all of its ranges.
	if p.rng == ws.parts[0].rng {
		ws.instant = now
	}
	now = ws.instant
	// Between the read and this moment a deadline may have passed.
	if ws.died(now) {
		return nil, errExpired
	}
	// A stamp never falls below the one before, or the feed would not be in the order of stamps. It is above the floor,
	// or the document would be dead from the start.
	stamp := max(now, counter.Stamp, ws.v.Policy.FirstStamp())
	ws.stamp = max(ws.stamp, stamp)
	counter.Sequence = max(counter.Sequence, ws.v.Container.SequenceFloor(), ws.v.Floor)
	counter.Number = max(counter.Number, ws.v.Container.NumberFloor())
	for _, sl := range p.slots {
		if !sl.written {
			continue
		}
		at := stamp
		if sl.kept != 0 {
			at = sl.kept
			if sl.record == nil { // a deletion: no life counts from its stamp
				at = max(at, counter.Stamp)
			}
		}
		if at < counter.Stamp {
			return nil, olderStamp(at, counter.Stamp)
		}
		counter.Stamp = at
		ws.placeSlot(sl, at, &counter)
	}
	ws.placeClaims(p.rng)
	return counter.Append(nil), nil
}

// bound makes the engine commit b before the first deadline of a document that was found alive, if the engine keeps the
// time. Elsewhere place compares, and catalog.Container.Enter makes readers wait.
func (ws *writeSet) bound(b *kv.Batch) {
	if ws.v.Read == nil {
		return
	}
	first := ws.soonest
	for _, sl := range ws.slots {
		if !sl.found || ws.within != nil && !sl.written {
			continue
		}
		at, ends := ws.v.Policy.Deadline(versionOf(sl.header, sl.body))
		if ends && (first == 0 || at < first) {
			first = at
		}
	}
	if at := time.Unix(first, 0); first != 0 && (b.Before.IsZero() || at.Before(b.Before)) {
		b.Before = at
	}
}

// errExpired makes a write start again when a document that it found alive has died before the commit. A read in
// between may have reported that the document is gone, so the write must not act on it.
var errExpired = fault.New(fault.Conflict, "A document expired during the write.")

// died reports whether a document that was found alive is dead now. A SnapshotTransaction asks only about what it
// writes.
func (ws *writeSet) died(now expiry.Stamp) bool {
	if now == ws.v.Now { // the second of the view, in which all of them were alive
		return false
	}
	if ws.soonest != 0 && now >= ws.soonest {
		return true
	}
	for _, sl := range ws.slots {
		if sl.found && (ws.within == nil || sl.written) && ws.v.Policy.Dead(versionOf(sl.header, sl.body), now) {
			return true
		}
	}
	return false
}

// placeSlot writes one document under its new sequence. Several operations on it have a sequence each. Only the last
// one is stored: clients see the others in the results.
func (ws *writeSet) placeSlot(sl *slot, stamp expiry.Stamp, counter *keys.Counter) {
	// The entries to remove have the old number, also if the document gets a new one below.
	old := sl.number
	if sl.fresh() {
		counter.Number++
		sl.number = keys.NumberOf(sl.rng.Range, counter.Number)
	}
	for i := range sl.results {
		if !sl.results[i].read { // a read of the write set's own version shows the sequence of the write before
			counter.Sequence++
		}
		ws.settle(sl, &sl.results[i], stamp, counter.Sequence)
	}
	if sl.found {
		ws.noteDeletion(sl, old, counter.Sequence)
		ws.removeOld(sl, old)
		counter.Documents--
		counter.Bytes -= uint64(len(sl.body))
	}
	if sl.record != nil {
		ws.storeNew(sl, stamp, counter.Sequence)
		counter.Documents++
		counter.Bytes += uint64(len(sl.record) - keys.HeaderBytes)
	}
	if sl.expired != nil && sl.expired.logged && sl.record == nil {
		ws.b.Delete(sl.lookup) // else the reaper would find it and log the dead document again
	}
	ws.placeEntries(sl, old)
}

// fresh reports whether the document is new and needs a number.
func (sl *slot) fresh() bool { return sl.record != nil && (!sl.found || sl.renewed) }

// compareAll finds the index entries that come and go with the write set.
func (ws *writeSet) compareAll(ctx context.Context) error {
	if ws.large() {
		if err := ws.reserve(ctx); err != nil {
			return err
		}
	}
	for _, sl := range ws.slots {
		if sl.written {
			if err := ws.compare(sl); err != nil {
				return err
			}
		}
	}
	return nil
}

// compare finds the index entries that come and go with the change of one document, in both generations while a new one
// is being built.
func (ws *writeSet) compare(sl *slot) error {
	sl.from = len(ws.entries)
	for i, m := range ws.x.matchers {
		// There is a second generation only during an index build.
		if m == nil || m.none {
			continue
		}
		err := ws.diff(sl, func() error {
			ws.gatherGeneration(sl, i)
			return nil
		})
		if err != nil {
			return err
		}
	}
	if err := ws.compareNamed(sl); err != nil {
		return err
	}
	sl.to = len(ws.entries)
	for i := range sl.results {
		if !sl.results[i].read {
			sl.results[i].terms = sl.to - sl.from
		}
	}
	return nil
}

// gatherGeneration adds the terms that a slot's change has before and after in a generation, without some that stay.
func (ws *writeSet) gatherGeneration(sl *slot, i int) {
	m, generation, before, after := ws.x.matchers[i], ws.x.generations[i], sl.side(0), sl.side(1)
	if sl.changed() {
		gatherChange(&ws.terms, m, sl.rng, generation, before, after)
		return
	}
	ws.terms[0].gather(m, sl.rng, generation, before)
	ws.terms[1].gather(m, sl.rng, generation, after)
}

// compareNamed is compare for the indexes that have names.
func (ws *writeSet) compareNamed(sl *slot) error {
	for _, n := range ws.x.named {
		if sl.changed() && n.sameEntries(sl.side(0), sl.side(1)) {
			continue
		}
		if err := ws.diff(sl, func() error { return ws.gatherNamed(sl, n) }); err != nil {
			return err
		}
	}
	return nil
}

// gatherNamed adds the terms that a slot's change has before and after in a named index.
func (ws *writeSet) gatherNamed(sl *slot, n *named) error {
	before, after := &ws.terms[0], &ws.terms[1]
	from := len(before.bytes)
	if _, err := before.gatherNamed(n, sl.rng, sl.side(0)); err != nil {
		// The document was there before the index, which cannot have it and is still being built. Its replacement is
		// not held responsible.
		before.bytes, before.list = before.bytes[:from], before.list[:0]
	}
	array, err := after.gatherNamed(n, sl.rng, sl.side(1))
	if err == nil && array && !after.counting && !n.multikey.Load() {
		// In the same batch as the entries: a plan that relies on one entry per document must never be wrong. The mark
		// is set once, and the atomic saves the write from then on.
		ws.b.Set(ws.key(func(dst []byte) []byte { return sl.rng.Multikey(dst, n.ID) }), nil)
	}
	return err
}

// Sizes of what place adds to a batch, about: the keys of a document beside its index entries, their bytes, and what a
// key takes in addition to those that are counted.
const (
	placedKeys  = 6
	placedBytes = 160
	keyBytes    = 16
)

// expect allocates what place adds to the batch, and tells the engine how much that is. log has the entries of the log.
func (ws *writeSet) expect(log [][]byte) {
	documents := 0
	for _, sl := range ws.slots {
		if sl.written {
			documents++
			ws.b.Extra += len(sl.record) + placedBytes
		}
	}
	for _, e := range ws.entries {
		ws.b.Extra += int(e.to-e.from) + keyBytes
	}
	for _, e := range log {
		ws.b.Extra += len(e) + 2*keyBytes
	}
	ws.b.Ops = slices.Grow(ws.b.Ops, len(ws.entries)+placedKeys*documents+len(log))
}

// prepareLarge waits for a turn for the commit.
func (ws *writeSet) prepareLarge(ctx context.Context) error {
	if err := ws.hold(ctx, 0); err != nil {
		return err
	}
	return ws.share.Hold(ctx, time.Duration(len(ws.entries))*entryTime)
}

// placeEntries writes the index entries. Those that go have the number of the old document.
func (ws *writeSet) placeEntries(sl *slot, old uint64) {
	for _, e := range ws.entries[sl.from:sl.to] {
		if e.gone {
			ws.b.Delete(setNumber(ws.terms[0].key(e.term), old))
		} else {
			ws.b.Set(setNumber(ws.terms[1].key(e.term), sl.number), nil)
		}
	}
}

// settle completes the result of one operation with its sequence and stamp.
func (ws *writeSet) settle(sl *slot, p *pending, stamp expiry.Stamp, sequence uint64) {
	if p.record == nil {
		*p.result = Result{Document: *p.gone, Terms: p.terms}
		p.result.Version = access.Version{Sequence: sequence, Stamp: stamp}
		return
	}
	h := keys.Header{Class: classOf(p.ttl), Sequence: sequence, Stamp: stamp, TTL: int32(p.ttl)}
	keys.AppendHeader(p.record[:0], h)
	d := document(ws.v, sl.number, h, p.record[keys.HeaderBytes:])
	*p.result = Result{Document: d, Created: p.created, Skipped: p.skipped, Terms: p.terms}
}

func classOf(ttl expiry.TTL) uint8 {
	switch {
	case ttl == expiry.Never:
		return keys.ClassNever
	case ttl > expiry.Unset:
		return keys.ClassOwn
	}
	return keys.ClassInherit
}

// removeOld takes the old version out of the queues and, unless the new version has the same number, deletes the
// document.
func (ws *writeSet) removeOld(sl *slot, number uint64) {
	rng := sl.rng
	ws.b.Delete(ws.key(func(dst []byte) []byte { return rng.Feed(dst, sl.header.Sequence) }))
	if deadline, ok := expiry.TTL(sl.header.TTL).Deadline(sl.header.Stamp); ok {
		ws.b.Delete(ws.key(func(dst []byte) []byte { return rng.Deadline(dst, deadline, number) }))
	}
	if sl.record != nil && !sl.renewed { // the record is overwritten; lookup and posting stay as they are
		return
	}
	ws.b.Delete(ws.key(func(dst []byte) []byte { return rng.Record(dst, number) }))
	if ws.v.Identity().Partitioned() {
		ws.b.Delete(ws.key(func(dst []byte) []byte { return rng.Posting(dst, sl.partition, number) }))
	}
	if sl.record == nil {
		ws.b.Delete(sl.lookup)
	}
}

// storeNew stores the new version and adds it to the queues.
func (ws *writeSet) storeNew(sl *slot, stamp expiry.Stamp, sequence uint64) {
	rng := sl.rng
	size := uint32(len(sl.record) - keys.HeaderBytes)
	ws.b.Set(ws.key(func(dst []byte) []byte { return rng.Record(dst, sl.number) }), sl.record)
	ws.b.Set(ws.key(func(dst []byte) []byte { return rng.Feed(dst, sequence) }),
		ws.key(func(dst []byte) []byte {
			// The entry has all that the reaper needs, so that it does not have to read the document.
			return keys.AppendFeed(dst,
				keys.FeedEntry{Number: sl.number, Stamp: stamp, TTL: int32(sl.ttl), Bytes: size})
		}))
	if deadline, ok := sl.ttl.Deadline(stamp); ok {
		ws.b.Set(ws.key(func(dst []byte) []byte { return rng.Deadline(dst, deadline, sl.number) }),
			ws.key(func(dst []byte) []byte {
				return keys.AppendDeadline(dst, keys.DeadlineEntry{Sequence: sequence, Bytes: size})
			}))
	}
	if sl.fresh() {
		ws.b.Set(sl.lookup, ws.key(func(dst []byte) []byte { return keys.AppendNumber(dst, sl.number) }))
		if ws.v.Identity().Partitioned() {
			ws.b.Set(ws.key(func(dst []byte) []byte { return rng.Posting(dst, sl.partition, sl.number) }), nil)
		}
	}
}
