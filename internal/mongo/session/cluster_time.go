package session

import (
	"context"
	"time"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/store"
)

// ClusterTime is how far time has come, seconds in its upper half. It never falls.
func (n *Node) ClusterTime(ctx context.Context, now int64) uint64 {
	if n.Shares {
		return n.advance(sharedTime(n.Clock.Now()))
	}
	newest, err := n.Store.LogNewest(ctx)
	if last := n.newest.Load(); err != nil && last != 0 {
		return last // still true: a later time might be one of an entry that nobody has been told of
	}
	at := uint64(newest)
	if err != nil || at == 0 { // nothing is logged: nobody follows
		at = uint64(max(now, 0))<<32 | 1
	}
	return n.advance(at)
}

// sharedTime is the cluster time at an instant where several processes share the data. There is no log whose entries
// could have times, and the clock is the engine's.
func sharedTime(at time.Time) uint64 {
	return uint64(max(at.Unix(), 0))<<32 | uint64(at.Nanosecond()+1)
}

// advance makes cluster time reach at.
func (n *Node) advance(at uint64) uint64 {
	for {
		last := n.newest.Load()
		if at <= last {
			return last
		}
		if n.newest.CompareAndSwap(last, at) {
			return at
		}
	}
}

// Told is the newest cluster time that a client may have been told.
func (n *Node) Told() store.LogTime { return store.LogTime(n.newest.Load()) }

// ClusterTime is $$CLUSTER_TIME, the same for the whole operation; missing when stand-alone.
func (o *Operation) ClusterTime() doc.Value {
	if o.told.Type == 0 && o.Node.Replicates {
		at := o.Node.ClusterTime(o.Context, o.At.Unix())
		o.told = doc.Timestamp(uint32(at>>32), uint32(at))
	}
	return o.told
}
