package command_test

import (
	"fmt"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// TestComparisonsInExpr: an index finds what $expr compares with constants, with variables of the command and with the
// time, in every command with a query, and what it compares is a whole value.
func TestComparisonsInExpr(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	c := d.Client.Database("test").Collection("c")
	var list []any
	for i := range 500 {
		list = append(list, bson.D{{Key: "_id", Value: i}, {Key: "n", Value: i},
			{Key: "at", Value: d.clock.Now().Add(time.Duration(i-490) * time.Hour)}})
	}
	list = append(list, bson.D{{Key: "_id", Value: "none"}},
		bson.D{{Key: "_id", Value: "null"}, {Key: "n", Value: nil}},
		bson.D{{Key: "_id", Value: "array"}, {Key: "n", Value: bson.A{7}}},
		bson.D{{Key: "_id", Value: "text"}, {Key: "n", Value: "x"}})
	_, err := c.InsertMany(t.Context(), list)
	must(t, err)
	for _, path := range []string{"n", "at"} {
		_, err := c.Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: bson.D{{Key: path, Value: 1}}})
		must(t, err)
	}
	for command, want := range map[string]string{
		`{find: 'c', filter: {$expr: {$eq: ['$n', 5]}}}`:                                       "1 of 1",
		`{find: 'c', filter: {$expr: {$eq: ['$n', 7]}}}`:                                       "1 of 2",
		`{find: 'c', filter: {$expr: {$eq: ['$n', null]}}}`:                                    "1 of 2",
		`{find: 'c', filter: {$expr: {$lt: ['$n', 2]}}}`:                                       "4 of 4",
		`{find: 'c', filter: {$expr: {$and: [{$gt: ['$n', 5]}, {$lt: ['$n', 9]}]}}}`:           "3 of 4",
		`{find: 'c', filter: {$expr: {$in: ['$n', '$$some']}}, let: {some: [3, 5, 'x', 900]}}`: "3 of 3",
		`{find: 'c', filter: {$expr: {$gte: ['$n', '$$x']}, n: {$lt: 499}}, let: {x: 490}}`:    "10 of 500",
		`{find: 'c', filter: {$expr: {$eq: ['$n', '$$x.y']}}, let: {x: {y: 490}}}`:             "1 of 1",
		`{find: 'c', filter: {$expr: {$gt: ['$at', {$add: ['$$NOW', 18000000]}]}}}`:            "4 of 4",
		`{count: 'c', query: {$expr: {$eq: ['$n', 5]}}}`:                                       "0 of 1",
		`{delete: 'c', deletes: [{q: {$expr: {$eq: ['$n', '$$x']}}, limit: 0}], let: {x: 9}}`:  "0 of 1",
		`{aggregate: 'c', pipeline: [{$match: {$expr: {$eq: ['$n', 9]}}}], cursor: {}}`:        "1 of 1",
	} {
		answer, err := d.run(bson.D{{Key: "explain", Value: document(t, command)},
			{Key: "verbosity", Value: "executionStats"}})
		must(t, err)
		stats := inside(t, answer, "executionStats")
		got := fmt.Sprint(inside(t, stats, "nReturned"), " of ", inside(t, stats, "totalDocsExamined"))
		if got != want {
			t.Errorf("%s reads %s, want %s", command, got, want)
		}
	}
}
