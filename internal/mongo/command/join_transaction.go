package command

import (
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// joinTransaction begins the transaction of a request, or goes on with it.
func joinTransaction(r *request) error {
	if err := mayTransact(r); err != nil {
		return err
	}
	x, starts := r.Session, r.startsTxn.Type != 0
	switch {
	case r.txnNumber < x.Number:
		return code.New(code.TransactionTooOld, "Cannot start transaction with { txnNumber: %d } on session %s because a newer transaction with { txnNumber: %d } has already started.",
			r.txnNumber, x.Shown(), x.Number)
	case starts && r.txnNumber == x.Number:
		return code.New(code.ConflictingOperationInProgress, "Only servers in a sharded cluster can start a new transaction at the active transaction number")
	case starts:
		return r.Node.Sessions.Begin(&r.Operation, r.txnNumber, readConcernLevel(r) == "snapshot")
	case r.txnNumber != x.Number || x.Stage == session.Retryable:
		return code.New(code.NoSuchTransaction, "Given transaction number %d does not match any in-progress transactions. The active transaction number is %d", r.txnNumber, x.Number)
	case x.Stage == session.Aborted:
		return code.New(code.NoSuchTransaction, "Transaction with { txnNumber: %d } has been aborted.", x.Number)
	case x.Stage == session.Committed && r.Name != "commitTransaction":
		return code.New(code.TransactionCommitted, "Transaction with { txnNumber: %d } has been committed.", x.Number)
	}
	if x.Transaction != nil {
		if err := mustMatch(r, x.Transaction.API, "transaction's first command"); err != nil {
			return err
		}
	}
	x.Resume(&r.Operation)
	return nil
}

// endsTransaction reports whether the command is the last one of a transaction.
func endsTransaction(r *request) bool {
	return r.Name == "commitTransaction" || r.Name == "abortTransaction"
}

// mayTransact decides whether the command may run in a transaction.
func mayTransact(r *request) error {
	switch {
	case endsTransaction(r):
		if r.startsTxn.Type != 0 {
			return code.New(code.OperationNotSupportedInTransaction, "Cannot run '%s' as the first operation in a transaction.", r.Name)
		}
		return nil
	case r.Name == "count":
		return code.New(code.OperationNotSupportedInTransaction,
			"Cannot run 'count' in a multi-document transaction. Please see http://dochub.mongodb.org/core/transaction-count for a recommended alternative.")
	case !r.command.txn:
		return code.New(code.OperationNotSupportedInTransaction, "Cannot run '%s' in a multi-document transaction.", r.Name)
	case r.db == adminDatabase || r.db == "config" || r.db == "local":
		return code.New(code.OperationNotSupportedInTransaction, "Cannot run command against the '%s' database in a transaction.", r.db)
	case r.startsTxn.Type != 0 && (r.Name == "getMore" || r.Name == "killCursors"):
		return code.New(code.OperationNotSupportedInTransaction, "Cannot run %s as the first operation in a transaction.", r.Name)
	}
	return nil
}

// mayShapeContainers refuses the commands that make collections and indexes in a transaction with the
// read concern snapshot. What a write makes by itself is allowed.
// mongodb/mongo: jstests/core/txns/commands_in_txns_read_concern.js
func mayShapeContainers(r *request) error {
	if !r.Transaction.Snapshot {
		return nil
	}
	return code.New(code.InvalidOptions, "Command %s does not support { readConcern: { level: \"snapshot\", provenance: \"clientSupplied\" } } :: caused by :: read concern not supported", r.Name)
}

// mayIndexContainer refuses indexes of a collection that the transaction has not made, or that has documents.
// mongodb/mongo: src/mongo/db/commands/create_indexes_cmd.cpp
func mayIndexContainer(r *request, c *catalog.Container) error {
	kind := "existing"
	if r.Transaction.Makes(c) {
		n, err := query.Count(&r.Operation, &query.Selection{Container: c, Limit: 1})
		if n == 0 || err != nil {
			return err
		}
		kind = "non-empty"
	}
	return code.New(code.OperationNotSupportedInTransaction, "Cannot create new indexes on %s collection %s.%s in a multi-document transaction.", kind, c.Database.Name, c.State().Name)
}
