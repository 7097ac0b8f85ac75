package store

import (
	"context"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// A change is what an operation has done to a document, for the log.
type change struct {
	at            uint64 // the number of the operation in its SnapshotTransaction
	kind          string
	id            doc.Value
	before, after doc.Doc
	note          func(before, after doc.Doc) doc.Doc
}

// An expiredDocument is a dead document that is not reclaimed yet. The log has one delete of it: from the write that
// takes its key over, or else from the reaper.
type expiredDocument struct {
	number uint64
	id     doc.Value
	logged bool // by this write
}

// noteExpired remembers the dead document under a slot's key.
func (ws *writeSet) noteExpired(sl *slot, number uint64, body doc.Doc) {
	if ws.logged {
		sl.expired = &expiredDocument{number: number, id: identityOf(body)}
	}
}

func (ws *writeSet) note(c change) {
	if ws.within != nil {
		c.at = ws.within.ops
	}
	ws.changes = append(ws.changes, c)
}

// notePut notes what a write is about to do to the document in sl. A creation under the key of an expired document also
// logs the end of that one, unless an operation of the same transaction has.
func (ws *writeSet) notePut(sl *slot, op *Op, after doc.Doc, created bool) {
	if !ws.logged {
		return
	}
	c := change{kind: LogReplace, id: doc.Lookup(after, "_id"), after: after, note: op.Note}
	switch {
	case created:
		if gone := sl.expired; gone != nil && !gone.logged {
			gone.logged = true
			ws.note(change{kind: LogDelete, id: gone.id})
		}
		c.kind, c.note = LogInsert, nil
	case op.Verb == Patch && op.Note != nil:
		c.kind = LogUpdate
		fallthrough
	default:
		c.before = sl.document(ws.v).Body
	}
	ws.note(c)
}

func (ws *writeSet) noteDelete(gone doc.Doc) {
	if ws.logged {
		ws.note(change{kind: LogDelete, id: doc.Lookup(gone, "_id")})
	}
}

// logEntries encodes the changes of a write set.
func (ws *writeSet) logEntries() [][]byte {
	entries := make([][]byte, len(ws.changes))
	for i := range ws.changes {
		entries[i] = ws.logEntry(&ws.changes[i])
	}
	return entries
}

func (ws *writeSet) logEntry(c *change) []byte {
	e := entryOf(ws.v.Container, c.kind, c.id)
	if c.note != nil {
		e.Note = c.note(c.before, c.after)
	}
	if c.kind == LogUpdate && e.Note == nil {
		e.Kind = LogReplace
	}
	if e.Kind != LogUpdate {
		e.Full = c.after
	}
	if ws.within != nil {
		e.Label = ws.within.Label
	}
	return e.encode()
}

func entryOf(c *catalog.Container, kind string, id doc.Value) LogEntry {
	return LogEntry{
		Kind: kind, ID: id,
		Database: c.Database.ID, DatabaseName: c.Database.Name,
		Container: c.ID, ContainerName: c.State().Name,
	}
}

// identityOf copies the _id of a document.
func identityOf(body doc.Doc) doc.Value {
	return doc.Clone(doc.Lookup(body, "_id"))
}

// remove calls removeOnce until no write comes between it and what it logs, or until the container has changed.
func (s *Store) remove(
	ctx context.Context, v catalog.View, r *reclaim, step *reclaimStep,
) (done Reclaimed, err error) {
	for range maxAttempts {
		if done, err = s.removeOnce(ctx, v, r, step); fault.KindOf(err) != fault.Conflict {
			break
		}
		if holds, unknown := v.Holds(ctx, s.engine); unknown != nil || !holds {
			break
		}
	}
	return done, err
}

// logVictims makes the log's entries about documents that are to be reclaimed. A document whose key a new one has taken
// over is logged already, by that write (noteExpired). So b depends on the lookup, and such a write depends on the
// record: whichever comes second finds a conflict, and looks again.
func (s *Store) logVictims(
	ctx context.Context, c *catalog.Container, b *kv.Batch, step *reclaimStep,
) ([][]byte, error) {
	if !s.log.on() || !c.State().Identity().Logged() {
		return nil, nil
	}
	view, err := s.engine.View(ctx)
	if err != nil {
		return nil, err
	}
	b.Since = view.Mark // it reads nothing else
	// Writes depend on these records, and would not notice a deleted range, see kv.Batch.DeleteRange.
	step.single = true
	var entries [][]byte
	for _, x := range step.victims {
		id := x.id
		if id.Type == 0 {
			record := step.rng.Record(nil, x.number)
			_, err := getRecord(ctx, view.Reader, record, func(_ keys.Header, body doc.Doc) error {
				id = identityOf(body)
				return nil
			})
			if err != nil {
				return nil, err
			}
			if id.Type == 0 { // nothing is left that could name the document
				continue
			}
		}
		lookup := step.rng.Lookup(nil, keys.AppendID(nil, id), "")
		b.Read(lookup)
		number, found, err := getNumber(ctx, view.Reader, lookup)
		if err != nil {
			return nil, err
		}
		if found && number == x.number {
			e := entryOf(c, LogDelete, id)
			entries = append(entries, e.encode())
		}
	}
	b.NoSync = b.NoSync && len(entries) == 0 // a crash must not undo what a reader of the log has seen
	return entries, nil
}
