package command_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// TestParallelArrays refuses two arrays in one compound index: by any write, and when it is built.
func TestParallelArrays(t *testing.T) {
	const cannotIndexParallelArrays = 171
	c := newServer(t, nil).Database("d").Collection("c")
	ctx := t.Context()
	keys := func(names ...string) mongo.IndexModel {
		var d bson.D
		for _, name := range names {
			d = append(d, bson.E{Key: name, Value: 1})
		}
		return mongo.IndexModel{Keys: d}
	}
	_, err := c.Indexes().CreateOne(ctx, keys("a", "b"))
	must(t, err)
	arrays := bson.D{{Key: "a", Value: bson.A{1}}, {Key: "b", Value: bson.A{2}}}
	_, err = c.InsertOne(ctx, document(t, `{_id: 1, a: [1], x: [1], y: [1]}`))
	must(t, err)
	_, inserted := c.InsertOne(ctx, arrays)
	_, updated := c.UpdateOne(ctx, bson.D{{Key: "_id", Value: 1}}, bson.D{{Key: "$set", Value: arrays}})
	_, upserted := c.UpdateOne(ctx, eq("_id", 2), eq("$set", arrays), options.UpdateOne().SetUpsert(true))
	modified := c.FindOneAndUpdate(ctx, bson.D{{Key: "_id", Value: 1}}, bson.D{{Key: "$set", Value: arrays}}).Err()
	_, built := c.Indexes().CreateOne(ctx, keys("x", "y"))
	for what, err := range map[string]error{
		"insert": inserted, "update": updated, "upsert": upserted, "findAndModify": modified, "createIndexes": built,
	} {
		fault, ok := err.(mongo.ServerError)
		if !ok || !fault.HasErrorCode(cannotIndexParallelArrays) {
			t.Errorf("%s: error %v, want code %d", what, err, cannotIndexParallelArrays)
		}
	}
}
