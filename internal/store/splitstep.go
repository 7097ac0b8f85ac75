package store

import (
	"context"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// A splitStep copies some writes of a range that is being split into the keys of the new ranges. It makes the keys of a
// document as a write does: a slot has the copy that is there and the document as it is now.
type splitStep struct {
	ws     *writeSet
	split  *catalog.Split
	from   fetcher
	parent keys.Range
	into   [2]keys.Range

	newest   uint64 // sequence of the parent
	usual    int    // bytes of a document of the parent
	progress keys.SplitProgress
	changed  bool
	bytes    int
}

// An event is a write of a document, or a deletion, in a range that is being split.
type event struct {
	sequence, number uint64
	deletion         bool
}

// run fills the batch of the write set.
func (x *splitStep) run(ctx context.Context) error {
	counter, err := counterOf(ctx, &x.from, x.parent)
	if err != nil {
		return err
	}
	x.newest, x.usual = counter.Sequence, int(counter.Bytes/max(counter.Documents, 1))
	if x.progress, err = splitProgressIn(ctx, &x.from, x.into[0]); err != nil {
		return err
	}
	before := x.progress.Copied
	writes, err := x.events(ctx, x.parent.Feed, keys.KindFeed, func(it kv.Iterator) (uint64, error) {
		e, err := keys.DecodeFeed(it.Value())
		return e.Number, err
	})
	if err != nil {
		return err
	}
	defer writes.Close()
	deletions, err := x.events(ctx, x.parent.Deletion, keys.KindDeletion, func(it kv.Iterator) (uint64, error) {
		return keys.DecodeNumber(it.Value())
	})
	if err != nil {
		return err
	}
	defer deletions.Close()
	deletions.deletion = true
	for !x.full() {
		group, err := x.group(writes, deletions)
		if err != nil {
			return err
		}
		all, err := x.takeAll(ctx, group)
		if err != nil {
			return err
		}
		if all && writes.over && deletions.over {
			x.progress.Copied = max(x.progress.Copied, x.newest)
			break
		}
	}
	x.changed = x.progress.Copied != before
	for _, rng := range x.into {
		x.ws.placeClaims(rng)
	}
	return nil
}

// group is the next events of both orders, about as many as the step may take.
func (x *splitStep) group(writes, deletions *events) (list []event, err error) {
	size := min(splitCosts.group, splitCosts.documents-len(x.ws.slots), (splitCosts.bytes-x.bytes)/max(x.usual, 1))
	for size = max(size, 1); len(list) < size && !(writes.over && deletions.over); {
		next := writes
		if writes.over || !deletions.over && deletions.sequence < writes.sequence {
			next = deletions
		}
		list = append(list, next.event)
		if err := next.move(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// takeAll copies what events have led to, until the step is full. all says that it has got to the end.
func (x *splitStep) takeAll(ctx context.Context, group []event) (all bool, err error) {
	if err := x.fetch(ctx, group); err != nil {
		return false, err
	}
	defer x.from.drop()
	for _, e := range group {
		if x.full() {
			return false, nil
		}
		if err := x.take(ctx, e); err != nil {
			return false, err
		}
		x.progress.Copied = e.sequence
	}
	return true, nil
}

// fetch fetches what take reads for events, where that is faster than one after the other: the records, and the copies
// that are there already.
func (x *splitStep) fetch(ctx context.Context, group []event) error {
	if x.from.many == nil {
		return nil
	}
	var list [][]byte
	for _, e := range group {
		for i, rng := range [...]keys.Range{x.parent, x.into[0], x.into[1]} {
			if i > 0 || !e.deletion {
				list = append(list, rng.Record(nil, e.number))
			}
		}
	}
	if err := x.from.fetch(ctx, list); err != nil || len(x.ws.v.UniquePaths()) == 0 {
		return err
	}
	return x.fetchClaims(ctx, group)
}

// fetchClaims fetches the unique keys of the copies that are there already, see release.
func (x *splitStep) fetchClaims(ctx context.Context, group []event) error {
	var list [][]byte
	for _, e := range group {
		for _, rng := range x.into {
			_, err := getRecord(ctx, &x.from, rng.Record(nil, e.number), func(_ keys.Header, body doc.Doc) error {
				sl := &slot{rng: rng, partition: x.ws.v.Identity().AppendPartitionOf(nil, body)}
				x.ws.uniqueKeys(sl, body, func(key []byte) { list = append(list, key) })
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	return x.from.fetch(ctx, list)
}

func (x *splitStep) full() bool {
	return len(x.ws.slots) >= splitCosts.documents || x.bytes >= splitCosts.bytes ||
		len(x.ws.entries) >= splitCosts.entries
}

// events opens one of the two orders of events behind what is copied.
func (x *splitStep) events(
	ctx context.Context, key func([]byte, uint64) []byte, kind keys.Kind, number func(kv.Iterator) (uint64, error),
) (*events, error) {
	_, upper := x.parent.Bounds(kind)
	it, err := x.from.Iterate(ctx, key(nil, x.progress.Copied+1), upper)
	if err != nil {
		return nil, err
	}
	e := &events{Iterator: it, numberOf: number}
	if err := e.move(); err != nil {
		it.Close()
		return nil, err
	}
	return e, nil
}

// events walks over events, and stands at one of them until it is over.
type events struct {
	kv.Iterator
	numberOf func(kv.Iterator) (uint64, error)
	over     bool
	event
}

func (e *events) move() (err error) {
	if !e.Next() {
		e.over = true
		return e.Err()
	}
	if e.sequence, err = keys.FeedSequence(e.Key()); err != nil {
		return corrupt(err, "change feed entry")
	}
	if e.number, err = e.numberOf(e.Iterator); err != nil {
		return corrupt(err, "change feed entry")
	}
	return nil
}

// take copies what an event has led to. In one snapshot a document is in one event at most.
func (x *splitStep) take(ctx context.Context, e event) error {
	if e.deletion {
		return x.remove(ctx, e.number)
	}
	h, body, found, err := copyRecord(ctx, &x.from, x.parent.Record(nil, e.number))
	switch {
	case err != nil:
		return err
	case !found || h.Sequence != e.sequence:
		return fault.New(fault.Corrupt, "A change feed entry leads to no document. Run mayfly check.")
	case dead(x.ws.v, h, body):
		return x.remove(ctx, e.number)
	}
	return x.put(ctx, e.number, h, body)
}

// put writes a document to its new range.
func (x *splitStep) put(ctx context.Context, number uint64, h keys.Header, body doc.Doc) error {
	sl, side, err := x.slot(ctx, number, body)
	if err != nil {
		return err
	}
	if err := x.load(ctx, sl); err != nil {
		return err
	}
	sl.record = append(keys.AppendHeader(make([]byte, 0, keys.HeaderBytes+len(body)), h), body...)
	sl.ttl = expiry.TTL(h.TTL)
	if sl.found {
		if err := x.release(ctx, sl); err != nil {
			return err
		}
	}
	x.ws.uniqueKeys(sl, body, func(key []byte) {
		if i := x.ws.claimOf(key); i >= 0 {
			x.ws.setOwner(i, sl)
		} else {
			x.ws.addClaim(claim{key: key, owner: sl})
		}
	})
	count := &x.progress.New[side]
	count.Documents++
	count.Bytes += uint64(len(body))
	return x.write(sl, side, func() { x.ws.storeNew(sl, h.Stamp, h.Sequence) })
}

// remove removes the copy of a document, if there is one.
func (x *splitStep) remove(ctx context.Context, number uint64) error {
	for side, rng := range x.into {
		_, body, found, err := copyRecord(ctx, &x.from, rng.Record(nil, number))
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		sl, _, err := x.slot(ctx, number, body)
		if err == nil {
			err = x.load(ctx, sl)
		}
		if err == nil {
			err = x.release(ctx, sl)
		}
		if err != nil {
			return err
		}
		return x.write(sl, side, func() {})
	}
	return nil
}

// slot makes the slot of a document in its new range.
func (x *splitStep) slot(ctx context.Context, number uint64, body doc.Doc) (sl *slot, side int, err error) {
	identity := x.ws.v.Identity()
	partition := identity.AppendPartitionOf(nil, body)
	id, ok := identity.AppendID(nil, body)
	if !ok {
		return nil, 0, fault.New(fault.Corrupt, "A document has no id. Run mayfly check.")
	}
	side = x.split.Side(partition)
	rng := x.into[side]
	sl = &slot{rng: rng, lookup: rng.Lookup(nil, partition, string(id)), partition: partition, number: number,
		written: true}
	x.ws.slots = append(x.ws.slots, sl)
	return sl, side, ctx.Err()
}

// load reads the copy of a slot's document that is there already.
func (x *splitStep) load(ctx context.Context, sl *slot) (err error) {
	sl.header, sl.body, sl.found, err = copyRecord(ctx, &x.from, sl.rng.Record(nil, sl.number))
	return err
}

// release gives up the unique keys of a copy, unless another document has taken one over: the copies are older than
// what they are copied from, each by another span of time.
func (x *splitStep) release(ctx context.Context, sl *slot) (err error) {
	x.ws.uniqueKeys(sl, sl.body, func(key []byte) {
		if err != nil || x.ws.claimOf(key) >= 0 {
			return
		}
		var number uint64
		var found bool
		if number, found, err = getNumber(ctx, &x.from, key); err == nil && found && number == sl.number {
			x.ws.addClaim(claim{key: key})
		}
	})
	return err
}

// write adds to the batch what becomes of a slot.
func (x *splitStep) write(sl *slot, side int, store func()) error {
	if err := x.ws.compare(sl); err != nil {
		return err
	}
	if sl.found {
		x.ws.removeOld(sl, sl.number)
		count := &x.progress.New[side]
		count.Documents--
		count.Bytes -= uint64(len(sl.body))
	}
	store()
	x.ws.placeEntries(sl, sl.number)
	x.bytes += len(sl.body) + len(sl.record)
	return nil
}

// awaitSplit fails with fault.Conflict if the write set writes to a range that is sealed, as soon as the split of the
// range is over.
func (ws *writeSet) awaitSplit(ctx context.Context) error {
	split := ws.v.Splitting
	if split == nil || !split.Sealed {
		return nil
	}
	for _, sl := range ws.slots {
		if sl.written && split.Of(sl.rng.Range) {
			if err := ws.v.Unsealed(ctx); err != nil {
				return err
			}
			return ErrRangeGone
		}
	}
	return nil
}

// noteDeletion leaves a key for the deletion of a document in a range that is being split, so that its copy is removed,
// too. sequence is the newest one of the slot. A document that is created again is deleted by the operation before.
func (ws *writeSet) noteDeletion(sl *slot, number, sequence uint64) {
	if !ws.v.Splitting.Of(sl.rng.Range) || sl.record != nil && !sl.renewed {
		return
	}
	if sl.record != nil {
		sequence--
	}
	ws.b.Set(ws.key(func(dst []byte) []byte { return sl.rng.Deletion(dst, sequence) }),
		ws.key(func(dst []byte) []byte { return keys.AppendNumber(dst, number) }))
}
