package node

import (
	"context"
	"time"

	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/mongo/command"
	"github.com/mayflydb/mayfly/internal/store"
)

// A Reading is what a node tells of itself at one moment, for metrics.
type Reading struct {
	Version string
	Clock   time.Time
	Virtual bool

	// Traffic of the APIs, by the names of Meter; one that is switched off is missing.
	Traffic map[string]Traffic
	Mongo   command.Status

	// Survey is at most as old as it may be for its cost, and nil until the first one is done.
	Survey *store.Survey
	Lag    time.Duration // past its deadline, in the node's time, of the oldest document that is not reclaimed

	ReclaimedDocuments, ReclaimedBytes, ReclaimedEntries int64
	Paused                                               bool

	Budget   budget.Reading
	Engine   kv.Load
	Free     *uint64 // bytes of the disk, nil when that is not known
	Refusing bool    // the engine takes no writes
}

// Traffic is who uses an API at present.
type Traffic struct{ Connections, InFlight int64 }

// Read takes a reading of a node that has started.
func (n *Node) Read(ctx context.Context) Reading {
	now := n.clock.Now()
	r := Reading{
		Version: n.version, Clock: now, Virtual: n.Virtual(), Traffic: map[string]Traffic{},
		Paused: n.reaper.Paused(), Budget: n.budget.Read(), Engine: n.store.Load(), Refusing: n.refuses() != nil,
	}
	r.ReclaimedDocuments, r.ReclaimedBytes, r.ReclaimedEntries = n.reaper.Freed()
	if engine, ok := n.engine.(kv.Spacer); ok {
		if free, known := engine.FreeBytes(); known {
			r.Free = &free
		}
	}
	if n.nosql != nil || n.compute != nil {
		r.Traffic[apiNoSQL] = n.nosql.traffic().and(n.compute.traffic())
	}
	if n.mongoServer != nil {
		r.Mongo = n.mongoServer.Status()
		r.Traffic[apiMongo] = Traffic{r.Mongo.Connections, r.Mongo.InFlight}
	}
	r.Survey = n.surveys.newest(ctx)
	r.Lag = lagOf(r.Survey, now)
	return r
}

// lagOf is for how long the oldest expired document of a survey has waited.
func lagOf(s *store.Survey, now time.Time) time.Duration {
	if s == nil || s.Oldest == 0 {
		return 0
	}
	return max(0, time.Duration(now.Unix()-s.Oldest)*time.Second)
}

func (t Traffic) and(u Traffic) Traffic {
	return Traffic{t.Connections + u.Connections, t.InFlight + u.InFlight}
}

// refuses tells why the engine takes no writes, nil while it does.
func (n *Node) refuses() error {
	if engine, ok := n.engine.(kv.Refuser); ok {
		return engine.Refuses()
	}
	return nil
}
