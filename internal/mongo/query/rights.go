package query

import (
	"cmp"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
)

// MayAggregate decides whether the client may run a pipeline, which reads, and perhaps writes, several containers.
func MayAggregate(r *call.Request, p *pipeline.Pipeline) error {
	reads, writes := p.Containers()
	switch source, arg := p.Source(); source {
	case "$currentOp", "$listSessions", "$listLocalSessions":
		// These read no container, and check by themselves what the client may see.
	case "$changeStream":
		options, _ := doc.AsDoc(arg)
		database := r.DB
		if call.IsTrue(doc.Lookup(options, "allChangesForCluster")) {
			database = ""
		}
		if err := r.Client.May(account.Read, database); err != nil {
			return err
		}
	default:
		reads = append(reads, pipeline.Namespace{Container: r.ContainerName()})
	}
	for _, n := range reads {
		if err := mayRead(r, cmp.Or(n.Database, r.DB), n.Container); err != nil {
			return err
		}
	}
	if writes == nil {
		return nil
	}
	return r.Client.May(account.Write, cmp.Or(writes.Database, r.DB))
}

// mayRead decides whether the client may read a collection.
func mayRead(r *call.Request, db, name string) error {
	if name != account.ProfileContainer {
		return r.Client.May(account.Read, db)
	}
	return MayReadProfile(r, db)
}

// MayReadProfile decides whether the client may read the requests to a database.
func MayReadProfile(r *call.Request, db string) error {
	if r.Client.Allowed(account.Monitor, "") {
		return nil
	}
	return r.Client.May(account.Maintain, db)
}
