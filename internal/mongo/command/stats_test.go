package command_test

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/mayflydb/mayfly/internal/mongo/command"
)

// stocked is a server with ten documents of 24 bytes in test.c, an index on n, and a view.
func stocked(t *testing.T, change func(*command.Options)) (*testServer, *mongo.Collection) {
	t.Helper()
	d := newServer(t, change)
	c := d.Database("test").Collection("c")
	var list []any
	for i := range 10 {
		list = append(list, bson.D{{Key: "_id", Value: int32(i)}, {Key: "n", Value: int32(i % 3)}})
	}
	_, err := c.InsertMany(t.Context(), list)
	must(t, err)
	_, err = c.Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: bson.D{{Key: "n", Value: 1}}})
	must(t, err)
	must(t, d.Database("test").CreateView(t.Context(), "v", "c", bson.A{}))
	return d, c
}

func rows(t testing.TB, c *mongo.Collection, stages ...bson.D) []bson.M {
	t.Helper()
	cursor, err := c.Aggregate(t.Context(), stages)
	must(t, err)
	var list []bson.M
	must(t, cursor.All(t.Context(), &list))
	return list
}

func TestSizes(t *testing.T) {
	d, c := stocked(t, nil)
	bytes := 10 * 21 // {_id: int32, n: int32}: 4 + 9 + 7 + 1

	answer, err := d.run(bson.D{{Key: "collStats", Value: "c"}})
	must(t, err)
	for name, want := range map[string]any{
		"ns": "test.c", "count": 10, "size": bytes, "avgObjSize": 21, "nindexes": 2, "capped": false,
		"indexSizes": pairs("_id_", 260, "n_1", 300), "totalIndexSize": 560, "totalSize": bytes + 560,
		"scaleFactor": 1,
	} {
		same(t, answer[name], want)
	}
	answer, err = d.run(bson.D{{Key: "collStats", Value: "c"}, {Key: "scale", Value: 10}})
	must(t, err)
	same(t, answer["size"], bytes/10)
	answer, err = d.run(bson.D{{Key: "collStats", Value: "missing"}})
	must(t, err)
	same(t, answer["count"], 0)
	_, err = d.run(bson.D{{Key: "collStats", Value: "v"}})
	fails(t, err, 166, "view")
	_, err = d.run(bson.D{{Key: "collStats", Value: "c"}, {Key: "scale", Value: 0}})
	fails(t, err, 51024, "scale")

	answer, err = d.run(bson.D{{Key: "dbStats", Value: 1}})
	must(t, err)
	same(t, answer, bson.M{
		"db": "test", "collections": 1, "views": 1, "objects": 10, "avgObjSize": 21.0, "dataSize": 210.0,
		"storageSize": 210.0, "indexes": 2, "indexSize": 560.0, "totalSize": 770.0, "scaleFactor": 1, "ok": 1.0,
	})
	answer, err = d.run(bson.D{{Key: "dbStats", Value: 1}, {Key: "freeStorage", Value: 1}, {Key: "scale", Value: 10}})
	must(t, err)
	for name, want := range map[string]any{
		"freeStorageSize": 0.0, "indexFreeStorageSize": 0.0, "totalFreeStorageSize": 0.0,
		"indexSize": 56.0, "totalSize": 77.0,
	} {
		same(t, answer[name], want)
	}
	answer, err = d.run(bson.D{{Key: "dataSize", Value: "test.c"}})
	must(t, err)
	same(t, answer["size"], bytes)
	same(t, answer["numObjects"], 10)
	_, err = d.run(bson.D{{Key: "dataSize", Value: "test.c"}, {Key: "min", Value: bson.D{}}})
	fails(t, err, 115, "range")

	list := rows(t, c, document(t, `{$collStats: {storageStats: {}, count: {}, latencyStats: {}}}`))
	same(t, list[0]["ns"], "test.c")
	same(t, list[0]["count"], 10)
	same(t, list[0]["storageStats"].(bson.D)[0], bson.E{Key: "size", Value: bytes})
	counts := bson.A{eq("$collStats", eq("count", bson.D{}))}
	cursor, err := d.Database("test").Collection("missing").Aggregate(t.Context(), counts)
	if err == nil {
		err = cursor.All(t.Context(), &list)
	}
	fails(t, err, 26, "not found")
}

func TestSizesLeaveOutTheExpired(t *testing.T) {
	d, c := stocked(t, nil)
	_, err := c.Indexes().CreateOne(t.Context(), indexOn("at", 60))
	must(t, err)
	_, err = c.InsertOne(t.Context(), bson.D{{Key: "_id", Value: 100}, {Key: "at", Value: start}})
	must(t, err)
	count := func() int {
		answer, err := d.run(bson.D{{Key: "collStats", Value: "c"}})
		must(t, err)
		return int(answer["count"].(int32))
	}
	if n := count(); n != 11 {
		t.Fatalf("%d before", n)
	}
	d.pass(time.Minute)
	if n := count(); n != 10 {
		t.Fatalf("%d after", n)
	}
	same(t, rows(t, c, bson.D{{Key: "$collStats", Value: bson.D{{Key: "count", Value: bson.D{}}}}})[0]["count"], 10)
}

func TestIndexStats(t *testing.T) {
	d, c := stocked(t, nil)
	ops := func() map[string]any {
		m := map[string]any{}
		for _, row := range rows(t, c, bson.D{{Key: "$indexStats", Value: bson.D{}}}) {
			m[row["name"].(string)] = row["accesses"].(bson.D)[0].Value
		}
		return m
	}
	same(t, ops(), map[string]any{"_id_": 0, "n_1": 0})
	for range 3 {
		_, err := c.CountDocuments(t.Context(), bson.D{{Key: "n", Value: 1}})
		must(t, err)
	}
	_, err := c.CountDocuments(t.Context(), bson.D{{Key: "_id", Value: bson.D{{Key: "$gt", Value: 1}}}})
	must(t, err)
	same(t, ops(), map[string]any{"_id_": 1, "n_1": 3})
	_, err = d.run(document(t, `{explain: {find: 'c', filter: {n: 1}}, verbosity: 'queryPlanner'}`))
	must(t, err)
	same(t, ops(), map[string]any{"_id_": 1, "n_1": 3})
}

