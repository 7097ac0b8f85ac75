package command

import "github.com/mayflydb/mayfly/internal/mongo/code"

func init() {
	register("fsync", command{run: fsync, help: "Answers that writes are durable, as they are when they are acknowledged.", admin: true, needs: serverAction,
		fields: fieldSet("lock async fsyncLockAcquisitionTimeoutMillis forBackup")})
	register("fsyncUnlock", command{run: fsyncUnlock, help: "Takes back a lock of fsync, which there never is.", admin: true, needs: serverAction})
}

func fsync(r *request, a *answer) error {
	lock := r.bool("lock", false)
	if r.err != nil {
		return r.err
	}
	if lock {
		return code.Unsupported("fsync with lock")
	}
	a.int32("numFiles", 1)
	return nil
}

func fsyncUnlock(*request, *answer) error {
	return code.New(code.IllegalOperation, "fsyncUnlock called when not locked")
}
