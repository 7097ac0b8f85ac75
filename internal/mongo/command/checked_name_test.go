package command_test

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// TestCheckBehindALongName: an entry that has only a part of an object, cut within the name of a member, has the next
// column all the same.
func TestCheckBehindALongName(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	c := d.Client.Database("test").Collection("c")
	_, err := c.Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: bson.D{{Key: "a", Value: 1},
		{Key: "o", Value: 1}, {Key: "b", Value: 1}}})
	must(t, err)
	_, err = c.InsertOne(t.Context(), bson.D{{Key: "a", Value: 1},
		{Key: "o", Value: bson.D{{Key: "\x01" + strings.Repeat("x", 1100), Value: nil}}}, {Key: "b", Value: 5}})
	must(t, err)
	d.agree(t, c, bson.D{{Key: "a", Value: 1}, {Key: "b", Value: 5}}, 1)
}
