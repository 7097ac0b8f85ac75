package command

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/write"
)

// shardCollection creates the collection and ignores the key: a collection has one range, whatever its shard key is
// (D-67).
// https://learn.microsoft.com/azure/cosmos-db/mongodb/feature-support-42
func shardCollection(r *request, a *answer) error {
	ns, ok := doc.AsString(r.Arg)
	if !ok {
		return r.WrongType("shardCollection", r.Arg, "string")
	}
	key := r.Document("key")
	switch {
	case r.Err != nil:
		return r.Err
	case doc.IsEmpty(key):
		return code.New(code.MissingFieldOfCommand, "BSON field 'shardCollection.key' is missing but a required field")
	case r.Bool("unique", false):
		return code.Unsupported("shardCollection with unique")
	}
	db, name, err := call.SplitNamespace(ns)
	if err != nil {
		return err
	}
	if err := r.May(account.Define, db); err != nil {
		return err
	}
	if _, err := write.FindOrCreate(&r.Operation, db, name); err != nil {
		return err
	}
	a.String("_t", "ShardCollectionResponse")
	a.String("collectionsharded", ns)
	return nil
}
