package command

import (
	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// commitTransaction commits durably. A client may send it again when it has lost the answer, and gets the same one.
func commitTransaction(r *request, a *answer) error {
	switch {
	case r.Autocommit.Type == 0:
		return code.New(code.CommandFailed, "commitTransaction must be run within a transaction")
	case r.Transaction == nil:
		return nil // an earlier request has committed it
	}
	return r.Session.Commit(budget.With(r.Context, &r.c.memory.Share), &r.Node.Sessions)
}

func abortTransaction(r *request, a *answer) error {
	if r.Autocommit.Type == 0 {
		return code.New(code.CommandFailed, "abortTransaction must be run within a transaction")
	}
	r.Session.Abort(&r.Node.Sessions)
	return nil
}
