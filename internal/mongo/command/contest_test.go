package command_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
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

// TestTheValueWithFewerEntriesWins: of several values in an array, the index looks up the one that few documents have,
// and a cursor stays with it when that changes.
func TestTheValueWithFewerEntriesWins(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	c := d.Client.Database("test").Collection("c")
	var list []any
	for i := range 3000 {
		tags := bson.A{fmt.Sprint("t", i%7), fmt.Sprint("r", i%300), "all"}
		list = append(list, bson.D{{Key: "_id", Value: i}, {Key: "tags", Value: tags}})
	}
	_, err := c.InsertMany(t.Context(), list)
	must(t, err)
	_, err = c.Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: bson.D{{Key: "tags", Value: 1}}})
	must(t, err)
	for query, want := range map[string]int{
		`{tags: {$all: ['t3', 'r17']}}`:          10,
		`{tags: {$all: ['r17', 't3']}}`:          10,
		`{$and: [{tags: 'all'}, {tags: 'r17'}]}`: 10,
		`{tags: {$all: ['all', 't3']}}`:          429,
		`{tags: {$all: ['all', 'nothing']}}`:     0,
	} {
		if n, _ := d.examined(t, `{find: 'c', filter: `+query+`}`); n != want {
			t.Errorf("%s looks at %d documents, want %d", query, n, want)
		}
	}
	query := document(t, `{tags: {$all: ['all', 'r17']}}`)
	cursor, err := c.Find(t.Context(), query, options.Find().SetBatchSize(2))
	must(t, err)
	for range 2 {
		same(t, cursor.Next(t.Context()), true)
	}
	_, err = c.UpdateMany(t.Context(), document(t, `{tags: {$ne: 'r17'}}`),
		mongo.Pipeline{document(t, `{$set: {tags: ['r17', 'x']}}`)})
	must(t, err)
	n := 2
	for cursor.Next(t.Context()) {
		n++
	}
	must(t, cursor.Err())
	same(t, n, 10)
}

// TestTheFewOthersAreFound: where most documents have a value, an index finds the others, and a cursor over them goes
// on when they have become many.
func TestTheFewOthersAreFound(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	c := d.Client.Database("test").Collection("c")
	var list []any
	for i := range 3000 {
		x := bson.D{{Key: "_id", Value: i}, {Key: "n", Value: i}, {Key: "tags", Value: bson.A{"all", i % 2}}}
		if i%300 > 0 {
			x = append(x, bson.E{Key: "state", Value: "done"})
		}
		list = append(list, x)
	}
	_, err := c.InsertMany(t.Context(), list)
	must(t, err)
	for _, path := range []string{"state", "n", "tags"} {
		_, err = c.Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: bson.D{{Key: path, Value: 1}}})
		must(t, err)
	}
	for query, want := range map[string]int{
		`{state: {$ne: 'done'}}`:              10,
		`{state: {$nin: ['done', 'failed']}}`: 10,
		`{n: {$not: {$gt: 4}}}`:               5,
		`{$nor: [{n: {$gt: 4}}, {n: 2}]}`:     4,
		`{n: {$type: 'string'}}`:              0,
	} {
		if n, _ := d.examined(t, `{find: 'c', filter: `+query+`}`); n != want {
			t.Errorf("%s looks at %d documents, want %d", query, n, want)
		}
	}
	for query, want := range map[string]int64{
		`{tags: {$ne: 'all'}}`: 0, `{tags: {$nin: [0, 1]}}`: 0, `{n: {$ne: 7}}`: 2999,
	} {
		n, err := c.CountDocuments(t.Context(), document(t, query))
		must(t, err)
		same(t, n, want)
	}
	cursor, err := c.Find(t.Context(), document(t, `{state: {$ne: 'done'}}`), options.Find().SetBatchSize(2))
	must(t, err)
	for range 2 {
		same(t, cursor.Next(t.Context()), true)
	}
	_, err = c.UpdateMany(t.Context(), document(t, `{state: 'done'}`), document(t, `{$set: {state: 'undone'}}`))
	must(t, err)
	n := 2
	for cursor.Next(t.Context()) {
		n++
	}
	must(t, cursor.Err())
	same(t, n, 3000)
}

// TestCursorsOfAnOrStayInTheirIndexes: a new index, for which entries are counted in one branch, does not change the
// other branch.
func TestCursorsOfAnOrStayInTheirIndexes(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	c := d.Client.Database("test").Collection("c")
	var list []any
	for i := range 3000 {
		list = append(list, bson.D{{Key: "_id", Value: i}, {Key: "a", Value: i % 300}, {Key: "b", Value: 2},
			{Key: "c", Value: i % 10}, {Key: "d", Value: i % 500}})
	}
	_, err := c.InsertMany(t.Context(), list)
	must(t, err)
	index := func(path string) {
		_, err := c.Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: bson.D{{Key: path, Value: 1}}})
		must(t, err)
	}
	index("a")
	index("c")
	index("d")
	query := document(t, `{$or: [{a: 1, b: 2}, {c: 3, d: 3}]}`)
	cursor, err := c.Find(t.Context(), query, options.Find().SetBatchSize(2))
	must(t, err)
	for range 2 {
		same(t, cursor.Next(t.Context()), true)
	}
	index("b")
	n := 2
	for cursor.Next(t.Context()) {
		n++
	}
	must(t, cursor.Err())
	same(t, n, 16)
}

