package command

import (
	"context"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/failpoint"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

func getMore(r *request, a *answer) error {
	id, ok := doc.AsInt64Exact(r.Arg)
	if !ok || r.Arg.Type != bsoncore.TypeInt64 {
		return r.WrongType("getMore", r.Arg, "long")
	}
	name := readCursorCollection(r)
	limit := r.BatchSize("getMore", r.Get("batchSize"), 0)
	if r.Err != nil {
		return r.Err
	}
	x, err := holdCursor(r, id, r.DB+"."+name)
	if err != nil {
		return err
	}
	if limit == 0 {
		limit = maxBatchCount
	}
	defer x.Mutex.Unlock()
	defer lendCursor(r, x)()
	r.Following = x.Token != nil
	if p := r.s.failing.Hit(&r.Request, failpoint.GetMoreAfterCursorCheckout); p != nil {
		endCursor(r, x)
		return code.New(p.Code, "Hit the 'failGetMoreAfterCursorCheckout' failpoint")
	}
	return writeNextBatch(r, x, a, limit)
}

// lendCursor makes killing the cursor end this request, too. maxTimeMS limits the request, except that a cursor that
// awaits documents takes it as the time to wait.
func lendCursor(r *request, x *session.Cursor) (back func()) {
	var cancel context.CancelFunc
	if r.MaxTime > 0 && !x.Awaits {
		r.Context, cancel = context.WithTimeout(r.Context, r.MaxTime)
	} else {
		r.Context, cancel = context.WithCancel(r.Context)
	}
	r.c.memory.Context = r.Context
	if r.Transaction != nil {
		r.Transaction.Context = r.Context
	}
	x.Cancel.Store(&cancel)
	if x.Killed.Load() {
		cancel()
	}
	return func() {
		x.Cancel.Store(nil)
		cancel()
	}
}

// holdCursor takes a cursor for this request; the caller unlocks it.
func holdCursor(r *request, id int64, ns string) (*session.Cursor, error) {
	x := r.s.Cursors.Find(id)
	if x == nil {
		return nil, code.New(code.CursorNotFound, "cursor id %d not found", id)
	}
	switch {
	case x.Namespace != ns:
		return nil, code.New(code.Unauthorized,
			"Requested getMore on namespace '%s', but cursor belongs to a different namespace %s", ns, x.Namespace)
	case x.Owner != r.Owner():
		return nil, code.New(code.Unauthorized, "cursor id %d was not created by the authenticated user", id)
	case x.SessionID != r.SessionID():
		return nil, code.New(50738, "Cannot run getMore on cursor %d, which was created in another session", id)
	case x.Transaction != r.Transaction:
		return nil, code.New(50738, "Cannot run getMore on cursor %d, which was created in another transaction", id)
	}
	if err := call.MustMatch(&r.Request, x.API, "cursor-creating command"); err != nil {
		return nil, err
	}
	if !x.Mutex.TryLock() {
		return nil, code.New(code.CursorInUse, "cursor id %d is already in use", id)
	}
	if x.Closed {
		x.Mutex.Unlock()
		return nil, code.New(code.CursorNotFound, "cursor id %d not found", id)
	}
	return x, nil
}

// writeNextBatch answers with the next batch of a cursor that is held.
func writeNextBatch(r *request, x *session.Cursor, a *answer, limit int64) error {
	a.Object("cursor")
	at := a.Size()
	a.Int64("id", x.ID)
	a.String("ns", x.Namespace)
	x.From.Holds().Lend(&r.Operation)
	defer x.From.Holds().Keep(r.Node)
	done, err := writeBatch(r, x, a, "nextBatch", limit)
	x.Touch(r.s.o.Clock.Now())
	if err != nil && x.Killed.Load() {
		err = code.New(code.CursorKilled, "cursor id %d was killed while it was read", x.ID)
	}
	if err != nil && !x.Refused || done {
		r.Spoilt = err != nil
		endCursor(r, x)
	}
	if err != nil {
		return within("Executor error during getMore", err)
	}
	if done {
		a.PutInt64(at, "id", 0)
	}
	a.Close()
	return nil
}

// endCursor ends a cursor that is held.
func endCursor(r *request, x *session.Cursor) {
	x.Closed = true
	x.From.Stop()
	r.s.Cursors.Forget(x)
}

// readCursorCollection reads the collection that a getMore names.
func readCursorCollection(r *request) string {
	name := r.String("collection")
	switch {
	case r.Get("collection").Type == 0:
		r.Fault(code.New(code.MissingFieldOfCommand, "BSON field 'getMore.collection' is missing but a required field"))
	case name == "" && r.Err == nil:
		r.Fault(code.New(code.InvalidNamespace, "Collection names cannot be empty"))
	}
	return name
}

func killCursors(r *request, a *answer) error {
	name, ok := doc.AsString(r.Arg) // which may be $cmd.aggregate
	if !ok {
		return code.New(code.BadValue, "collection name has invalid type %s", code.TypeName(r.Arg))
	}
	list := r.List("cursors")
	if r.Err != nil {
		return r.Err
	}
	var killed, missing []int64
	for i, v := range list {
		id, ok := doc.AsInt64Exact(v)
		if !ok {
			return r.WrongType("cursors."+strconv.Itoa(i), v, "long")
		}
		if x := r.s.Cursors.Find(id); x != nil && x.Namespace == r.DB+"."+name && r.mayEnd(x.Owner) {
			r.s.Cursors.Kill(x)
			killed = append(killed, id)
		} else {
			missing = append(missing, id)
		}
	}
	a.Int64s("cursorsKilled", killed)
	a.Int64s("cursorsNotFound", missing)
	a.Int64s("cursorsAlive", nil)
	a.Int64s("cursorsUnknown", nil)
	return nil
}
