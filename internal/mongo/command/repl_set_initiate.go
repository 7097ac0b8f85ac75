package command

import "github.com/mayflydb/mayfly/internal/mongo/code"

// alreadyInitialized is MongoDB's answer when the set exists. Start-up scripts take it for success.
const alreadyInitialized code.Code = 23

func replSetInitiate(r *request, _ *answer) error {
	if r.s.o.ReplSet == "" {
		return needsSet(code.NoReplicationEnabled, "This node was not started with replication enabled.")
	}
	return code.New(alreadyInitialized, "already initialized")
}
