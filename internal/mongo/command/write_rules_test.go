package command_test

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// A telling is a command and what it is answered; see expect.
type telling struct{ name, cmd, want string }

func (d *testServer) expectAll(t *testing.T, list []telling) {
	t.Helper()
	for _, c := range list {
		got := d.tell(c.cmd)
		if part, ok := strings.CutPrefix(c.want, "~"); ok && strings.Contains(got, part) || got == c.want {
			continue
		}
		t.Errorf("%s: %s\n got %s\nwant %s", c.name, c.cmd, got, c.want)
	}
}

// TestMergeMeetsAnotherDocument has the texts of mongodb/mongo: src/mongo/db/pipeline/document_source_merge.cpp.
func TestMergeMeetsAnotherDocument(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	const during = "PlanExecutor error during aggregation :: caused by :: "
	merge := func(spec string) string {
		return `{"aggregate":"c","pipeline":[{"$merge":` + spec + `}],"cursor":{}}`
	}
	d.expectAll(t, []telling{
		{"documents", `{"insert":"c","documents":[{"_id":1,"x":11}]}`, `{n: 1}`},
		{"another one", `{"insert":"o","documents":[{"_id":1,"x":5},{"_id":9,"x":11}]}`, `{n: 2}`},
		{"that is to fail", merge(`{"into":"o","whenMatched":"fail"}`), `11000 DuplicateKey: ` + during +
			`$merge with whenMatched: fail found an existing document with the same values for the 'on' fields :: caused by :: E11000 duplicate key error collection: test.o index: _id_ dup key: { _id: 1 }`},
		{"an index", `{"createIndexes":"o","indexes":[{"key":{"x":1},"name":"x_1","unique":true}]}`, `~numIndexesAfter: 2`},
		{"in another index", merge(`{"into":"o"}`), `11000 DuplicateKey: ` + during +
			`$merge failed due to a DuplicateKey error :: caused by :: E11000 duplicate key error collection: test.o index: x_1 dup key: { x: 11 }`},
		{"in the index on the fields", merge(`{"into":"o","on":"x"}`), `66 ImmutableField: ` + during +
			`$merge failed to update the matching document, did you attempt to modify the _id or the shard key? :: caused by :: ` +
			`After applying the update, the (immutable) field '_id' was found to have been altered to _id: 1`},
		{"nothing has changed", `{"aggregate":"o","pipeline":[{"$sort":{"_id":1}}],"cursor":{}}`, `~firstBatch: [{_id: 1, x: 5}, {_id: 9, x: 11}]`},
	})
	answer := answerTo(t, d.Database("test"), extJSON(t, merge(`{"into":"o","whenMatched":"fail","on":"x"}`)))
	pattern, value := answer.Lookup("keyPattern").String(), answer.Lookup("keyValue").String()
	if id := `{"_id": {"$numberInt":"1"}}`; pattern != id || value != id {
		t.Errorf("keyPattern and keyValue are %s and %s: %s", pattern, value, answer)
	}
}

// TestDollarsOfUpserts inserts by updates what inserts may have; mongodb/mongo: jstests/core/field_name_validation.js.
func TestDollarsOfUpserts(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	update := func(q, u string) string {
		return `{"update":"c","updates":[{"q":` + q + `,"u":` + u + `,"upsert":true}]}`
	}
	const refused = `writeErrors: 52: The dollar ($) prefixed field '$b' in '$b' is not allowed in the context of an update's replacement document. Consider using an aggregation pipeline with $replaceWith.`
	d.expectAll(t, []telling{
		{"an insert", `{"insert":"c","documents":[{"_id":0,"$b":1,"$ref":2}]}`, `{n: 1}`},
		{"operators", update(`{"_id":1}`, `{"$set":{"$b":1}}`), `~nModified: 0`},
		{"a replacement", update(`{"_id":2}`, `{"a":1,"$b":1}`), `~nModified: 0`},
		{"findAndModify", `{"findAndModify":"c","query":{"_id":3},"update":{"a":1,"$b":1},"upsert":true,"new":true}`, `~value: {_id: 3, a: 1, $b: 1}`},
		{"operators on what is there", update(`{"_id":1}`, `{"$set":{"$b":1,"$c":2}}`),
			`~writeErrors: 52: The dollar ($) prefixed field '$b'`},
		{"a replacement of what is there", update(`{"_id":2}`, `{"a":1,"$b":2}`), refused},
		{"a replacement of nothing", `{"update":"c","updates":[{"q":{"_id":9},"u":{"a":1,"$b":2}}]}`, `{n: 0, nModified: 0}`},
		{"operators first", update(`{"_id":4}`, `{"$b":1,"a":1}`), `~writeErrors: 9: `},
	})
	if got := d.ids("c"); got != "0 1 2 3" {
		t.Errorf("there are %s", got)
	}
}

