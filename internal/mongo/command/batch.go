package command

import "github.com/mayflydb/mayfly/internal/mongo/session"

// Batches that the client does not size.
const (
	firstBatch    = 101 // documents
	maxBatchCount = 1 << 30
)

// reply answers with the first batch of what from gives, and keeps a cursor for the rest.
func (r *request) reply(a *answer, ns string, from session.Producer, limit int64, shape func(*session.Cursor)) error {
	x := &session.Cursor{Namespace: ns, From: from, Owner: ownerOf(r.c.user), SessionID: sessionIDOf(r), Transaction: r.Transaction, API: r.API}
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
	if err != nil || done || r.bool("singleBatch", false) {
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
	b := &session.Batch{To: a, Limit: limit, Whole: name == "firstBatch" && r.bool("singleBatch", false)}
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
