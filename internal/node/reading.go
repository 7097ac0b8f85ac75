package node

import (
	"context"
	"time"

	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/mongo/command"
	"github.com/mayflydb/mayfly/internal/store"
)

// A Reading is the state of a node at one moment, for metrics.
type Reading struct {
	Version string
	Clock   time.Time
	Virtual bool

	// Traffic is by the names that a Meter gets for APIs; an API that is off is missing.
	Traffic map[string]Traffic
	Mongo   command.Status

	// Survey is the newest survey, nil until the first one is done. Costly surveys are taken less often.
	Survey *store.Survey
	Lag    time.Duration // how long ago, by the node's clock, the oldest document that is not reclaimed has expired

	ReclaimedDocuments, ReclaimedBytes, ReclaimedEntries int64
	Paused                                               bool

	Budget   budget.Reading
	Engine   kv.Load
	Free     *uint64 // bytes of the disk, nil if unknown
	Refusing bool    // the engine rejects writes
}

// Traffic is the present use of an API.
type Traffic struct{ Connections, InFlight int64 }

// Read returns the state of a node that has started.
func (n *Node) Read(ctx context.Context) Reading {
	n.gate.Enter()
	defer n.gate.Leave()
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

// lagOf is how long the oldest expired document of a survey has waited for reclaiming.
func lagOf(s *store.Survey, now time.Time) time.Duration {
	if s == nil || s.Oldest == 0 {
		return 0
	}
	return max(0, time.Duration(now.Unix()-s.Oldest)*time.Second)
}

func (t Traffic) and(u Traffic) Traffic {
	return Traffic{t.Connections + u.Connections, t.InFlight + u.InFlight}
}

// refuses is the reason why the engine rejects writes, nil if it accepts them.
func (n *Node) refuses() error {
	if engine, ok := n.engine.(kv.Refuser); ok {
		return engine.Refuses()
	}
	return nil
}
