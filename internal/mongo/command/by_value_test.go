package command_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// sortedRows shows rows in an order of their own.
func sortedRows(t *testing.T, cursor *mongo.Cursor, err error) string {
	t.Helper()
	must(t, err)
	var rows []bson.Raw
	must(t, cursor.All(t.Context(), &rows))
	var list []string
	for _, r := range rows {
		list = append(list, r.String())
	}
	slices.Sort(list)
	return strings.Join(list, "\n")
}

// sameGroups checks that groups and values of a field, which an index of c may tell, are those of the same documents in
// a collection without indexes.
func (d *testServer) sameGroups(t *testing.T, query bson.D, path string) {
	t.Helper()
	c, plain := d.Client.Database("test").Collection("c"), d.Client.Database("test").Collection("plain")
	match := bson.D{{Key: "$match", Value: query}}
	for _, stage := range []string{
		`{$group: {_id: '$PATH'}}`, `{$group: {_id: '$PATH', n: {$sum: 1}, m: {$count: {}}}}`,
		`{$sortByCount: '$PATH'}`, `{$group: {_id: '$PATH', n: {$sum: 2}}}`,
	} {
		pipeline := bson.A{match, document(t, strings.ReplaceAll(stage, "PATH", path))}
		cursor, err := c.Aggregate(t.Context(), pipeline)
		got := sortedRows(t, cursor, err)
		cursor, err = plain.Aggregate(t.Context(), pipeline)
		if want := sortedRows(t, cursor, err); got != want {
			t.Errorf("%v by %s at %d s, %s:\n%s\nwant\n%s", query, path, d.seconds(), stage, got, want)
		}
	}
	var got, want []any
	must(t, c.Distinct(t.Context(), path, query).Decode(&got))
	must(t, plain.Distinct(t.Context(), path, query).Decode(&want))
	order := func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) }
	slices.SortFunc(got, order)
	slices.SortFunc(want, order)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v by %s at %d s, distinct: %v, want %v", query, path, d.seconds(), got, want)
	}
}

// both inserts a document into the two collections that sameGroups compares.
func (d *testServer) both(text string) {
	d.insert("c", text)
	d.insert("plain", text)
}

// TestGroupsByAnIndexLeaveOutTheDead: documents die one a second, and with the last one that has a value goes the
// value.
func TestGroupsByAnIndexLeaveOutTheDead(t *testing.T) {
	t.Parallel()
	for _, lifetime := range []string{"dates", "stamp"} {
		t.Run(lifetime, func(t *testing.T) {
			t.Parallel()
			d := newServer(t, nil)
			for _, name := range []string{"c", "plain"} {
				if lifetime == "dates" {
					d.dated(name, "at", 1, 0, "")
				} else {
					d.stamped(name, -1)
				}
			}
			d.tell(`{"createIndexes":"c","indexes":[{"key":{"k":1},"name":"k"},{"key":{"s":-1,"k":1},"name":"sk"}]}`)
			for i := range 16 {
				d.both(fmt.Sprintf(`{"_id":%d,"k":%s,"s":%d,"at":%s,"ttl":%d}`, i,
					[]string{`"a"`, `null`, `"b"`, `1`, `"a"`}[i%5], i%3, dateAt(1000*(i+1)), i+1))
			}
			d.both(`{"_id":100,"s":1}`)
			for second := range 18 {
				for _, path := range []string{"k", "s"} {
					d.sameGroups(t, bson.D{}, path)
					d.sameGroups(t, bson.D{{Key: "s", Value: 1}}, path)
					d.sameGroups(t, bson.D{{Key: "s", Value: bson.D{{Key: "$gte", Value: 1}}}}, path)
				}
				if second%4 == 3 {
					must(t, d.reclaim(t.Context()))
				}
				d.pass(time.Second)
			}
		})
	}
}

