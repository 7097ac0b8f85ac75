package store

import (
	"context"

	"github.com/mayflydb/mayfly/internal/catalog"
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
	for _, sl := range t.slots {
		if sl.written {
			if err := t.compare(sl); err != nil {
				return err
			}
		}
	}
	t.b.Frees = t.deletes()
	order := t.key(t.v.Container.Keys().Order)
	t.b.Follow(order, t.place)
	if len(t.changes) > 0 {
		t.s.log.follow(&t.b, t.logEntries(), func() int64 { return 1000 * t.stamp })
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
var errLate = fault.New(fault.Conflict, "A document expired meanwhile.")

// died reports whether a document that the transaction found alive is dead now.
func (t *txn) died(now expiry.Stamp) bool {
	if now == t.v.Now {
		return false
	}
	if t.soonest != 0 && now >= t.soonest {
		return true
	}
	for _, sl := range t.slots {
		if sl.found && (t.group == nil || sl.written) && deadAt(t.v, sl.header, sl.body, now) {
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

// compare finds the index entries that the transaction makes and breaks.
func (t *txn) compare(sl *slot) error {
	for i, m := range t.x.matchers {
		if m == nil {
			continue
		}
		before, after := &t.terms[0], &t.terms[1]
		before.collect(m, sl.body)
		after.reset()
		if sl.record != nil {
			after.collect(m, sl.record[keys.HeaderBytes:])
		}
		t.differ(sl, before, after, t.x.generations[i])
	}
	err := t.compareNamed(sl)
	for i := range sl.results {
		if !sl.results[i].read {
			sl.results[i].terms = len(sl.entries)
		}
	}
	return err
}

// compareNamed is compare for the indexes that have names.
func (t *txn) compareNamed(sl *slot) error {
	for _, n := range t.x.named {
		before, after := &t.terms[0], &t.terms[1]
		if _, err := before.collectNamed(n, sl.body); err != nil {
			before.reset() // it was there before the index, which is not complete without it
		}
		after.reset()
		if sl.record != nil {
			array, err := after.collectNamed(n, sl.record[keys.HeaderBytes:])
			if err != nil {
				return err
			}
			if array && !n.multikey.Load() {
				t.b.Set(t.key(func(dst []byte) []byte { return t.v.Container.Keys().Multikey(dst, n.ID) }), nil)
			}
		}
		t.differ(sl, before, after, 0)
	}
	return nil
}

// differ notes the entries of one index that a slot's change makes and breaks.
func (t *txn) differ(sl *slot, before, after *terms, generation uint16) {
	note := func(gone bool) func([]byte) {
		return func(term []byte) {
			kept := t.key(func(dst []byte) []byte { return append(dst, term...) })
			sl.entries = append(sl.entries, entry{generation, kept, gone})
		}
	}
	if sl.renewed {
		difference(before, &terms{}, note(true), note(false))
		before.reset()
	}
	difference(before, after, note(true), note(false))
}

// placeEntries writes the index entries. Those that go had the old number.
func (t *txn) placeEntries(sl *slot, old uint64) {
	rng := t.v.Container.Keys()
	for _, e := range sl.entries {
		number := sl.number
		if e.gone {
			number = old
		}
		key := t.key(func(dst []byte) []byte { return appendEntry(dst, rng, e.generation, e.term, number) })
		if e.gone {
			t.b.Delete(key)
		} else {
			t.b.Set(key, nil)
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
	if sl.header.Class == keys.ClassOwn {
		deadline := sl.header.Stamp + int64(sl.header.TTL)
		t.b.Delete(t.key(func(dst []byte) []byte { return rng.Deadline(dst, deadline, number) }))
	}
	if sl.record != nil && !sl.renewed {
		return
	}
	t.b.Delete(t.key(func(dst []byte) []byte { return rng.Record(dst, number) }))
	if t.v.Dialect != catalog.Mongo {
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
	if classOf(sl.ttl) == keys.ClassOwn {
		t.b.Set(t.key(func(dst []byte) []byte { return rng.Deadline(dst, stamp+int64(sl.ttl), sl.number) }),
			t.key(func(dst []byte) []byte {
				return keys.AppendDeadline(dst, keys.DeadlineEntry{Sequence: sequence, Bytes: size})
			}))
	}
	if sl.fresh() {
		t.b.Set(sl.lookup, t.key(func(dst []byte) []byte { return keys.AppendNumber(dst, sl.number) }))
		if t.v.Dialect != catalog.Mongo {
			t.b.Set(t.key(func(dst []byte) []byte { return rng.Posting(dst, sl.partition, sl.number) }), nil)
		}
	}
}
