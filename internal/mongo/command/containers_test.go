package command_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// admin sends a command to the database admin.
func (d *testServer) admin(cmd bson.D) (bson.M, error) {
	var answer bson.M
	err := d.Database("admin").RunCommand(d.t.Context(), cmd).Decode(&answer)
	return answer, err
}

// fails asks that an error has a code, and a text in it.
func fails(t testing.TB, err error, code int32, text string) {
	t.Helper()
	var e mongo.CommandError
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want an error with code %d", err, code)
	}
	if e.Code != code || !strings.Contains(e.Message, text) {
		t.Fatalf("got %d %q, want %d with %q", e.Code, e.Message, code, text)
	}
}

func (d *testServer) names(db string) []string {
	d.t.Helper()
	list, err := d.Database(db).ListCollectionNames(d.t.Context(), bson.D{})
	must(d.t, err)
	slices.Sort(list)
	return list
}

// same compares values by their JSON, members in any order.
func same(t testing.TB, got, want any) {
	t.Helper()
	if g, w := jsonOf(t, got), jsonOf(t, want); g != w {
		t.Fatalf("got  %s\nwant %s", g, w)
	}
}

func jsonOf(t testing.TB, v any) string {
	t.Helper()
	text, err := bson.MarshalExtJSON(bson.M{"v": v}, false, false)
	must(t, err)
	var any any
	must(t, json.Unmarshal(text, &any))
	text, err = json.Marshal(any)
	must(t, err)
	return string(text)
}

func TestCreate(t *testing.T) {
	d := newServer(t, nil)
	rules := bson.D{{Key: "$jsonSchema", Value: bson.D{{Key: "required", Value: bson.A{"a"}}}}}
	for _, c := range []struct {
		name string
		cmd  bson.D
		code int32 // 0 when it works
		text string
	}{
		{"plain", bson.D{{Key: "create", Value: "a"}}, 0, ""},
		{"again", bson.D{{Key: "create", Value: "a"}}, 0, ""},
		{"again with other options", pairs("create", "a", "validator", rules),
			48, "already exists, but with different options"},
		{"again as a view", document(t, `{create: 'a', viewOn: 'b'}`), 48, "rather than a view"},
		{"with rules",
			pairs("create", "r", "validator", rules, "validationLevel", "moderate", "validationAction", "warn"), 0, ""},
		{"with rules again",
			pairs("create", "r", "validator", rules, "validationLevel", "moderate", "validationAction", "warn"), 0, ""},
		{"bad rules", document(t, `{create: 'x', validator: {a: {$foo: 1}}}`), 2, "unknown operator: $foo"},
		{"bad level", document(t, `{create: 'x', validationLevel: 'loose'}`), 2, "Enumeration value 'loose'"},
		{"simple collation", document(t, `{create: 'c', collation: {locale: 'simple'}}`), 0, ""},
		{"collation", document(t, `{create: 'x', collation: {locale: 'fr'}}`), 115, "'fr'"},
		{"storage", document(t, `{
			create: 's', storageEngine: {wiredTiger: {}}, indexOptionDefaults: {}, comment: 'x', writeConcern: {w: 1}
		}`), 0, ""},
		{"capped", document(t, `{create: 'x', capped: true, size: 100}`), 115, "capped collection is not supported"},
		{"capped without size", document(t, `{create: 'x', capped: true}`), 72, "'size' field is required"},
		{"size alone", document(t, `{create: 'x', size: 100}`), 72, "'capped' field needs to be true"},
		{"time series", document(t, `{create: 'x', timeseries: {timeField: 't'}, expireAfterSeconds: 1}`),
			115, "time-series"},
		{"clustered", document(t, `{create: 'x', clusteredIndex: {key: {_id: 1}, unique: true}}`), 115, "clustered"},
		{"expiring", document(t, `{create: 'x', expireAfterSeconds: 60}`),
			72, "'expireAfterSeconds' is only supported on time-series collections " +
				"or when the 'clusteredIndex' option is specified"},
		{"encrypted", document(t, `{create: 'x', encryptedFields: {}}`), 115, "encryptedFields"},
		{"unknown option", document(t, `{create: 'x', foo: 1}`), 40415, "BSON field 'create.foo' is an unknown field."},
		{"no name", bson.D{{Key: "create", Value: ""}}, 73, "Invalid namespace"},
		{"dollar", bson.D{{Key: "create", Value: "a$b"}}, 73, "Invalid collection name"},
		{"system", bson.D{{Key: "create", Value: "system.foo"}}, 73, "Invalid system namespace: test.system.foo"},
		{"a number", bson.D{{Key: "create", Value: 1}}, 2, "collection name has invalid type int"},
		{"other index on _id", document(t, `{create: 'x', idIndex: {key: {a: 1}, name: '_id_'}}`),
			2, "must be {_id: 1}"},
		{"index on _id", document(t, `{create: 'i', idIndex: {v: 2, key: {_id: 1}, name: '_id_'}}`), 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := d.run(c.cmd)
			if c.code == 0 {
				must(t, err)
				return
			}
			fails(t, err, c.code, c.text)
		})
	}
	same(t, d.names("test"), []string{"a", "c", "i", "r", "s"})
	err := d.Database("Test").CreateCollection(t.Context(), "a")
	fails(t, err, 13297, "already have: [test] trying to create [Test]")
}

