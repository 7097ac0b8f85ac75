package command_test

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// The parameters of the Stable API.
var (
	inV1    = bson.D{{Key: "apiVersion", Value: "1"}}
	strict  = bson.D{{Key: "apiVersion", Value: "1"}, {Key: "apiStrict", Value: true}}
	lenient = bson.D{{Key: "apiVersion", Value: "1"}, {Key: "apiStrict", Value: false}}
	current = bson.D{{Key: "apiVersion", Value: "1"}, {Key: "apiDeprecationErrors", Value: true}}
)

func pipelineOf(stages ...any) bson.D {
	return pairs("aggregate", "c", "pipeline", bson.A(stages), "cursor", bson.D{})
}

// What is not in version 1 of the Stable API is refused to those who want nothing else, as in
// mongodb/mongo: jstests/core/api/*.js.
func TestStableAPI(t *testing.T) {
	t.Parallel()
	d := newTested(t)
	_, err := d.Database("test").Collection("c").InsertOne(t.Context(), eq("a", 1))
	must(t, err)
	ping := eq("ping", 1)
	latency := eq("$collStats", eq("latencyStats", bson.D{}))
	median := bson.D{{Key: "input", Value: "$a"}, {Key: "method", Value: "approximate"}}
	counted := eq("$group", pairs("_id", 1, "n", eq("$sum", "$count")))
	unstable := bson.A{eq("$indexStats", bson.D{})}
	window := pairs("sortBy", eq("a", 1), "output", eq("n", eq("$sum", 1)))
	let := eq("$let", pairs("vars", eq("x", 1), "in", eq("$median", median)))
	for _, c := range []struct {
		name string
		cmd  bson.D
		code int32
		text string
	}{
		{"a version", with(ping, inV1), 0, ""},
		{"all parameters", with(ping, with(strict, eq("apiDeprecationErrors", true))), 0, ""},
		{"strict without a version", with(ping, eq("apiStrict", true)), 4886600, "without passing apiVersion"},
		{"not strict without a version", with(ping, eq("apiStrict", false)), 4886600, "without passing apiVersion"},
		{"deprecation without a version", with(ping, eq("apiDeprecationErrors", false)),
			4886600, "without passing apiVersion"},
		{"another version", with(ping, eq("apiVersion", "2")), 322, `API version must be "1"`},
		{"a version that is no string", with(ping, eq("apiVersion", 1)), 14, "'APIParametersFromClient.apiVersion' is the wrong type 'int', expected type 'string'"},
		{"strict that is no boolean", with(ping, with(inV1, eq("apiStrict", "true"))), 14, "expected type 'bool'"},
		{"deprecation that is no boolean", with(ping, with(inV1, eq("apiDeprecationErrors", 1))),
			14, "expected type 'bool'"},

		{"distinct", with(document(t, `{distinct: 'c', key: 'a'}`), strict),
			323, "the command distinct is not in API Version 1"},
		{"distinct, not strict", with(document(t, `{distinct: 'c', key: 'a'}`), lenient), 0, ""},
		{"buildInfo", with(eq("buildInfo", 1), strict), 323, "dochub.mongodb.org"},
		{"isMaster", with(eq("isMaster", 1), strict), 323, "isMaster"},
		{"ismaster", with(eq("ismaster", 1), strict), 323, "isMaster"},
		{"hello", with(eq("hello", 1), strict), 0, ""},
		{"count", with(eq("count", "c"), strict), 0, ""},
		{"listCommands", with(eq("listCommands", 1), strict), 323, ""},
		{"listCommands, current", with(eq("listCommands", 1), current), 0, ""},
		{"serverStatus", with(eq("serverStatus", 1), strict), 323, ""},
		{"usersInfo", with(eq("usersInfo", 1), strict), 323, ""},
		{"what is no command", with(eq("whatever", 1), strict), 59, ""},
		{"deprecated", with(eq("testDeprecation", 1), strict), 0, ""},
		{"deprecated, where that is an error", with(eq("testDeprecation", 1), current), 324, "the command testDeprecation is deprecated in API Version 1"},
		{"of another version", with(eq("testVersion2", 1), strict),
			323, "the command testVersion2 is not in API Version 1"},
		{"a write to system.js", with(document(t, `{insert: 'system.js', documents: [{}]}`), strict),
			323, "attempts to write to system.js"},
		{"a read of system.js", with(eq("find", "system.js"), strict), 0, ""},

		{"find tailable", with(document(t, `{find: 'c', tailable: false}`), strict),
			323, "BSON field 'find.tailable' is not allowed with apiStrict:true."},
		{"find min", with(document(t, `{find: 'c', min: {a: 1}}`), strict), 323, "find.min"},
		{"find oplogReplay", with(document(t, `{find: 'c', oplogReplay: false}`), strict), 323, "find.oplogReplay"},
		{"find", with(document(t, `{find: 'c', batchSize: 1, let: {}}`), strict), 0, ""},
		{"aggregate explain", with(with(pipelineOf(), eq("explain", true)), strict), 323, "aggregate.explain"},
		{"explain", with(eq("explain", eq("find", "c")), strict), 0, ""},
		{"explain of find min", with(eq("explain", pairs("find", "c", "max", eq("a", 1))), strict), 323, "find.max"},
		{"create capped without size", with(document(t, `{create: 'x', capped: true}`), strict), 72, "size"},
		{"create capped", with(document(t, `{create: 'x', capped: true, size: 1000}`), strict), 323, "create.capped"},
		{"create not capped", with(document(t, `{create: 'x', capped: false}`), strict), 0, ""},
		{"a sparse index",
			with(document(t, `{createIndexes: 'c', indexes: [{key: {a: 1}, name: 'a', sparse: true}]}`), strict),
			323, "sparse"},
		{"a text index", with(document(t, `{createIndexes: 'c', indexes: [{key: {a: 'text'}, name: 'a'}]}`), strict),
			323, "text"},
		{"an index", with(document(t, `{createIndexes: 'c', indexes: [{key: {a: 1}, name: 'a'}]}`), strict), 0, ""},
		{"collMod prepareUnique", with(document(t, `{collMod: 'c', index: {name: 'a', prepareUnique: true}}`), strict),
			323, "prepareUnique"},

		{"$indexStats", with(pipelineOf(eq("$indexStats", bson.D{})), strict), 323, "$indexStats is not allowed with 'apiStrict: true' in API Version 1"},
		{"$listLocalSessions",
			with(document(t, `{aggregate: 1, pipeline: [{$listLocalSessions: {}}, {$limit: 1}], cursor: {}}`), strict),
			323, "$listLocalSessions"},
		{"$currentOp", with(pipelineOf(eq("$currentOp", bson.D{})), strict), 323, "$currentOp"},
		{"$planCacheStats", with(pipelineOf(eq("$planCacheStats", bson.D{})), strict), 323, "$planCacheStats"},
		{"$search", with(pipelineOf(eq("$search", bson.D{})), strict), 323, "$search"},
		{"$collStats of latencies", with(pipelineOf(latency), strict), 323, "only the 'count' option to $collStats is supported in API Version 1"},
		{"$collStats of latencies, not strict", with(pipelineOf(latency), inV1), 0, ""},
		{"$collStats of the count", with(pipelineOf(eq("$collStats", eq("count", bson.D{})), counted), strict), 0, ""},
		{"$collStats of nothing", with(pipelineOf(eq("$collStats", bson.D{})), strict), 0, ""},
		{"in $unionWith", with(pipelineOf(eq("$unionWith", pairs("coll", "d", "pipeline", bson.A{latency}))), strict),
			323, "$collStats"},
		{"in $lookup", with(pipelineOf(eq("$lookup", pairs("from", "d", "as", "x", "pipeline", unstable))), strict),
			323, "$indexStats"},
		{"in $facet", with(pipelineOf(eq("$facet", pairs("a", bson.A{}, "b", unstable))), strict), 323, "$indexStats"},
		{"expanded change events", with(pipelineOf(eq("$changeStream", eq("showExpandedEvents", true))), strict),
			323, "'showExpandedEvents' parameter to $changeStream"},
		{"in a view", with(document(t, `{create: 'v', viewOn: 'c', pipeline: [{$indexStats: {}}]}`), strict),
			323, "$indexStats"},
		{"$median", with(pipelineOf(eq("$project", eq("m", eq("$median", median)))), strict), 323, "$median"},
		{"$median as a value", with(pipelineOf(eq("$match", eq("a", eq("$eq", eq("$median", 1))))), strict), 0, ""},
		{"$median, not strict", with(pipelineOf(eq("$project", eq("m", eq("$median", median)))), inV1), 0, ""},
		{"$median of groups", with(pipelineOf(eq("$group", pairs("_id", 1, "m", eq("$median", median)))), strict),
			323, "$median"},
		{"$median inside of $let", with(pipelineOf(eq("$project", eq("m", let))), strict), 323, "$median"},
		{"$median of a validator", with(pairs("create", "y", "validator", eq("$expr", eq("$median", median))), strict),
			323, "$median"},
		{"a window", with(pipelineOf(eq("$setWindowFields", window)), strict), 0, ""},
		{"bits", with(pipelineOf(eq("$project", eq("m", eq("$bitAnd", bson.A{1, 3})))), strict), 0, ""},
	} {
		answer, err := d.run(c.cmd)
		if got := numberOf(err); got != c.code || c.text != "" && !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v, error %v; want code %d, %q", c.name, answer, err, c.code, c.text)
		}
	}
	must(t, d.Database("test").CreateView(t.Context(), "unstable", "c", bson.A{latency}))
	_, err = d.run(with(document(t, `{aggregate: 'unstable', pipeline: [], cursor: {}}`), strict))
	failsWith(t, "a view that is not stable", err, 323)
}

