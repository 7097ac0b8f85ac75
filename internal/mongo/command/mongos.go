package command

import "github.com/mayflydb/mayfly/internal/mongo/code"

// What a mongos answers, and nobody else. Several processes over one engine look like the mongos of one sharded cluster
// that has one shard, the engine; each of them has all of the data.

// isMongos reports whether the client sees a mongos.
func (r *request) isMongos() bool { return r.Node.Replicates && !r.c.inSet() }

// mongosOnly fails with what a mongod says of a command that it does not have.
func (r *request) mongosOnly() error {
	if r.isMongos() {
		return nil
	}
	return code.New(code.CommandNotFound, "no such command: '%s'", r.Name)
}

// notThroughMongos is the error for a command about the replica set, which a mongos does not have.
// mongodb/mongo: src/mongo/s/commands/cluster_repl_set_get_status_cmd.cpp
func notThroughMongos(r *request) error {
	return code.New(code.CommandFailed, "%s is not supported through mongos", r.Name)
}

// shardName is the name of the only shard: what all processes share.
const shardName = "mayfly"

// changeStreamsOff is the error for change streams where several processes share the data: there is no log then. A log
// of all processes would have one counter that every write has to pass.
func changeStreamsOff() error {
	return code.New(40573, "The $changeStream stage is only supported on replica sets. Several processes share the "+
		"data of this mayfly, and keep no log of changes, so there are no change streams (D-90).")
}

// writeRecovery writes the token with which a client may ask another process what has become of its transaction.
// mongodb/specifications: source/transactions/transactions.md, "recoveryToken field"
func writeRecovery(r *request, a *answer) {
	if !r.Node.Shares || r.Autocommit.Type == 0 || r.EndsTransaction() {
		return
	}
	a.Object("recoveryToken")
	a.String("recoveryShardId", shardName)
	a.Close()
}
