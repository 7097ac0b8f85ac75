package command_test

import (
	"context"
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/mayflydb/mayfly/internal/mongo/command"
)

// TestNewestDocumentsAreFoundFromTheEnd: $natural: -1 with a limit looks at the newest documents only, and begins with
// those that a transaction has written.
func TestNewestDocumentsAreFoundFromTheEnd(t *testing.T) {
	t.Parallel()
	d := newServer(t, func(o *command.Options) { o.ReplSet = "globaldb" })
	c := d.Client.Database("test").Collection("c")
	for i := range 100 {
		_, err := c.InsertOne(t.Context(), bson.D{{Key: "_id", Value: i}})
		must(t, err)
	}
	for find, want := range map[string]string{
		`{find: 'c', sort: {$natural: -1}, limit: 3}`:                                   "3 of 3",
		`{find: 'c', sort: {$natural: -1}, skip: 5, limit: 3}`:                          "3 of 8",
		`{find: 'c', hint: {$natural: -1}, limit: 1}`:                                   "1 of 1",
		`{find: 'c', filter: {_id: {$mod: [10, 0]}}, sort: {$natural: -1}, limit: 2}`:   "2 of 20",
		`{aggregate: 'c', pipeline: [{$limit: 4}], hint: {$natural: -1}, cursor: {}}`:   "4 of 4",
		`{findAndModify: 'c', query: {}, sort: {$natural: -1}, update: {$set: {x: 1}}}`: "0 of 1",
	} {
		answer, err := d.run(bson.D{{Key: "explain", Value: document(t, find)}})
		must(t, err)
		stats := inside(t, answer, "executionStats")
		got := fmt.Sprint(inside(t, stats, "nReturned"), " of ", inside(t, stats, "totalDocsExamined"))
		if got != want {
			t.Errorf("%s: %s, want %s", find, got, want)
		}
	}
	session, err := d.Client.StartSession()
	must(t, err)
	defer session.EndSession(t.Context())
	newest := func(ctx context.Context) string {
		t.Helper()
		cursor, err := c.Find(ctx, bson.D{},
			options.Find().SetSort(bson.D{{Key: "$natural", Value: -1}}).SetLimit(3).SetBatchSize(2))
		must(t, err)
		var rows []struct {
			ID int `bson:"_id"`
		}
		must(t, cursor.All(ctx, &rows))
		return fmt.Sprint(rows)
	}
	same(t, newest(t.Context()), "[{99} {98} {97}]")
	_, err = session.WithTransaction(t.Context(), func(ctx context.Context) (any, error) {
		_, err := c.InsertOne(ctx, bson.D{{Key: "_id", Value: 100}})
		same(t, newest(ctx), "[{100} {99} {98}]")
		return nil, err
	})
	must(t, err)
	_, err = c.DeleteOne(t.Context(), bson.D{}, options.DeleteOne().SetHint(bson.D{{Key: "$natural", Value: -1}}))
	must(t, err)
	same(t, newest(t.Context()), "[{99} {98} {97}]")
	n, err := c.UpdateMany(t.Context(), bson.D{}, bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}},
		options.UpdateMany().SetHint(bson.D{{Key: "$natural", Value: -1}}))
	must(t, err)
	same(t, n.ModifiedCount, int64(100))
}
