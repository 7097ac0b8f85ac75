package command

import (
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

// Members of a replica set add the cluster time to every answer. It is the time of the newest entry of the store's log,
// so that a change stream that starts there misses nothing.
// https://www.mongodb.com/docs/v7.0/reference/method/db.runCommand/#command-response

// gossip writes what a replica set adds to every answer.
func (r *request) gossip(a *answer) {
	if r.s.o.ReplSet == "" || r.at.IsZero() {
		return
	}
	now := r.s.clusterTime(r.at.Unix())
	a.object("$clusterTime")
	a.timestamp("clusterTime", now)
	a.object("signature")
	a.buf = bsoncore.AppendBinaryElement(a.buf, "hash", genericBinary, unsigned[:])
	a.int64("keyId", 0)
	a.close()
	a.close()
	a.timestamp("operationTime", now)
}

// unsigned is the signature of servers without authentication.
var unsigned [20]byte

func (a *answer) timestamp(name string, at uint64) {
	a.buf = bsoncore.AppendTimestampElement(a.buf, name, uint32(at>>32), uint32(at))
}

// clusterTime gives the cluster time, with the seconds in its upper half. It never goes back.
func (s *Server) clusterTime(now int64) uint64 {
	newest, err := s.o.Store.LogNewest()
	at := uint64(newest)
	if err != nil || at == 0 { // nothing has been logged, so no change stream can miss anything
		at = uint64(max(now, 0))<<32 | 1
	}
	for {
		last := s.sessions.last.Load()
		if at <= last {
			return last
		}
		if s.sessions.last.CompareAndSwap(last, at) {
			return at
		}
	}
}

// clusterTime is $$CLUSTER_TIME, the same for the whole request; missing when stand-alone.
func (r *request) clusterTime() doc.Value {
	if r.told.Type == 0 && r.s.o.ReplSet != "" {
		at := r.s.clusterTime(r.at.Unix())
		r.told = doc.Timestamp(uint32(at>>32), uint32(at))
	}
	return r.told
}
