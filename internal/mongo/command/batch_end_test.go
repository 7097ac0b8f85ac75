package command_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// TestCursorAtTheEnd reads batches that the last document fills: find and aggregate keep their cursor for one
// getMore then, unless a limit or an _id says that there is no more, and lists do not.
// mongodb/mongo: src/mongo/db/query/find.cpp, src/mongo/db/commands/run_aggregate.cpp, list_collections.cpp
func TestCursorAtTheEnd(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	db := d.Database("test")
	_, err := db.Collection("c").InsertMany(t.Context(), []any{eq("_id", 1), eq("_id", 2), eq("_id", 3)})
	must(t, err)
	var many []any
	for i := range 101 {
		many = append(many, eq("_id", i))
	}
	_, err = db.Collection("many").InsertMany(t.Context(), many)
	must(t, err)
	d.expect(`{"create":"v","viewOn":"c","pipeline":[]}`, `{}`)
	for _, c := range []struct {
		name, cmd string
		open      bool
	}{
		{"find", `{"find":"c","batchSize":3}`, true},
		{"find, with room", `{"find":"c","batchSize":4}`, false},
		{"find, the size that is taken for granted", `{"find":"many"}`, true},
		{"find of nothing", `{"find":"c","filter":{"x":1},"batchSize":1}`, false},
		{"find where there is nothing", `{"find":"none","batchSize":0}`, false},
		{"find, none at first", `{"find":"c","batchSize":0}`, true},
		{"find, a limit", `{"find":"c","limit":3,"batchSize":3}`, false},
		{"find, a limit that is not reached", `{"find":"c","limit":4,"batchSize":3}`, true},
		{"find, a single batch", `{"find":"c","batchSize":3,"singleBatch":true}`, false},
		{"find, sorted", `{"find":"c","sort":{"x":1,"_id":-1},"batchSize":3}`, true},
		{"find, sorted, a limit", `{"find":"c","sort":{"x":1,"_id":-1},"limit":3,"batchSize":3}`, false},
		{"find, sorted by _id", `{"find":"c","sort":{"_id":1},"batchSize":3}`, true},
		{"find, skipping", `{"find":"c","skip":1,"batchSize":2}`, true},
		{"find of one _id", `{"find":"c","filter":{"_id":1},"batchSize":1}`, false},
		{"find of one _id, some of it", `{"find":"c","filter":{"_id":1},"projection":{"_id":1},"batchSize":1}`, false},
		{"find over a view", `{"find":"v","batchSize":3}`, true},
		{"aggregate", `{"aggregate":"c","pipeline":[],"cursor":{"batchSize":3}}`, true},
		{"aggregate, with room", `{"aggregate":"c","pipeline":[],"cursor":{"batchSize":4}}`, false},
		{"aggregate, a limit", `{"aggregate":"c","pipeline":[{"$limit":3}],"cursor":{"batchSize":3}}`, true},
		{"aggregate, a group", `{"aggregate":"c","pipeline":[{"$group":{"_id":null}}],"cursor":{"batchSize":1}}`, true},
		{"listCollections", `{"listCollections":1,"cursor":{"batchSize":3}}`, false},
		{"listCollections, one left", `{"listCollections":1,"cursor":{"batchSize":2}}`, true},
		{"listIndexes", `{"listIndexes":"c","cursor":{"batchSize":1}}`, false},
	} {
		answer := answerTo(t, db, extJSON(t, c.cmd))
		id, _ := answer.Lookup("cursor", "id").Int64OK()
		if open := id != 0; open != c.open {
			t.Errorf("%s: the cursor is open: %v\n%s", c.name, open, answer)
		}
		if id == 0 {
			continue
		}
		ns := answer.Lookup("cursor", "ns").StringValue()[len("test."):]
		more := answerTo(t, db, bson.D{{Key: "getMore", Value: id}, {Key: "collection", Value: ns}})
		if left, _ := more.Lookup("cursor", "id").Int64OK(); left != 0 || more.Lookup("cursor", "nextBatch").Type == 0 {
			t.Errorf("%s: getMore: %s", c.name, more)
		}
	}
	id := answerTo(t, db, extJSON(t, `{"find":"c","batchSize":1}`)).Lookup("cursor", "id").Int64()
	for i, size := range []int{1, 1, 1} {
		more := answerTo(t, db, pairs("getMore", id, "collection", "c", "batchSize", size))
		if open := more.Lookup("cursor", "id").Int64() != 0; open != (i < 2) {
			t.Errorf("getMore %d: the cursor is open: %v", i, open)
		}
	}
}
