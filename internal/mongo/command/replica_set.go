package command

import (
	"time"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// noReplication fails if the server is stand-alone.
func (s *Server) noReplication() error {
	if s.o.ReplSet == "" {
		return call.NeedsSet(code.NoReplicationEnabled, "not running with --replSet.")
	}
	return nil
}

func replSetGetStatus(r *request, a *answer) error {
	if r.Node.Shares {
		return notThroughMongos(r)
	}
	if err := r.s.noReplication(); err != nil {
		return err
	}
	a.String("set", r.s.o.ReplSet)
	a.Date("date", r.At.UnixMilli())
	a.Int32("myState", 1)
	a.Int64("term", r.s.term())
	a.String("syncSourceHost", "")
	a.Int32("syncSourceId", -1)
	a.Int64("heartbeatIntervalMillis", 2000)
	a.Int32("majorityVoteCount", 1)
	a.Int32("writeMajorityCount", 1)
	a.Int32("votingMembersCount", 1)
	a.Int32("writableVotingMembersCount", 1)
	a.Object("optimes")
	for _, name := range []string{
		"lastCommittedOpTime", "readConcernMajorityOpTime", "appliedOpTime", "durableOpTime",
	} {
		r.optime(a, name)
	}
	a.Close()
	a.Array("members")
	a.Object(a.Index())
	writeMember(r, a)
	a.Close()
	a.Close()
	return nil
}

func writeMember(r *request, a *answer) {
	a.Int32("_id", 0)
	a.String("name", r.Address())
	a.Double("health", 1)
	a.Int32("state", 1)
	a.String("stateStr", "PRIMARY")
	a.Int32("uptime", int(r.s.Uptime.Elapsed()/time.Second))
	r.optime(a, "optime")
	a.Date("optimeDate", r.At.Unix()*1000)
	a.String("syncSourceHost", "")
	a.Int32("syncSourceId", -1)
	a.String("infoMessage", "")
	a.Date("electionDate", r.s.monitor.Started.Unix()*1000)
	a.Int32("configVersion", replicaVersion)
	a.Int64("configTerm", r.s.term())
	a.Bool("self", true)
	a.String("lastHeartbeatMessage", "")
}

func replSetGetConfig(r *request, a *answer) error {
	if r.Node.Shares {
		return notThroughMongos(r)
	}
	if err := r.s.noReplication(); err != nil {
		return err
	}
	a.Object("config")
	r.writeConfig(&a.Writer)
	a.Close()
	if r.Bool("commitmentStatus", false) {
		a.Bool("commitmentStatus", true)
	}
	return nil
}

// writeConfig writes the configuration of the replica set.
func (r *request) writeConfig(a *doc.Writer) {
	a.String("_id", r.s.o.ReplSet)
	a.Int32("version", replicaVersion)
	a.Int64("term", r.s.term())
	a.Array("members")
	a.Object(a.Index())
	a.Int32("_id", 0)
	a.String("host", r.Address())
	a.Bool("arbiterOnly", false)
	a.Bool("buildIndexes", true)
	a.Bool("hidden", false)
	a.Double("priority", replicaPriority)
	a.Object("tags")
	a.Close()
	a.Int64("secondaryDelaySecs", 0)
	a.Int32("votes", 1)
	a.Close()
	a.Close()
	a.Int64("protocolVersion", 1)
	a.Bool("writeConcernMajorityJournalDefault", true)
	a.Object("settings")
	a.Bool("chainingAllowed", true)
	a.Close()
}

// alreadyInitialized is MongoDB's answer when the set exists. Start-up scripts take it for success.
const alreadyInitialized code.Code = 23

func replSetInitiate(r *request, _ *answer) error {
	if r.Node.Shares {
		return notThroughMongos(r)
	}
	if r.s.o.ReplSet == "" {
		return call.NeedsSet(code.NoReplicationEnabled, "This node was not started with replication enabled.")
	}
	return code.New(alreadyInitialized, "already initialized")
}
