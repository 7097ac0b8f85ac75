package command_test

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// What open cursors hold has a limit for all of them, and what they held is there again for others
// when they are closed.
func TestMemoryOfCursors(t *testing.T) {
	d := newDoor(t, nil)
	d.server.LimitMemory(4 << 20)
	ctx := t.Context()
	c := d.Database("test").Collection("c")
	for i := range 200 {
		_, err := c.InsertOne(ctx, bson.D{{Key: "_id", Value: i}, {Key: "n", Value: -i}, {Key: "text", Value: strings.Repeat("x", 5000)}})
		must(t, err)
	}
	opened := []func() (*mongo.Cursor, error){
		func() (*mongo.Cursor, error) {
			return c.Find(ctx, bson.D{}, options.Find().SetSort(bson.D{{Key: "n", Value: 1}}).SetBatchSize(2))
		},
		func() (*mongo.Cursor, error) {
			return c.Aggregate(ctx, bson.A{bson.D{{Key: "$sort", Value: bson.D{{Key: "n", Value: 1}}}}, bson.D{{Key: "$set", Value: bson.D{{Key: "m", Value: 1}}}}}, options.Aggregate().SetBatchSize(2))
		},
		func() (*mongo.Cursor, error) {
			return c.Aggregate(ctx, bson.A{bson.D{{Key: "$group", Value: bson.D{{Key: "_id", Value: "$n"}, {Key: "text", Value: bson.D{{Key: "$push", Value: "$text"}}}}}}}, options.Aggregate().SetBatchSize(2))
		},
	}
	for round := range 3 {
		var cursors []*mongo.Cursor
		for i := 0; ; i++ {
			cursor, err := opened[i%len(opened)]()
			if err != nil {
				if e, ok := err.(mongo.CommandError); !ok || e.Code != 292 {
					t.Fatal(err)
				}
				break
			}
			if cursors = append(cursors, cursor); i > 20 {
				t.Fatal("there is no limit")
			}
		}
		if len(cursors) < 2 {
			t.Errorf("round %d: %d cursors fit", round, len(cursors))
		}
		for _, cursor := range cursors {
			must(t, cursor.Close(ctx))
		}
	}
}
