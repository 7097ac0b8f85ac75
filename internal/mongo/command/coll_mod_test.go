package command_test

import "testing"

// TestCollMod has the rows of collMod on indexes and on options.
func TestCollMod(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	d.tell(`{"createIndexes":"c","indexes":[{"key":{"at":1},"name":"at_1","expireAfterSeconds":10},{"key":{"p":1},"name":"p_1"},{"key":{"x":1,"y":1},"name":"xy"},
		{"key":{"$**":1},"name":"all"},{"key":{"two":1},"name":"two_a"},{"key":{"two":1},"name":"two_b","sparse":true}]}`)
	d.tell(`{"create":"v","viewOn":"c","pipeline":[]}`)
	d.tell(`{"create":"w","viewOn":"c","pipeline":[]}`)
	cases := []struct{ name, cmd, want string }{
		{"change", `{"collMod":"c","index":{"keyPattern":{"at":1},"expireAfterSeconds":20}}`, `{expireAfterSeconds_old: 10L, expireAfterSeconds_new: 20L}`},
		{"by name", `{"collMod":"c","index":{"name":"at_1","expireAfterSeconds":30}}`, `{expireAfterSeconds_old: 20L, expireAfterSeconds_new: 30L}`},
		{"the same", `{"collMod":"c","index":{"name":"at_1","expireAfterSeconds":30}}`, `{}`},
		{"fraction", `{"collMod":"c","index":{"name":"at_1","expireAfterSeconds":30.5}}`, `{}`},
		{"another fraction", `{"collMod":"c","index":{"name":"at_1","expireAfterSeconds":31.9}}`, `{expireAfterSeconds_old: 30L, expireAfterSeconds_new: 31L}`},
		{"is listed as int", `{"listIndexes":"c"}`, `~name: "at_1", expireAfterSeconds: 31}`},
		{"a plain index", `{"collMod":"c","index":{"name":"p_1","expireAfterSeconds":40}}`, `{expireAfterSeconds_new: 40L}`},
		{"is one now", `{"listIndexes":"c"}`, `~name: "p_1", expireAfterSeconds: 40}`},
		{"zero", `{"collMod":"c","index":{"name":"p_1","expireAfterSeconds":0}}`, `{expireAfterSeconds_old: 40L, expireAfterSeconds_new: 0L}`},
		{"clamped", `{"collMod":"c","index":{"name":"p_1","expireAfterSeconds":2147483648}}`, `{expireAfterSeconds_old: 0L, expireAfterSeconds_new: 2147483647L}`},
		{"decimal", `{"collMod":"c","index":{"name":"p_1","expireAfterSeconds":{"$numberDecimal":"7.9"}}}`, `{expireAfterSeconds_old: 2147483647L, expireAfterSeconds_new: 7L}`},
		{"compound", `{"collMod":"c","index":{"name":"xy","expireAfterSeconds":1}}`, `72 InvalidOptions: TTL indexes are single-field indexes, compound indexes do not support TTL`},
		{"_id", `{"collMod":"c","index":{"name":"_id_","expireAfterSeconds":1}}`, `72 InvalidOptions: the _id field does not support TTL indexes`},
		{"wildcard", `{"collMod":"c","index":{"name":"all","expireAfterSeconds":1}}`, `~72 InvalidOptions: `},
		{"negative", `{"collMod":"c","index":{"name":"at_1","expireAfterSeconds":-1}}`, `72 InvalidOptions: TTL index 'expireAfterSeconds' option cannot be less than 0`},
		{"NaN", `{"collMod":"c","index":{"name":"at_1","expireAfterSeconds":{"$numberDouble":"NaN"}}}`, `~72 InvalidOptions: `},
		{"string", `{"collMod":"c","index":{"name":"at_1","expireAfterSeconds":"1"}}`,
			`14 TypeMismatch: BSON field 'collMod.index.expireAfterSeconds' is the wrong type 'string', expected types '[long, int, decimal, double']`},
		{"neither", `{"collMod":"c","index":{"expireAfterSeconds":1}}`, `72 InvalidOptions: Must specify either index name or key pattern.`},
		{"both", `{"collMod":"c","index":{"name":"at_1","keyPattern":{"at":1},"expireAfterSeconds":1}}`, `72 InvalidOptions: Cannot specify both key pattern and name.`},
		{"two by pattern", `{"collMod":"c","index":{"keyPattern":{"two":1},"expireAfterSeconds":1}}`, `~181 AmbiguousIndexKeyPattern: `},
		{"one of two by name", `{"collMod":"c","index":{"name":"two_b","expireAfterSeconds":1}}`, `{expireAfterSeconds_new: 1L}`},
		{"unknown", `{"collMod":"c","index":{"name":"none","expireAfterSeconds":1}}`, `27 IndexNotFound: cannot find index none for ns test.c`},
		{"unknown pattern", `{"collMod":"c","index":{"keyPattern":{"at":-1},"expireAfterSeconds":1}}`, `27 IndexNotFound: cannot find index { at: -1 } for ns test.c`},
		{"nothing to do", `{"collMod":"c","index":{"name":"at_1"}}`, `72 InvalidOptions: no expireAfterSeconds, hidden, unique, or prepareUnique field`},
		{"unknown member", `{"collMod":"c","index":{"name":"at_1","sparse":true}}`, `40415 Location40415: BSON field 'collMod.index.sparse' is an unknown field.`},
		{"unknown field", `{"collMod":"c","color":1}`, `40415 Location40415: BSON field 'collMod.color' is an unknown field.`},
		{"index of another type", `{"collMod":"c","index":1}`, `14 TypeMismatch: BSON field 'collMod.index' is the wrong type 'int', expected type 'object'`},
		{"unique", `{"collMod":"c","index":{"name":"at_1","unique":true}}`, `~115 CommandNotSupported`},
		{"top level", `{"collMod":"c","expireAfterSeconds":1}`, `~72 InvalidOptions: 'expireAfterSeconds' is only supported on`},
		{"dry run", `{"collMod":"c","dryRun":true,"index":{"name":"at_1","expireAfterSeconds":1}}`, `{}`},
		{"hide", `{"collMod":"c","index":{"name":"at_1","hidden":true}}`, `{hidden_old: false, hidden_new: true}`},
		{"is listed so", `{"listIndexes":"c"}`, `~name: "at_1", expireAfterSeconds: 31, hidden: true}`},
		{"hide again", `{"collMod":"c","index":{"name":"at_1","hidden":true}}`, `{}`},
		{"show and change", `{"collMod":"c","index":{"name":"at_1","hidden":false,"expireAfterSeconds":1}}`,
			`{expireAfterSeconds_old: 31L, expireAfterSeconds_new: 1L, hidden_old: true, hidden_new: false}`},
		{"hide _id", `{"collMod":"c","index":{"name":"_id_","hidden":true}}`, `2 BadValue: can't hide _id index`},
		{"missing", `{"collMod":"none","index":{"name":"at_1","hidden":true}}`,
			`26 NamespaceNotFound: ns does not exist`},
		{"index of a view", `{"collMod":"v","index":{"name":"at_1","hidden":true}}`,
			`72 InvalidOptions: option not supported on a view: index`},
		{"view of a collection", `{"collMod":"c","viewOn":"d","pipeline":[]}`,
			`~72 InvalidOptions: option only supported on a view`},
		{"half a view", `{"collMod":"v","viewOn":"d"}`, `72 InvalidOptions: Must specify both 'viewOn' and 'pipeline' when modifying a view`},
		{"view with a bad stage", `{"collMod":"v","viewOn":"d","pipeline":[{"$no":1}]}`, `~40324 `},
		{"view of itself", `{"collMod":"v","viewOn":"v","pipeline":[]}`, `~5 GraphContainsCycle`},
		{"view", `{"collMod":"v","viewOn":"d","pipeline":[{"$match":{"x":1}}]}`, `{}`},
		{"is listed", `{"listCollections":1,"filter":{"name":"v"}}`,
			`~options: {viewOn: "d", pipeline: [{$match: {x: 1}}]}`},
		{"validator", `{"collMod":"c","validator":{"x":{"$gt":1}},"validationLevel":"moderate","validationAction":"warn"}`, `{}`},
		{"is listed", `{"listCollections":1,"filter":{"name":"c"}}`, `~validator: {x: {$gt: 1}}, validationLevel: "moderate", validationAction: "warn"}`},
		{"bad validator", `{"collMod":"c","validator":{"x":{"$no":1}}}`, `~2 BadValue: `},
		{"bad level", `{"collMod":"c","validationLevel":"much"}`, `~2 BadValue: Enumeration value 'much'`},
		{"bad action", `{"collMod":"c","validationAction":1}`, `~14 TypeMismatch`},
		{"strict", `{"collMod":"c","validator":{"x":{"$gt":1}},"validationLevel":"strict","validationAction":"error"}`, `{}`},
		{"a document against it", `{"insert":"c","documents":[{"_id":1,"x":1}]}`, `~writeErrors: 121`},
		{"one with it", `{"insert":"c","documents":[{"_id":1,"x":2}]}`, `{n: 1}`},
		{"no validator", `{"collMod":"c","validator":{},"validationLevel":"off"}`, `{}`},
		{"is listed", `{"listCollections":1,"filter":{"name":"c"}}`, `~options: {validationLevel: "off", validationAction: "error"}`},
		{"size of what is not capped", `{"collMod":"c","cappedSize":1000}`, `~72 InvalidOptions`},
		{"images", `{"collMod":"c","changeStreamPreAndPostImages":{"enabled":true}}`, `~115 CommandNotSupported`},
		{"no images", `{"collMod":"c","changeStreamPreAndPostImages":{"enabled":false}}`, `{}`},
		{"nothing", `{"collMod":"c"}`, `{}`},
	}
	for _, c := range cases {
		d.expect(c.cmd, c.want)
	}
}

