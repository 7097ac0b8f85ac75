package store

import (
	"cmp"
	"context"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// A reading is one Scan or Count. It reads everything from one snapshot, so entries and
// records agree: an entry may lead to a record that is dead or gone, never to one that has
// another value. It is in one range at a time, see each and merged.
type reading struct {
	ctx       context.Context
	s         *Store
	v         catalog.View
	of        access.Selection // nil for the whole container
	scope     access.Scope     // limits of, nil for the whole container
	set       access.Set       // narrows of, nil for none
	after     access.Position
	first     int             // how many documents the caller needs, 0 if that is not known; see firstscan.go
	every     bool            // the caller reads all documents
	skip      *access.Skip    // of entries, nil for none; see newSkipping
	mean      uint64          // bytes of a document
	layout    *catalog.State  // its ranges are those of the snapshot
	ranges    []catalog.Range // that the selection has documents in
	rng       keys.Range      // of the range that it is in
	partition []byte          // key form of the selected partition, or of a prefix
	whole     bool            // partition is no prefix
	yield     func(access.Document, error) bool

	snapshot kv.Snapshot
	borrowed bool          // the snapshot is that of a reading over several ranges, see in
	index    catalog.Index // complete in the snapshot
	matcher  *matcher      // of index
	found    foundEntries
	strict   bool   // a list must not have other documents, see Count
	inside   bool   // narrow is called for a part of a set, of which each part is looked at once: calls are nested
	based    bool   // the lists of narrow have no documents outside scope
	from     uint64 // lower numbers do not matter

	tests   []access.Set // what narrow has left out, see tested.go
	testing bool         // narrow leaves out nothing
	unsure  bool         // a test was not certain

	stats     *access.Stats
	uncounted access.Stats // takes the stats when the caller wants none
	collected int          // how many entries to collect in addition to a long list

	ahead    fetcher       // records that were fetched at once, see lookahead
	texts    bool          // the JSON of documents is wanted, see access.Access
	memo     kv.Remembered // of the document that was found last, nil if it was not found in memory
	records  kv.Iterator   // over all records, nil until the first
	here     bool          // records is at the record with the number at
	at       uint64
	shared   kv.Iterator // over the whole container, for short looks
	walked   kv.Iterator // over the entries of along
	open     []kv.Iterator
	steps    int
	key      []byte
	position access.Position
	rank     []byte // of the document that is handed out, in the order of a walk over several ranges; see merged
}

// newReading begins a reading. The caller closes it.
func (s *Store) newReading(ctx context.Context, v catalog.View, a access.Access) (*reading, error) {
	r := s.prepare(ctx, v, a)
	return r, r.begin()
}

// prepare finds out what a reading needs, before it takes its snapshot.
func (s *Store) prepare(ctx context.Context, v catalog.View, a access.Access) *reading {
	r := &reading{ctx: ctx, s: s, v: v, layout: v.State, of: a.Of, after: a.After, first: a.First, every: a.All,
		texts: a.Texts, collected: costs.collected, stats: a.Stats}
	if r.stats == nil {
		r.stats = &r.uncounted
	}
	r.limit()
	r.touch()
	return r
}

// begin takes the snapshot. If it fails, it has closed the reading.
func (r *reading) begin() error {
	s, v := r.s, r.v
	if _, walk := r.of.(*access.Walk); !walk && r.set == nil {
		if err := r.take(); err != nil {
			return err
		}
		if err := r.hasNamed(); err != nil {
			r.close()
			return err
		}
		return nil
	}
	r.index, r.matcher = v.Active, s.indexer(v).matchers[0]
	return r.renew()
}

// limit reads scope, set and partition from the selection. A container of the Mongo dialect
// has one partition, so a scope there is the whole container or nothing.
func (r *reading) limit() {
	var partition access.Partition
	limited := false
	switch of := r.of.(type) {
	case access.Scope:
		r.scope = of
	case *access.Lookup:
		partition, limited = of.Partition, true
	case *access.Filter:
		r.scope, r.set = of.Scope, of.Set
	case *access.Walk:
		r.scope, r.set = of.Scope, of.Set
	}
	if !r.v.Identity().Partitioned() {
		span, ok := r.scope.(*access.Span)
		switch _, plain := r.of.(access.Scope); {
		// All documents have the effective key of a missing value. A span without it selects nothing.
		case ok && !keys.InEPKRange(EffectivePartitionKey(r.v.State, []doc.Value{{}}), span.Low, span.High):
			r.of, r.set = &access.Lookup{}, nil
		case plain:
			r.of = nil
		}
		r.scope, r.whole = nil, true
		return
	}
	if r.scope != nil {
		partition, limited = r.scope.(access.Partition)
	}
	if limited {
		r.partition = r.v.Identity().AppendPartition(nil, partition)
		r.whole = len(partition) == len(r.v.Partition.Paths)
	}
}

// renew takes a new snapshot in which index is complete. A new index may have replaced the
// one of the view: the catalog drops the old one at the moment of the change, so the reading
// continues with the new one. If the present index is still index after the snapshot was
// taken, the snapshot has it. Call renew only before anything was read.
func (r *reading) renew() error {
	r.close()
	// Each round lost a race against a change of the indexing, which is rare.
	for range maxAttempts {
		if err := r.take(); err != nil {
			return err
		}
		holds, err := r.holds()
		if err != nil || holds && r.index.Generation == r.v.Active.Generation {
			return err
		}
		now, err := r.v.Container.Enter(r.ctx, r.v.Now)
		if err == nil && now.Active.Generation == r.index.Generation {
			return nil
		}
		r.close()
		if err != nil {
			return err
		}
		r.index, r.matcher = now.Active, r.s.indexer(now).matchers[0]
	}
	return errIndexChanged
}

// take takes a snapshot, and finds out which ranges it has. A deleted container is ErrNoOwner: its documents may be
// gone.
func (r *reading) take() error {
	snapshot, layout, err := r.s.snapshotOf(r.ctx, r.v.Container, r.layout)
	if err != nil {
		return err
	}
	r.snapshot, r.ahead = snapshot, newFetcher(snapshot)
	if layout != r.layout { // a range was split since
		r.layout = layout
		r.touch()
	}
	return nil
}

// snapshotOf takes a snapshot of a container, and returns the state whose ranges it has. known is a state that the
// container has had.
func (s *Store) snapshotOf(
	ctx context.Context, c *catalog.Container, known *catalog.State,
) (kv.Snapshot, *catalog.State, error) {
	for {
		snapshot, err := s.engine.Snapshot(ctx)
		if err != nil {
			return nil, nil, err
		}
		// Asked after the snapshot was taken: before, the answer could be outdated by then.
		layout, again, err := c.Layout(ctx, known, snapshot)
		if err == nil && !again {
			return snapshot, layout, nil
		}
		if err := cmp.Or(err, snapshot.Close()); err != nil {
			return nil, nil, err
		}
		known = layout
	}
}

// holds reports whether the state of the view is that of the snapshot.
func (r *reading) holds() (bool, error) {
	if r.s.catalog.Shared() && r.layout == r.v.State { // take has found out
		return true, nil
	}
	return r.v.Holds(r.ctx, r.snapshot)
}

// hasNamed checks that the indexes to scan are complete in the snapshot. They are if the
// present state still has them after the snapshot was taken.
func (r *reading) hasNamed() error {
	scans, ok := r.of.(*access.IndexScans)
	if !ok {
		return nil
	}
	if holds, err := r.holds(); err != nil || holds {
		return err
	}
	now, err := r.v.Container.Enter(r.ctx, r.v.Now)
	if err != nil {
		return err
	}
	x := r.s.indexer(now)
	for i := range *scans {
		id := (*scans)[i].Index
		if n := x.find(id); id != access.Identity && (n == nil || n.Building) {
			return errIndexChanged
		}
	}
	return nil
}

// errIndexChanged ends a walk whose index is gone and has no successor.
var errIndexChanged = fault.New(fault.Conflict,
	"The indexing of the container was changed during the request. Send the request again.")

func (r *reading) close() {
	r.leave() // renew opens new iterators on the new snapshot
	if r.snapshot != nil && !r.borrowed {
		r.snapshot.Close()
		r.snapshot = nil
	}
}

// tick counts a step, and fails when the context has ended.
func (r *reading) tick() error {
	if r.steps++; r.steps%checkEvery == 0 {
		return r.ctx.Err()
	}
	return nil
}

// iterate opens an iterator that lives as long as the reading.
func (r *reading) iterate(lower, upper []byte) (kv.Iterator, error) {
	return r.keep(r.snapshot.Iterate(r.ctx, lower, upper))
}

// keep lets an iterator that was just opened live as long as the reading.
func (r *reading) keep(it kv.Iterator, err error) (kv.Iterator, error) {
	if err == nil {
		r.open = append(r.open, it)
	}
	return it, err
}

// record finds the document with a number and reports whether it is alive; body is nil if
// there is no record. The body is valid until the next call.
func (r *reading) record(number uint64) (h keys.Header, body doc.Doc, alive bool, err error) {
	r.memo = nil
	if len(r.ahead.have) > 0 {
		r.key = r.rng.Record(r.key[:0], number)
		if value, known, err := r.ahead.value(r.key); known {
			if err != nil || value == nil {
				return h, nil, false, err
			}
			r.stats.Documents++
			return r.decode(value)
		}
	}
	// A walk over all records already has the value.
	memory := r.ahead.memory != nil && (r.texts || !r.here || r.at != number)
	if memory {
		r.key = r.rng.Record(r.key[:0], number)
		if r.memo = r.ahead.memory.Recall(r.key); r.memo != nil {
			r.stats.Documents++
			return r.decode(r.memo.Value())
		}
	}
	if r.records == nil {
		if err := r.openRecords(); err != nil {
			return h, nil, false, err
		}
	}
	if err := r.move(number); err != nil || !r.here || r.at != number {
		return h, nil, false, err
	}
	h, body, alive, err = r.present()
	if err == nil && alive && memory {
		r.ahead.memory.Remember(r.records.Key(), r.records.Value())
	}
	return h, body, alive, err
}

// nearby is the distance in numbers up to which record steps rather than seeks: a seek takes
// as long as several steps within a block.
const nearby = 4

// move moves records to the number, or behind it if there is no such record.
func (r *reading) move(number uint64) error {
	// Numbers of one list often lie close together, because documents are created in bursts.
	for r.here && r.at < number && number-r.at <= nearby {
		if err := r.land(r.records.Next()); err != nil {
			return err
		}
		if !r.here {
			return nil
		}
	}
	if r.here && r.at == number {
		return nil
	}
	r.key = r.rng.Record(r.key[:0], number)
	return r.land(r.records.Seek(r.key))
}

// present is the document at which records is.
func (r *reading) present() (h keys.Header, body doc.Doc, alive bool, err error) {
	r.stats.Documents++
	r.memo = nil
	value := r.records.Value()
	if value == nil {
		return h, nil, false, r.records.Err()
	}
	return r.decode(value)
}

// decode takes the value of a record apart.
func (r *reading) decode(value []byte) (h keys.Header, body doc.Doc, alive bool, err error) {
	if h, body, err = keys.DecodeHeader(value); err != nil {
		return h, nil, false, corrupt(err, "document")
	}
	return h, body, !dead(r.v, h, body), nil
}

func (r *reading) openRecords() (err error) {
	r.records, err = r.iterate(r.rng.Bounds(keys.KindRecord))
	return err
}

// land notes where records is after a move.
func (r *reading) land(found bool) (err error) {
	if r.here = found; !found {
		return r.records.Err()
	}
	if r.at, err = keys.Number(r.records.Key()); err != nil {
		return corrupt(err, "document")
	}
	return nil
}

// selected reports whether a document is in the partition or span.
func (r *reading) selected(body doc.Doc) bool {
	return r.based || selects(r.v.State, r.scope, r.partition, body)
}

// give hands out the document that record or present found, whose position is in r.position.
func (r *reading) give(number uint64, h keys.Header, body doc.Doc) error {
	d := document(r.v, number, h, body)
	d.Position, d.Memo = r.position, r.memo
	if !r.yield(d, nil) {
		return errStopped
	}
	return nil
}

// visit hands out the documents of a list, in order of creation.
func (r *reading) visit(l list) error {
	return r.visitList(l, r.from, func(_ []byte, number uint64) error {
		_, err := r.giveNumber(number)
		return err
	})
}

// giveNumber hands out the document with a number, if it is alive and selected, and returns its body.
func (r *reading) giveNumber(number uint64) (doc.Doc, error) {
	h, body, alive, err := r.record(number)
	// A set may have named too many documents, for instance those of other partitions.
	if err != nil || !alive || !r.selected(body) {
		return nil, err
	}
	r.position = access.NumberPosition(r.position[:0], number)
	if r.borrowed {
		r.rank = keys.AppendNumber(r.rank[:0], number)
	}
	return body, r.give(number, h, body)
}

// visitList calls visit for the numbers of a list that are n or above.
func (r *reading) visitList(l list, n uint64, visit func(key []byte, number uint64) error) error {
	ahead := r.lookAhead(visit)
	_, ahead.near = l.(*everyRecord)
	for ; ; n++ {
		number, ok, err := l.seek(n)
		if err != nil {
			return err
		}
		if !ok {
			return ahead.rest()
		}
		n = number
		if err := ahead.see(nil, number); err != nil {
			return err
		}
	}
}

// lookAhead begins a lookahead in the range that the reading is in.
func (r *reading) lookAhead(visit func(key []byte, number uint64) error) *lookahead {
	return &lookahead{ctx: r.ctx, records: &r.ahead, rng: r.rng, visit: visit}
}

// resume reads from out of a position in order of creation.
func (r *reading) resume() error {
	if r.after == nil {
		return nil
	}
	number, ok := r.after.Number()
	if !ok {
		return ErrPosition
	}
	if r.from = number + 1; r.from == 0 {
		return ErrPosition
	}
	return nil
}
