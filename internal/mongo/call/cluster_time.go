package call

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// A read with afterClusterTime sees everything up to that time. A client may have heard of a later time from another
// server. It then sends that time as $clusterTime too, and its read waits until the time has come.
// mongodb/mongo: src/mongo/db/read_concern_mongod.cpp, for codes and texts

// Bounds on times in the future.
const (
	// noopEvery is how often MongoDB writes an empty entry, so that the cluster time advances even if nothing else is
	// written. So no read waits longer.
	noopEvery = 10 * time.Second
	// maxDrift bounds how far in the future the cluster time of a client may be.
	maxDrift = 365 * 24 * time.Hour
	// maxSkew bounds how far the clocks of two processes that share data are apart, which follow that of the engine.
	maxSkew = time.Minute
)

// stampOf reads a timestamp as a cluster time: seconds in the upper half of the number.
func stampOf(v doc.Value) uint64 {
	seconds, n, ok := bsoncore.Value(v).TimestampOK()
	if !ok {
		return 0
	}
	return uint64(seconds)<<32 | uint64(n)
}

// reachClusterTime waits until the cluster time is at least after.
func reachClusterTime(r *Request, after uint64) error {
	if !r.Node.Replicates {
		return NeedsSet(code.IllegalOperation,
			"Cannot specify afterClusterTime readConcern without replication enabled.")
	}
	if after == 0 {
		return code.New(code.InvalidOptions, "afterClusterTime cannot be a null timestamp")
	}
	now := r.Node.ClusterTime(r.Context, r.Now)
	if after <= now {
		return nil
	}
	gossiped, _ := doc.AsDoc(r.Gossiped)
	told := stampOf(doc.Lookup(gossiped, "clusterTime"))
	switch ahead := time.Unix(int64(told>>32), 0).Sub(r.At); {
	case after > told:
		return code.New(code.InvalidOptions, "readConcern afterClusterTime value must not be greater than "+
			"the current clusterTime. Requested clusterTime: %s; current clusterTime: %s",
			showStamp(after), showStamp(max(now, told)))
	case ahead > maxDrift:
		return code.New(clusterTimeFailsRateLimiter,
			"New cluster time, %d, is too far from this node's wall clock time, %d.", told>>32, r.Now)
	}
	if r.Node.Shares {
		return nil // a read sees all that any process had acknowledged when it began
	}
	for watch := clock.Start(); ; {
		grown := r.Node.Store.LogChanged()
		if newest, err := r.Node.Store.LogNewest(r.Context); err != nil || uint64(newest) >= after {
			return err
		}
		left := min(noopEvery, time.Unix(int64(after>>32)+1, 0).Sub(r.At)) - watch.Elapsed()
		if left <= 0 || !r.Host.Wait(grown, left) {
			break
		}
		if err := r.Context.Err(); err != nil {
			return err
		}
	}
	return nil
}

const clusterTimeFailsRateLimiter code.Code = 205

func showStamp(at uint64) string {
	return fmt.Sprintf("Timestamp(%d, %d)", at>>32, uint32(at))
}

// Members of a replica set add the cluster time to every answer. It is the time of the newest entry of the store's log,
// so that a change stream that starts there misses nothing.
// https://www.mongodb.com/docs/v7.0/reference/method/db.runCommand/#command-response

// WriteClusterTime writes what a replica set adds to every answer, also to that of a request that has run out of time:
// ctx is not the request's own.
func WriteClusterTime(ctx context.Context, r *Request, a *doc.Writer) {
	if !r.Node.Replicates || r.At.IsZero() {
		return
	}
	now := r.Node.ClusterTime(ctx, r.At.Unix())
	if r.Node.Shares {
		now = max(now, gossiped(r)) // another process may be ahead, and what a client is told must not go back
	}
	a.Object("$clusterTime")
	a.Timestamp("clusterTime", uint32(now>>32), uint32(now))
	a.Object("signature")
	a.Binary("hash", session.GenericBinary, unsigned[:])
	a.Int64("keyId", 0)
	a.Close()
	a.Close()
	a.Timestamp("operationTime", uint32(now>>32), uint32(now))
}

// gossiped is the cluster time that the client has been told, 0 if it does not say, or says one that cannot be true.
func gossiped(r *Request) uint64 {
	d, _ := doc.AsDoc(r.Gossiped)
	told := stampOf(doc.Lookup(d, "clusterTime"))
	if time.Unix(int64(told>>32), 0).Sub(r.At) > maxSkew {
		return 0
	}
	return told
}

// unsigned is the signature of servers without authentication.
var unsigned [20]byte
