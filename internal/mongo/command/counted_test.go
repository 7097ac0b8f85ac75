package command_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/mayflydb/mayfly/internal/mongo/command"
)

// agree checks that every way to count what a query selects gives as many as find does.
func (d *testServer) agree(t *testing.T, c *mongo.Collection, query bson.D, want int) {
	t.Helper()
	cursor, err := c.Find(t.Context(), query)
	must(t, err)
	var rows []bson.Raw
	must(t, cursor.All(t.Context(), &rows))
	n, err := c.CountDocuments(t.Context(), query)
	must(t, err)
	answer, err := d.run(bson.D{{Key: "count", Value: c.Name()}, {Key: "query", Value: query}})
	must(t, err)
	counted := 0
	cursor, err = c.Aggregate(t.Context(), mongo.Pipeline{{{Key: "$match", Value: query}},
		{{Key: "$sort", Value: bson.D{{Key: "n", Value: 1}}}}, {{Key: "$count", Value: "n"}}})
	must(t, err)
	for cursor.Next(t.Context()) {
		counted = int(cursor.Current.Lookup("n").AsInt64())
	}
	must(t, cursor.Err())
	got := []int{len(rows), int(n), int(answer["n"].(int32)), counted}
	if fmt.Sprint(got) != fmt.Sprint([]int{want, want, want, want}) {
		t.Errorf("%v at %d s: find, countDocuments, count and $count say %v, want %d", query, d.seconds(), got, want)
	}
}

// seconds is how long ago the server was started.
func (d *testServer) seconds() int { return int(d.clock.Now().Sub(start) / time.Second) }

// TestCountsByAnIndexLeaveOutTheDead: documents die one a second, by dates and by the stamp, and none is counted from
// the second of its deadline on, reclaimed or not.
func TestCountsByAnIndexLeaveOutTheDead(t *testing.T) {
	t.Parallel()
	for _, lifetime := range []string{"dates", "stamp"} {
		t.Run(lifetime, func(t *testing.T) {
			d := newServer(t, nil)
			if lifetime == "dates" {
				d.dated("c", "at", 1, 0, "")
			} else {
				d.stamped("c", -1)
			}
			c := d.Client.Database("test").Collection("c")
			_, err := c.Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: bson.D{{Key: "n", Value: 1}}})
			must(t, err)
			const documents = 12
			for i := range documents {
				d.insert("c", fmt.Sprintf(`{"_id":%d,"n":%d,"at":%s,"ttl":%d}`, i, i, dateAt(1000*(i+1)), i+1))
			}
			for second := 0; second <= documents; second++ {
				left := documents - second
				above := bson.D{{Key: "$gte", Value: 4}}
				d.agree(t, c, bson.D{{Key: "n", Value: above}}, min(left, documents-4))
				d.agree(t, c, bson.D{{Key: "_id", Value: above}}, min(left, documents-4))
				d.agree(t, c, bson.D{{Key: "n", Value: second}}, min(left, 1))
				d.agree(t, c, bson.D{{Key: "n", Value: bson.D{{Key: "$in", Value: bson.A{2, 5, 11}}}}},
					map[bool]int{true: 1}[second < 3]+map[bool]int{true: 1}[second < 6]+min(left, 1))
				if second%3 == 2 {
					must(t, d.reclaim(t.Context()))
				}
				d.pass(time.Second)
			}
		})
	}
}

// TestCountsByAnIndexCountDocuments: a document with several entries counts once, and what only the document can tell
// is asked of it.
func TestCountsByAnIndexCountDocuments(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	c := d.Client.Database("test").Collection("c")
	for path, more := range map[string]bson.D{"n": nil, "tags": nil, "$**": nil,
		"sparse": {{Key: "sparse", Value: true}},
		"part":   {{Key: "partialFilterExpression", Value: bson.D{{Key: "n", Value: bson.D{{Key: "$gt", Value: 3}}}}}},
	} {
		index := append(bson.D{{Key: "key", Value: bson.D{{Key: path, Value: 1}}}, {Key: "name", Value: path}}, more...)
		_, err := d.run(bson.D{{Key: "createIndexes", Value: "c"}, {Key: "indexes", Value: bson.A{index}}})
		must(t, err)
	}
	for i := range 8 {
		d.insert("c", fmt.Sprintf(`{"_id":%d,"n":%d,"tags":["a","b%d"],"part":%d,"other":%d}`, i, i, i%2, i%3, i%2))
	}
	d.insert("c", `{"_id":8,"n":null,"sparse":null}`)
	greater := func(n int) bson.D { return bson.D{{Key: "$gt", Value: n}} }
	check := func(arrays int) {
		t.Helper()
		d.agree(t, c, bson.D{{Key: "n", Value: greater(2)}}, 5)
		d.agree(t, c, bson.D{{Key: "n", Value: greater(2)}, {Key: "other", Value: 1}}, 3)
		d.agree(t, c, bson.D{{Key: "n", Value: nil}}, 1)
		d.agree(t, c, bson.D{{Key: "tags", Value: bson.D{{Key: "$gte", Value: "a"}}}}, 8)
		d.agree(t, c, bson.D{{Key: "tags", Value: "b1"}}, 4)
		d.agree(t, c, bson.D{{Key: "sparse", Value: nil}}, 9+arrays)
		d.agree(t, c, bson.D{{Key: "part", Value: 1}, {Key: "n", Value: greater(3)}}, 2)
		d.agree(t, c, bson.D{{Key: "other", Value: 1}}, 4)
		either := bson.A{bson.D{{Key: "n", Value: 1}}, bson.D{{Key: "n", Value: 3}}}
		d.agree(t, c, bson.D{{Key: "$or", Value: either}}, 2+arrays)
	}
	check(0)
	// From here on the index on n has a document with several entries.
	d.insert("c", `{"_id":9,"n":[1,2]}`)
	check(1)
	d.insert("c", `{"_id":10,"tags":["b1","b1",["b1"],{"b1":"b1"}]}`)
	d.insert("c", `{"_id":11,"tags":[["b1"]]}`)
	d.insert("c", `{"_id":12,"tags":"b1"}`)
	d.insert("c", `{"_id":13,"tags":[null,null]}`)
	d.insert("c", `{"_id":14,"tags":[]}`)
	d.agree(t, c, bson.D{{Key: "tags", Value: "b1"}}, 6)
	d.agree(t, c, bson.D{{Key: "tags", Value: bson.A{"b1"}}}, 2)
	d.agree(t, c, bson.D{{Key: "tags", Value: bson.A{}}}, 1)
	d.agree(t, c, bson.D{{Key: "tags", Value: nil}}, 3)
	d.agree(t, c, bson.D{{Key: "tags", Value: bson.D{{Key: "$in", Value: bson.A{"a", "b1"}}}}}, 10)
	d.agree(t, c, bson.D{{Key: "n", Value: bson.D{{Key: "$lt", Value: 3}}}}, 4)
	d.agree(t, c, bson.D{{Key: "n", Value: 1}}, 2)
}

