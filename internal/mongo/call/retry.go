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
	case r.TxnNumber < x.Number:
		return session.TooOld(x, r.TxnNumber, x.Number, x.Stage != session.Retryable)
	case r.TxnNumber == x.Number && x.Stage != session.Retryable:
		return code.New(code.ConflictingOperationInProgress,
			"Transaction number %d is that of a multi-document transaction", r.TxnNumber)
	}
	again := r.TxnNumber == x.Number
	if !again {
		x.Abort(s)
		s.Renumber(x, r.TxnNumber, session.Retryable)
	}
	members, err := s.Retries.Begin(&r.Operation, again)
	if members == nil || err != nil {
		return err
	}
	r.Repeated = true
	a.Append(members)
	writeRetried(r, a, members)
	return nil
}

// RememberReply keeps the answer for a retry.
func RememberReply(r *Request, a *doc.Writer) {
	r.Node.Sessions.Retries.End(&r.Operation, a.Written())
}

// WriteRepeated names the statements that the command has not done, because an earlier attempt had.
func WriteRepeated(r *Request, a *doc.Writer) {
	list := r.Retry.Repeated()
	if len(list) == 0 {
		return
	}
	first, ids := r.Int("stmtId", -1<<31, 0), r.List("stmtIds")
	if r.Name == "findAndModify" {
		a.Int32("retriedStmtId", int(first))
		return
	}
	a.Array("retriedStmtIds")
	for _, i := range list {
		writeStatement(a, i, int(first), ids)
	}
	a.Close()
}

// writeStatement writes the number that the client has given to a statement.
func writeStatement(a *doc.Writer, i, first int, ids []doc.Value) {
	if i < len(ids) {
		a.Value(a.Index(), ids[i])
		return
	}
	a.Int32(a.Index(), first+i)
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
		if !failed[int64(i)] {
			writeStatement(a, i, int(first), ids)
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
