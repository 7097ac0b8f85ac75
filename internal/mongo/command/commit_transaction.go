package command

import (
	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// commitTransaction commits durably. A client may send it again when it has lost the answer, and gets the same one.
func commitTransaction(r *request, a *answer) error {
	switch {
	case r.autocommit.Type == 0:
		return code.New(code.CommandFailed, "commitTransaction must be run within a transaction")
	case r.tx == nil:
		return nil // an earlier request has committed it
	}
	return r.session.commit(budget.With(r.ctx, &r.c.memory.share), &r.s.sessions)
}
