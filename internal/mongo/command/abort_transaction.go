package command

import "github.com/mayflydb/mayfly/internal/mongo/code"

func abortTransaction(r *request, a *answer) error {
	if r.autocommit.Type == 0 {
		return code.New(code.CommandFailed, "abortTransaction must be run within a transaction")
	}
	r.Session.Abort(&r.Node.Sessions)
	return nil
}