func TestViews(t *testing.T) {
	d := newServer(t, nil)
	db := d.Database("test")
	for i := range 5 {
		_, err := db.Collection("c").InsertOne(t.Context(), bson.D{{Key: "_id", Value: i}, {Key: "n", Value: i * 10}})
		must(t, err)
	}
	for _, c := range []struct {
		name     string
		view, on string
		pipeline bson.A
		code     int32
		text     string
	}{
		{"match", "big", "c", bson.A{document(t, `{$match: {n: {$gte: 20}}}`)}, 0, ""},
		{"on a view", "bigger", "big", bson.A{eq("$addFields", eq("m", 1))}, 0, ""},
		{"of nothing", "loop", "missing", bson.A{}, 0, ""},
		{"cycle", "missing", "loop", bson.A{}, 5, "View cycle"},
		{"cycle in a lookup", "missing", "c", bson.A{document(t, `{$lookup: {from: 'loop', as: 'x', pipeline: []}}`)},
			5, "View cycle"},
		{"itself", "self", "self", bson.A{}, 5, "View cycle"},
		{"writes", "w", "c", bson.A{bson.D{{Key: "$out", Value: "x"}}}, 167, "$out"},
		{"unknown stage", "u", "c", bson.A{bson.D{{Key: "$foo", Value: 1}}}, 40324, "$foo"},
		{"no source", "u", "", bson.A{}, 2, "'viewOn' cannot be empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := db.CreateView(t.Context(), c.view, c.on, c.pipeline)
			if c.code == 0 {
				must(t, err)
				return
			}
			fails(t, err, c.code, c.text)
		})
	}
	_, err := d.run(bson.D{{Key: "create", Value: "x"}, {Key: "pipeline", Value: bson.A{}}})
	fails(t, err, 72, "'pipeline' requires 'viewOn'")

	t.Run("reads", func(t *testing.T) {
		cursor, err := db.Collection("bigger").Find(t.Context(), eq("n", eq("$lt", 40)),
			options.Find().SetSort(eq("n", -1)).SetSkip(1).SetProjection(document(t, `{n: 1, m: 1}`)))
		must(t, err)
		var rows []bson.D
		must(t, cursor.All(t.Context(), &rows))
		same(t, rows, []bson.D{{{Key: "_id", Value: 2}, {Key: "n", Value: 20}, {Key: "m", Value: 1}}})
		n, err := db.Collection("big").CountDocuments(t.Context(), bson.D{})
		must(t, err)
		same(t, n, 3)
		n, err = db.Collection("big").EstimatedDocumentCount(t.Context())
		must(t, err)
		same(t, n, 3)
		var values []int
		must(t, db.Collection("bigger").Distinct(t.Context(), "n", bson.D{}).Decode(&values))
		same(t, values, []int{20, 30, 40})
	})
	t.Run("writes", func(t *testing.T) {
		_, err := db.Collection("big").DeleteMany(t.Context(), bson.D{})
		if err == nil {
			t.Error("a view was written")
		}
		_, err = d.admin(bson.D{{Key: "renameCollection", Value: "test.big"}, {Key: "to", Value: "test.small"}})
		fails(t, err, 166, "cannot rename view")
	})
	t.Run("drop", func(t *testing.T) {
		answer, err := d.run(bson.D{{Key: "drop", Value: "big"}})
		must(t, err)
		same(t, answer, bson.M{"ns": "test.big", "ok": 1.0})
	})
}

