package command

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// Limits of cursors and their batches.
const (
	maxCursors    = 10_000
	cursorTime    = 10 * time.Minute // without a getMore
	cursorEvery   = 4 * time.Second  // between two looks for those that nobody has read for so long
	firstBatch    = 101              // documents, unless the client says otherwise
	maxBatchBytes = 16 << 20
	maxBatchCount = 1 << 30
)

// A producer gives the documents of a cursor, batch by batch. It is used by one request at a time.
type producer interface {
	// fill adds documents to the batch until that is full or there are no more; done then.
	fill(r *request, b *batch) (done bool, err error)
	// stop gives up what the producer holds.
	stop()
	// holds is what it holds between two batches.
	holds() *holding
}

// A batch is the documents of one answer.
type batch struct {
	a     *answer
	limit int64
	count int64
	start int
	whole bool  // what is left out of it does not come in another one
	err   error // there is no memory for the first document
}

const elementBytes = 64 // of a document in a batch beside its own, and of the end of the answer

// add adds a document; false when there is no room for it.
func (b *batch) add(d doc.Doc) bool {
	if b.full() || b.count > 0 && b.a.size()+len(d) > maxBatchBytes {
		return false
	}
	if b.count > 0 && !b.whole {
		if !b.a.tryRoom(len(d) + elementBytes) {
			return false // the client asks for the rest
		}
	} else if b.err = b.a.makeRoom(len(d) + elementBytes); b.err != nil {
		return false
	}
	b.a.element(d)
	b.count++
	return true
}

// full reports whether no document more is wanted.
func (b *batch) full() bool { return b.count >= b.limit }

// A cursor is what a client has not read yet.
type cursor struct {
	id        int64
	ns        string
	from      producer
	lsid      string
	user      *account.Identity
	noTimeout bool
	inTx      *transaction
	api       apiParameters
	token     func() doc.Value // postBatchResumeToken of a change stream; nil for others
	await     bool             // getMore may wait for documents

	refused bool // the last request got no batch for want of memory; the next one may

	killed atomic.Bool
	cancel atomic.Pointer[context.CancelFunc] // of the request that reads it

	used atomic.Int64 // Unix nanoseconds of the server's clock when the last request ended

	mu     sync.Mutex // held by the request that reads it
	closed bool
}

// touch notes that the cursor is read now.
func (x *cursor) touch(now time.Time) { x.used.Store(now.UnixNano()) }

// idle is for how long nobody has read the cursor.
func (x *cursor) idle(now time.Time) time.Duration {
	return time.Duration(now.UnixNano() - x.used.Load())
}

// cursors are the open cursors of a server.
type cursors struct {
	s    *Server
	mu   sync.Mutex
	open map[int64]*cursor

	waiting  atomic.Int64 // requests that wait for documents
	opened   atomic.Int64 // since the start
	timedOut atomic.Int64
	stop     func() // ends the looks for idle ones
}

func (c *cursors) init(s *Server) {
	c.s, c.open = s, map[int64]*cursor{}
	c.stop = s.o.Clock.Every(cursorEvery, c.expire)
}

func (c *cursors) close() {
	for _, x := range c.list() {
		c.kill(x)
	}
}

func (c *cursors) list() []*cursor {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := make([]*cursor, 0, len(c.open))
	for _, x := range c.open {
		list = append(list, x)
	}
	return list
}

// add keeps a cursor for later requests and gives it an id.
func (c *cursors) add(x *cursor) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.open) >= maxCursors {
		return code.New(code.OperationFailed, "Too many open cursors (limit %d). Close some first.", maxCursors)
	}
	for x.id == 0 || c.open[x.id] != nil {
		var b [8]byte
		_, _ = rand.Read(b[:])
		x.id = int64(binary.LittleEndian.Uint64(b[:]) >> 1)
	}
	x.touch(c.s.o.Clock.Now())
	c.open[x.id] = x
	c.opened.Add(1)
	if x.inTx != nil {
		x.inTx.cursors = true
	}
	return nil
}