// TestGroupsByAnIndex has values that entries do not tell apart, and fields that are arrays.
func TestGroupsByAnIndex(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3000)
	for name, docs := range map[string][]string{
		"numbers of several types": {`{"k":1}`, `{"k":1.0}`, `{"k":{"$numberLong":"1"}}`, `{"k":2.5}`,
			`{"k":{"$numberDecimal":"2.5"}}`},
		"null before and behind": {`{}`, `{}`, `{"k":null}`, `{}`, `{"k":{"$undefined":true}}`, `{"k":1}`},
		"missing only":           {`{}`, `{"k":1}`, `{}`},
		"long texts": {`{"k":"` + long + `a"}`, `{"k":"` + long + `b"}`,
			`{"k":"` + long + `a"}`, `{"k":"x"}`},
		"an array of one": {`{"k":[5]}`, `{"k":5}`, `{"k":6}`},
		"arrays":          {`{"k":[1,2]}`, `{"k":[2,[3]]}`, `{"k":[]}`, `{"k":[null]}`, `{"k":4}`, `{}`},
		"objects":         {`{"k":{"a":1}}`, `{"k":{"a":1}}`, `{"k":{"a":2}}`, `{"k":{}}`},
		"paths": {`{"a":{"b":1}}`, `{"a":{"b":1}}`, `{"a":{"b":null}}`, `{"a":5}`,
			`{"a":{"c":1}}`, `{}`},
		"paths through arrays": {`{"a":[{"b":1},{"b":2}]}`, `{"a":{"b":[1,3]}}`, `{"a":[[{"b":7}]]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newServer(t, nil)
			path := "k"
			if strings.HasPrefix(name, "paths") {
				path = "a.b"
			}
			for _, options := range []string{``, `,"sparse":true`} {
				d.tell(`{"dropDatabase":1}`)
				d.tell(fmt.Sprintf(`{"createIndexes":"c","indexes":[{"key":{%q:1},"name":"i"%s}]}`, path, options))
				for i, text := range docs {
					d.both(strings.ReplaceAll(fmt.Sprintf(`{"_id":%d,%s`, i, text[1:]), ",}", "}"))
				}
				d.sameGroups(t, bson.D{}, path)
			}
		})
	}
}

// TestGroupsOfManyValues: where nearly each document has a value of its own, all documents are read.
func TestGroupsOfManyValues(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	d.tell(`{"createIndexes":"c","indexes":[{"key":{"k":1},"name":"k"},{"key":{"ten":1},"name":"ten"}]}`)
	var list []any
	for i := range 1000 {
		list = append(list, bson.D{{Key: "_id", Value: i}, {Key: "k", Value: i / 2}, {Key: "ten", Value: i % 10}})
	}
	for _, name := range []string{"c", "plain"} {
		_, err := d.Client.Database("test").Collection(name).InsertMany(t.Context(), list)
		must(t, err)
	}
	d.sameGroups(t, bson.D{}, "k")
	d.sameGroups(t, bson.D{}, "ten")
	same(t, d.indexUses(t, "ten"), int64(4)) // all but the stage that adds up twos
	d.sameGroups(t, bson.D{{Key: "k", Value: bson.D{{Key: "$lt", Value: 5}}}}, "k")
	answer, err := d.run(document(t, `{aggregate: 'c', pipeline: [{$group: {_id: '$ten', n: {$sum: 1}}}], cursor: {}}`))
	must(t, err)
	first := inside(t, answer, "cursor", "firstBatch").(bson.A)
	same(t, first[0], bson.D{{Key: "_id", Value: int32(0)}, {Key: "n", Value: int32(100)}})
}

// TestGroupsOfFewAndThenManyValues: that values have few documents each is known late.
func TestGroupsOfFewAndThenManyValues(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	d.tell(`{"createIndexes":"c","indexes":[{"key":{"k":1},"name":"k"}]}`)
	var list []any
	for i := range 3000 {
		list = append(list, bson.D{{Key: "_id", Value: i}, {Key: "k", Value: max(i/5, i-320)}})
	}
	for _, name := range []string{"c", "plain"} {
		_, err := d.Client.Database("test").Collection(name).InsertMany(t.Context(), list)
		must(t, err)
	}
	d.sameGroups(t, bson.D{}, "k")
}
