package command

import (
	"github.com/mayflydb/mayfly/internal/mongo/session"
	"github.com/mayflydb/mayfly/internal/mongo/wire"
)

// Batches that the client does not size.
const (
	firstBatch    = 101 // documents
	maxBatchCount = 1 << 30
)

// reply answers with the first batch of what from gives, and keeps a cursor for the rest.
func (r *request) reply(a *answer, ns string, from session.Producer, limit int64, shape func(*session.Cursor)) error {
	x := &session.Cursor{
		Namespace: ns, From: from, API: r.API,
		Owner: r.Owner(), SessionID: r.SessionID(), Transaction: r.Transaction, Connection: r.Connection,
	}
	if shape != nil {
		shape(x)
	}
	a.Object("cursor")
	at := a.Size()
	a.Int64("id", 0)
	a.String("ns", ns)
	kept := false
	defer func() {
		if !kept {
			from.Stop()
		}
	}()
	from.Holds().Lend(&r.Operation)
	done, err := writeBatch(r, x, a, "firstBatch", limit)
	if err != nil || done || r.Bool("singleBatch", false) {
		if err == nil {
			a.Close()
		}
		return err
	}
	from.Holds().Keep(r.Node)
	if err := r.s.Cursors.Add(x); err != nil {
		return err
	}
	kept = true
	a.PutInt64(at, "id", x.ID)
	a.Close()
	return nil
}

// writeBatch writes the next batch of a cursor.
func writeBatch(r *request, x *session.Cursor, a *answer, name string, limit int64) (done bool, err error) {
	a.Array(name)
	b := &session.Batch{To: a, Limit: limit, Whole: name == "firstBatch" && r.Bool("singleBatch", false)}
	done, err = x.From.Fill(&r.Operation, b)
	r.Trace.Returned += b.Count
	if x.Refused = b.Err != nil; x.Refused {
		err = b.Err
	}
	if err != nil {
		return false, err
	}
	r.more = name == "nextBatch" && !done && streamsBatches(r, x, b.Count)
	a.Close()
	if x.Token != nil {
		a.Value("postBatchResumeToken", x.Token())
	}
	return done, nil
}

// A client that allows it gets the batches of a cursor one after the other, without asking for each: every answer but
// the last says that another one follows.
// https://github.com/mongodb/specifications/blob/master/source/message/OP_MSG.md#exhaustallowed

// streamsBatches reports whether a batch of so many documents is followed by the next one unasked. A cursor
// that awaits documents and has none waits to be asked again.
func streamsBatches(r *request, x *session.Cursor, count int64) bool {
	return r.Message.ExhaustAllowed() && (count > 0 || !x.Awaits)
}

// flagsBefore is how far before the document of an OP_MSG its flags are: 4 bytes, then the kind of the section.
const flagsBefore = 5

// promise says in an answer that another one follows.
func (a *answer) promise() { a.Buf[a.Start()-flagsBefore] |= byte(wire.MoreToCome) }
