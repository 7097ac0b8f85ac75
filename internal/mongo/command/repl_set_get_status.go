package command

import (
	"time"

	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// needsSet is the error for what only a replica set has: MongoDB's text, and what to do.
func needsSet(c code.Code, format string, args ...any) error {
	return code.New(c, format+" This mayfly is stand-alone, because --mongo-replset is empty: "+
		"leave that setting out, or give it a name.", args...)
}

// noReplication fails if the server is stand-alone.
func (s *Server) noReplication() error {
	if s.o.ReplSet == "" {
		return needsSet(code.NoReplicationEnabled, "not running with --replSet.")
	}
	return nil
}

func replSetGetStatus(r *request, a *answer) error {
	if err := r.s.noReplication(); err != nil {
		return err
	}
	a.string("set", r.s.o.ReplSet)
	a.date("date", r.at.UnixMilli())
	a.int32("myState", 1)
	a.int64("term", r.s.term())
	a.string("syncSourceHost", "")
	a.int32("syncSourceId", -1)
	a.int64("heartbeatIntervalMillis", 2000)
	a.int32("majorityVoteCount", 1)
	a.int32("writeMajorityCount", 1)
	a.int32("votingMembersCount", 1)
	a.int32("writableVotingMembersCount", 1)
	a.object("optimes")
	for _, name := range []string{
		"lastCommittedOpTime", "readConcernMajorityOpTime", "appliedOpTime", "durableOpTime",
	} {
		r.optime(a, name)
	}
	a.close()
	a.array("members")
	a.object(a.index())
	r.member(a)
	a.close()
	a.close()
	return nil
}

func (r *request) member(a *answer) {
	a.int32("_id", 0)
	a.string("name", r.self())
	a.double("health", 1)
	a.int32("state", 1)
	a.string("stateStr", "PRIMARY")
	a.int32("uptime", int(r.s.uptime.Elapsed()/time.Second))
	r.optime(a, "optime")
	a.date("optimeDate", r.at.Unix()*1000)
	a.string("syncSourceHost", "")
	a.int32("syncSourceId", -1)
	a.string("infoMessage", "")
	a.date("electionDate", r.s.started.Unix()*1000)
	a.int32("configVersion", replicaVersion)
	a.int64("configTerm", r.s.term())
	a.bool("self", true)
	a.string("lastHeartbeatMessage", "")
}