// A getMore says what the command has said that has made the cursor, and so do all commands of a transaction.
// mongodb/mongo: jstests/core/api/api_params_getmore.js, jstests/core/txns/api_params_transaction.js
func TestStableAPIOfWhatBelongsTogether(t *testing.T) {
	t.Parallel()
	d := newSuite(t)
	must(t, d.Database("test").CreateCollection(t.Context(), "c"))
	_, err := d.Database("test").Collection("c").InsertMany(t.Context(), []any{eq("_id", 1), eq("_id", 2)})
	must(t, err)
	said := map[string]bson.D{
		"nothing": {}, "a version": inV1, "strict": strict, "not strict": lenient, "current": current,
	}
	for name, first := range said {
		for other, later := range said {
			want := int32(0)
			if name != other {
				want = 347
			}
			var answer bson.Raw
			find := with(pairs("find", "c", "batchSize", 1), first)
			must(t, d.Database("test").RunCommand(t.Context(), find).Decode(&answer))
			_, err := d.run(with(pairs("getMore", answer.Lookup("cursor", "id").Int64(), "collection", "c"), later))
			failsWith(t, name+", then "+other, err, want)
			if want != 0 && name == "strict" && other == "nothing" {
				fails(t, err, 347, `getMore used params {}, the cursor-creating command used { apiVersion: "1", apiStrict: true }`)
			}
		}
	}
	m := d.member(1)
	wants(t, "begin", m.begin(with(findOf("c", bson.D{}), strict)), `[{"_id":1},{"_id":2}]`)
	wants(t, "another", m.in(findOf("c", bson.D{})), "code 347")
	wants(t, "the same", m.in(with(findOf("c", bson.D{}), strict)), `[{"_id":1},{"_id":2}]`)
	wants(t, "commit", m.in(eq("commitTransaction", 1)), "code 347")
	wants(t, "commit", m.in(with(eq("commitTransaction", 1), strict)), "ok")
}

