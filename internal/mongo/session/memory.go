package session

import (
	"context"
	"time"

	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// What clients make the server hold is counted in shares of the budget of the process. A connection has one share for
// the frame that it reads, what its operation works with, and the answer until the client has taken it. What a cursor
// holds counts in the share of the operation that reads it, and in one of its own between two; what a transaction has
// written counts in a share of the transaction.

// A Memory is the share of one connection. It belongs to the connection's goroutine.
type Memory struct {
	Share   budget.Share
	Context context.Context // of the operation that runs, or of the server
	Unsent  int64           // of the share, what answers hold that the client has not taken
	kept    int64           // of the share, what is the frame's, while an operation runs
	passed  int             // cost of documents since the last Yield
}

// Take holds n bytes more until the operation is over. It may wait for them.
func (l *Memory) Take(n int64) error { return l.Share.Take(l.Context, n) }

// TryTake is Take that never waits. It reports whether it has them.
func (l *Memory) TryTake(n int64) bool { return l.Share.TryTake(n) }

// Give holds n bytes fewer.
func (l *Memory) Give(n int64) { l.Share.Give(n) }

// Rest gives up the turn of a large operation, which is about to wait.
func (l *Memory) Rest() { l.Share.Rest() }

// Hold waits for a turn to unpack and check a frame of so many bytes.
func (l *Memory) Hold(bytes int64) error {
	return l.Share.Hold(l.Context, time.Duration(bytes)*5*time.Nanosecond)
}

// Begin begins an operation, whose frame is held already.
func (l *Memory) Begin() {
	l.Share.Renew()
	l.kept = l.Share.Held() - l.Unsent
}

// End gives back what an operation has held, without its answer.
func (l *Memory) End() {
	l.Share.Rest()
	l.Share.Give(l.Share.Held() - l.Unsent - l.kept)
}

// Sent gives back what answers held.
func (l *Memory) Sent() {
	l.Share.Give(l.Unsent)
	l.Unsent = 0
}

// Take holds n bytes more until the operation is over, or until they are given back.
func (o *Operation) Take(n int) error { return MemoryError(o.Memory.Take(int64(n))) }

// Give holds n bytes fewer.
func (o *Operation) Give(n int) { o.Memory.Give(int64(n)) }

// MemoryError says that an operation alone is larger than the budget as MongoDB would say it.
func MemoryError(err error) error {
	if err != nil && fault.KindOf(err) == fault.TooLarge {
		return code.New(code.ExceededMemoryLimit, "%s", fault.Message(err))
	}
	return err
}

// StageMemory is what sorts and stages of one operation hold.
type StageMemory struct{ *Memory }

// Take is that of the connection, with the error of stages that may use disk in MongoDB.
func (m StageMemory) Take(n int64) error { return StageError(m.Memory.Take(n)) }

// StageError is memoryErr for what may use disk in MongoDB.
func StageError(err error) error {
	if err != nil && fault.KindOf(err) == fault.TooLarge {
		return code.New(code.QueryExceededMemoryLimitNoDiskUseAllowed, "%s", fault.Message(err))
	}
	return err
}

// A Holding is what the sorts, stages and documents of a cursor hold.
type Holding struct {
	own  budget.Share
	now  *Memory // of the operation that reads the cursor; nil between two
	held int64
}

// Holds is the Holding itself, for producers that embed it.
func (h *Holding) Holds() *Holding { return h }

// Lend counts what is held in the share of an operation.
func (h *Holding) Lend(o *Operation) {
	if h.now = o.Memory; h.own.Held() > 0 {
		h.own.Pass(&h.now.Share, h.held)
	}
}

// Keep counts what is held in the share of the cursor, when the operation is over.
func (h *Holding) Keep(n *Node) {
	if h.now == nil {
		return
	}
	if h.held > 0 {
		n.Budget.Open(&h.own)
		h.now.Share.Pass(&h.own, h.held)
	}
	h.now = nil
}

// Take holds n bytes more.
func (h *Holding) Take(n int64) error {
	err := StageError(h.now.Take(n))
	if err == nil {
		h.held += n
	}
	return err
}

// TryTake is Take that never waits.
func (h *Holding) TryTake(n int64) bool {
	ok := h.now.TryTake(n)
	if ok {
		h.held += n
	}
	return ok
}

// Give holds n bytes fewer.
func (h *Holding) Give(n int64) {
	if h.held -= n; h.now != nil {
		h.now.Give(n)
		return
	}
	h.own.Give(n)
}

// Close gives back what is still held.
func (h *Holding) Close() {
	h.Give(h.held)
	h.own.Close()
}
