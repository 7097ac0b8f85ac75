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
	a.String("name", addressOf(r))
	a.Double("health", 1)
	a.Int32("state", 1)
	a.String("stateStr", "PRIMARY")
	a.Int32("uptime", int(r.s.Uptime.Elapsed()/time.Second))
	r.optime(a, "optime")
	a.Date("optimeDate", r.At.Unix()*1000)
	a.String("syncSourceHost", "")
	a.Int32("syncSourceId", -1)
	a.String("infoMessage", "")
	a.Date("electionDate", r.s.started.Unix()*1000)
	a.Int32("configVersion", replicaVersion)
	a.Int64("configTerm", r.s.term())
	a.Bool("self", true)
	a.String("lastHeartbeatMessage", "")
}