// TestPositionalProjections has what find and findAndModify refuse; what is kept is in the stories of the pipeline.
func TestPositionalProjections(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	find := func(q, p string) string { return `{"find":"c","filter":` + q + `,"projection":` + p + `}` }
	modify := func(more string) string {
		return `{"findAndModify":"c","query":{"a":2},"update":{"$set":{"x":1}},"fields":{"a.$":1}` + more + `}`
	}
	d.expectAll(t, []telling{
		{"a document", `{"insert":"c","documents":[{"_id":1,"a":[1,2,3],"b":[4,5],"s":"s"}]}`, `{n: 1}`},
		{"an element", find(`{"a":2}`, `{"a.$":1}`), `~firstBatch: [{_id: 1, a: [2]}]`},
		{"of another array", find(`{"a":2}`, `{"b.$":1}`), `~firstBatch: [{_id: 1, b: [5]}]`},
		{"of another array that is shorter", find(`{"a":3}`, `{"b.$":1}`), `~51247 Location51247: Executor error during find command: test.c :: caused by :: positional operator '.$' element mismatch`},
		{"no array was searched", find(`{"s":"s"}`, `{"a.$":1}`), `~51246 Location51246: Executor error during find command: test.c :: caused by :: positional operator '.$' couldn't find a matching element in the array`},
		{"in the middle", find(`{"a":2}`, `{"a.$.b":1}`), `~31394 Location31394: As of 4.4, it's illegal to specify positional operator in the middle of a path.`},
		{"left out", find(`{"a":2}`, `{"a.$":0}`), `31395 Location31395: positional projection cannot be used with exclusion`},
		{"the old document", modify(``), `~value: {_id: 1, a: [2]}`},
		{"the new document", modify(`,"new":true`), `2 BadValue: cannot use a positional projection and return the new document`},
		{"the one that goes", `{"findAndModify":"c","query":{"a":2},"remove":true,"fields":{"a.$":1}}`, `~value: {_id: 1, a: [2]}`},
	})
}

// TestTwoIDs sends documents with two _id.
func TestTwoIDs(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	c := d.Database("test").Collection("c")
	for _, twice := range []bson.D{
		{{Key: "_id", Value: 1}, {Key: "_id", Value: 2}},
		{{Key: "a", Value: 1}, {Key: "_id", Value: 1}, {Key: "_id", Value: 1}},
	} {
		answer := answerTo(t, d.Database("test"), pairs("insert", "c", "documents", bson.A{twice}))
		got := answer.Lookup("writeErrors", "0", "code").AsInt64()
		text := answer.Lookup("writeErrors", "0", "errmsg").StringValue()
		if got != 2 || text != "can't have multiple _id fields in one document" {
			t.Errorf("%v: %s", twice, answer)
		}
	}
	if n := count(t, c, bson.D{}); n != 0 {
		t.Errorf("%d documents are there", n)
	}
}

// TestIndexesOfOneCommand asks for indexes that are in each other's way.
func TestIndexesOfOneCommand(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	make := func(list string) string { return `{"createIndexes":"c","indexes":[` + list + `]}` }
	const a, ts = `{"key":{"a":1},"name":"a_1"}`, `{"key":{"_ts":1},"name":"_ts_1","expireAfterSeconds":10}`
	d.expectAll(t, []telling{
		{"twice", make(a + "," + a), `68 IndexAlreadyExists: Identical index already exists: a_1`},
		{"twice the one on _ts", make(ts + "," + ts), `68 IndexAlreadyExists: Identical index already exists: _ts_1`},
		{"nothing was made", `{"listIndexes":"c"}`, `~26 NamespaceNotFound`},
		{"under two names", make(a + `,{"key":{"a":1},"name":"b"}`), `~85 IndexOptionsConflict: Index already exists with a different name: a_1`},
		{"one", make(a), `{numIndexesBefore: 1, numIndexesAfter: 2, createdCollectionAutomatically: true}`},
		{"twice, when it is there", make(a + "," + a), `{numIndexesBefore: 2, numIndexesAfter: 2, note: "all indexes already exist"}`},
		{"one is there", make(a + `,{"key":{"b":1},"name":"b_1"}`), `{numIndexesBefore: 2, numIndexesAfter: 3, createdCollectionAutomatically: false, note: "index already exists"}`},
		{"_id", make(`{"key":{"_id":1},"name":"_id_"}`), `{numIndexesBefore: 3, numIndexesAfter: 3, note: "all indexes already exist"}`},
		{"_id, unique", make(`{"key":{"_id":1},"name":"_id_1","unique":true}`), `197 InvalidIndexSpecificationOption: The field 'unique' is not valid for an _id index specification. ` +
			`Specification: { key: { _id: 1 }, name: "_id_1", unique: true }`},
		{"_id, in the background", make(`{"key":{"_id":1},"name":"_id_1","background":true}`), `~197 InvalidIndexSpecificationOption: The field 'background' is not valid for an _id index specification.`},
		{"_id, sparse", make(`{"key":{"_id":1},"name":"_id_1","sparse":true}`), `~197 InvalidIndexSpecificationOption`},
		{"_id of a new collection", `{"createIndexes":"d","indexes":[{"key":{"_id":1},"name":"_id_"}]}`, `{numIndexesBefore: 1, numIndexesAfter: 1, createdCollectionAutomatically: true, note: "all indexes already exist"}`},
	})
}

// TestSpellings sends names of commands in lower case: MongoDB knows some of them.
func TestSpellings(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	must(t, d.Database("test").CreateCollection(t.Context(), "c"))
	const unknown = "~59 CommandNotFound: no such command: "
	d.expectAll(t, []telling{
		{"isMaster", `{"ismaster":1}`, "~ismaster: true"},
		{"buildInfo", `{"buildinfo":1}`, "~version:"},
		{"collStats", `{"collstats":"c"}`, "~count: 0"},
		{"dbStats", `{"dbstats":1}`, "~collections: 1"},
		{"findAndModify", `{"findandmodify":"c","query":{},"remove":true}`, "~value: null"},
		{"dataSize", `{"datasize":"test.c"}`, "~size: 0"},
		{"listCollections", `{"listcollections":1}`, unknown + "'listcollections'"},
		{"serverStatus", `{"serverstatus":1}`, unknown},
		{"listIndexes", `{"listindexes":"c"}`, unknown},
		{"createIndexes", `{"createindexes":"c","indexes":[]}`, unknown},
		{"getMore", `{"getmore":1}`, unknown},
	})
}