func TestDropAndRename(t *testing.T) {
	d := newServer(t, nil)
	db := d.Database("test")
	for _, name := range []string{"a", "b"} {
		_, err := db.Collection(name).InsertOne(t.Context(), bson.D{{Key: "_id", Value: name}})
		must(t, err)
	}
	_, err := db.Collection("a").Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: bson.D{{Key: "x", Value: 1}}})
	must(t, err)

	for _, c := range []struct {
		name     string
		from, to string
		over     bool
		code     int32
		text     string
	}{
		{"missing", "test.zz", "test.y", false, 26, "Source collection test.zz does not exist"},
		{"itself", "test.a", "test.a", false, 20, "itself"},
		{"taken", "test.a", "test.b", false, 48, "target namespace exists"},
		{"other database", "test.a", "other.a", false, 115, "into another database is not supported by mayfly"},
		{"no collection", "test", "test.y", false, 73, "Invalid namespace"},
		{"bad target", "test.a", "test.a$", false, 73, "Invalid collection name"},
		{"system", "test.a", "test.system.x", false, 20, "system"},
		{"over", "test.a", "test.b", true, 0, ""},
		{"back", "test.b", "test.a", false, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := d.admin(pairs("renameCollection", c.from, "to", c.to, "dropTarget", c.over))
			if c.code == 0 {
				must(t, err)
				return
			}
			fails(t, err, c.code, c.text)
		})
	}
	_, err = d.run(bson.D{{Key: "renameCollection", Value: "test.a"}, {Key: "to", Value: "test.x"}})
	fails(t, err, 13, "admin database")
	same(t, d.names("test"), []string{"a"})
	var found bson.D
	must(t, db.Collection("a").FindOne(t.Context(), bson.D{}).Decode(&found))
	same(t, found, bson.D{{Key: "_id", Value: "a"}})

	answer, err := d.run(bson.D{{Key: "drop", Value: "a"}})
	must(t, err)
	same(t, answer["nIndexesWas"], 2)
	same(t, answer["ns"], "test.a")
	answer, err = d.run(bson.D{{Key: "drop", Value: "a"}})
	must(t, err)
	same(t, answer, bson.M{"ok": 1.0})

	_, err = db.Collection("c").InsertOne(t.Context(), bson.D{})
	must(t, err)
	answer, err = d.run(bson.D{{Key: "dropDatabase", Value: 1}})
	must(t, err)
	same(t, answer["dropped"], "test")
	same(t, d.names("test"), []string{})
	answer, err = d.run(bson.D{{Key: "dropDatabase", Value: 1}})
	must(t, err)
	same(t, answer, bson.M{"ok": 1.0})
	_, err = d.admin(bson.D{{Key: "dropDatabase", Value: 1}})
	fails(t, err, 20, "prohibited")
}