// expire ends cursors that nobody has read for long. Those of a transaction end with that. It locks no
// others, since a getMore that finds its cursor locked fails.
func (c *cursors) expire(now time.Time) {
	for _, x := range c.list() {
		if x.noTimeout || x.inTx != nil || x.idle(now) < cursorTime || !x.mu.TryLock() {
			continue
		}
		if !x.closed && x.idle(now) >= cursorTime {
			x.closed = true
			x.from.stop()
			c.forget(x)
			c.timedOut.Add(1)
		}
		x.mu.Unlock()
	}
}

// find gives the open cursor of an id, nil if there is none.
func (c *cursors) find(id int64) *cursor {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open[id]
}

// kill ends a cursor, and the request that reads it.
func (c *cursors) kill(x *cursor) {
	c.mu.Lock()
	delete(c.open, x.id)
	c.mu.Unlock()
	x.killed.Store(true)
	if cancel := x.cancel.Load(); cancel != nil {
		(*cancel)()
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.closed {
		x.closed = true
		x.from.stop()
	}
}

// count is how many cursors are open.
func (c *cursors) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open)
}

// status is metrics.cursor of serverStatus.
func (c *cursors) status(a *answer) {
	pinned, noTimeout, all := 0, 0, c.list()
	for _, x := range all {
		if x.noTimeout {
			noTimeout++
		}
		if x.cancel.Load() != nil {
			pinned++
		}
	}
	a.int64("timedOut", c.timedOut.Load())
	a.int64("totalOpened", c.opened.Load())
	a.object("open")
	a.int64("noTimeout", int64(noTimeout))
	a.int64("pinned", int64(pinned))
	a.int64("total", int64(len(all)))
	a.close()
}

// reply answers with the first batch of what from gives, and keeps a cursor for the rest.
func (r *request) reply(a *answer, ns string, from producer, limit int64, shape func(*cursor)) error {
	x := &cursor{ns: ns, from: from, user: r.c.user, lsid: r.sessionID(), inTx: r.tx, api: r.api}
	if shape != nil {
		shape(x)
	}
	a.object("cursor")
	at := a.size()
	a.int64("id", 0)
	a.string("ns", ns)
	kept := false
	defer func() {
		if !kept {
			from.stop()
		}
	}()
	from.holds().lend(r)
	done, err := x.next(r, a, "firstBatch", limit)
	if err != nil || done || r.bool("singleBatch", false) {
		if err == nil {
			a.close()
		}
		return err
	}
	from.holds().keep(r.s)
	if err := r.s.cursors.add(x); err != nil {
		return err
	}
	kept = true
	a.setInt64(at, x.id)
	a.close()
	return nil
}

// next writes a batch.
func (x *cursor) next(r *request, a *answer, name string, limit int64) (done bool, err error) {
	a.array(name)
	b := &batch{a: a, limit: limit, start: a.size(), whole: name == "firstBatch" && r.bool("singleBatch", false)}
	done, err = x.from.fill(r, b)
	r.traced.returned += b.count
	if x.refused = b.err != nil; x.refused {
		err = b.err
	}
	if err != nil {
		return false, err
	}
	r.more = name == "nextBatch" && !done && r.streams(x, b.count)
	a.close()
	if x.token != nil {
		a.value("postBatchResumeToken", x.token())
	}
	return done, nil
}

// setInt64 puts a number in the place of the int64 called id that begins at an offset.
func (a *answer) setInt64(at int, v int64) {
	binary.LittleEndian.PutUint64(a.buf[a.start+at+len("\x12id\x00"):], uint64(v))
}

// batchSize reads the size of a batch from a value, whose place is the command's name or that of `cursor`.
func (r *request) batchSize(within string, v doc.Value, otherwise int64) int64 {
	if v.Type == 0 || v.Type == bsoncore.TypeNull {
		return otherwise
	}
	n, ok := wholeOf(v)
	switch {
	case !ok:
		r.fault(wrongTypeOf(within+".batchSize", v, "[long, int, decimal, double]"))
	case n < 0:
		r.fault(code.New(valueTooSmall, "BSON field 'batchSize' value must be >= 0, actual value '%d'", n))
	}
	return n
}
