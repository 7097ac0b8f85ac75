package store

import (
	"context"
	"slices"
	"time"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// commit writes what the transaction has made of its documents.
func (t *txn) commit(ctx context.Context) error {
	if !t.writes() {
		return t.confirm(ctx)
	}
	if err := t.compareAll(ctx); err != nil {
		return err
	}
	t.b.Frees = t.deletes()
	order := t.key(t.v.Container.Keys().Order)
	t.b.Follow(order, t.place)
	if len(t.changes) > 0 {
		t.s.log.follow(&t.b, t.logEntries(), func() int64 { return 1000 * t.stamp })
	}
	if len(t.entries) > largeEntries {
		if err := t.prepareLarge(ctx); err != nil {
			return err
		}
		defer t.share.Rest()
	}
	if err := t.arrive(ctx); err != nil {
		return err
	}
	t.v.Container.BeginWrite()
	defer t.v.Container.EndWrite()
	err := t.s.engine.Apply(ctx, &t.b)
	if err != nil && t.gapped {
		t.v.Container.ReturnGap()
	}
	if err == nil && len(t.changes) > 0 {
		t.s.log.grown()
	}
	return err
}

func (t *txn) writes() bool {
	for _, sl := range t.slots {
		if sl.written {
			return true
		}
	}
	return false
}

// deletes reports whether all that the transaction writes is deletions, which free room.
func (t *txn) deletes() bool {
	for _, sl := range t.slots {
		if sl.written && sl.record != nil {
			return false
		}
	}
	return true
}

// confirm ends a transaction that writes nothing, be it that it only reads or that it
// fails: what it says of its documents must have been true at one moment, though it
// read them one after another. fault.Conflict if it may not have been.
func (t *txn) confirm(ctx context.Context) error {
	if len(t.b.Reads) < 2 {
		return nil
	}
	if err := t.s.engine.Apply(ctx, &kv.Batch{Since: t.b.Since, Reads: t.b.Reads, NoSync: true}); err != nil {
		return err
	}
	now, err := t.v.Refresh()
	if err == nil && now != t.v.Now {
		err = errLate
	}
	return err
}

// place runs at the moment of the commit, one transaction at a time: it gives
// out stamp, sequences and numbers, and fills the batch.
func (t *txn) place(last []byte, b *kv.Batch) ([]byte, error) {
	counter, err := keys.DecodeCounter(last)
	if err != nil {
		return nil, corrupt(err, "order counter")
	}
	now, err := t.v.Refresh()
	if err != nil {
		return nil, err
	}
	if t.died(now) {
		return nil, errLate
	}
	stamp := max(now, counter.Stamp, t.v.Policy.FirstStamp())
	counter.Stamp, t.stamp = stamp, stamp
	if gap := t.v.Container.TakeGap(); gap > 0 && counter.Sequence > 0 {
		counter.Sequence += gap
		t.gapped = true
	}
	for _, sl := range t.slots {
		if sl.written {
			t.placeSlot(sl, stamp, &counter)
		}
	}
	t.placeClaims()
	return counter.Append(nil), nil
}

// errLate makes a write begin anew when a document that it found alive has died
// before the commit: whoever has read since was told that it is gone.
var errLate = fault.New(fault.Conflict, "A document expired during the write.")

// died reports whether a document that the transaction found alive is dead now.
func (t *txn) died(now expiry.Stamp) bool {
	if now == t.v.Now {
		return false
	}
	if t.soonest != 0 && now >= t.soonest {
		return true
	}
	for _, sl := range t.slots {
		if sl.found && (t.group == nil || sl.written) && t.v.Policy.Dead(versionOf(sl.header, sl.body), now) {
			return true
		}
	}
	return false
}

// placeSlot writes one document under its new sequence.
func (t *txn) placeSlot(sl *slot, stamp expiry.Stamp, counter *keys.Counter) {
	old := sl.number
	if sl.fresh() {
		counter.Number++
		sl.number = counter.Number
	}
	for i := range sl.results {
		if !sl.results[i].read {
			counter.Sequence++
		}
		t.settle(sl, &sl.results[i], stamp, counter.Sequence)
	}
	if sl.found {
		t.unwrite(sl, old)
		counter.Documents--
		counter.Bytes -= uint64(len(sl.body))
	}
	if sl.record != nil {
		t.rewrite(sl, stamp, counter.Sequence)
		counter.Documents++
		counter.Bytes += uint64(len(sl.record) - keys.HeaderBytes)
	}
	if sl.ghost != nil && sl.ghost.told && sl.record == nil {
		t.b.Delete(sl.lookup) // the reaper would tell of the dead document again
	}
	t.placeEntries(sl, old)
}

// fresh reports whether the document is a new one and needs a number.
func (sl *slot) fresh() bool { return sl.record != nil && (!sl.found || sl.renewed) }

// compareAll finds the index entries that the transaction makes and breaks.
func (t *txn) compareAll(ctx context.Context) error {
	if t.large() {
		if err := t.weigh(ctx); err != nil {
			return err
		}
	}
	for _, sl := range t.slots {
		if sl.written {
			if err := t.compare(sl); err != nil {
				return err
			}
		}
	}
	return nil
}

// compare finds the index entries that the change of one document makes and breaks.
func (t *txn) compare(sl *slot) error {
	sl.from = len(t.entries)
	rng := t.v.Container.Keys()
	for i, m := range t.x.matchers {
		if m == nil {
			continue
		}
		err := t.differ(sl, func(x *terms, body doc.Doc) error {
			x.gather(m, rng, t.x.generations[i], body)
			return nil
		})
		if err != nil {
			return err
		}
	}
	if err := t.compareNamed(sl); err != nil {
		return err
	}
	sl.to = len(t.entries)
	for i := range sl.results {
		if !sl.results[i].read {
			sl.results[i].terms = sl.to - sl.from
		}
	}
	return nil
}

// compareNamed is compare for the indexes that have names.
func (t *txn) compareNamed(sl *slot) error {
	rng := t.v.Container.Keys()
	for _, n := range t.x.named {
		err := t.differ(sl, func(x *terms, body doc.Doc) error {
			before, from := x == &t.terms[0], len(x.bytes)
			array, err := x.gatherNamed(n, rng, body)
			switch {
			case err != nil && before:
				x.bytes, x.list = x.bytes[:from], x.list[:0] // it was there before the index, which is not complete without it
				return nil
			case err != nil:
				return err
			case array && !before && !n.multikey.Load():
				t.b.Set(t.key(func(dst []byte) []byte { return rng.Multikey(dst, n.ID) }), nil)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// differ notes the entries of one index that a slot's change makes and breaks. gather adds those
// of a body, which may be nil, to terms.
func (t *txn) differ(sl *slot, gather func(x *terms, body doc.Doc) error) error {
	var starts [2]int
	for side := range t.terms {
		x := &t.terms[side]
		starts[side], x.list, x.path = len(x.bytes), x.list[:0], x.path[:0]
		if err := gather(x, sl.side(side)); err != nil {
			return err
		}
		x.sort()
	}
	before, after := &t.terms[0], &t.terms[1]
	dropped, added := 0, 0
	for i, j := 0, 0; i < len(before.list) || j < len(after.list); {
		if before.work != nil && before.work.step() {
			break
		}
		order := -1
		if !sl.renewed || i == len(before.list) { // a new document has no entry of the one before
			order = compareAt(before, i, after, j)
		}
		switch {
		case order < 0:
			t.entries = append(t.entries, entry{before.list[i], true})
			dropped, i = dropped+1, i+1
		case order > 0:
			t.entries = append(t.entries, entry{after.list[j], false})
			added, j = added+1, j+1
		default:
			i, j = i+1, j+1
		}
	}
	if dropped == 0 {
		before.bytes = before.bytes[:starts[0]]
	}
	if added == 0 {
		after.bytes = after.bytes[:starts[1]]
	}
	return t.work.err
}

// prepareLarge waits for a turn for the commit, and makes room for what it adds to the batch.
func (t *txn) prepareLarge(ctx context.Context) error {
	if err := t.hold(ctx, 0); err != nil {
		return err
	}
	t.b.Ops = slices.Grow(t.b.Ops, len(t.entries)+16*len(t.slots))
	for _, e := range t.entries {
		t.b.Room += int(e.to-e.from) + 16
	}
	return t.share.Hold(ctx, time.Duration(len(t.entries))*entryTime)
}

// placeEntries writes the index entries. Those that go had the old number.
func (t *txn) placeEntries(sl *slot, old uint64) {
	for _, e := range t.entries[sl.from:sl.to] {
		if e.gone {
			t.b.Delete(setNumber(t.terms[0].key(e.term), old))
		} else {
			t.b.Set(setNumber(t.terms[1].key(e.term), sl.number), nil)
		}
	}
}

// settle completes the result of one operation.
func (t *txn) settle(sl *slot, p *pending, stamp expiry.Stamp, sequence uint64) {
	if p.record == nil {
		*p.result = Result{Document: *p.gone, Terms: p.terms}
		p.result.Version = Version{Sequence: sequence, Stamp: stamp}
		return
	}
	h := keys.Header{Class: classOf(p.ttl), Sequence: sequence, Stamp: stamp, TTL: int32(p.ttl)}
	keys.AppendHeader(p.record[:0], h)
	*p.result = Result{Document: document(t.v, sl.number, h, p.record[keys.HeaderBytes:]), Created: p.created, Skipped: p.skipped, Terms: p.terms}
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

// unwrite takes the old version out of the queues and, unless it has a
// successor of the same number, the document away.
func (t *txn) unwrite(sl *slot, number uint64) {
	rng := t.v.Container.Keys()
	t.b.Delete(t.key(func(dst []byte) []byte { return rng.Feed(dst, sl.header.Sequence) }))
	if deadline, ok := expiry.TTL(sl.header.TTL).Deadline(sl.header.Stamp); ok {
		t.b.Delete(t.key(func(dst []byte) []byte { return rng.Deadline(dst, deadline, number) }))
	}
	if sl.record != nil && !sl.renewed {
		return
	}
	t.b.Delete(t.key(func(dst []byte) []byte { return rng.Record(dst, number) }))
	if t.v.Identity().Partitioned() {
		t.b.Delete(t.key(func(dst []byte) []byte { return rng.Posting(dst, sl.partition, number) }))
	}
	if sl.record == nil {
		t.b.Delete(sl.lookup)
	}
}

// rewrite stores the new version and enters it in the queues.
func (t *txn) rewrite(sl *slot, stamp expiry.Stamp, sequence uint64) {
	rng := t.v.Container.Keys()
	size := uint32(len(sl.record) - keys.HeaderBytes)
	t.b.Set(t.key(func(dst []byte) []byte { return rng.Record(dst, sl.number) }), sl.record)
	t.b.Set(t.key(func(dst []byte) []byte { return rng.Feed(dst, sequence) }),
		t.key(func(dst []byte) []byte {
			return keys.AppendFeed(dst, keys.FeedEntry{Number: sl.number, Stamp: stamp, TTL: int32(sl.ttl), Bytes: size})
		}))
	if deadline, ok := sl.ttl.Deadline(stamp); ok {
		t.b.Set(t.key(func(dst []byte) []byte { return rng.Deadline(dst, deadline, sl.number) }),
			t.key(func(dst []byte) []byte {
				return keys.AppendDeadline(dst, keys.DeadlineEntry{Sequence: sequence, Bytes: size})
			}))
	}
	if sl.fresh() {
		t.b.Set(sl.lookup, t.key(func(dst []byte) []byte { return keys.AppendNumber(dst, sl.number) }))
		if t.v.Identity().Partitioned() {
			t.b.Set(t.key(func(dst []byte) []byte { return rng.Posting(dst, sl.partition, sl.number) }), nil)
		}
	}
}
