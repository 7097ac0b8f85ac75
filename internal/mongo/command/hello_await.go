package command

import (
	"bytes"
	"time"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// A client that knows the topology may ask for an answer only when the topology has changed, or after some time. Here
// it never changes while the process lives, so every answer comes at the end of that time. With exhaust the next wait
// begins at once, and the client notices immediately when the server is gone.
// https://github.com/mongodb/specifications/blob/master/source/server-discovery-and-monitoring/server-monitoring.md

// topologyCounter counts changes of the topology.
const topologyCounter = 0

// longestAwait is how long a hello waits at most, whatever the client allows. A driver that has marked the server as
// unknown, for example after an error at shutdown, sends no other hello while one waits. So it gets its answer after
// half a second, which is as often as drivers poll, and not after ten.
const longestAwait = 500 * time.Millisecond

// writeTopologyVersion writes which topology the answer is about.
func writeTopologyVersion(r *request, a *answer) {
	a.Object("topologyVersion")
	a.ObjectID("processId", r.s.processID)
	a.Int64("counter", topologyCounter)
	a.Close()
}

// awaitTopology waits for as long as the client asks, if it knows the topology already.
// mongodb/mongo: src/mongo/db/repl/replication_info.cpp, for codes and texts
func awaitTopology(r *request) error {
	known := r.Document("topologyVersion")
	limit := r.Get("maxAwaitTimeMS")
	patience := min(time.Duration(r.Int("maxAwaitTimeMS", 0, 0)), longestAwait/time.Millisecond) * time.Millisecond
	switch {
	case r.Err != nil:
		return r.Err
	case known == nil && limit.Type == 0 && r.Message.ExhaustAllowed():
		return code.New(51756, "An isMaster or hello request with exhaust must specify 'maxAwaitTimeMS'")
	case known == nil && limit.Type == 0:
		return nil
	case known == nil:
		return code.New(31368, "A request with 'maxAwaitTimeMS' must include a 'topologyVersion'")
	case limit.Type == 0:
		return code.New(31368, "A request with a 'topologyVersion' must include 'maxAwaitTimeMS'")
	}
	process, counter := doc.Lookup(known, "processId"), doc.Lookup(known, "counter")
	n, _ := doc.AsInt64Exact(counter)
	switch {
	case process.Type != bsoncore.TypeObjectID:
		return call.WrongMember("TopologyVersion.processId", process, "objectId")
	case counter.Type != bsoncore.TypeInt64:
		return call.WrongMember("TopologyVersion.counter", counter, "long")
	case n < 0:
		return code.New(31372, "topologyVersion must have a non-negative counter")
	}
	if bytes.Equal(process.Data, r.s.processID[:]) {
		if n > topologyCounter {
			return code.New(topologyAhead(r), "Received a topology version with counter: %d "+
				"which is greater than the server topology version counter: %d", n, topologyCounter)
		}
		r.s.o.Gate.Leave() // it waits for no data
		over := r.waitFor(&r.s.awaiting, nil, patience)
		r.s.o.Gate.Enter()
		if over {
			return r.Context.Err()
		}
	}
	if r.more = r.Message.ExhaustAllowed(); r.more { // the client knows the topology when the next wait begins
		copy(process.Data, r.s.processID[:])
		copy(counter.Data, make([]byte, len(counter.Data)))
	}
	return nil
}

// topologyAhead is the code of the error for a counter that the server has not reached.
func topologyAhead(r *request) code.Code {
	if r.s.o.ReplSet == "" {
		return 51764
	}
	return 31382
}