// TestCollModStamp is collMod on the index on _ts, which Cosmos DB does not have.
func TestCollModStamp(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	d.tell(`{"createIndexes":"c","indexes":[{"key":{"_ts":1},"name":"_ts_1","expireAfterSeconds":10}]}`)
	d.tell(`{"createIndexes":"plain","indexes":[{"key":{"_ts":1},"name":"_ts_1"}]}`)
	d.tell(`{"create":"off"}`)
	cases := []struct{ name, cmd, want string }{
		{"change", `{"collMod":"c","index":{"keyPattern":{"_ts":1},"expireAfterSeconds":20}}`, `{expireAfterSeconds_old: 10L, expireAfterSeconds_new: 20L}`},
		{"to -1", `{"collMod":"c","index":{"name":"_ts_1","expireAfterSeconds":-1}}`, `{expireAfterSeconds_old: 20L, expireAfterSeconds_new: -1L}`},
		{"is listed", `{"listIndexes":"c"}`, `~{v: 2, key: {_ts: 1}, name: "_ts_1", expireAfterSeconds: -1}]`},
		{"the same", `{"collMod":"c","index":{"name":"_ts_1","expireAfterSeconds":-1.0}}`, `{}`},
		{"0", `{"collMod":"c","index":{"name":"_ts_1","expireAfterSeconds":0}}`, `~2 BadValue: `},
		{"-2", `{"collMod":"c","index":{"name":"_ts_1","expireAfterSeconds":-2}}`, `~2 BadValue: `},
		{"too large", `{"collMod":"c","index":{"name":"_ts_1","expireAfterSeconds":2147483648}}`, `~2 BadValue: `},
		{"fraction", `{"collMod":"c","index":{"name":"_ts_1","expireAfterSeconds":1.5}}`, `~2 BadValue: `},
		{"string", `{"collMod":"c","index":{"name":"_ts_1","expireAfterSeconds":"1"}}`, `~14 TypeMismatch: `},
		{"hide", `{"collMod":"c","index":{"name":"_ts_1","hidden":true}}`, `{hidden_old: false, hidden_new: true}`},
		{"is listed so", `{"listIndexes":"c"}`, `~{v: 2, key: {_ts: 1}, name: "_ts_1", expireAfterSeconds: -1, hidden: true}]`},
		{"change the hidden one", `{"collMod":"c","index":{"name":"_ts_1","expireAfterSeconds":9}}`, `{expireAfterSeconds_old: -1L, expireAfterSeconds_new: 9L}`},
		{"it stays hidden", `{"listIndexes":"c"}`, `~expireAfterSeconds: 9, hidden: true}]`},
		{"a plain one", `{"collMod":"plain","index":{"name":"_ts_1","expireAfterSeconds":5}}`, `{expireAfterSeconds_new: 5L}`},
		{"is the lifetime now", `{"listIndexes":"plain"}`, `~"_id_"}, {v: 2, key: {_ts: 1}, name: "_ts_1", expireAfterSeconds: 5}]`},
		{"none", `{"collMod":"off","index":{"keyPattern":{"_ts":1},"expireAfterSeconds":5}}`, `27 IndexNotFound: cannot find index { _ts: 1 } for ns test.off`},
	}
	for _, c := range cases {
		d.expect(c.cmd, c.want)
	}
}
