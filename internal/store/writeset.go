package store

import (
	"bytes"
	"context"
	"sync"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// A writeSet is one attempt at some operations in one container: what they have read, and what becomes of each document
// that they touch. Its commit is one batch. Write sets are reused, because a write would otherwise spend much of its
// time on allocating their slices.
type writeSet struct {
	s            *Store
	v            catalog.View
	view         kv.View // all reads go through it
	ahead        fetcher // the Reader of view while several operations are done, see fetchAhead
	aheadTo      int     // the first operation that it has not looked at
	x            *indexer
	b            kv.Batch
	slots        []*slot          // in order of first touch
	index        map[string]*slot // the same by lookup key, when they are many
	claims       []claim
	claimed      map[string]int // the same by key, when they are many
	claimChanges []claimChange  // what the operation under way has changed of them
	parts        []part         // the slots by range, see group
	arena        []byte         // keys of the batch
	terms        [2]terms       // index entries before and after, see diff
	entries      []entry        // that the commit writes and removes
	loaded       int            // bytes of documents that its operations have read, and made by editing

	soonest expiry.Stamp // first deadline of the documents that were only looked at; 0 if none has one

	within  *SnapshotTransaction // the transaction that it is a part of, nil if it is alone
	logged  bool                 // its changes are to be logged
	changes []change             // the same, in their order
	instant expiry.Stamp         // of the commit, as its first range has found it
	stamp   expiry.Stamp         // of the commit

	// Of a large write.
	ctx   context.Context // of the only operations that it does, nil if its user decides them one by one
	share *budget.Share
	taken int64 // from share
	work  work
}

// A slot is one document that a write set touches: as it was, and as it will be.
type slot struct {
	rng       keys.Range // that it is in
	lookup    []byte     // its key
	partition []byte     // part of lookup

	found  bool // a living document was there
	number uint64
	header keys.Header
	body   doc.Doc // as it was, nil if not found

	written bool
	kept    expiry.Stamp // the stamp that an Import brings along, 0 for a new one
	renewed bool         // deleted and created again: another document, with another number, under the same key
	ttl     expiry.TTL
	record  []byte // as it will be: room for the header, then the body; nil if deleted
	results []pending

	// What an interactive transaction shows for a version and a number that only the commit gives out, see StandIn.
	shown   access.Version
	standIn uint64

	from, to int // its entries

	since   uint64           // the operation of its ContainerTransaction that wrote it first, 0 if none has
	expired *expiredDocument // the dead document under the key, if changes are logged
}

// An entry is an index entry that is written or, with gone, removed.
type entry struct {
	term  // of terms[0] if it is gone, else of terms[1]
	gone  bool
	stays bool // another value of the document has it, too
}

// A pending is a result that gets its sequence and stamp at the commit.
type pending struct {
	result  *Result
	record  []byte           // the body follows the header's room; nil for a delete
	gone    *access.Document // what a delete has removed
	ttl     expiry.TTL
	created bool
	read    bool // a read of what the write set itself has written: it takes no sequence
	skipped bool // Op.If or Op.Edit wanted no change
	terms   int
}

var writeSets = sync.Pool{New: func() any { return new(writeSet) }}

// open is the view of the engine that a request's view of its container was proved in, or else a new one.
func (s *Store) open(ctx context.Context, proved *kv.View) (kv.View, error) {
	if proved != nil && proved.Reader != nil {
		return *proved, nil
	}
	return s.engine.View(ctx)
}

// begin starts an attempt, with a view of its own. The caller ends it.
func (s *Store) begin(ctx context.Context, v catalog.View) (*writeSet, error) {
	view, err := s.open(ctx, v.Read)
	if err != nil {
		return nil, err
	}
	return s.beginOn(v, view), nil
}

func (s *Store) beginOn(v catalog.View, view kv.View) *writeSet {
	ws := writeSets.Get().(*writeSet)
	ws.s, ws.v, ws.view, ws.x = s, v, view, s.indexer(v)
	ws.b = kv.Batch{Since: view.Mark, Reads: ws.b.Reads[:0], Ops: ws.b.Ops[:0], Orders: ws.b.Orders[:0]}
	ws.slots, ws.claims, ws.claimChanges = ws.slots[:0], ws.claims[:0], ws.claimChanges[:0]
	ws.arena, ws.entries = ws.arena[:0], ws.entries[:0]
	ws.terms[0].reset()
	ws.terms[1].reset()
	ws.loaded, ws.soonest, ws.within, ws.stamp = 0, 0, nil, 0
	ws.logged, ws.changes = v.Identity().Logged() && s.log.on(), ws.changes[:0]
	return ws
}

// maxTransactionBytes bounds the documents that one transaction reads and edits: they stay in memory until it ends. One
// operation alone is always below it.
const maxTransactionBytes = 32 << 20

// maxKept bounds the memory that a finished write set keeps for the next one, so that one large write does not hold its
// memory from then on.
const maxKept = 1 << 20

func (ws *writeSet) end() {
	ws.giveBack()
	clear(ws.b.Reads)
	clear(ws.b.Ops)
	clear(ws.b.Orders)
	clear(ws.slots)
	clear(ws.parts)
	clear(ws.claims)
	clear(ws.claimChanges[:cap(ws.claimChanges)])
	clear(ws.changes)
	ws.s, ws.v, ws.view, ws.x, ws.index = nil, catalog.View{}, kv.View{}, nil, nil
	ws.claimed, ws.within, ws.ahead = nil, nil, fetcher{}
	// What refers to documents is cleared, so that a pooled write set keeps none of them in memory.
	kept := cap(ws.arena) + 2*cap(ws.terms[0].bytes) + 2*cap(ws.terms[1].bytes) + 12*cap(ws.entries)
	if kept <= maxKept && cap(ws.b.Ops) <= maxKept/64 {
		writeSets.Put(ws)
	}
}

// key keeps the bytes that build appends to the arena until the batch is over.
func (ws *writeSet) key(build func(dst []byte) []byte) []byte {
	start := len(ws.arena)
	ws.arena = build(ws.arena)
	return ws.arena[start:len(ws.arena):len(ws.arena)]
}

// do does one operation on its document as the write set has it.
func (ws *writeSet) do(ctx context.Context, op *Op, result *Result) error {
	sl, err := ws.touch(ctx, op.Key)
	if err != nil {
		return err
	}
	alive := sl.alive()
	// Existence and versions are checked before any callback of the caller runs, so that those see living documents of
	// the right version only.
	if err := mayRun(op, alive, sl.version()); err != nil {
		return err
	}
	if alive && op.Verb != Delete {
		if ws.loaded += len(sl.document(ws.v).Body); ws.loaded > maxTransactionBytes {
			return errManyBytes
		}
	}
	if op.Verb == Read {
		// A read does not take a sequence: nothing has changed.
		ws.show(sl, result, false)
		return nil
	}
	if alive && op.If != nil {
		switch wanted, err := op.If(sl.document(ws.v)); {
		case err != nil:
			return err
		case !wanted:
			ws.show(sl, result, true)
			return nil
		}
	}
	if op.Verb == Delete {
		ws.delete(sl, result)
		return nil
	}
	body := op.Body
	if op.Verb == Patch {
		switch body, err = op.Edit(sl.document(ws.v)); {
		case err != nil:
			return err
		case body == nil:
			ws.show(sl, result, true)
			return nil
		}
		ws.loaded += len(body)
	}
	return ws.put(ctx, sl, op, body, !alive, result)
}

// show makes the living document, unchanged, the result.
func (ws *writeSet) show(sl *slot, result *Result, skipped bool) {
	*result = Result{Document: sl.document(ws.v), Skipped: skipped}
	if sl.written {
		sl.results = append(sl.results,
			pending{result: result, record: sl.record, ttl: sl.ttl, read: true, skipped: skipped})
	}
}

// mayRun checks the conditions of an operation: that a document must or must not exist, and its version. A version is
// compared with living documents only, so the ETag of an expired one guards nothing.
func mayRun(op *Op, alive bool, version access.Version) error {
	switch {
	case op.Verb == Create && alive:
		return ErrExists
	case !alive && op.Verb != Create && op.Verb != Upsert:
		return ErrNotFound
	case op.IfMatch != nil && alive && !matches(op.IfMatch, version):
		return ErrPrecondition
	case op.IfNoneMatch != nil && alive && matches(op.IfNoneMatch, version):
		if op.Verb == Read {
			return errNotModified
		}
		return ErrPrecondition
	}
	return nil
}

func matches(want *access.Version, version access.Version) bool {
	return want == AnyVersion || *want == version
}

// touch finds the slot of a document, and reads the document the first time. The commit then depends on the lookup,
// also if it leads nowhere: that is how two creations of one id meet.
func (ws *writeSet) touch(ctx context.Context, key Key) (*slot, error) {
	rng := ws.v.KeysFor(key.Partition)
	var size int
	lookup := ws.key(func(dst []byte) []byte {
		dst = rng.AppendPrefix(dst, keys.KindLookup)
		start := len(dst)
		dst = ws.v.Identity().AppendPartition(dst, key.Partition)
		size = len(dst) - start
		return append(dst, key.ID...)
	})
	if sl := ws.known(lookup); sl != nil {
		return sl, nil
	}
	// The lookup key contains the key form of the partition, which postings and unique keys need as well.
	end := len(lookup) - len(key.ID)
	sl := &slot{rng: rng, lookup: lookup, partition: lookup[end-size : end]}
	ws.depend(lookup)
	number, found, err := getNumber(ctx, ws.view.Reader, lookup)
	if err != nil {
		return nil, err
	}
	if found {
		if err := ws.load(ctx, sl, number); err != nil {
			return nil, err
		}
	}
	// Also a slot that found nothing is kept: later operations of the write set must see the same absence.
	ws.slots = append(ws.slots, sl)
	if ws.index != nil {
		ws.index[string(lookup)] = sl
	}
	return sl, nil
}

// manySlots is how many slots are searched one after the other before a map is worth its memory.
const manySlots = 128

// known finds the slot with that lookup key, nil if there is none yet.
func (ws *writeSet) known(lookup []byte) *slot {
	if ws.index != nil {
		return ws.index[string(lookup)]
	}
	for _, sl := range ws.slots {
		if bytes.Equal(sl.lookup, lookup) {
			return sl
		}
	}
	if len(ws.slots) == manySlots {
		ws.index = make(map[string]*slot, 4*manySlots)
		for _, sl := range ws.slots {
			ws.index[string(sl.lookup)] = sl
		}
	}
	return nil
}

// depend makes the commit depend on a key that was read. A SnapshotTransaction depends only on what it writes, see
// snapshotCommit.prepare.
func (ws *writeSet) depend(key []byte) {
	if ws.within == nil {
		ws.b.Read(key)
	}
}

// load reads the record of a slot. A document that is dead counts as not found. What is left of it stays on disk until
// it is reclaimed: cleaning up here would make a write pay for what expired before.
func (ws *writeSet) load(ctx context.Context, sl *slot, number uint64) error {
	record := ws.key(func(dst []byte) []byte { return sl.rng.Record(dst, number) })
	ws.depend(record)
	h, body, found, err := copyRecord(ctx, ws.view.Reader, record)
	if err != nil || !found {
		return err
	}
	if dead(ws.v, h, body) {
		ws.noteExpired(sl, number, body)
		return nil
	}
	sl.found, sl.number, sl.header, sl.body = true, number, h, body
	return ws.holdBody(body)
}

// alive reports whether the document exists after the operations so far.
func (sl *slot) alive() bool {
	if sl.written {
		return sl.record != nil
	}
	return sl.found
}

// version is the document's version before the write set. What the write set itself has written has no version yet: it
// matches nothing, or what an interactive transaction shows for it.
func (sl *slot) version() access.Version {
	if sl.written {
		return sl.shown
	}
	return access.Version{Sequence: sl.header.Sequence, Stamp: sl.header.Stamp}
}

// document is the living document after the operations so far.
func (sl *slot) document(v catalog.View) access.Document {
	if sl.written {
		// Sequence and stamp come with the commit.
		return access.Document{Number: sl.number, TTL: sl.ttl, Body: sl.record[keys.HeaderBytes:]}
	}
	return document(v, sl.number, sl.header, sl.body)
}

func (ws *writeSet) delete(sl *slot, result *Result) {
	gone := sl.document(ws.v)
	ws.noteDelete(gone.Body)
	ws.release(sl)
	sl.written, sl.record = true, nil
	sl.results = append(sl.results, pending{result: result, gone: &gone})
}

// put gives the document a new body.
func (ws *writeSet) put(
	ctx context.Context, sl *slot, op *Op, body doc.Doc, created bool, result *Result,
) error {
	if err := ws.checkBody(sl, op, body); err != nil {
		return err
	}
	// The ttl is stored even while lifetime is off, since it counts as soon as the container gets a default.
	ttl, err := ws.v.Identity().TTL(body)
	if err != nil && ws.v.Policy.On() && !op.Lenient { // while lifetime is off, no ttl is interpreted
		return err
	}
	var before doc.Doc
	if !created {
		before = sl.document(ws.v).Body
	}
	if err := ws.checkNamed(before, body); err != nil {
		return err
	}
	if !created { // before the new claims, since the new body may have the same unique keys
		ws.release(sl)
	}
	if err := ws.claimAll(ctx, sl, body); err != nil {
		return err
	}
	if err := ws.holdBody(body); err != nil {
		return err
	}
	// The header is filled in at the commit, so the record is made with space for it and not copied again.
	record := make([]byte, keys.HeaderBytes, keys.HeaderBytes+len(body))
	record = append(record, body...)
	ws.notePut(sl, op, record[keys.HeaderBytes:], created)
	sl.written, sl.record, sl.ttl = true, record, ttl
	sl.renewed = sl.renewed || created && sl.found
	sl.results = append(sl.results, pending{result: result, record: record, ttl: ttl, created: created})
	return nil
}

// checkBody checks that a body belongs under the key that it is written to.
func (ws *writeSet) checkBody(sl *slot, op *Op, body doc.Doc) error {
	identity := ws.v.Identity()
	var room [512]byte
	// The body decides which document it is. A key that says something else is a mistake of the client, never a move.
	has, valid := identity.HasID(body, op.Key.ID)
	switch {
	case !valid:
		return &NoID{Member: identity.Member()}
	case !has:
		return errOtherID
	case !bytes.Equal(identity.AppendPartitionOf(room[:0], body), sl.partition):
		return ErrPartition
	}
	return nil
}
