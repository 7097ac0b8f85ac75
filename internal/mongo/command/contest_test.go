package command_test

import (
	"strconv"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// crowded is a server with a collection of n documents of ten kinds, five of each user, and an index on both.
func crowded(t *testing.T, n int) (*testServer, *mongo.Collection) {
	d := newServer(t, nil)
	c := d.Client.Database("test").Collection("c")
	list := make([]any, n)
	for i := range list {
		list[i] = bson.D{{Key: "_id", Value: i}, {Key: "kind", Value: i % 10}, {Key: "user", Value: i / 50}}
	}
	_, err := c.InsertMany(t.Context(), list)
	must(t, err)
	for _, path := range []string{"kind", "user"} {
		_, err := c.Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: bson.D{{Key: path, Value: 1}}})
		must(t, err)
	}
	return d, c
}

// examined is how many documents a find looks at, and by which index.
func (d *testServer) examined(t *testing.T, find string) (n int, index string) {
	t.Helper()
	cmd := bson.D{{Key: "explain", Value: document(t, find)}, {Key: "verbosity", Value: "executionStats"}}
	answer, err := d.run(cmd)
	must(t, err)
	plan := inside(t, answer, "queryPlanner", "winningPlan")
	for inside(t, plan, "stage") != "IXSCAN" {
		plan = inside(t, plan, "inputStage")
	}
	examined := inside(t, answer, "executionStats", "totalDocsExamined").(int32)
	return int(examined), inside(t, plan, "indexName").(string)
}

// TestTheIndexWithFewerEntriesWins: of two conditions that are alike, the one that fewer documents fulfil is looked up,
// in whichever order the conditions and the indexes are written.
func TestTheIndexWithFewerEntriesWins(t *testing.T) {
	t.Parallel()
	d, c := crowded(t, 3000)
	for find, want := range map[string]string{
		`{find: 'c', filter: {kind: 3, user: 7}}`:                                   "50 user_1",
		`{find: 'c', filter: {user: 7, kind: 3}}`:                                   "50 user_1",
		`{find: 'c', filter: {kind: 3, user: {$gt: 7, $lt: 9}}}`:                    "50 user_1",
		`{find: 'c', filter: {kind: 3, user: {$gt: 7}}}`:                            "300 kind_1",
		`{find: 'c', filter: {kind: 3, user: 7}, hint: 'kind_1'}`:                   "300 kind_1",
		`{find: 'c', filter: {kind: 99, user: 7}}`:                                  "0 kind_1",
		`{find: 'c', filter: {kind: 3, user: 7}, sort: {_id: 1}}`:                   "50 user_1",
		`{find: 'c', filter: {kind: {$in: [1, 2, 3, 4]}, user: {$in: [5, 6, 80]}}}`: "100 user_1",
	} {
		n, index := d.examined(t, find)
		if got := strconv.Itoa(n) + " " + index; got != want {
			t.Errorf("%s looks at %s, want %s", find, got, want)
		}
	}
	answer, err := d.run(bson.D{{Key: "explain", Value: document(t, `{find: 'c', sort: {x: 1}, skip: 2, limit: 3}`)}})
	must(t, err)
	sort := inside(t, answer, "queryPlanner", "winningPlan")
	for inside(t, sort, "stage") != "SORT" {
		sort = inside(t, sort, "inputStage")
	}
	same(t, inside(t, sort, "limitAmount"), int32(5)) // what is skipped has to be sorted, too
	n, err := c.CountDocuments(t.Context(), bson.D{{Key: "kind", Value: 3}, {Key: "user", Value: 7}})
	must(t, err)
	same(t, n, int64(5))
}

// TestCursorsStayInTheirIndex: a cursor goes on where it was, though the entries of its index have become many since.
func TestCursorsStayInTheirIndex(t *testing.T) {
	t.Parallel()
	d, c := crowded(t, 3000)
	for _, method := range []string{"find", "aggregate"} {
		query := bson.D{{Key: "kind", Value: 3}, {Key: "user", Value: 7}}
		var cursor *mongo.Cursor
		var err error
		if method == "find" {
			cursor, err = c.Find(t.Context(), query, options.Find().SetBatchSize(2))
		} else {
			cursor, err = c.Aggregate(t.Context(), mongo.Pipeline{{{Key: "$match", Value: query}}},
				options.Aggregate().SetBatchSize(2))
		}
		must(t, err)
		for range 2 {
			same(t, cursor.Next(t.Context()), true)
		}
		// Now user 7 has more documents than kind 3.
		_, err = c.UpdateMany(t.Context(), bson.D{{Key: "kind", Value: bson.D{{Key: "$ne", Value: 3}}}},
			bson.D{{Key: "$set", Value: bson.D{{Key: "user", Value: 7}}}})
		must(t, err)
		_, index := d.examined(t, `{find: 'c', filter: {kind: 3, user: 7}}`)
		same(t, index, "kind_1")
		n := 2
		for cursor.Next(t.Context()) {
			n++
		}
		must(t, cursor.Err())
		same(t, n, 5)
		_, err = c.UpdateMany(t.Context(), bson.D{}, mongo.Pipeline{{{Key: "$set", Value: bson.D{{Key: "user",
			Value: bson.D{{Key: "$floor", Value: bson.D{{Key: "$divide", Value: bson.A{"$_id", 50}}}}}}}}}})
		must(t, err)
		_, index = d.examined(t, `{find: 'c', filter: {kind: 3, user: 7}}`)
		same(t, index, "user_1")
	}
}
