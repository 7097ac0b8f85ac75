package store

import (
	"bytes"
	"context"
	"math"
	"time"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
)

// An Incoming is a document that Import writes.
type Incoming struct {
	Body doc.Doc

	// Stamp is when the document was written last, where it comes from: its life goes on from there. 0 gives it a new
	// stamp, and with that a new life.
	Stamp expiry.Stamp
}

// An OnConflict says what Import does with a document whose key a living document has already.
type OnConflict uint8

// The ways to treat such a document.
const (
	RejectExisting  OnConflict = iota // it is rejected: ErrExists
	SkipExisting                      // the living document stays as it is
	ReplaceExisting                   // it takes the place of the living document, unless it keeps an older stamp
)

// ImportOptions are how Import treats documents.
type ImportOptions struct {
	OnConflict OnConflict

	// Lenient stores a `ttl` that is no life span, see Op.
	Lenient bool

	// Resent says that an earlier Import, whose answer was lost, may have written the documents. With ReplaceExisting,
	// an earlier one of two versions of one second is then passed over where the container has a later stamp: it cannot
	// be written again, and the version that is there has followed it.
	Resent bool
}

// Imported is what has become of the documents of an Import.
type Imported struct {
	Written  int // Replaced included
	Replaced int
	Skipped  int // a living document has the key, see SkipExisting, is the same with the same stamp, or has a later one
	Overdue  int // their life had ended before they came; they are not written
	Rejected []Rejection
}

// A Rejection is a document that was not written because of an error of its own.
type Rejection struct {
	Index int // in the documents of the Import
	Err   error
}

// Decided is how many documents have an outcome.
func (m *Imported) Decided() int { return m.Written + m.Skipped + m.Overdue + len(m.Rejected) }

// Bounds of one batch of an Import: what a crash may undo at once, and for how long other writers wait. Larger bodies
// would make it a large write, which counts its entries first.
const (
	importDocuments = 500
	importBytes     = largeBody - 1
)

