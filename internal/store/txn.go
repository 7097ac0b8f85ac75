package store

import (
	"bytes"
	"context"
	"sync"

	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// A txn is one attempt at a group of operations: what they read, and what
// becomes of each document they touch.
type txn struct {
	s       *Store
	v       catalog.View
	x       *indexer
	b       kv.Batch
	slots   []*slot          // in order of first touch
	index   map[string]*slot // the same by lookup key, when they are many
	claims  []claim
	claimed map[string]int // the same by key, when they are many
	given   []given        // what the operation under way has changed of them
	arena   []byte         // keys of the batch
	terms   [2]terms       // index entries before and after: all that entries is about, and those of the index that is being compared
	entries []entry        // that the commit writes and removes
	gapped  bool           // it left sequences out, see catalog.Container.TakeGap
	loaded  int            // bytes of documents that its operations have read, and made by editing

	soonest expiry.Stamp // first deadline of the documents that were only looked at; 0 if none has one

	group   *Group       // that it is a part of, nil if it is alone
	logged  bool         // its changes are to be logged
	changes []change     // the same, in their order
	stamp   expiry.Stamp // of the commit

	// Of a large write.
	ctx   context.Context // of the only operations that it does, nil if its user decides them one by one
	share *budget.Share
	taken int64 // from share
	work  work
}

// A slot is one document that a transaction touches: as it was, and as it
// will be.
type slot struct {
	lookup    []byte // its key
	partition []byte // part of lookup

	found  bool // a living document was there
	number uint64
	header keys.Header
	body   doc.Doc // as it was, nil if not found

	written bool
	renewed bool // deleted and created again: another document under the same key
	ttl     expiry.TTL
	record  []byte // as it will be: room for the header, then the body; nil if deleted
	results []pending

	// What an interactive transaction shows for a version and a number that are
	// not known before its commit.
	shown   Version
	standIn uint64

	from, to int // its entries

	since uint64 // the operation of its Transaction that wrote it first, 0 if none has
	ghost *ghost // the dead document under the key, if changes are logged
}

// An entry is an index entry that is written or, with gone, removed.
type entry struct {
	term // among the terms before if it is gone, else among those after
	gone bool
}

// pending is a result that waits for its sequence.
type pending struct {
	result  *Result
	record  []byte    // the body follows the header's room; nil for a delete
	gone    *Document // what a delete has removed
	ttl     expiry.TTL
	created bool
	read    bool // of what the transaction has written itself
	skipped bool // and was not to be changed
	terms   int
}

var txns = sync.Pool{New: func() any { return new(txn) }}

func (s *Store) begin(v catalog.View) *txn {
	t := txns.Get().(*txn)
	t.s, t.v, t.x = s, v, s.indexer(v)
	t.b = kv.Batch{Since: s.engine.Mark(), Reads: t.b.Reads[:0], Ops: t.b.Ops[:0], Orders: t.b.Orders[:0]}
	t.slots, t.claims, t.given, t.arena, t.entries = t.slots[:0], t.claims[:0], t.given[:0], t.arena[:0], t.entries[:0]
	t.terms[0].reset()
	t.terms[1].reset()
	t.loaded, t.gapped, t.soonest, t.group = 0, false, 0, nil
	t.logged, t.changes = v.Identity().Logged() && s.log.on(), t.changes[:0]
	return t
}

// maxTransactionBytes bounds the documents that one transaction reads and edits,
// all of which are in memory until it ends. One operation alone is always below it.
const maxTransactionBytes = 32 << 20

// maxKept bounds the memory that a finished transaction keeps for the next one.
const maxKept = 1 << 20

func (t *txn) end() {
	t.giveBack()
	clear(t.b.Reads)
	clear(t.b.Ops)
	clear(t.b.Orders)
	clear(t.slots)
	clear(t.claims)
	clear(t.given[:cap(t.given)])
	clear(t.changes)
	t.s, t.v, t.x, t.index, t.claimed, t.group = nil, catalog.View{}, nil, nil, nil, nil
	kept := cap(t.arena) + 2*cap(t.terms[0].bytes) + 2*cap(t.terms[1].bytes) + 12*cap(t.entries)
	if kept <= maxKept && cap(t.b.Ops) <= maxKept/64 {
		txns.Put(t)
	}
}

// key keeps the bytes that build appends to the arena until the batch is over.
func (t *txn) key(build func(dst []byte) []byte) []byte {
	start := len(t.arena)
	t.arena = build(t.arena)
	return t.arena[start:len(t.arena):len(t.arena)]
}

// do does one operation on the transaction's picture of its document.
func (t *txn) do(op *Op, result *Result) error {
	sl, err := t.touch(op.Key)
	if err != nil {
		return err
	}
	alive := sl.alive()
	if err := mayRun(op, alive, sl.version()); err != nil {
		return err
	}
	if alive && op.Verb != Delete {
		if t.loaded += len(sl.document(t.v).Body); t.loaded > maxTransactionBytes {
			return errManyBytes
		}
	}
	if op.Verb == Read {
		t.show(sl, result, false)
		return nil
	}
	if alive && op.If != nil {
		switch wanted, err := op.If(sl.document(t.v)); {
		case err != nil:
			return err
		case !wanted:
			t.show(sl, result, true)
			return nil
		}
	}
	if op.Verb == Delete {
		t.delete(sl, result)
		return nil
	}
	body := op.Body
	if op.Verb == Patch {
		switch body, err = op.Edit(sl.document(t.v)); {
		case err != nil:
			return err
		case body == nil:
			t.show(sl, result, true)
			return nil
		}
		t.loaded += len(body)
	}
	return t.put(sl, op, body, !alive, result)
}

// show answers with the living document as it is.
func (t *txn) show(sl *slot, result *Result, skipped bool) {
	*result = Result{Document: sl.document(t.v), Skipped: skipped}
	if sl.written {
		sl.results = append(sl.results, pending{result: result, record: sl.record, ttl: sl.ttl, read: true, skipped: skipped})
	}
}

// mayRun checks what an operation asks of the document that is there.
func mayRun(op *Op, alive bool, version Version) error {
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

func matches(want *Version, version Version) bool { return want == AnyVersion || *want == version }

// touch finds the slot of a document, reading it if it is the first time.
func (t *txn) touch(key Key) (*slot, error) {
	rng := t.v.Container.Keys()
	var size int
	lookup := t.key(func(dst []byte) []byte {
		dst = rng.AppendPrefix(dst, keys.KindLookup)
		start := len(dst)
		dst = t.v.Identity().AppendPartition(dst, key.Partition)
		size = len(dst) - start
		return append(dst, key.ID...)
	})
	if sl := t.known(lookup); sl != nil {
		return sl, nil
	}
	end := len(lookup) - len(key.ID)
	sl := &slot{lookup: lookup, partition: lookup[end-size : end]}
	t.depend(lookup)
	number, found, err := getNumber(t.s.engine, lookup)
	if err != nil {
		return nil, err
	}
	if found {
		if err := t.load(sl, number); err != nil {
			return nil, err
		}
	}
	t.slots = append(t.slots, sl)
	if t.index != nil {
		t.index[string(lookup)] = sl
	}
	return sl, nil
}

// manySlots is how many slots are searched one after the other.
const manySlots = 128

// known finds the slot with that lookup key, nil if there is none yet.
func (t *txn) known(lookup []byte) *slot {
	if t.index != nil {
		return t.index[string(lookup)]
	}
	for _, sl := range t.slots {
		if bytes.Equal(sl.lookup, lookup) {
			return sl
		}
	}
	if len(t.slots) == manySlots {
		t.index = make(map[string]*slot, 4*manySlots)
		for _, sl := range t.slots {
			t.index[string(sl.lookup)] = sl
		}
	}
	return nil
}

// depend makes the commit depend on a key that was read. That of a group depends only on
// what it writes, see Group.Commit.
func (t *txn) depend(key []byte) {
	if t.group == nil {
		t.b.Read(key)
	}
}

// load reads the record of a slot. One that is dead or gone is not found: its
// remains are the reaper's.
func (t *txn) load(sl *slot, number uint64) error {
	record := t.key(func(dst []byte) []byte { return t.v.Container.Keys().Record(dst, number) })
	t.depend(record)
	h, body, found, err := copyRecord(t.s.engine, record)
	if err != nil || !found {
		return err
	}
	if dead(t.v, h, body) {
		t.haunt(sl, number, body)
		return nil
	}
	sl.found, sl.number, sl.header, sl.body = true, number, h, body
	return t.holdBody(body)
}

// alive reports whether the document exists as far as the transaction has come.
func (sl *slot) alive() bool {
	if sl.written {
		return sl.record != nil
	}
	return sl.found
}

// version is that of the document as it was before; a version that the
// transaction itself makes has no number yet: it matches nothing, or what an
// interactive transaction shows for it.
func (sl *slot) version() Version {
	if sl.written {
		return sl.shown
	}
	return Version{Sequence: sl.header.Sequence, Stamp: sl.header.Stamp}
}

// document is the living document as far as the transaction has come.
func (sl *slot) document(v catalog.View) Document {
	if sl.written {
		return Document{Number: sl.number, TTL: sl.ttl, Body: sl.record[keys.HeaderBytes:]}
	}
	return document(v, sl.number, sl.header, sl.body)
}

func (t *txn) delete(sl *slot, result *Result) {
	gone := sl.document(t.v)
	t.noteDelete(gone.Body)
	t.release(sl)
	sl.written, sl.record = true, nil
	sl.results = append(sl.results, pending{result: result, gone: &gone})
}

// put gives the document a new body.
func (t *txn) put(sl *slot, op *Op, body doc.Doc, created bool, result *Result) error {
	if err := t.checkBody(sl, op, body); err != nil {
		return err
	}
	ttl, err := t.v.Identity().TTL(body)
	if err != nil && t.v.Policy.On() && !op.Lenient {
		return err
	}
	if err := t.checkNamed(body); err != nil {
		return err
	}
	if !created {
		t.release(sl)
	}
	if err := t.claimAll(sl, body); err != nil {
		return err
	}
	if err := t.holdBody(body); err != nil {
		return err
	}
	record := make([]byte, keys.HeaderBytes, keys.HeaderBytes+len(body))
	record = append(record, body...)
	t.notePut(sl, op, record[keys.HeaderBytes:], created)
	sl.written, sl.record, sl.ttl = true, record, ttl
	sl.renewed = sl.renewed || created && sl.found
	sl.results = append(sl.results, pending{result: result, record: record, ttl: ttl, created: created})
	return nil
}

// checkBody checks that a body belongs under the key that it is written to.
func (t *txn) checkBody(sl *slot, op *Op, body doc.Doc) error {
	identity := t.v.Identity()
	var room [512]byte
	id, ok := identity.AppendID(room[:0], body)
	switch {
	case !ok:
		return &NoID{Member: identity.Member()}
	case string(id) != op.Key.ID:
		return errOtherID
	case !bytes.Equal(identity.AppendPartitionOf(room[:0], body), sl.partition):
		return ErrPartition
	}
	return nil
}
