package command

import "github.com/mayflydb/mayfly/internal/mongo/session"

// Members of a replica set add the cluster time to every answer. It is the time of the newest entry of the store's log,
// so that a change stream that starts there misses nothing.
// https://www.mongodb.com/docs/v7.0/reference/method/db.runCommand/#command-response

// writeClusterTime writes what a replica set adds to every answer.
func writeClusterTime(r *request, a *answer) {
	if r.s.o.ReplSet == "" || r.At.IsZero() {
		return
	}
	now := r.s.ClusterTime(r.At.Unix())
	a.Object("$clusterTime")
	a.Timestamp("clusterTime", uint32(now>>32), uint32(now))
	a.Object("signature")
	a.Binary("hash", session.GenericBinary, unsigned[:])
	a.Int64("keyId", 0)
	a.Close()
	a.Close()
	a.Timestamp("operationTime", uint32(now>>32), uint32(now))
}

// unsigned is the signature of servers without authentication.
var unsigned [20]byte
