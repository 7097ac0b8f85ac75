package command

import (
	"context"
	"time"

	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
	"github.com/mayflydb/mayfly/internal/mongo/wire"
)

// What clients make the server hold is counted in shares of the budget of the process. A connection has one share for the
// frame that it reads, what its request works with, and the answer until the client has taken it. What a cursor
// holds counts in the share of the request that reads it, and in one of its own between two; what a transaction
// has written counts in a share of the transaction.

// A ledger is the share of one connection. It belongs to the connection's goroutine.
type ledger struct {
	share  budget.Share
	ctx    context.Context // of the request that runs, or of the server
	unsent int64           // of the share, what answers hold that the client has not taken
	kept   int64           // of the share, what is the frame's, while a request runs
	passed int             // cost of documents since the last Yield
}

func (l *ledger) Take(n int64) error   { return l.share.Take(l.ctx, n) }
func (l *ledger) TryTake(n int64) bool { return l.share.TryTake(n) }
func (l *ledger) Give(n int64)         { l.share.Give(n) }
func (l *ledger) Rest()                { l.share.Rest() }

// Hold waits for a turn to unpack and check a frame of so many bytes.
func (l *ledger) Hold(bytes int64) error {
	return l.share.Hold(l.ctx, time.Duration(bytes)*5*time.Nanosecond)
}

var (
	_ wire.Memory     = (*ledger)(nil)
	_ pipeline.Memory = (*holding)(nil)
	_ pipeline.Memory = stageMemory{}
)

// begin begins a request, whose frame is held already.
func (l *ledger) begin() {
	l.share.Renew()
	l.kept = l.share.Held() - l.unsent
}

// over gives back what a request has held, beside its answer.
func (l *ledger) over() {
	l.share.Rest()
	l.share.Give(l.share.Held() - l.unsent - l.kept)
}

// sent gives back what answers held.
func (l *ledger) sent() {
	l.share.Give(l.unsent)
	l.unsent = 0
}

// take holds n bytes more until the request is over, or until they are given back.
func (r *request) take(n int) error { return memoryErr(r.c.memory.Take(int64(n))) }

func (r *request) give(n int) { r.c.memory.Give(int64(n)) }

// memoryErr says that a request alone is larger than the budget as MongoDB would say it.
func memoryErr(err error) error {
	if err != nil && fault.KindOf(err) == fault.TooLarge {
		return code.New(code.ExceededMemoryLimit, "%s", fault.Message(err))
	}
	return err
}

// stageMemory is what sorts and stages of one request hold.
type stageMemory struct{ *ledger }

func (m stageMemory) Take(n int64) error { return stageErr(m.ledger.Take(n)) }

// stageErr is memoryErr for what may use disk in MongoDB.
func stageErr(err error) error {
	if err != nil && fault.KindOf(err) == fault.TooLarge {
		return code.New(code.QueryExceededMemoryLimitNoDiskUseAllowed, "%s", fault.Message(err))
	}
	return err
}

// A holding is what the sorts, stages and documents of a cursor hold.
type holding struct {
	own  budget.Share
	now  *ledger // of the request that reads the cursor; nil between two
	held int64
}

func (h *holding) holds() *holding { return h }

// lend counts what is held in the share of a request.
func (h *holding) lend(r *request) {
	if h.now = &r.c.memory; h.own.Held() > 0 {
		h.own.Pass(&h.now.share, h.held)
	}
}

// keep counts what is held in the share of the cursor, when the request is over.
func (h *holding) keep(s *Server) {
	if h.now == nil {
		return
	}
	if h.held > 0 {
		s.o.Budget.Open(&h.own)
		h.now.share.Pass(&h.own, h.held)
	}
	h.now = nil
}

// Take holds n bytes more.
func (h *holding) Take(n int64) error {
	err := stageErr(h.now.Take(n))
	if err == nil {
		h.held += n
	}
	return err
}

// TryTake is Take that never waits.
func (h *holding) TryTake(n int64) bool {
	ok := h.now.TryTake(n)
	if ok {
		h.held += n
	}
	return ok
}

// Give holds n bytes fewer.
func (h *holding) Give(n int64) {
	if h.held -= n; h.now != nil {
		h.now.Give(n)
		return
	}
	h.own.Give(n)
}

// close gives back what is still held.
func (h *holding) close() {
	h.Give(h.held)
	h.own.Close()
}