// TestCursorsOutliveBetterIndexes: an index that is created or hidden meanwhile is not used, or is used on.
func TestCursorsOutliveBetterIndexes(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]string{
		"better":      `{"createIndexes":"c","indexes":[{"key":{"kind":1,"user":1},"name":"both"}]}`,
		"better sort": `{"createIndexes":"c","indexes":[{"key":{"kind":1,"user":1,"_id":-1},"name":"all"}]}`,
		"hidden":      `{"collMod":"c","index":{"name":"user_1","hidden":true}}`,
		"any":         `{"createIndexes":"c","indexes":[{"key":{"other":1},"name":"other"}]}`,
	} {
		for _, find := range []string{
			`{find: 'c', filter: {kind: 3, user: 7}, batchSize: 2}`,
			`{find: 'c', filter: {other: null, user: {$gte: 7, $lt: 8}}, batchSize: 2}`,
			`{find: 'c', filter: {other: {$exists: false}, _id: {$gte: 995}}, sort: {_id: -1}, batchSize: 2}`,
			`{find: 'c', filter: {kind: 3, user: 7}, sort: {_id: -1}, batchSize: 2}`,
			`{aggregate: 'c', pipeline: [{$match: {kind: 3, user: 7}}], cursor: {batchSize: 2}}`,
		} {
			t.Run(name+" "+find, func(t *testing.T) {
				t.Parallel()
				d, _ := crowded(t, 1000)
				answer, err := d.run(document(t, find))
				must(t, err)
				d.tell(change)
				n := len(inside(t, answer, "cursor", "firstBatch").(bson.A))
				for id := inside(t, answer, "cursor", "id"); id != int64(0); id = inside(t, answer, "cursor", "id") {
					answer, err = d.run(bson.D{{Key: "getMore", Value: id}, {Key: "collection", Value: "c"}})
					must(t, err)
					n += len(inside(t, answer, "cursor", "nextBatch").(bson.A))
				}
				if strings.Contains(find, "$gte: 7") {
					n -= 45
				}
				same(t, n, 5)
			})
		}
	}
}

// TestSortThatAnIndexAvoidsDoesNotFail: an index with fewer entries does not win against one in the order of the sort
// if the sort then takes too much memory.
func TestSortThatAnIndexAvoidsDoesNotFail(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	c := d.Client.Database("test").Collection("c")
	large := strings.Repeat("x", 1<<20)
	for i := range 410 {
		x := bson.D{{Key: "_id", Value: i}, {Key: "kind", Value: 1}, {Key: "user", Value: 3}, {Key: "at", Value: -i}}
		if i < 110 {
			x[2].Value = 2
			x = append(x, bson.E{Key: "large", Value: large})
		}
		_, err := c.InsertOne(t.Context(), x)
		must(t, err)
	}
	d.tell(`{"createIndexes":"c","indexes":[{"key":{"kind":1,"at":1},"name":"at"},{"key":{"user":1},"name":"user"}]}`)
	query, sort := bson.D{{Key: "kind", Value: 1}, {Key: "user", Value: 2}}, bson.D{{Key: "at", Value: 1}}
	stages := mongo.Pipeline{{{Key: "$match", Value: query}}, {{Key: "$sort", Value: sort}}}
	cursor, err := c.Find(t.Context(), query, options.Find().SetSort(sort).SetBatchSize(3))
	for range 2 {
		must(t, err)
		n, last := 0, int32(-1000)
		for cursor.Next(t.Context()) {
			at := cursor.Current.Lookup("at").Int32()
			if n++; at < last {
				t.Errorf("%d after %d", at, last)
			}
			last = at
		}
		must(t, cursor.Err())
		same(t, n, 110)
		cursor, err = c.Aggregate(t.Context(), stages)
	}
	must(t, err)
	must(t, cursor.Close(t.Context()))
}

// TestErrorsBehindASortAreShown: what fails for memory after the sort does not begin again, nor does a sort that no
// plan avoids.
func TestErrorsBehindASortAreShown(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	c := d.Client.Database("test").Collection("c")
	var list []any
	for i := range 1000 {
		x := bson.D{{Key: "_id", Value: i}, {Key: "kind", Value: 3}, {Key: "user", Value: i / 50}, {Key: "n", Value: i},
			{Key: "size", Value: 1}, {Key: "b", Value: 0}}
		if i == 413 {
			x[4].Value = 1 << 30
		}
		if i < 130 {
			x[5].Value = 1
			x = append(x, bson.E{Key: []string{"x", "y", "z"}[i/60], Value: 1},
				bson.E{Key: "large", Value: strings.Repeat("x", 1<<20)})
		}
		list = append(list, x)
	}
	_, err := c.InsertMany(t.Context(), list)
	must(t, err)
	for _, keys := range []bson.D{{{Key: "kind", Value: 1}, {Key: "n", Value: 1}}, {{Key: "user", Value: 1}},
		{{Key: "n", Value: 1}}, {{Key: "b", Value: 1}}, {{Key: "x", Value: 1}}, {{Key: "y", Value: 1}}} {
		_, err := c.Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: keys})
		must(t, err)
	}
	for _, cmd := range []string{
		`{find: 'c', filter: {kind: 3, user: {$gt: 7, $lt: 9}}, sort: {n: 1}, limit: 20,
			projection: {x: {$range: [0, '$size']}}}`,
		`{aggregate: 'c', pipeline: [{$match: {n: {$gte: 0}, b: {$gte: 1}, $or: [{x: 1}, {y: 1}]}}, {$sort: {n: 1}},
			{$project: {n: 1}}], cursor: {}}`,
	} {
		answer, err := d.run(document(t, cmd))
		var e mongo.CommandError
		if !errors.As(err, &e) || e.Code != 292 {
			t.Errorf("%s: %v, %v", cmd, err, len(fmt.Sprint(answer)))
		}
	}
}
