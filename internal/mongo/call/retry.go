package call

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// JoinRetry begins a retryable write, or answers what it was answered before. One whose outcome is unknown is not done
// again.
func JoinRetry(r *Request, a *doc.Writer) error {
	if !r.Traits.Retryable {
		return code.New(code.NotARetryableWriteCommand,
			"txnNumber may only be provided for multi-document transactions and retryable write commands. "+
				"autocommit:false was not provided, and %s is not a retryable write command.", r.Name)
	}
	x, s := r.Session, &r.Node.Sessions
	switch {
	case r.TxnNumber < x.Number && x.Stage == session.Retryable:
		return code.New(code.TransactionTooOld,
			"Retryable write with txnNumber %d is prohibited on session %s because a newer retryable write with "+
				"txnNumber %d has already started on this session.", r.TxnNumber, x.Shown(), x.Number)
	case r.TxnNumber < x.Number:
		return code.New(code.TransactionTooOld,
			"Retryable write with txnNumber %d is prohibited on session %s because a newer transaction with "+
				"txnNumber %d has already started on this session.", r.TxnNumber, x.Shown(), x.Number)
	case r.TxnNumber > x.Number:
		x.Abort(s)
		s.Renumber(x, r.TxnNumber, session.Retryable)
		return nil
	case x.Stage != session.Retryable:
		return code.New(code.ConflictingOperationInProgress,
			"Transaction number %d is that of a multi-document transaction", r.TxnNumber)
	case x.Unknown != nil:
		return x.Unknown // nobody knows whether a second attempt would be the first or the second write
	case x.Reply == nil || x.Reply.Of != r.Name:
		return nil // the first attempt has come to nothing
	}
	members := s.Kept.Members(x.Reply)
	if members == nil {
		return code.New(code.IncompleteTransactionHistory,
			"Incomplete history detected for transaction %d on session %s", x.Number, x.Shown())
	}
	r.Repeated = true
	a.Append(members)
	writeRetried(r, a, members)
	return nil
}

// RememberReply keeps the answer for a retry.
func RememberReply(r *Request, a *doc.Writer) {
	s := &r.Node.Sessions
	s.Kept.Drop(r.Session)
	p := &session.Reply{Of: r.Name}
	r.Session.Reply = p
	if members := a.Written(); len(members) <= session.MaxReplyBytes {
		s.Kept.Add(p, members)
	}
}

// writeRetried names the statements that had been done before: all but those that had failed.
func writeRetried(r *Request, a *doc.Writer, members []byte) {
	first := r.Int("stmtId", -1<<31, 0)
	if r.Name == "findAndModify" {
		a.Int32("retriedStmtId", int(first))
		return
	}
	count, failed := countStatements(r), map[int64]bool{}
	old := doc.NewWriter(nil)
	old.Append(members)
	for v := range doc.Elements(doc.Lookup(old.End(), "writeErrors")) {
		if d, ok := doc.AsDoc(v); ok {
			i, _ := WholeOf(doc.Lookup(d, "index"))
			if failed[i] = true; r.Bool("ordered", true) {
				count = int(i)
			}
		}
	}
	ids := r.List("stmtIds")
	a.Array("retriedStmtIds")
	for i := range count {
		switch {
		case failed[int64(i)]:
		case i < len(ids):
			a.Value(a.Index(), ids[i])
		default:
			a.Int32(a.Index(), int(first)+i)
		}
	}
	a.Close()
}

// countStatements is how many the command has.
func countStatements(r *Request) int {
	switch r.Name {
	case "insert":
		return len(r.Documents("documents"))
	case "update":
		return len(r.Documents("updates"))
	case "delete":
		return len(r.Documents("deletes"))
	}
	return 1
}

// Retryable reports whether the request may be sent again by its client.
func (r *Request) Retryable() bool { return r.HasTxn && r.Autocommit.Type == 0 }

// RefuseMany refuses statements about many documents that may be sent again.
func RefuseMany(r *Request, many bool, option string) error {
	if !many || !r.Retryable() {
		return nil
	}
	return code.New(code.InvalidOptions, "Cannot use (or request) retryable writes with %s", option)
}
