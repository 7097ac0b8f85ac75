package command

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

func getMore(r *request, a *answer) error {
	id, ok := doc.AsInt64Exact(r.arg)
	if !ok || r.arg.Type != bsoncore.TypeInt64 {
		return r.wrongType("getMore", r.arg, "long")
	}
	name := r.cursorCollection()
	limit := r.batchSize("getMore", r.get("batchSize"), 0)
	if r.err != nil {
		return r.err
	}
	x, err := r.hold(id, r.db+"."+name)
	if err != nil {
		return err
	}
	if limit == 0 {
		limit = maxBatchCount
	}
	defer x.mu.Unlock()
	defer r.lend(x)()
	r.following = x.token != nil
	if p := r.hit(failGetMoreAfterCursorCheckout); p != nil {
		r.end(x)
		return code.New(p.code, "Hit the 'failGetMoreAfterCursorCheckout' failpoint")
	}
	return r.nextBatch(x, a, limit)
}

// lend lets whoever kills a cursor that is held end this request. Only a cursor that awaits documents takes
// maxTimeMS for something else than a limit.
func (r *request) lend(x *cursor) (back func()) {
	var cancel context.CancelFunc
	if r.maxTime > 0 && !x.await {
		r.ctx, cancel = context.WithTimeout(r.ctx, r.maxTime)
	} else {
		r.ctx, cancel = context.WithCancel(r.ctx)
	}
	r.c.memory.ctx = r.ctx
	if r.tx != nil {
		r.tx.ctx = r.ctx
	}
	x.cancel.Store(&cancel)
	if x.killed.Load() {
		cancel()
	}
	return func() {
		x.cancel.Store(nil)
		cancel()
	}
}

// hold takes a cursor for this request; the caller unlocks it.
func (r *request) hold(id int64, ns string) (*cursor, error) {
	x := r.s.cursors.find(id)
	if x == nil {
		return nil, code.New(code.CursorNotFound, "cursor id %d not found", id)
	}
	switch {
	case x.ns != ns:
		return nil, code.New(code.Unauthorized, "Requested getMore on namespace '%s', but cursor belongs to a different namespace %s", ns, x.ns)
	case x.user != r.c.user && (x.user == nil || r.c.user == nil || *x.user != *r.c.user):
		return nil, code.New(code.Unauthorized, "cursor id %d was not created by the authenticated user", id)
	case x.lsid != r.sessionID():
		return nil, code.New(50738, "Cannot run getMore on cursor %d, which was created in another session", id)
	case x.inTx != r.tx:
		return nil, code.New(50738, "Cannot run getMore on cursor %d, which was created in another transaction", id)
	}
	if err := r.mustMatch(x.api, "cursor-creating command"); err != nil {
		return nil, err
	}
	if !x.mu.TryLock() {
		return nil, code.New(code.CursorInUse, "cursor id %d is already in use", id)
	}
	if x.closed {
		x.mu.Unlock()
		return nil, code.New(code.CursorNotFound, "cursor id %d not found", id)
	}
	return x, nil
}

// nextBatch answers with the next batch of a cursor that is held.
func (r *request) nextBatch(x *cursor, a *answer, limit int64) error {
	a.object("cursor")
	at := a.size()
	a.int64("id", x.id)
	a.string("ns", x.ns)
	x.from.holds().lend(r)
	defer x.from.holds().keep(r.s)
	done, err := x.next(r, a, "nextBatch", limit)
	x.touch(r.s.o.Clock.Now())
	if err != nil && x.killed.Load() {
		err = code.New(code.CursorKilled, "cursor id %d was killed while it was read", x.id)
	}
	if err != nil && !x.refused || done {
		r.spoilt = err != nil
		r.end(x)
	}
	if err != nil {
		return within("Executor error during getMore", err)
	}
	if done {
		a.setInt64(at, 0)
	}
	a.close()
	return nil
}

// end ends a cursor that is held.
func (r *request) end(x *cursor) {
	x.closed = true
	x.from.stop()
	r.s.cursors.forget(x)
}

// forget takes a cursor that has ended out of the list.
func (c *cursors) forget(x *cursor) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, x.id)
}

// cursorCollection reads the collection that a getMore names.
func (r *request) cursorCollection() string {
	name := r.string("collection")
	switch {
	case r.get("collection").Type == 0:
		r.fault(code.New(code.MissingFieldOfCommand, "BSON field 'getMore.collection' is missing but a required field"))
	case name == "" && r.err == nil:
		r.fault(code.New(code.InvalidNamespace, "Collection names cannot be empty"))
	}
	return name
}

func killCursors(r *request, a *answer) error {
	name, ok := doc.AsString(r.arg) // which may be $cmd.aggregate
	if !ok {
		return code.New(code.BadValue, "collection name has invalid type %s", code.TypeName(r.arg))
	}
	list := r.list("cursors")
	if r.err != nil {
		return r.err
	}
	var killed, missing []int64
	for i, v := range list {
		id, ok := doc.AsInt64Exact(v)
		if !ok {
			return r.wrongType("cursors."+indexName(i), v, "long")
		}
		if x := r.s.cursors.find(id); x != nil && x.ns == r.db+"."+name && r.mayKill(x.user) {
			r.s.cursors.kill(x)
			killed = append(killed, id)
		} else {
			missing = append(missing, id)
		}
	}
	a.longs("cursorsKilled", killed)
	a.longs("cursorsNotFound", missing)
	a.longs("cursorsAlive", nil)
	a.longs("cursorsUnknown", nil)
	return nil
}

func (a *answer) longs(name string, list []int64) {
	a.array(name)
	for _, n := range list {
		a.int64(a.index(), n)
	}
	a.close()
}
