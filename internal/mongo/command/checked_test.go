package command_test

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// TestLaterColumnsAreChecked: conditions on columns of an index behind a range, or behind a column without a condition,
// keep documents from being read, and many entries that differ in these columns only are passed over at once.
func TestLaterColumnsAreChecked(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	c := d.Client.Database("test").Collection("c")
	keys := func(fields ...string) mongo.IndexModel {
		var k bson.D
		for _, f := range fields {
			k = append(k, bson.E{Key: f, Value: 1})
		}
		return mongo.IndexModel{Keys: k}
	}
	_, err := c.Indexes().CreateMany(t.Context(), []mongo.IndexModel{keys("kind", "n", "u"), keys("tag", "n")})
	must(t, err)
	var all []any
	for i := range 2000 {
		all = append(all, bson.M{"_id": i, "kind": i % 4, "n": i / 4, "u": i % 7, "tag": bson.A{i % 3, 5}})
	}
	_, err = c.InsertMany(t.Context(), all)
	must(t, err)
	above := func(n any) bson.D { return bson.D{{Key: "$gte", Value: n}} }
	for _, x := range []struct {
		name            string
		query           bson.D
		want, keys, bar int // documents, keys examined at most, documents examined
	}{
		{"behind a range", bson.D{{Key: "kind", Value: 1}, {Key: "n", Value: above(10)}, {Key: "u", Value: 3}},
			70, 500, 70},
		{"behind no condition", bson.D{{Key: "kind", Value: 1}, {Key: "u", Value: 3}}, 71, 501, 71},
		{"few first values", bson.D{{Key: "kind", Value: above(0)}, {Key: "n", Value: 499}}, 4, 100, 4},
		{"two checks", bson.D{{Key: "kind", Value: above(1)}, {Key: "n", Value: bson.D{{Key: "$in",
			Value: bson.A{100, 300}}}}, {Key: "u", Value: above(3)}}, 5, 200, 5},
		{"an array", bson.D{{Key: "tag", Value: above(0)}, {Key: "n", Value: 499}}, 4, 200, 8},
		{"none", bson.D{{Key: "kind", Value: above(0)}, {Key: "n", Value: -1}}, 0, 100, 0},
	} {
		t.Run(x.name, func(t *testing.T) {
			d.agree(t, c, x.query, x.want)
			answer, err := d.run(bson.D{{Key: "explain", Value: bson.D{{Key: "find", Value: "c"},
				{Key: "filter", Value: x.query}}}, {Key: "verbosity", Value: "executionStats"}})
			must(t, err)
			raw, err := bson.Marshal(answer["executionStats"])
			must(t, err)
			keys := bson.Raw(raw).Lookup("totalKeysExamined").AsInt64()
			documents := bson.Raw(raw).Lookup("totalDocsExamined").AsInt64()
			if keys > int64(x.keys) || documents > int64(x.bar) {
				t.Errorf("%d keys and %d documents examined, %d and %d are enough", keys, documents, x.keys, x.bar)
			}
		})
	}
}

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
