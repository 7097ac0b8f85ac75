package command_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/mongo/command"
)

// oneIndexMade is the answer when a collection and one index were made.
const oneIndexMade = `{numIndexesBefore: 1, numIndexesAfter: 2, createdCollectionAutomatically: true}`

// TestTTLIndexSeconds has every kind of expireAfterSeconds, on a date and on _ts.
func TestTTLIndexSeconds(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	cases := []struct {
		name, seconds string
		date, stamp   string // what the index is listed with, or the error
	}{
		{"int", `10`, `10`, `10`},
		{"long", `{"$numberLong":"10"}`, `10`, `10`},
		{"double", `{"$numberDouble":"10.0"}`, `10`, `10`},
		{"decimal", `{"$numberDecimal":"10"}`, `10`, `10`},
		{"fraction", `60.9`, `60`, `2 BadValue: `},
		{"decimal fraction", `{"$numberDecimal":"60.9"}`, `60`, `2 BadValue: `},
		{"one", `1`, `1`, `1`},
		{"zero", `0`, `0`, `2 BadValue: `},
		{"minus zero", `{"$numberDouble":"-0.0"}`, `0`, `2 BadValue: `},
		{"minus a half", `-0.5`, `0`, `2 BadValue: `},
		{"minus one", `-1`, `67 CannotCreateIndex: . Index spec: { key: { f: 1 }, name: "f_1", expireAfterSeconds: -1 } :: caused by :: TTL index 'expireAfterSeconds' option cannot be less than 0`, `-1`},
		{"minus one as a double", `{"$numberDouble":"-1.0"}`, `67 CannotCreateIndex: . Index spec: `, `-1`},
		{"minus one and a half", `-1.5`, `67 CannotCreateIndex: `, `2 BadValue: `},
		{"minus two", `-2`, `67 CannotCreateIndex: `, `2 BadValue: The input expireAfterSeconds '-2' is invalid. `},
		{"greatest", `2147483647`, `2147483647`, `2147483647`},
		{"above", `2147483648`, `67 CannotCreateIndex: `, `2 BadValue: `},
		{"1e15", `1e15`, `67 CannotCreateIndex: `, `2 BadValue: `},
		{"2^63", `9.3e18`, `67 CannotCreateIndex: `, `2 BadValue: `},
		{"infinity", `{"$numberDouble":"Infinity"}`, `67 CannotCreateIndex: `, `2 BadValue: `},
		{"minus infinity", `{"$numberDouble":"-Infinity"}`, `67 CannotCreateIndex: `, `2 BadValue: `},
		{"decimal infinity", `{"$numberDecimal":"Infinity"}`, `67 CannotCreateIndex: `, `2 BadValue: `},
		{"NaN", `{"$numberDouble":"NaN"}`, `67 CannotCreateIndex: `, `2 BadValue: `},
		{"decimal NaN", `{"$numberDecimal":"NaN"}`, `67 CannotCreateIndex: `, `2 BadValue: `},
		{"string", `"10"`, `67 CannotCreateIndex: . Index spec: { key: { f: 1 }, name: "f_1", expireAfterSeconds: "10" } :: caused by :: TTL index 'expireAfterSeconds' option must be numeric, but received a type of 'string'`, `2 BadValue: `},
		{"bool", `true`, `67 CannotCreateIndex: `, `2 BadValue: `},
		{"null", `null`, `67 CannotCreateIndex: `, `2 BadValue: `},
		{"object", `{}`, `67 CannotCreateIndex: `, `2 BadValue: `},
	}
	for i, c := range cases {
		for _, field := range []string{"f", "_ts"} {
			want := c.date
			if field == "_ts" {
				want = c.stamp
			}
			coll := fmt.Sprintf("c%d%s", i, field)
			create := fmt.Sprintf(`{"createIndexes":%q,"indexes":[{"key":{%q:1},"name":"%s_1","expireAfterSeconds":%s}]}`, coll, field, field, c.seconds)
			list := fmt.Sprintf(`{"listIndexes":%q}`, coll)
			if strings.Contains(want, ": ") { // an error, and no collection
				d.expect(create, "~"+want)
				d.expect(list, "26 NamespaceNotFound: ns does not exist: test."+coll)
				continue
			}
			answer := oneIndexMade
			if field == "_ts" {
				answer = `{_t: "CreateIndexesResponse", ` + oneIndexMade[1:]
			}
			d.expect(create, answer)
			d.expect(list, fmt.Sprintf(`~{v: 2, key: {%s: 1}, name: "%s_1", expireAfterSeconds: %s}]`, field, field, want))
		}
	}
}