// Import writes documents in order, as many at once as make a good batch, with unique keys, index entries, feed and log
// like every write. A document that cannot be written is rejected alone. One that is dead under the container's policy
// at now is not written; if a living document has its key, that one stays.
//
// Stamps never fall as sequences rise, which the feed, the queues and the reaper rest on. So documents that keep their
// stamps must come in the order of stamps, and none may be before the newest stamp of its range: otherwise Import ends
// with fault.Precondition. No stamp is ever changed to make it fit, since that would change a life.
//
// Documents before an error are decided, and what is written is durable. Calling Import again with the same documents
// and SkipExisting does what is left.
func (s *Store) Import(
	ctx context.Context, c *catalog.Container, now expiry.Stamp, docs []Incoming, o ImportOptions,
) (Imported, error) {
	var done Imported
	results := make([]Result, min(len(docs), importDocuments))
	for done.Decided() < len(docs) {
		err := s.importBatch(ctx, c, now, docs, o, results, &done)
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// importBatch writes the next batch, and adds what has become of it to done.
func (s *Store) importBatch(
	ctx context.Context, c *catalog.Container, now expiry.Stamp, docs []Incoming, o ImportOptions, results []Result,
	done *Imported,
) error {
	for range maxAttempts {
		if err := ctx.Err(); err != nil {
			return err
		}
		v, err := c.Enter(ctx, now)
		if err != nil {
			return err
		}
		ws, err := s.begin(ctx, v)
		if err != nil {
			return err
		}
		x := importAttempt{ws: ws, o: o, results: results}
		err = x.run(ctx, docs, done.Decided())
		x.ws.end()
		if err == nil {
			done.add(x.done)
			return nil
		}
		if fault.KindOf(err) != fault.Conflict {
			return err
		}
	}
	return fault.New(fault.Conflict, "Too many writes of the same documents at once. Try again.")
}

func (m *Imported) add(n Imported) {
	m.Written += n.Written
	m.Replaced += n.Replaced
	m.Skipped += n.Skipped
	m.Overdue += n.Overdue
	m.Rejected = append(m.Rejected, n.Rejected...)
}

// An importAttempt is one attempt at one batch.
type importAttempt struct {
	ws      *writeSet
	o       ImportOptions
	results []Result
	bytes   int
	done    Imported
}

// run decides documents from first on until the batch is full, and commits it.
func (x *importAttempt) run(ctx context.Context, docs []Incoming, first int) error {
	x.ws.ctx = ctx
	for i := first; i < len(docs) && x.done.Decided() < len(x.results); i++ {
		d := &docs[i]
		if x.bytes > 0 && x.bytes+len(d.Body) > importBytes {
			break
		}
		again, err := x.take(ctx, d, &x.results[x.done.Decided()])
		switch {
		case again:
			return x.ws.commit(ctx)
		case isRejection(err):
			x.done.Rejected = append(x.done.Rejected, Rejection{Index: i, Err: err})
		case err != nil:
			return err
		}
	}
	return x.ws.commit(ctx)
}

// take decides one document. again reports that the batch has written its key already: the document belongs to the next
// one, since a batch has one version of each document.
func (x *importAttempt) take(ctx context.Context, d *Incoming, result *Result) (again bool, err error) {
	ws := x.ws
	key, err := keyOf(ws.v.State, d.Body)
	if err != nil {
		return false, err
	}
	ttl, err := ws.v.Identity().TTL(d.Body)
	if err != nil && ws.v.Policy.On() && !x.o.Lenient {
		return false, err
	}
	if d.Stamp != 0 {
		switch overdue, err := x.overdue(d, ttl); {
		case err != nil:
			return false, err
		case overdue:
			return x.end(ctx, d, key, result)
		}
	}
	sl, err := ws.touch(ctx, key)
	if err != nil {
		return false, err
	}
	if sl.written {
		return true, nil
	}
	alive := sl.alive()
	if alive {
		switch x.o.OnConflict {
		case RejectExisting:
			return false, ErrExists
		case SkipExisting:
			x.done.Skipped++
			return false, nil
		case ReplaceExisting:
			switch arrived, err := x.arrived(ctx, d, sl); {
			case err != nil:
				return false, err
			case arrived:
				x.done.Skipped++
				return false, nil
			}
		}
	}
	claims := len(ws.claims)
	ws.claimChanges = ws.claimChanges[:0]
	op := Op{Verb: Upsert, Key: key, Body: d.Body, Lenient: x.o.Lenient}
	if err := ws.put(ctx, sl, &op, d.Body, !alive, result); err != nil {
		ws.undoClaims(claims)
		return false, err
	}
	sl.kept = d.Stamp
	x.bytes += len(d.Body) + len(sl.body)
	x.done.Written++
	if alive {
		x.done.Replaced++
	}
	return false, nil
}

// end counts a document whose life is over. Where it would replace a living older version, that one ends, too: it must
// not outlive the version that followed it.
func (x *importAttempt) end(ctx context.Context, d *Incoming, key Key, result *Result) (again bool, err error) {
	if x.o.OnConflict == ReplaceExisting {
		sl, err := x.ws.touch(ctx, key)
		if err != nil || sl.written {
			return err == nil, err
		}
		ends := sl.alive() && sl.header.Stamp <= d.Stamp
		if ends && sl.header.Stamp == d.Stamp {
			passed, err := x.passed(ctx, d, sl)
			if err != nil {
				return false, err
			}
			ends = !passed
		}
		if ends {
			x.ws.delete(sl, result)
			sl.kept = d.Stamp
		}
	}
	x.done.Overdue++
	return false, nil
}

// arrived reports whether the place of a living document is not to be taken, because that one is the same with the same
// stamp, or a later version: an import that was interrupted has written it, and may send both versions again.
func (x *importAttempt) arrived(ctx context.Context, d *Incoming, sl *slot) (bool, error) {
	switch {
	case d.Stamp == 0 || d.Stamp > sl.header.Stamp:
		return false, nil
	case d.Stamp < sl.header.Stamp || bytes.Equal(d.Body, sl.body):
		return true, nil
	}
	return x.passed(ctx, d, sl)
}

// passed reports whether an earlier Import has decided a document, for which a living version has the same stamp: it
// has gone on to later stamps in their range.
func (x *importAttempt) passed(ctx context.Context, d *Incoming, sl *slot) (bool, error) {
	if !x.o.Resent {
		return false, nil
	}
	counter, err := counterOf(ctx, x.ws.view.Reader, sl.rng)
	return counter.Stamp > d.Stamp, err
}

// overdue reports whether the life of a document that keeps its stamp is over. If it ends later, the commit checks that
// it has not ended by then.
func (x *importAttempt) overdue(d *Incoming, ttl expiry.TTL) (bool, error) {
	ws := x.ws
	if d.Stamp < 1 || d.Stamp > ws.v.Now {
		return false, fault.New(fault.Invalid,
			"The _ts %d is not a second between 1970 and the present of the server, %d. "+
				"Correct it, or import with new stamps.", d.Stamp, ws.v.Now)
	}
	version := expiry.Document{Wrote: d.Stamp, TTL: ttl, Sequence: math.MaxUint64, Body: d.Body}
	if ws.v.Policy.Dead(version, ws.v.Now) {
		return true, nil
	}
	if at, ok := ws.v.Policy.Deadline(version); ok && (ws.soonest == 0 || at < ws.soonest) {
		ws.soonest = at
	}
	return false, nil
}

// isRejection reports whether an error is that of one document, and not of the store.
func isRejection(err error) bool {
	switch fault.KindOf(err) {
	case fault.Invalid, fault.Exists, fault.PartitionMismatch, fault.TooLarge:
		return true
	}
	return false
}

// keyOf is the key that a body belongs under.
func keyOf(st *catalog.State, body doc.Doc) (Key, error) {
	identity := st.Identity()
	var room [256]byte
	id, ok := identity.AppendID(room[:0], body)
	if !ok {
		return Key{}, &NoID{Member: identity.Member()}
	}
	key := Key{ID: string(id)}
	if identity.Partitioned() {
		for _, path := range st.PartitionPaths() {
			v := path.Lookup(body)
			if !keys.Partitionable(v) {
				v = doc.Value{}
			}
			if s, ok := doc.AsString(v); ok && len(s) > catalog.MaxPartitionString {
				return Key{}, fault.New(fault.Invalid, "A string of the partition key has %d bytes, "+
					"more than the limit of %d.", len(s), catalog.MaxPartitionString)
			}
			key.Partition = append(key.Partition, v)
		}
	}
	return key, nil
}

// olderStamp says that a document cannot keep its stamp, and what to do.
func olderStamp(at, newest expiry.Stamp) error {
	text := func(s expiry.Stamp) string { return time.Unix(s, 0).UTC().Format(time.RFC3339) }
	return fault.New(fault.Precondition,
		"A document cannot keep its _ts %d (%s), because the container already has one "+
			"of %d (%s), and stamps never fall. Import in the order of _ts into a container that was not written "+
			"since, or import with new stamps.", at, text(at), newest, text(newest))
}
