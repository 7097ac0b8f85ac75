package command_test

import (
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// What waits for the next batch, because it did not fit or because one document gives several rows, is not
// given once its document has ended.
func TestRowsThatWaitEndToo(t *testing.T) {
	t.Parallel()
	large, natural := strings.Repeat("x", 6<<20), bson.D{{Key: "n", Value: 1}}
	two := options.Aggregate().SetBatchSize(2)
	for name, open := range map[string]func(c *mongo.Collection) (*mongo.Cursor, error){
		"a sort": func(c *mongo.Collection) (*mongo.Cursor, error) {
			return c.Find(t.Context(), bson.D{}, options.Find().SetSort(natural).SetProjection(eq("_id", 0)))
		},
		"a pipeline": func(c *mongo.Collection) (*mongo.Cursor, error) {
			return c.Aggregate(t.Context(), bson.A{bson.D{{Key: "$project", Value: bson.D{{Key: "_id", Value: 0}}}}})
		},
		"rows of one document": func(c *mongo.Collection) (*mongo.Cursor, error) {
			return c.Aggregate(t.Context(), bson.A{eq("$unwind", "$list"), eq("$unset", "text")}, two)
		},
		"a group": func(c *mongo.Collection) (*mongo.Cursor, error) {
			return c.Aggregate(t.Context(), bson.A{eq("$group", eq("_id", "$n"))}, two)
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newServer(t, nil)
			c := d.Database("test").Collection("c")
			for i := range 4 {
				_, err := c.InsertOne(t.Context(), pairs("_id", i, "n", i, "text", large, "list", bson.A{1, 2, 3}))
				must(t, err)
			}
			_, err := c.Indexes().CreateOne(t.Context(), indexOn("_ts", 10))
			must(t, err)
			cursor, err := open(c)
			must(t, err)
			d.pass(10 * time.Second)
			var rows []bson.Raw
			must(t, cursor.All(t.Context(), &rows))
			want := 2 // of the first batch
			if name == "a group" {
				want = 4 // made of all documents when they lived
			}
			if len(rows) != want {
				t.Errorf("%d rows, want %d", len(rows), want)
			}
		})
	}
}
