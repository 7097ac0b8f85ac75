package command

import (
	"container/list"
	"sync"

	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// A retryable write may be sent again when its answer was lost: then it is answered from
// memory. Sessions remember the answer to their newest number.
// https://github.com/mongodb/specifications/blob/master/source/retryable-writes/retryable-writes.md

// Limits of the answers that are kept. Those that no room is left for are forgotten, the oldest first;
// who asks for one is told so, which is better than a write done twice.
const (
	maxReplyBytes   = 17 << 20 // of one, as large as a document may be
	maxRepliesBytes = 64 << 20 // of all
)

// A reply is what a retryable write was answered.
type reply struct {
	of      string // the command
	members []byte // of the answer, without ok; nil when it has been forgotten
	place   *list.Element
}

// replies are the answers that are kept, the oldest first.
type replies struct {
	mu    sync.Mutex
	order list.List // of *reply
	bytes int
	share budget.Share
}

func (k *replies) init(b *budget.Budget) {
	k.order.Init()
	b.Open(&k.share)
}

// add keeps an answer, in place of older ones where there is no room for all.
func (k *replies) add(p *reply, members []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for k.bytes+len(members) > maxRepliesBytes || !k.share.TryTake(int64(len(members))) {
		if k.order.Len() == 0 {
			return
		}
		k.forget(k.order.Front().Value.(*reply))
	}
	p.members = append(make([]byte, 0, len(members)), members...)
	p.place = k.order.PushBack(p)
	k.bytes += len(members)
}

// close forgets all of them.
func (k *replies) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for k.order.Len() > 0 {
		k.forget(k.order.Front().Value.(*reply))
	}
	k.share.Close()
}

// drop takes back the answer that a session remembers.
func (k *replies) drop(x *session) {
	if x.reply == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.forget(x.reply)
	x.reply = nil
}

func (k *replies) forget(p *reply) {
	if p.place != nil {
		k.order.Remove(p.place)
		k.bytes -= len(p.members)
		k.share.Give(int64(len(p.members)))
		p.place, p.members = nil, nil
	}
}

// of gives the members of an answer, nil when it has been forgotten.
func (k *replies) of(p *reply) []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	return p.members
}

// joinRetry begins a retryable write, or answers what it was answered before.
func (r *request) joinRetry(a *answer) error {
	if !r.command.write {
		return code.New(code.NotARetryableWriteCommand,
			"txnNumber may only be provided for multi-document transactions and retryable write commands. autocommit:false was not provided, and %s is not a retryable write command.", r.name)
	}
	x, s := r.session, &r.s.sessions
	switch {
	case r.txnNumber < x.number && x.stage == retryable:
		return code.New(code.TransactionTooOld,
			"Retryable write with txnNumber %d is prohibited on session %s because a newer retryable write with txnNumber %d has already started on this session.", r.txnNumber, x.shown(), x.number)
	case r.txnNumber < x.number:
		return code.New(code.TransactionTooOld,
			"Retryable write with txnNumber %d is prohibited on session %s because a newer transaction with txnNumber %d has already started on this session.", r.txnNumber, x.shown(), x.number)
	case r.txnNumber > x.number:
		x.abort(s)
		s.renumber(x, r.txnNumber, retryable)
		return nil
	case x.stage != retryable:
		return code.New(code.ConflictingOperationInProgress, "Transaction number %d is that of a multi-document transaction", r.txnNumber)
	case x.reply == nil || x.reply.of != r.name:
		return nil // the first attempt has come to nothing
	}
	members := s.kept.of(x.reply)
	if members == nil {
		return code.New(code.IncompleteTransactionHistory, "Incomplete history detected for transaction %d on session %s", x.number, x.shown())
	}
	r.repeated = true
	a.buf = append(a.buf, members...)
	r.retried(a, members)
	return nil
}

// remember keeps the answer for a retry.
func (r *request) remember(a *answer) {
	s := &r.s.sessions
	s.kept.drop(r.session)
	p := &reply{of: r.name}
	r.session.reply = p
	if members := a.buf[a.start+4:]; len(members) <= maxReplyBytes {
		s.kept.add(p, members)
	}
}

// retried names the statements that had been done before: all but those that had failed.
func (r *request) retried(a *answer, members []byte) {
	first := r.int("stmtId", -1<<31, 0)
	if r.name == "findAndModify" {
		a.int32("retriedStmtId", int(first))
		return
	}
	count, failed := r.statements(), map[int64]bool{}
	old := newAnswer(nil)
	old.buf = append(old.buf, members...)
	for v := range doc.Elements(doc.Lookup(old.end(), "writeErrors")) {
		if d, ok := doc.AsDoc(v); ok {
			i, _ := wholeOf(doc.Lookup(d, "index"))
			if failed[i] = true; r.bool("ordered", true) {
				count = int(i)
			}
		}
	}
	ids := r.list("stmtIds")
	a.array("retriedStmtIds")
	for i := range count {
		switch {
		case failed[int64(i)]:
		case i < len(ids):
			a.value(a.index(), ids[i])
		default:
			a.int32(a.index(), int(first)+i)
		}
	}
	a.close()
}

// statements is how many the command has.
func (r *request) statements() int {
	switch r.name {
	case "insert":
		return len(r.documents("documents"))
	case "update":
		return len(r.documents("updates"))
	case "delete":
		return len(r.documents("deletes"))
	}
	return 1
}

// retries reports whether the request may be sent again by its client.
func (r *request) retries() bool { return r.hasTxn && r.autocommit.Type == 0 }

// refuseMany refuses statements about many documents that may be sent again.
func (r *request) refuseMany(many bool, option string) error {
	if !many || !r.retries() {
		return nil
	}
	return code.New(code.InvalidOptions, "Cannot use (or request) retryable writes with %s", option)
}