// TestTTLIndexes has the rules of createIndexes beside those of the seconds.
func TestTTLIndexes(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	d.tell(`{"create":"v","viewOn":"plain","pipeline":[]}`)
	cases := []struct{ name, cmd, want string }{
		{"compound", `{"createIndexes":"a","indexes":[{"key":{"x":1,"y":1},"name":"n","expireAfterSeconds":1}]}`,
			`67 CannotCreateIndex: TTL indexes are single-field indexes, compound indexes do not support TTL. Index spec: { key: { x: 1, y: 1 }, name: "n", expireAfterSeconds: 1 }`},
		{"compound with _ts", `{"createIndexes":"a","indexes":[{"key":{"_ts":1,"y":1},"name":"n","expireAfterSeconds":1}]}`, `~67 CannotCreateIndex: TTL indexes are single-field indexes`},
		{"on _id", `{"createIndexes":"a","indexes":[{"key":{"_id":1},"name":"_id_","expireAfterSeconds":1}]}`,
			`~197 InvalidIndexSpecificationOption: The field 'expireAfterSeconds' is not valid for an _id index specification.`},
		{"on _id, and negative", `{"createIndexes":"a","indexes":[{"key":{"_id":1},"name":"_id_","expireAfterSeconds":-1}]}`, `~197 InvalidIndexSpecificationOption`},
		{"wildcard", `{"createIndexes":"a","indexes":[{"key":{"$**":1},"name":"n","expireAfterSeconds":1}]}`, `~67 CannotCreateIndex: wildcard`},
		{"hashed", `{"createIndexes":"a","indexes":[{"key":{"x":"hashed"},"name":"n","expireAfterSeconds":1}]}`, `~67 CannotCreateIndex: `},
		{"text", `{"createIndexes":"a","indexes":[{"key":{"x":"text"},"name":"n","expireAfterSeconds":1}]}`, `~67 CannotCreateIndex: `},
		{"2dsphere", `{"createIndexes":"a","indexes":[{"key":{"x":"2dsphere"},"name":"n","expireAfterSeconds":1}]}`, `~67 CannotCreateIndex: `},
		{"unique on _ts", `{"createIndexes":"a","indexes":[{"key":{"_ts":1},"name":"n","expireAfterSeconds":1,"unique":true}]}`, `~2 BadValue: `},
		{"partial on _ts", `{"createIndexes":"a","indexes":[{"key":{"_ts":1},"name":"n","expireAfterSeconds":1,"partialFilterExpression":{"x":1}}]}`, `~2 BadValue: `},
		{"unknown option", `{"createIndexes":"a","indexes":[{"key":{"x":1},"name":"n","expireAfter":1}]}`,
			`~197 InvalidIndexSpecificationOption: Error in specification { key: { x: 1 }, name: "n", expireAfter: 1 } :: caused by :: The field 'expireAfter' is not valid for an index specification.`},
		{"one bad among good", `{"createIndexes":"a","indexes":[{"key":{"x":1},"name":"x_1"},{"key":{"y":1},"name":"y_1","expireAfterSeconds":-1}]}`, `~67 CannotCreateIndex`},
		{"none of these made the collection", `{"listIndexes":"a"}`, `26 NamespaceNotFound: ns does not exist: test.a`},
		{"unknown option ignored", `{"createIndexes":"b","ignoreUnknownIndexOptions":true,"indexes":[{"key":{"x":1},"name":"x_1","expireAfter":1}]}`, oneIndexMade},
		{"a key called so", `{"createIndexes":"c","indexes":[{"key":{"x":1,"expireAfterSeconds":3600},"name":"n"}]}`, oneIndexMade},
		{"is no lifetime", `{"listIndexes":"c"}`, `~{v: 2, key: {x: 1, expireAfterSeconds: 3600}, name: "n"}]`},
		{"on a view", `{"createIndexes":"v","indexes":[{"key":{"x":1},"name":"x_1","expireAfterSeconds":1}]}`, `~166 CommandNotSupportedOnView`},
		{"all options", `{"createIndexes":"e","indexes":[{"key":{"x":-1},"name":"mine","expireAfterSeconds":5,"partialFilterExpression":{"y":{"$gt":1}},"hidden":true,"unique":true}]}`, oneIndexMade},
		{"are listed", `{"listIndexes":"e"}`, `{cursor: {id: 0L, ns: "test.e", firstBatch: [{v: 2, key: {_id: 1}, name: "_id_"}, ` +
			`{v: 2, key: {x: -1}, name: "mine", unique: true, expireAfterSeconds: 5, partialFilterExpression: {y: {$gt: 1}}, hidden: true}]}}`},
		{"hidden false and sparse", `{"createIndexes":"f","indexes":[{"key":{"x":1},"name":"x_1","expireAfterSeconds":5,"hidden":false,"sparse":true}]}`, oneIndexMade},
		{"hidden false is not listed", `{"listIndexes":"f"}`, `~{v: 2, key: {x: 1}, name: "x_1", sparse: true, expireAfterSeconds: 5}]`},
		{"the same again", `{"createIndexes":"f","indexes":[{"key":{"x":1},"name":"x_1","expireAfterSeconds":5,"sparse":true}]}`,
			`{numIndexesBefore: 2, numIndexesAfter: 2, note: "all indexes already exist"}`},
		{"other seconds", `{"createIndexes":"f","indexes":[{"key":{"x":1},"name":"x_1","expireAfterSeconds":6,"sparse":true}]}`,
			`85 IndexOptionsConflict: An equivalent index already exists with the same name but different options. Requested index: { v: 2, key: { x: 1 }, name: "x_1", sparse: true, expireAfterSeconds: 6 }, ` +
				`existing index: { v: 2, key: { x: 1 }, name: "x_1", sparse: true, expireAfterSeconds: 5 }`},
		{"without seconds", `{"createIndexes":"f","indexes":[{"key":{"x":1},"name":"x_1","sparse":true}]}`, `~85 IndexOptionsConflict`},
		{"the name with another key", `{"createIndexes":"f","indexes":[{"key":{"y":1},"name":"x_1","expireAfterSeconds":5}]}`, `~86 IndexKeySpecsConflict`},
		{"the key with another name", `{"createIndexes":"f","indexes":[{"key":{"x":1},"name":"z","expireAfterSeconds":5,"sparse":true}]}`, `~85 IndexOptionsConflict`},
		{"twice in one command", `{"createIndexes":"g","indexes":[{"key":{"x":1},"name":"x_1","expireAfterSeconds":1},{"key":{"x":1},"name":"x_1","expireAfterSeconds":2}]}`, `~85 IndexOptionsConflict`},
		{"on _ts twice", `{"createIndexes":"g","indexes":[{"key":{"_ts":1},"name":"_ts_1","expireAfterSeconds":1},{"key":{"_ts":1},"name":"_ts_1","expireAfterSeconds":2}]}`, `~85 IndexOptionsConflict`},
		{"on _ts with and without", `{"createIndexes":"g","indexes":[{"key":{"_ts":1},"name":"_ts_1","expireAfterSeconds":1},{"key":{"_ts":1},"name":"_ts_1"}]}`, `~85 IndexOptionsConflict`},
		{"on _ts without and with", `{"createIndexes":"g","indexes":[{"key":{"_ts":1},"name":"_ts_1"},{"key":{"_ts":1},"name":"_ts_1","expireAfterSeconds":1}]}`, `~85 IndexOptionsConflict`},
		{"none of these made it", `{"listIndexes":"g"}`, `~26 NamespaceNotFound`},
		{"at creation", `{"create":"g","expireAfterSeconds":1}`, `~72 InvalidOptions: 'expireAfterSeconds' is only supported on time-series collections or when the 'clusteredIndex' option is specified`},
		{"several", `{"createIndexes":"f","indexes":[{"key":{"y":1},"name":"y_1","expireAfterSeconds":5},{"key":{"z":1},"name":"z_1","expireAfterSeconds":0}]}`,
			`{numIndexesBefore: 2, numIndexesAfter: 4, createdCollectionAutomatically: false}`},
		{"missing collection", `{"dropIndexes":"nothing","index":"*"}`, `~26 NamespaceNotFound`},
		{"drop by name", `{"dropIndexes":"f","index":"y_1"}`, `{nIndexesWas: 4}`},
		{"drop by key", `{"dropIndexes":"f","index":{"z":1.0}}`, `{nIndexesWas: 3}`},
		{"drop an unknown one", `{"dropIndexes":"f","index":"y_1"}`,
			`27 IndexNotFound: index not found with name [y_1]`},
		{"drop all", `{"dropIndexes":"f","index":"*"}`, `{nIndexesWas: 2, msg: "non-_id indexes dropped for collection"}`},
	}
	for _, c := range cases {
		d.expect(c.cmd, c.want)
	}
}

