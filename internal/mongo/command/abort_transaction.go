package command

import "github.com/mayflydb/mayfly/internal/mongo/code"

func init() {
	register("abortTransaction", command{run: abortTransaction, help: "Gives up what a transaction has done.", fields: fieldSet("recoveryToken"), admin: true, txn: true, needs: anyAction})
}

func abortTransaction(r *request, a *answer) error {
	if r.autocommit.Type == 0 {
		return code.New(code.CommandFailed, "abortTransaction must be run within a transaction")
	}
	r.session.abort(&r.s.sessions)
	return nil
}