// A server may want that every client names a version.
// https://github.com/mongodb/specifications/blob/master/source/versioned-api/tests/README.md
func TestRequiredAPIVersion(t *testing.T) {
	t.Parallel()
	d := newTested(t)
	_, err := d.admin(bson.D{{Key: "setParameter", Value: 1}, {Key: "requireApiVersion", Value: true}})
	must(t, err)
	_, err = d.run(eq("ping", 1))
	failsWith(t, "no version", err, 498870)
	_, err = d.run(with(eq("ping", 1), inV1))
	failsWith(t, "a version", err, 0)
	_, err = d.admin(document(t, `{setParameter: 1, requireApiVersion: false, apiVersion: '1'}`))
	must(t, err)
	_, err = d.run(eq("ping", 1))
	failsWith(t, "not required", err, 0)
}

// What a driver sends for a client that is strict.
// https://github.com/mongodb/specifications/blob/master/source/versioned-api/tests/crud-api-version-1-strict.yml
func TestStrictDriver(t *testing.T) {
	t.Parallel()
	d := newServer(t, alone)
	api := options.ServerAPI(options.ServerAPIVersion1).SetStrict(true).SetDeprecationErrors(true)
	client, err := mongo.Connect(options.Client().ApplyURI("mongodb://" + d.address).SetServerAPIOptions(api))
	must(t, err)
	t.Cleanup(func() { _ = client.Disconnect(t.Context()) })
	c := client.Database("test").Collection("c")
	_, err = c.InsertMany(t.Context(), []any{eq("_id", 1), eq("_id", 2), eq("_id", 3), eq("_id", 4), eq("_id", 5)})
	must(t, err)
	cursor, err := c.Find(t.Context(), bson.D{}, options.Find().SetBatchSize(3))
	must(t, err)
	var all []bson.D
	must(t, cursor.All(t.Context(), &all))
	same(t, len(all), 5)
	n, err := c.CountDocuments(t.Context(), bson.D{})
	must(t, err)
	same(t, n, 5)
	n, err = c.EstimatedDocumentCount(t.Context())
	must(t, err)
	same(t, n, 5)
	_, err = c.BulkWrite(t.Context(), []mongo.WriteModel{
		mongo.NewInsertOneModel().SetDocument(eq("_id", 6)),
		mongo.NewDeleteOneModel().SetFilter(eq("_id", 1)),
		mongo.NewUpdateManyModel().SetFilter(bson.D{}).SetUpdate(eq("$set", eq("x", 1))),
	})
	must(t, err)
	must(t, c.FindOneAndUpdate(t.Context(), eq("_id", 2), eq("$inc", eq("x", 1))).Err())
	_, err = c.Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: eq("x", 1)})
	must(t, err)
	_, err = client.ListDatabaseNames(t.Context(), bson.D{})
	must(t, err)
	_, err = client.Database("test").ListCollectionNames(t.Context(), bson.D{})
	must(t, err)
	failsWith(t, "distinct", c.Distinct(t.Context(), "x", bson.D{}).Err(), 323)
	sessions := bson.A{eq("$listLocalSessions", bson.D{}), eq("$limit", 1)}
	_, err = client.Database("admin").Aggregate(t.Context(), sessions)
	failsWith(t, "$listLocalSessions", err, 323)
}
