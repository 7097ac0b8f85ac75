package command_test

import (
	"fmt"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// TestSkipGivesWhatASortGives: a skip in the order of an index, which need not read what it passes over, gives what
// sorting all documents gives, in pages and as a pipeline, and after documents have died.
func TestSkipGivesWhatASortGives(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	d.stamped("c", -1)
	d.stamped("plain", -1)
	db := d.Client.Database("test")
	var list []any
	for i := range 600 {
		x := bson.D{{Key: "_id", Value: i}, {Key: "n", Value: i * 7 % 600}, {Key: "kind", Value: i % 3}}
		if i%5 == 0 {
			x = append(x, bson.E{Key: "ttl", Value: 10})
		}
		list = append(list, x)
	}
	for _, name := range []string{"c", "plain"} {
		_, err := db.Collection(name).InsertMany(t.Context(), list)
		must(t, err)
	}
	for _, keys := range []bson.D{
		{{Key: "n", Value: 1}}, {{Key: "kind", Value: 1}, {Key: "n", Value: -1}}, {{Key: "tags", Value: 1}},
	} {
		_, err := db.Collection("c").Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: keys})
		must(t, err)
	}
	compare := func() {
		t.Helper()
		for _, of := range []struct{ query, sort string }{
			{`{}`, `{n: 1}`}, {`{}`, `{n: -1}`}, {`{}`, `{_id: -1}`}, {`{n: {$gte: 20}}`, `{n: 1}`},
			{`{kind: 1}`, `{n: -1}`}, {`{kind: 1}`, `{n: 1}`}, {`{kind: 1, _id: {$gt: 50}}`, `{n: 1}`},
			{`{kind: {$in: [0, 2]}}`, `{n: -1}`}, {`{_id: {$lt: 400}}`, `{_id: 1}`},
			{`{kind: {$gte: 1}}`, `{kind: 1, n: -1}`},
			{`{n: null}`, `{n: 1}`}, {`{tags: null}`, `{tags: 1}`},
		} {
			for _, skip := range []int64{1, 119, 120, 700} {
				for _, limit := range []int64{0, 40} {
					rows := func(name string, aggregate bool) string {
						c, rows := db.Collection(name), []bson.Raw{}
						query, sort := document(t, of.query), document(t, of.sort)
						o := options.Find().SetSort(sort).SetSkip(skip).SetLimit(limit).SetBatchSize(17)
						cursor, err := c.Find(t.Context(), query, o)
						if aggregate {
							stages := bson.A{eq("$match", query), eq("$sort", sort), eq("$skip", skip)}
							if limit > 0 {
								stages = append(stages, eq("$limit", limit))
							}
							cursor, err = c.Aggregate(t.Context(), stages, options.Aggregate().SetBatchSize(17))
						}
						must(t, err)
						must(t, cursor.All(t.Context(), &rows))
						return fmt.Sprint(rows)
					}
					want := rows("plain", false)
					for _, aggregate := range []bool{false, true} {
						if got := rows("c", aggregate); got != want {
							t.Fatalf("%s by %s, %d from %d, by aggregate %v: %s, want %s", of.query, of.sort, limit,
								skip, aggregate, got, want)
						}
					}
				}
			}
		}
	}
	compare()
	d.pass(9 * time.Second)
	compare()
	d.pass(time.Second)
	compare()
}