func TestListCollections(t *testing.T) {
	d := newServer(t, nil)
	db := d.Database("test")
	must(t, db.CreateCollection(t.Context(), "a", options.CreateCollection().SetValidator(eq("x", 1))))
	must(t, db.CreateView(t.Context(), "v", "a", bson.A{bson.D{{Key: "$match", Value: bson.D{}}}}))
	for i := range 20 {
		must(t, db.CreateCollection(t.Context(), "n"+string(rune('a'+i))))
	}
	list := func(cmd bson.D) []bson.M {
		t.Helper()
		cursor, err := db.RunCommandCursor(t.Context(), cmd)
		must(t, err)
		var rows []bson.M
		must(t, cursor.All(t.Context(), &rows))
		return rows
	}
	if n := len(list(document(t, `{listCollections: 1, cursor: {batchSize: 3}}`))); n != 22 {
		t.Errorf("%d rows in batches", n)
	}
	row := list(bson.D{{Key: "listCollections", Value: 1}, {Key: "filter", Value: bson.D{{Key: "name", Value: "a"}}}})
	id, ok := row[0]["info"].(bson.D)[1].Value.(bson.Binary)
	if !ok || id.Subtype != 4 || len(id.Data) != 16 {
		t.Errorf("the uuid is %v", row[0]["info"])
	}
	again := list(pairs("listCollections", 1, "filter", eq("info.uuid", id)))
	if len(again) != 1 || again[0]["name"] != "a" {
		t.Errorf("by uuid: %v", again)
	}
	same(t, row[0]["options"], bson.D{{Key: "validator", Value: bson.D{{Key: "x", Value: 1}}}})
	same(t, row[0]["idIndex"], document(t, `{v: 2, key: {_id: 1}, name: '_id_'}`))
	same(t, list(document(t, `{listCollections: 1, filter: {type: 'view'}}`)), []bson.M{{
		"name": "v", "type": "view",
		"options": document(t, `{viewOn: 'a', pipeline: [{$match: {}}]}`), "info": eq("readOnly", true),
	}})
	same(t, list(document(t, `{listCollections: 1, nameOnly: true, filter: {name: {$regex: '^nb'}}}`)),
		[]bson.M{{"name": "nb", "type": "collection"}})
}

func TestListDatabases(t *testing.T) {
	d := newServer(t, nil)
	for _, name := range []string{"shop", "blog"} {
		_, err := d.Database(name).Collection("c").InsertOne(t.Context(), bson.D{{Key: "_id", Value: 1}})
		must(t, err)
	}
	must(t, d.Database("gone").CreateCollection(t.Context(), "c"))
	must(t, d.Database("gone").Collection("c").Drop(t.Context()))
	answer, err := d.admin(bson.D{{Key: "listDatabases", Value: 1}})
	must(t, err)
	same(t, answer, bson.M{
		"databases": bson.A{
			document(t, `{name: 'blog', sizeOnDisk: {$numberLong: '14'}, empty: false}`),
			document(t, `{name: 'shop', sizeOnDisk: {$numberLong: '14'}, empty: false}`),
		},
		"totalSize": int64(28), "totalSizeMb": int64(0), "ok": 1.0,
	})
	names, err := d.ListDatabaseNames(t.Context(), bson.D{{Key: "name", Value: bson.D{{Key: "$regex", Value: "^s"}}}})
	must(t, err)
	same(t, names, []string{"shop"})
	_, err = d.run(bson.D{{Key: "listDatabases", Value: 1}})
	fails(t, err, 13, "admin")
}

func TestRefusedCommands(t *testing.T) {
	d := newServer(t, nil)
	for _, name := range []string{
		"applyOps", "cloneCollectionAsCapped", "convertToCapped", "dbHash", "getLastRequestStatistics", "mapReduce",
	} {
		_, err := d.run(bson.D{{Key: name, Value: "c"}})
		fails(t, err, 115, "the command "+name+" is not supported by mayfly")
	}
	_, err := d.run(bson.D{{Key: "createSearchIndexes", Value: "c"}, {Key: "indexes", Value: bson.A{}}})
	fails(t, err, 31082, "Atlas")
}

func TestCursorOfDroppedCollection(t *testing.T) {
	d := newServer(t, nil)
	c := d.Database("test").Collection("c")
	for i := range 10 {
		_, err := c.InsertOne(t.Context(), bson.D{{Key: "_id", Value: i}})
		must(t, err)
	}
	cursor, err := c.Find(t.Context(), bson.D{}, options.Find().SetBatchSize(3))
	must(t, err)
	must(t, c.Drop(t.Context()))
	var list []bson.M
	fails(t, cursor.All(t.Context(), &list), 175, "dropped")
}
