package command_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// count gives how many documents a filter selects.
func count(t *testing.T, c *mongo.Collection, filter any) int64 {
	t.Helper()
	n, err := c.CountDocuments(t.Context(), filter)
	must(t, err)
	return n
}

func TestCRUD(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	ctx := t.Context()
	c := d.Database("test").Collection("c")

	one, err := c.InsertOne(ctx, bson.D{{Key: "a", Value: 1}, {Key: "tags", Value: bson.A{"x", "y"}}})
	must(t, err)
	if _, ok := one.InsertedID.(bson.ObjectID); !ok {
		t.Errorf("the _id is %v", one.InsertedID)
	}
	var many []any
	for i := range 1500 {
		many = append(many, bson.D{{Key: "_id", Value: i}, {Key: "n", Value: i % 10}})
	}
	inserted, err := c.InsertMany(ctx, many)
	must(t, err)
	if len(inserted.InsertedIDs) != 1500 {
		t.Errorf("%d inserted", len(inserted.InsertedIDs))
	}
	if n := count(t, c, bson.D{{Key: "n", Value: 3}}); n != 150 {
		t.Errorf("%d with n 3", n)
	}
	cursor, err := c.Find(ctx, eq("n", eq("$gte", 5)), options.Find().SetSort(eq("_id", -1)).SetBatchSize(100))
	must(t, err)
	var found []struct {
		ID int `bson:"_id"`
		N  int
	}
	must(t, cursor.All(ctx, &found))
	if len(found) != 750 || found[0].ID != 1499 || found[749].ID != 5 {
		t.Errorf("%d found, first %v", len(found), found[:min(2, len(found))])
	}
	updated, err := c.UpdateMany(ctx, eq("n", 3), eq("$inc", eq("n", 100)))
	must(t, err)
	if updated.MatchedCount != 150 || updated.ModifiedCount != 150 {
		t.Errorf("%+v", updated)
	}
	upsert := options.UpdateOne().SetUpsert(true)
	upserted, err := c.UpdateOne(ctx, document(t, `{_id: 'new', k: 1}`), eq("$set", eq("v", 2)), upsert)
	must(t, err)
	if upserted.UpsertedID != "new" || upserted.MatchedCount != 0 {
		t.Errorf("%+v", upserted)
	}
	var after bson.M
	must(t, c.FindOneAndUpdate(ctx, eq("_id", "new"), eq("$set", eq("v", 3)),
		options.FindOneAndUpdate().SetReturnDocument(options.After)).Decode(&after))
	if after["v"] != int32(3) || after["k"] != int32(1) {
		t.Errorf("%v", after)
	}
	deleted, err := c.DeleteMany(ctx, bson.D{{Key: "n", Value: bson.D{{Key: "$lt", Value: 100}}}})
	must(t, err)
	if deleted.DeletedCount != 1350 {
		t.Errorf("%d deleted", deleted.DeletedCount)
	}
	var values []int32
	must(t, c.Distinct(ctx, "n", bson.D{}).Decode(&values))
	if len(values) != 1 || values[0] != 103 {
		t.Errorf("distinct %v", values)
	}
	_, err = c.InsertOne(ctx, bson.D{{Key: "_id", Value: "new"}})
	if !mongo.IsDuplicateKeyError(err) {
		t.Errorf("a second insert: %v", err)
	}
	rows, err := c.Aggregate(ctx, bson.A{
		bson.D{{Key: "$match", Value: bson.D{{Key: "n", Value: 103}}}},
		document(t, `{$group: {_id: null, sum: {$sum: '$n'}}}`),
	})
	must(t, err)
	var sums []bson.M
	must(t, rows.All(ctx, &sums))
	if len(sums) != 1 || sums[0]["sum"] != int32(15450) {
		t.Errorf("%v", sums)
	}
	if n, err := c.EstimatedDocumentCount(ctx); n != 152 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

func TestIndexes(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	ctx := t.Context()
	c := d.Database("test").Collection("c")
	_, err := c.InsertMany(ctx, []any{
		bson.D{{Key: "_id", Value: 1}, {Key: "mail", Value: "a"}, {Key: "tags", Value: bson.A{"x", "y"}}},
		bson.D{{Key: "_id", Value: 2}, {Key: "mail", Value: "b"}, {Key: "tags", Value: bson.A{"y", "z"}}},
	})
	must(t, err)
	names, err := c.Indexes().CreateMany(ctx, []mongo.IndexModel{
		{Keys: bson.D{{Key: "mail", Value: 1}}, Options: options.Index().SetUnique(true)},
		{Keys: bson.D{{Key: "tags", Value: 1}, {Key: "mail", Value: -1}}},
	})
	must(t, err)
	if len(names) != 2 || names[0] != "mail_1" || names[1] != "tags_1_mail_-1" {
		t.Errorf("%v", names)
	}
	_, err = c.InsertOne(ctx, bson.D{{Key: "_id", Value: 3}, {Key: "mail", Value: "a"}})
	if !mongo.IsDuplicateKeyError(err) {
		t.Errorf("the same mail: %v", err)
	}
	if n := count(t, c, bson.D{{Key: "tags", Value: "y"}}); n != 2 {
		t.Errorf("%d tagged y", n)
	}
	specs, err := c.Indexes().ListSpecifications(ctx)
	must(t, err)
	if len(specs) != 3 {
		t.Errorf("%d indexes", len(specs))
	}
	must(t, c.Indexes().DropOne(ctx, "mail_1"))
	_, err = c.InsertOne(ctx, bson.D{{Key: "_id", Value: 3}, {Key: "mail", Value: "a"}})
	must(t, err)
}