// TestCountsInATransaction: what the transaction has written counts.
func TestCountsInATransaction(t *testing.T) {
	t.Parallel()
	d := newServer(t, func(o *command.Options) { o.ReplSet = "globaldb" })
	c := d.Client.Database("test").Collection("c")
	_, err := c.InsertMany(t.Context(), []any{bson.D{{Key: "_id", Value: 8}}, bson.D{{Key: "_id", Value: 9}}})
	must(t, err)
	session, err := d.Client.StartSession()
	must(t, err)
	defer session.EndSession(t.Context())
	_, err = session.WithTransaction(t.Context(), func(ctx context.Context) (any, error) {
		if _, err := c.InsertOne(ctx, bson.D{{Key: "_id", Value: 10}}); err != nil {
			return nil, err
		}
		n, err := c.CountDocuments(ctx, bson.D{{Key: "_id", Value: bson.D{{Key: "$gt", Value: 8}}}})
		same(t, n, int64(2))
		return nil, err
	})
	must(t, err)
}

// TestCountsOfManyValuesAndARange: bounds of more than a thousand values are not intersected with a range.
func TestCountsOfManyValuesAndARange(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	d.tell(`{"createIndexes":"c","indexes":[{"key":{"n":1},"name":"n"}]}`)
	d.tell(`{"create":"plain"}`)
	var list []any
	for i := range 20_000 {
		list = append(list, bson.D{{Key: "_id", Value: i}, {Key: "n", Value: i / 10}})
	}
	for _, name := range []string{"c", "plain"} {
		_, err := d.Client.Database("test").Collection(name).InsertMany(t.Context(), list)
		must(t, err)
	}
	var in bson.A
	for i := range 1500 {
		in = append(in, i)
	}
	c := d.Client.Database("test").Collection("c")
	values, above := bson.E{Key: "$in", Value: in}, bson.E{Key: "$gt", Value: 1400}
	for _, both := range []bson.D{{values, above}, {above, values}} {
		d.agree(t, c, bson.D{{Key: "n", Value: both}}, 990)
		d.agree(t, c, bson.D{{Key: "_id", Value: both}}, 99)
		d.sameGroups(t, bson.D{{Key: "n", Value: both}}, "n")
	}
}

// TestCountsBeginWithTheFirstBatch: a cursor that is opened with no batch counts when the client asks for one, and
// leaves out what has died until then.
func TestCountsBeginWithTheFirstBatch(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	d.stamped("c", -1)
	d.tell(`{"createIndexes":"c","indexes":[{"key":{"n":1},"name":"n"}]}`)
	for i := range 12 {
		d.insert("c", fmt.Sprintf(`{"_id":%d,"n":0,"x":0,"ttl":%d}`, i, 100*(i+1)))
	}
	for i, stages := range []string{
		`{$count: 'n'}`, `{$match: {n: 0}}, {$count: 'n'}`, `{$match: {x: 0}}, {$count: 'n'}`,
		`{$match: {x: 0}}, {$group: {_id: null, n: {$sum: 1}}}`, `{$group: {_id: '$n', n: {$sum: 1}}}`,
		`{$match: {}}, {$sortByCount: '$n'}, {$project: {n: '$count'}}`,
	} {
		answer, err := d.run(document(t, `{aggregate: 'c', pipeline: [`+stages+`], cursor: {batchSize: 0}}`))
		must(t, err)
		d.pass(100 * time.Second)
		id := inside(t, answer, "cursor", "id")
		answer, err = d.run(bson.D{{Key: "getMore", Value: id}, {Key: "collection", Value: "c"}})
		if err != nil {
			t.Fatal(stages, err)
		}
		rows := inside(t, answer, "cursor", "nextBatch").(bson.A)
		same(t, len(rows), 1)
		same(t, inside(t, rows[0], "n"), int32(11-i))
	}
}
