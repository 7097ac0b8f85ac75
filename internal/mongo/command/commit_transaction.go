package command

import "github.com/mayflydb/mayfly/internal/budget"

import "github.com/mayflydb/mayfly/internal/mongo/code"

// commitTransaction commits durably, and answers the same when it is sent again.
func commitTransaction(r *request, a *answer) error {
	switch {
	case r.autocommit.Type == 0:
		return code.New(code.CommandFailed, "commitTransaction must be run within a transaction")
	case r.tx == nil:
		return nil // it has been committed before
	}
	return r.session.commit(budget.With(r.ctx, &r.c.memory.share), &r.s.sessions)
}
