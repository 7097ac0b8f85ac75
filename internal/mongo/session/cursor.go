package session

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// Limits of cursors and their batches.
const (
	maxCursors    = 10_000
	cursorTime    = 10 * time.Minute // without a getMore
	cursorEvery   = 4 * time.Second  // between two looks for those that nobody has read for so long
	MaxBatchBytes = 16 << 20
)

// A Producer gives the documents of a cursor, batch by batch. It is used by one operation at a time.
type Producer interface {
	// Fill adds documents to the batch until that is full or there are no more; done then.
	Fill(o *Operation, b *Batch) (done bool, err error)
	// Stop gives up what the producer holds.
	Stop()
	// Holds is what it holds between two batches.
	Holds() *Holding
}

// A sink is the answer that a batch is written to.
type sink interface {
	// Size is how many bytes the answer has so far.
	Size() int
	// Room makes room for n bytes more, for which it may wait. TryRoom never waits.
	Room(n int) error
	TryRoom(n int) bool
	// Element writes a document as the next element of the batch.
	Element(doc.Doc)
}

// A Batch is the documents of one answer.
type Batch struct {
	To    sink
	Limit int64
	Count int64
	Whole bool  // what is left out of it does not come in another one
	Err   error // there is no memory for the first document
}

const ElementBytes = 64 // of a document in a batch in addition to its own, and of the end of the answer

// Add adds a document; false when there is no room for it.
func (b *Batch) Add(d doc.Doc) bool {
	if b.Full() || b.Count > 0 && b.To.Size()+len(d) > MaxBatchBytes {
		return false
	}
	if b.Count > 0 && !b.Whole {
		if !b.To.TryRoom(len(d) + ElementBytes) {
			return false // the client asks for the rest
		}
	} else if b.Err = b.To.Room(len(d) + ElementBytes); b.Err != nil {
		return false
	}
	b.To.Element(d)
	b.Count++
	return true
}

// Full reports whether no document more is wanted.
func (b *Batch) Full() bool { return b.Count >= b.Limit }

// A Cursor is what a client has not read yet.
type Cursor struct {
	ID          int64
	Namespace   string
	From        Producer
	SessionID   string
	Owner       account.Identity
	NoTimeout   bool
	Transaction *Transaction
	API         API
	Token       func() doc.Value // postBatchResumeToken of a change stream; nil for others
	Awaits      bool             // getMore may wait for documents

	Connection int32 // see Operation.Connection

	Refused bool // the last operation got no batch for want of memory; the next one may

	Killed atomic.Bool
	Cancel atomic.Pointer[context.CancelFunc] // of the operation that reads it

	used atomic.Int64 // Unix nanoseconds of the server's clock when the last operation ended

	Mutex  sync.Mutex // held by the operation that reads it
	Closed bool
}

// Touch notes that the cursor is read now.
func (x *Cursor) Touch(now time.Time) { x.used.Store(now.UnixNano()) }

// idle is for how long nobody has read the cursor.
func (x *Cursor) idle(now time.Time) time.Duration {
	return time.Duration(now.UnixNano() - x.used.Load())
}

// Cursors are the open cursors of a server.
type Cursors struct {
	node *Node
	mu   sync.Mutex
	open map[int64]*Cursor

	opened   atomic.Int64 // since the start
	timedOut atomic.Int64
	Stop     func() // ends the looks for idle ones
}

func (c *Cursors) init(n *Node) {
	c.node, c.open = n, map[int64]*Cursor{}
	c.Stop = n.Clock.Every(cursorEvery, c.expire)
}

func (c *Cursors) close() { c.KillAll() }

// KillAll ends all cursors, and the operations that read them.
func (c *Cursors) KillAll() {
	for _, x := range c.list() {
		c.Kill(x)
	}
}

func (c *Cursors) list() []*Cursor {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := make([]*Cursor, 0, len(c.open))
	for _, x := range c.open {
		list = append(list, x)
	}
	return list
}

// Add keeps a cursor for later operations and gives it an id.
func (c *Cursors) Add(x *Cursor) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.open) >= maxCursors {
		return code.New(code.OperationFailed, "Too many open cursors (limit %d). Close some first.", maxCursors)
	}
	for x.ID == 0 || c.open[x.ID] != nil {
		var b [8]byte
		_, _ = rand.Read(b[:])
		x.ID = int64(binary.LittleEndian.Uint64(b[:]) >> 1)
	}
	x.Touch(c.node.Clock.Now())
	c.open[x.ID] = x
	c.opened.Add(1)
	if x.Transaction != nil {
		x.Transaction.cursors = true
	}
	return nil
}

// expire ends cursors that nobody has read for long. Those of a transaction end with that. It locks no
// others, since a getMore that finds its cursor locked fails.
func (c *Cursors) expire(now time.Time) {
	for _, x := range c.list() {
		if x.NoTimeout || x.Transaction != nil || x.idle(now) < cursorTime || !x.Mutex.TryLock() {
			continue
		}
		if !x.Closed && x.idle(now) >= cursorTime {
			x.Closed = true
			x.From.Stop()
			c.Forget(x)
			c.timedOut.Add(1)
		}
		x.Mutex.Unlock()
	}
}

// EndConnection ends the cursors of a connection.
func (c *Cursors) EndConnection(id int32) {
	for _, x := range c.list() {
		if x.Connection == id {
			c.Kill(x)
		}
	}
}

// Find gives the open cursor of an id, nil if there is none.
func (c *Cursors) Find(id int64) *Cursor {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open[id]
}

// Kill ends a cursor, and the operation that reads it.
func (c *Cursors) Kill(x *Cursor) {
	c.mu.Lock()
	delete(c.open, x.ID)
	c.mu.Unlock()
	x.Killed.Store(true)
	if cancel := x.Cancel.Load(); cancel != nil {
		(*cancel)()
	}
	x.Mutex.Lock()
	defer x.Mutex.Unlock()
	if !x.Closed {
		x.Closed = true
		x.From.Stop()
	}
}

// Idle lists the cursors that no operation reads at the moment, for reading only.
func (c *Cursors) Idle() []*Cursor {
	return slices.DeleteFunc(c.list(), func(x *Cursor) bool { return x.Cancel.Load() != nil })
}

// Used is when the last operation that has read the cursor ended.
func (x *Cursor) Used() time.Time { return time.Unix(0, x.used.Load()).UTC() }

// Counts tells how many cursors are open, and how many of them are change streams.
func (c *Cursors) Counts() (open, streams int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, x := range c.open {
		if x.Token != nil {
			streams++
		}
	}
	return len(c.open), streams
}

// count is how many cursors are open.
func (c *Cursors) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open)
}

// Status is metrics.cursor of serverStatus.
func (c *Cursors) Status(a *doc.Writer) {
	pinned, noTimeout, all := 0, 0, c.list()
	for _, x := range all {
		if x.NoTimeout {
			noTimeout++
		}
		if x.Cancel.Load() != nil {
			pinned++
		}
	}
	a.Int64("timedOut", c.timedOut.Load())
	a.Int64("totalOpened", c.opened.Load())
	a.Object("open")
	a.Int64("noTimeout", int64(noTimeout))
	a.Int64("pinned", int64(pinned))
	a.Int64("total", int64(len(all)))
	a.Close()
}

// Forget takes a cursor that has ended out of the list.
func (c *Cursors) Forget(x *Cursor) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, x.ID)
}
