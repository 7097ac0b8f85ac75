package command

import "github.com/mayflydb/mayfly/internal/mongo/code"

func fsync(r *request, a *answer) error {
	lock := r.Bool("lock", false)
	if r.Err != nil {
		return r.Err
	}
	if lock {
		return code.Unsupported("fsync with lock")
	}
	a.Int32("numFiles", 1)
	return nil
}

func fsyncUnlock(*request, *answer) error {
	return code.New(code.IllegalOperation, "fsyncUnlock called when not locked")
}
