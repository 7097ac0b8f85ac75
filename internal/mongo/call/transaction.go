package call

import (
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// JoinTransaction begins the transaction of a request, or goes on with it.
func JoinTransaction(r *Request) error {
	if err := mayTransact(r); err != nil {
		return err
	}
	x, starts := r.Session, r.StartsTxn.Type != 0
	if recovers(r) {
		return x.Recover(r.Context, &r.Node.Sessions, r.TxnNumber)
	}
	switch {
	case r.TxnNumber < x.Number:
		return code.New(code.TransactionTooOld,
			"Cannot start transaction with { txnNumber: %d } on session %s because a newer transaction with { "+
				"txnNumber: %d } has already started.",
			r.TxnNumber, x.Shown(), x.Number)
	case starts && r.TxnNumber == x.Number:
		return code.New(code.ConflictingOperationInProgress,
			"Only servers in a sharded cluster can start a new transaction at the active transaction number")
	case starts:
		return r.Node.Sessions.Begin(&r.Operation, r.TxnNumber, readConcernLevel(r) == "snapshot")
	case r.TxnNumber != x.Number || x.Stage == session.Retryable:
		return code.New(code.NoSuchTransaction,
			"Given transaction number %d does not match any in-progress transactions. "+
				"The active transaction number is %d", r.TxnNumber, x.Number)
	case x.Stage == session.Aborted:
		return code.New(code.NoSuchTransaction, "Transaction with { txnNumber: %d } has been aborted.", x.Number)
	case x.Stage == session.Committed && r.Name != "commitTransaction":
		return code.New(code.TransactionCommitted, "Transaction with { txnNumber: %d } has been committed.", x.Number)
	case x.Stage == session.Committed && x.Unknown != nil:
		return x.Unknown
	}
	if x.Transaction != nil {
		if err := MustMatch(r, x.Transaction.API, "transaction's first command"); err != nil {
			return err
		}
	}
	x.Resume(&r.Operation)
	return nil
}

// recovers reports whether the request is a commit that has to find out what has become of its transaction. The client
// sends it to this process because it has lost the other one or its answer; with a recoveryToken, if it keeps to the
// specification.
func recovers(r *Request) bool {
	x := r.Session
	return r.Node.Shares && r.Name == "commitTransaction" &&
		(r.TxnNumber > x.Number || r.TxnNumber == x.Number && x.Stage == session.Committed && x.Unknown != nil)
}

// EndsTransaction reports whether the command is the last one of a transaction.
func (r *Request) EndsTransaction() bool {
	return r.Name == "commitTransaction" || r.Name == "abortTransaction"
}

// mayTransact decides whether the command may run in a transaction.
func mayTransact(r *Request) error {
	switch {
	case r.EndsTransaction():
		if r.StartsTxn.Type != 0 {
			return code.New(code.OperationNotSupportedInTransaction,
				"Cannot run '%s' as the first operation in a transaction.", r.Name)
		}
		return nil
	case r.Name == "count":
		return code.New(code.OperationNotSupportedInTransaction,
			"Cannot run 'count' in a multi-document transaction. Please see "+
				"http://dochub.mongodb.org/core/transaction-count for a recommended alternative.")
	case !r.Traits.Transactional:
		return code.New(code.OperationNotSupportedInTransaction,
			"Cannot run '%s' in a multi-document transaction.", r.Name)
	case r.DB == account.AdminDatabase || r.DB == "config" || r.DB == "local":
		return code.New(code.OperationNotSupportedInTransaction,
			"Cannot run command against the '%s' database in a transaction.", r.DB)
	case r.StartsTxn.Type != 0 && (r.Name == "getMore" || r.Name == "killCursors"):
		return code.New(code.OperationNotSupportedInTransaction,
			"Cannot run %s as the first operation in a transaction.", r.Name)
	}
	return nil
}