// TestStampIndex is the index on _ts: T-73 to T-77, A-09, A-10, and section 2.1 of the rules.
func TestStampIndex(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	const stamped = `{_t: "CreateIndexesResponse", numIndexesBefore: 1, numIndexesAfter: 2, createdCollectionAutomatically: true}`
	cases := []struct{ name, cmd, want string }{
		{"T-75 to T-77", `{"createIndexes":"a","indexes":[{"key":{"_ts":1},"name":"_ts_1","expireAfterSeconds":10}]}`, stamped},
		{"listed", `{"listIndexes":"a"}`, `{cursor: {id: 0L, ns: "test.a", firstBatch: [{v: 2, key: {_id: 1}, name: "_id_"}, {v: 2, key: {_ts: 1}, name: "_ts_1", expireAfterSeconds: 10}]}}`},
		{"again", `{"createIndexes":"a","indexes":[{"key":{"_ts":1},"name":"_ts_1","expireAfterSeconds":10}]}`,
			`{_t: "CreateIndexesResponse", numIndexesBefore: 2, numIndexesAfter: 2, note: "all indexes already exist"}`},
		{"A-09", `{"createIndexes":"a","indexes":[{"key":{"_ts":1},"name":"_ts_1","expireAfterSeconds":11}]}`,
			`85 IndexOptionsConflict: An equivalent index already exists with the same name but different options. Requested index: { v: 2, key: { _ts: 1 }, name: "_ts_1", expireAfterSeconds: 11 }, ` +
				`existing index: { v: 2, key: { _ts: 1 }, name: "_ts_1", expireAfterSeconds: 10 }`},
		{"a plain one of that name", `{"createIndexes":"a","indexes":[{"key":{"_ts":1},"name":"_ts_1"}]}`, `~85 IndexOptionsConflict`},
		{"another key of that name", `{"createIndexes":"a","indexes":[{"key":{"x":1},"name":"_ts_1"}]}`, `~86 IndexKeySpecsConflict`},
		{"still one", `{"listIndexes":"a"}`, `~"_id_"}, {v: 2, key: {_ts: 1}, name: "_ts_1", expireAfterSeconds: 10}]}}`},
		{"dropped", `{"dropIndexes":"a","index":"_ts_1"}`, `{nIndexesWas: 2}`},
		{"and gone", `{"listIndexes":"a"}`, `~name: "_id_"}]}}`},
		{"made again with others", `{"createIndexes":"a","indexes":[{"key":{"x":1},"name":"x_1"},{"key":{"_ts":1},"name":"_ts_1","expireAfterSeconds":11}]}`,
			`{_t: "CreateIndexesResponse", numIndexesBefore: 1, numIndexesAfter: 3, createdCollectionAutomatically: false}`},
		{"dropped with all", `{"dropIndexes":"a","index":"*"}`, `{nIndexesWas: 3, msg: "non-_id indexes dropped for collection"}`},
		{"gone with all", `{"listIndexes":"a"}`, `~name: "_id_"}]}}`},
		{"descending", `{"createIndexes":"b","indexes":[{"key":{"_ts":-1},"name":"mine","expireAfterSeconds":10}]}`, stamped},
		{"listed as made", `{"listIndexes":"b"}`, `~{v: 2, key: {_ts: -1}, name: "mine", expireAfterSeconds: 10}]}}`},
		{"dropped by key", `{"dropIndexes":"b","index":{"_ts":-1}}`, `{nIndexesWas: 2}`},
		{"1.0", `{"createIndexes":"c","indexes":[{"key":{"_ts":1.0},"name":"_ts_1","expireAfterSeconds":10}]}`, stamped},
		{"without seconds", `{"createIndexes":"e","indexes":[{"key":{"_ts":1},"name":"_ts_1"}]}`, oneIndexMade},
		{"is a plain index", `{"listIndexes":"e"}`, `~{v: 2, key: {_ts: 1}, name: "_ts_1"}]}}`},
		{"and stays one", `{"createIndexes":"e","indexes":[{"key":{"_ts":1},"name":"_ts_1","expireAfterSeconds":10}]}`, `~85 IndexOptionsConflict`},
	}
	for _, c := range cases {
		d.expect(c.cmd, c.want)
	}
}

// TestCosmosTTL is --mongo-ttl=cosmos, which knows _ts only (I-06).
func TestCosmosTTL(t *testing.T) {
	t.Parallel()
	d := newServer(t, func(o *command.Options) { o.CosmosTTL = true })
	const only = `2 BadValue: The 'expireAfterSeconds' option is supported on '_ts' field only.`
	d.expect(`{"createIndexes":"a","indexes":[{"key":{"at":1},"name":"at_1","expireAfterSeconds":10}]}`, only)
	d.expect(`{"createIndexes":"a","indexes":[{"key":{"at":1},"name":"at_1"}]}`, `{_t: "CreateIndexesResponse", `+oneIndexMade[1:])
	d.expect(`{"collMod":"a","index":{"name":"at_1","expireAfterSeconds":10}}`, only)
	d.expect(`{"createIndexes":"a","indexes":[{"key":{"_ts":1},"name":"_ts_1","expireAfterSeconds":10}]}`,
		`{_t: "CreateIndexesResponse", numIndexesBefore: 2, numIndexesAfter: 3, createdCollectionAutomatically: false}`)
}
