package command

import (
	"iter"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// The collections of the database local by which mongosh sees that there is a replica set.
// mongodb-js/mongosh: packages/shell-api/src/database.ts, getReplicationInfo and printSecondaryReplicationInfo
const (
	localDatabase   = "local"
	replsetConfig   = "system.replset"
	replicationLog  = "oplog.rs"
	noReplicationBy = "the collection local.oplog.rs is not supported by mayfly, which has no log of this form: " +
		"follow changes with a change stream"
)

// given gives the collections that no container has: the records of the profiler, and the configuration of the replica
// set. The replication log is one that is listed and cannot be read, so that tools learn why.
func (s *Server) given(o *session.Operation, db, name string) (session.Records, error) {
	if db != localDatabase || s.o.ReplSet == "" {
		return s.monitor.Profiler.Records(db, name), nil
	}
	switch r, _ := o.Host.(*request); name {
	case replicationLog:
		return nil, code.New(code.CommandNotSupported, noReplicationBy)
	case replsetConfig:
		a := doc.NewWriter(nil)
		r.writeConfig(a)
		config := doc.Doc(a.End())
		return func(bool) iter.Seq[doc.Doc] {
			return func(yield func(doc.Doc) bool) { yield(config) }
		}, nil
	}
	return s.monitor.Profiler.Records(db, name), nil
}

// localCollections describes the collections of the database local for listCollections.
func (r *request) localCollections(nameOnly bool) (list []doc.Doc) {
	if r.DB != localDatabase || r.s.o.ReplSet == "" {
		return nil
	}
	for _, name := range []string{replicationLog, replsetConfig} {
		a := doc.NewWriter(nil)
		a.String("name", name)
		a.String("type", "collection")
		if !nameOnly {
			a.Object("options")
			a.Close()
			a.Object("info")
			a.Bool("readOnly", true)
			a.Close()
		}
		list = append(list, a.End())
	}
	return list
}
