package command_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// TestFirstOfASortAlongItsIndex: a limit with a filter by one index and a sort by another gives what the sort gives, in
// pages, with equal keys, and after documents have died.
func TestFirstOfASortAlongItsIndex(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	d.stamped("c", -1)
	c := d.Client.Database("test").Collection("c")
	r := rand.New(rand.NewPCG(1, 7))
	var list []any
	for i := range 4000 {
		x := bson.D{{Key: "_id", Value: i}, {Key: "kind", Value: i % 3}, {Key: "n", Value: r.IntN(300)},
			{Key: "last", Value: i}, {Key: "rare", Value: i/3900 + i%2}}
		if i%5 == 0 {
			x = append(x, bson.E{Key: "ttl", Value: 10})
		}
		list = append(list, x)
	}
	_, err := c.InsertMany(t.Context(), list)
	must(t, err)
	for _, path := range []string{"kind", "n", "last"} {
		_, err := c.Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: bson.D{{Key: path, Value: 1}}})
		must(t, err)
	}
	compare := func() {
		t.Helper()
		for _, query := range []string{
			`{kind: 1}`, `{kind: {$in: [0, 2]}}`, `{kind: 1, rare: 2}`, `{kind: 1, _id: {$lt: 300}}`,
			`{kind: {$in: [2, 0]}, last: {$mod: [2, 0]}}`, `{$or: [{kind: 2}, {kind: 1, rare: 0}]}`,
		} {
			for _, sort := range []string{`{n: 1}`, `{n: -1}`, `{last: -1}`, `{n: -1, last: -1}`, `{n: 1, _id: -1}`,
				`{n: -1, rare: 1}`} {
				for _, page := range []int64{1, 7, 40} {
					for skip := int64(0); skip < 3*page; skip += page {
						find := func(hint any) string {
							o := options.Find().SetSort(document(t, sort)).SetSkip(skip).SetLimit(page)
							if hint != nil {
								o.SetHint(hint)
							}
							cursor, err := c.Find(t.Context(), document(t, query), o)
							must(t, err)
							var rows []bson.Raw
							must(t, cursor.All(t.Context(), &rows))
							return fmt.Sprint(rows)
						}
						// A hint forbids other indexes.
						if got, want := find(nil), find("kind_1"); got != want {
							t.Errorf("%s by %s, %d from %d: %s, want %s", query, sort, page, skip, got, want)
						}
					}
				}
			}
		}
	}
	compare()
	if d.indexUses(t, "n_1") == 0 || d.indexUses(t, "last_1") == 0 {
		t.Error("no index of a sort is used")
	}
	d.pass(9 * time.Second)
	compare()
	d.pass(time.Second)
	compare()
	must(t, d.reclaim(t.Context()))
	compare()
}

// indexUses is how many commands have used an index of the collection c.
func (d *testServer) indexUses(t *testing.T, index string) (n int64) {
	t.Helper()
	cursor, err := d.Client.Database("test").Collection("c").Aggregate(t.Context(),
		mongo.Pipeline{{{Key: "$indexStats", Value: bson.D{}}}})
	must(t, err)
	for cursor.Next(t.Context()) {
		if cursor.Current.Lookup("name").StringValue() == index {
			n = cursor.Current.Lookup("accesses", "ops").AsInt64()
		}
	}
	must(t, cursor.Err())
	return n
}

// TestFirstOfASortOfLongValues: an index has a part of a long value, so only a sort tells which documents come first;
// and it refuses arrays in two fields.
func TestFirstOfASortOfLongValues(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	c := d.Client.Database("test").Collection("c")
	var list []any
	for i := range 2000 {
		s := fmt.Sprint("z", i)
		if i < 20 {
			s = strings.Repeat("y", 1100) + fmt.Sprint(99-i)
		}
		list = append(list, bson.D{{Key: "_id", Value: i}, {Key: "kind", Value: i % 2}, {Key: "s", Value: s},
			{Key: "n", Value: i / 4}, {Key: "t", Value: -i}})
	}
	_, err := c.InsertMany(t.Context(), list)
	must(t, err)
	for _, path := range []string{"s", "kind", "n"} {
		_, err := c.Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: bson.D{{Key: path, Value: 1}}})
		must(t, err)
	}
	find := func(query, sort string) ([]struct {
		ID int `bson:"_id"`
	}, error) {
		var rows []struct {
			ID int `bson:"_id"`
		}
		cursor, err := c.Find(t.Context(), document(t, query), options.Find().SetSort(document(t, sort)).SetLimit(3))
		if err == nil {
			err = cursor.All(t.Context(), &rows)
		}
		return rows, err
	}
	for _, x := range []struct{ query, sort, want string }{
		{`{}`, `{s: 1, t: 1}`, "[{19} {18} {17}]"}, {`{kind: 1}`, `{s: 1}`, "[{19} {17} {15}]"},
		{`{}`, `{n: 1, t: 1}`, "[{3} {2} {1}]"},
	} {
		rows, err := find(x.query, x.sort)
		must(t, err)
		same(t, fmt.Sprint(rows), x.want)
	}
	_, err = c.InsertOne(t.Context(), bson.D{{Key: "n", Value: bson.A{0, 1}}, {Key: "t", Value: bson.A{0, 5}}})
	must(t, err)
	_, err = find(`{}`, `{n: 1, t: 1}`)
	refuses(t, err, 2)
}
