package session

import (
	"errors"

	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/store"
)

// A Recall knows which retryable writes have been done. There are two. A process that has its data alone keeps the
// answers, in memory: a retry is answered as the first attempt was. Where several processes share the data, a retry may
// reach another one than the first attempt did. So each batch of the write leaves a receipt in the engine, and a retry
// does what the receipts do not have.
// https://github.com/mongodb/specifications/blob/master/source/retryable-writes/retryable-writes.md
type Recall interface {
	// Begin begins the write of an operation; again says that its number has been seen here before. It returns the
	// members of the answer that the write had, nil if the command is to run.
	Begin(o *Operation, again bool) (members []byte, err error)
	// End is told the members of the answer, without ok, of a write that has run.
	End(o *Operation, members []byte)
}

// answers is the Recall of a process that has its data alone.
type answers struct{ s *Sessions }

func (a answers) Begin(o *Operation, again bool) ([]byte, error) {
	x := o.Session
	switch {
	case !again:
		return nil, nil
	case x.Unknown != nil:
		return nil, x.Unknown // nobody knows whether a second attempt would be the first or the second write
	case x.Reply == nil || x.Reply.Of != o.Name:
		return nil, nil // the first attempt has come to nothing
	}
	members := a.s.Kept.Members(x.Reply)
	if members == nil {
		return nil, code.New(code.IncompleteTransactionHistory,
			"Incomplete history detected for transaction %d on session %s", x.Number, x.Shown())
	}
	return members, nil
}

func (a answers) End(o *Operation, members []byte) {
	a.s.Kept.Drop(o.Session)
	p := &Reply{Of: o.Name}
	o.Session.Reply = p
	if len(members) <= MaxReplyBytes {
		a.s.Kept.Add(p, members)
	}
}

// receipts is the Recall of a process that shares its data with others.
type receipts struct{ s *Sessions }

func (a receipts) Begin(o *Operation, again bool) ([]byte, error) {
	o.Retry = &Retry{operation: o, number: o.Session.Number, done: map[int]Done{}}
	if !again {
		return nil, nil // the first batch finds out whether another process has seen the number
	}
	return nil, o.Retry.Load()
}

func (a receipts) End(*Operation, []byte) {}

// owner is how the store tells sessions apart.
func (x *Session) owner() (id [48]byte) {
	copy(id[:], x.Key.ID[:])
	digest := x.Key.User.Digest()
	copy(id[len(x.Key.ID):], digest[:])
	return id
}

// outnumbered is the error for a number that is too old, as far as another process knows.
func outnumbered(x *Session, number int64, err error) error {
	newer, ok := errors.AsType[*store.OutnumberedError](err)
	switch {
	case !ok:
		return err
	case newer.Number == number:
		return code.New(code.ConflictingOperationInProgress,
			"Transaction number %d is used for a retryable write and for a transaction", number)
	}
	return TooOld(x, number, newer.Number, newer.Transaction)
}

// TooOld is the error for a retryable write whose session has gone on to another number.
func TooOld(x *Session, number, newest int64, transaction bool) error {
	what := "retryable write"
	if transaction {
		what = "transaction"
	}
	return code.New(code.TransactionTooOld,
		"Retryable write with txnNumber %d is prohibited on session %s because a newer %s with "+
			"txnNumber %d has already started on this session.", number, x.Shown(), what, newest)
}