func TestMaintenance(t *testing.T) {
	d, c := stocked(t, nil)
	_, err := d.run(document(t, `{collMod: 'c', validator: {n: {$lt: 2}}}`))
	must(t, err)
	answer, err := d.run(bson.D{{Key: "validate", Value: "c"}})
	must(t, err)
	for name, want := range map[string]any{
		"ns": "test.c", "nrecords": 10, "nInvalidDocuments": 0, "nNonCompliantDocuments": 3, "nIndexes": 2,
		"valid": true, "keysPerIndex": pairs("_id_", 10, "n_1", 10), "errors": bson.A{},
	} {
		same(t, answer[name], want)
	}
	// PyMongo's validate_collection always sends scandata, which servers have long ignored.
	_, err = d.run(bson.D{{Key: "validate", Value: "c"}, {Key: "scandata", Value: false}, {Key: "full", Value: false}})
	must(t, err)
	_, err = d.run(bson.D{{Key: "validate", Value: "missing"}})
	fails(t, err, 26, "does not exist to validate")
	_, err = d.run(bson.D{{Key: "validate", Value: "v"}})
	fails(t, err, 166, "view")

	answer, err = d.run(bson.D{{Key: "compact", Value: "c"}})
	must(t, err)
	same(t, answer["bytesFreed"], 0)
	answer, err = d.run(bson.D{{Key: "reIndex", Value: c.Name()}})
	must(t, err)
	same(t, answer["nIndexes"], 2)
	answer, err = d.admin(bson.D{{Key: "fsync", Value: 1}})
	must(t, err)
	same(t, answer, bson.M{"numFiles": 1, "ok": 1.0})
	_, err = d.admin(bson.D{{Key: "fsync", Value: 1}, {Key: "lock", Value: true}})
	fails(t, err, 115, "lock")
	_, err = d.admin(bson.D{{Key: "fsyncUnlock", Value: 1}})
	fails(t, err, 20, "not locked")
}

func TestReIndexOnReplicaSet(t *testing.T) {
	d, _ := stocked(t, func(o *command.Options) { o.ReplSet = "rs" })
	_, err := d.run(bson.D{{Key: "reIndex", Value: "c"}})
	fails(t, err, 20, "standalone")
}

func TestCosmosActions(t *testing.T) {
	d := newServer(t, nil)
	answer, err := d.admin(document(t, `{shardCollection: 'test.s', key: {a: 'hashed'}}`))
	must(t, err)
	same(t, answer["collectionsharded"], "test.s")
	_, err = d.run(document(t, `{customAction: 'CreateCollection', collection: 'x', shardKey: 'a'}`))
	must(t, err)
	same(t, d.names("test"), []string{"s", "x"})
	_, err = d.run(bson.D{{Key: "customAction", Value: "CreateCollection"}, {Key: "collection", Value: "x"}})
	fails(t, err, 48, "exists")
	answer, err = d.run(bson.D{{Key: "customAction", Value: "GetCollection"}, {Key: "collection", Value: "x"}})
	must(t, err)
	same(t, answer, bson.M{"database": "test", "collection": "x", "ok": 1.0})
	answer, err = d.run(bson.D{{Key: "customAction", Value: "GetDatabase"}})
	must(t, err)
	same(t, answer, bson.M{"database": "test", "ok": 1.0})
	_, err = d.run(bson.D{{Key: "customAction", Value: "UpdateCollection"}, {Key: "collection", Value: "x"}})
	fails(t, err, 115, "UpdateCollection")
	_, err = d.run(document(t, `{customAction: 'CreateCollection', collection: 'y', offerThroughput: 400}`))
	fails(t, err, 115, "offerThroughput")
}

// What mongosh sends for show dbs, show collections, db.stats(), db.c.stats() and db.c.totalSize().
func TestShellHelpers(t *testing.T) {
	d, c := stocked(t, nil)
	lsid := eq("id", bson.Binary{Subtype: 4, Data: make([]byte, 16)})
	answer, err := d.admin(pairs("listDatabases", 1, "nameOnly", false, "lsid", lsid))
	must(t, err)
	same(t, answer["databases"].(bson.A)[0], document(t, `{name: 'test', sizeOnDisk: 210, empty: false}`))
	names := document(t,
		`{listCollections: 1, filter: {}, cursor: {}, nameOnly: true, authorizedCollections: false}`)
	cursor, err := d.Database("test").RunCommandCursor(t.Context(), names)
	must(t, err)
	var list []bson.M
	must(t, cursor.All(t.Context(), &list))
	same(t, list, []bson.M{{"name": "c", "type": "collection"}, {"name": "v", "type": "view"}})
	answer, err = d.run(bson.D{{Key: "dbStats", Value: 1}, {Key: "scale", Value: 1024}})
	must(t, err)
	same(t, answer["dataSize"], 210.0/1024)
	stats := rows(t, c, document(t, `{$collStats: {storageStats: {scale: 1}}}`))
	for name, want := range map[string]any{
		"count": 10, "size": 210, "avgObjSize": 21, "storageSize": 210, "nindexes": 2, "totalSize": 770,
		"capped": false,
	} {
		same(t, inside(t, stats[0], "storageStats", name), want)
	}
}
