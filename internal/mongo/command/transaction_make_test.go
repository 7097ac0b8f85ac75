package command_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// TestTransactionMakesCollections has the cases of mongodb/mongo: jstests/core/txns/create_collection.js,
// create_collection_parallel.js, create_indexes.js, create_indexes_parallel.js, create_existing_indexes.js,
// commands_in_txns_read_concern.js and concurrent_drops_and_creates.js.
func TestTransactionMakesCollections(t *testing.T) {
	t.Parallel()
	const again = `["TransientTransactionError"]`
	a := func(id, v int) bson.D { return bson.D{{Key: "_id", Value: id}, {Key: "a", Value: v}} }
	indexOf := func(c string, key any, name string, more ...bson.E) bson.D {
		return pairs("createIndexes", c, "indexes", bson.A{append(pairs("key", key, "name", name), more...)})
	}
	snapshot := func(cmd bson.D) bson.D {
		return append(append(bson.D{}, cmd...), bson.E{Key: "readConcern", Value: eq("level", "snapshot")})
	}
	names := document(t, `{listCollections: 1, filter: {name: {$in: ['new', 'second']}}, nameOnly: true}`)
	indexes := eq("listIndexes", "new")
	all := findOf("new", bson.D{})
	const none, made = "[]", `[{"name":"new","type":"collection"}]`
	upsert := document(t, `{update: 'new', updates: [{q: {_id: 1}, u: {$set: {a: 1}}, upsert: true}]}`)
	modify := document(t, `{findAndModify: 'new', query: {_id: 1}, update: {$set: {a: 1}}, upsert: true, new: true}`)
	joined := eq("$lookup", pairs("from", "second", "localField", "_id", "foreignField", "_id", "as", "s"))
	const upserted = `n 1, nModified 0`
	for _, c := range []struct {
		name  string
		steps []step
	}{
		{"by an insert, committed", []step{
			{1, "begin", insertOf("new", a(1, 1)), "n 1"},
			{2, "alone", names, none},
			{2, "alone", all, none},
			{1, "in", all, `[{"_id":1,"a":1}]`},
			{1, "commit", nil, "ok"},
			{2, "alone", names, made},
			{2, "alone", all, `[{"_id":1,"a":1}]`},
		}},
		{"by an insert, aborted", []step{
			{1, "begin", insertOf("new", a(1, 1)), "n 1"},
			{1, "abort", nil, "ok"},
			{2, "alone", names, none},
			{2, "alone", all, none},
			{1, "begin", insertOf("new", a(1, 2)), "n 1"},
			{1, "commit", nil, "ok"},
			{2, "alone", all, `[{"_id":1,"a":2}]`},
		}},
		{"by an upsert, aborted", []step{
			{1, "begin", upsert, upserted},
			{1, "abort", nil, "ok"},
			{2, "alone", names, none},
		}},
		{"by findAndModify, aborted", []step{
			{1, "begin", modify, `value {"_id":1,"a":1}`},
			{1, "abort", nil, "ok"},
			{2, "alone", names, none},
		}},
		{"by name, aborted", []step{
			{1, "begin", eq("create", "new"), "ok"},
			{2, "alone", names, none},
			{1, "abort", nil, "ok"},
			{2, "alone", names, none},
		}},
		{"by name, with nothing in it, committed", []step{
			{1, "begin", eq("create", "new"), "ok"},
			{1, "commit", nil, "ok"},
			{2, "alone", names, made},
			{2, "alone", insertOf("new", a(1, 1)), "n 1"},
		}},
		{"two, and a document of one that was there", []step{
			{1, "begin", eq("create", "new"), "ok"},
			{1, "in", insertOf("second", a(1, 1)), "n 1"},
			{1, "in", insertOf("other", a(1, 1)), "n 1"},
			{1, "in", eqAggregate("other", joined), `[{"_id":1,"a":1,"s":[{"_id":1,"a":1}]}]`},
			{1, "commit", nil, "ok"},
			{2, "alone", names, `[{"name":"new","type":"collection"},{"name":"second","type":"collection"}]`},
		}},
		{"a statement that fails takes it away", []step{
			{1, "begin", insertOf("new", a(1, 1)), "n 1"},
			{1, "in", insertOf("new", a(1, 1)), "n 0, writeErrors 11000"},
			{2, "alone", names, none},
		}},
		{"a collection that is there", []step{
			{1, "begin", eq("create", "new"), "ok"},
			{1, "in", eq("create", "c"), "code 48"},
			{1, "abort", nil, "code 251, " + again},
			{2, "alone", names, none},
		}},
		{"one of its own again", []step{
			{1, "begin", eq("create", "new"), "ok"},
			{1, "in", eq("create", "new"), "code 48"},
		}},
		{"a view", []step{
			{1, "begin", bson.D{{Key: "create", Value: "new"}, {Key: "viewOn", Value: "c"}}, "code 263"},
		}},
		{"others make it before the transaction's first command", []step{
			{2, "alone", eq("create", "new"), "ok"},
			{1, "begin", eq("create", "new"), "code 48"},
		}},
		{"others make it after the transaction has", []step{
			{1, "begin", insertOf("new", a(1, 1)), "n 1"},
			{2, "alone", eq("create", "new"), "ok"},
			{2, "alone", insertOf("new", a(2, 2)), "n 1"},
			{1, "commit", nil, "code 112, " + again},
			{2, "alone", all, `[{"_id":2,"a":2}]`},
		}},
		{"others make it after the transaction has begun", []step{
			{1, "begin", insertOf("other", a(1, 1)), "n 1"},
			{2, "alone", insertOf("new", a(2, 2)), "n 1"},
			{1, "in", all, none},
			{1, "in", eq("create", "new"), "ok"},
			{1, "commit", nil, "code 112, " + again},
			{2, "alone", findOf("other", bson.D{}), none},
		}},
		{"an insert into what others have made since", []step{
			{1, "begin", insertOf("other", a(1, 1)), "n 1"},
			{2, "alone", eq("create", "new"), "ok"},
			{1, "in", insertOf("new", a(1, 1)), "n 1"},
			{1, "commit", nil, "code 112, " + again},
		}},
		{"two transactions make it", []step{
			{2, "begin", insertOf("new", a(2, 2)), "n 1"},
			{1, "begin", insertOf("second", a(1, 1)), "n 1"},
			{1, "in", insertOf("new", a(1, 1)), "n 1"},
			{2, "commit", nil, "ok"},
			{1, "commit", nil, "code 112, " + again},
			{2, "alone", all, `[{"_id":2,"a":2}]`},
			{2, "alone", names, made},
		}},
		{"two transactions make different ones", []step{
			{2, "begin", insertOf("new", a(2, 2)), "n 1"},
			{1, "begin", insertOf("second", a(1, 1)), "n 1"},
			{2, "commit", nil, "ok"},
			{1, "commit", nil, "ok"},
			{2, "alone", names, `[{"name":"new","type":"collection"},{"name":"second","type":"collection"}]`},
		}},
		{"an index makes it", []step{
			{1, "begin", indexOf("new", eq("a", 1), "a_1"), "ok"},
			{1, "in", insertOf("new", a(1, 1)), "n 1"},
			{1, "in", findOf("new", eq("a", 1)), `[{"_id":1,"a":1}]`},
			{2, "alone", names, none},
			{1, "commit", nil, "ok"},
			{2, "alone", indexes, `[{"v":2,"key":{"_id":1},"name":"_id_"},{"v":2,"key":{"a":1},"name":"a_1"}]`},
			{2, "alone", document(t, `{find: 'new', filter: {a: 1}, hint: 'a_1'}`), `[{"_id":1,"a":1}]`},
		}},
		{"an index makes it, aborted", []step{
			{1, "begin", indexOf("new", eq("a", 1), "a_1"), "ok"},
			{1, "abort", nil, "ok"},
			{2, "alone", names, none},
			{2, "alone", indexes, "code 26"},
		}},
		{"indexes of one that was looked at", []step{
			{1, "begin", eq("create", "new"), "ok"},
			{1, "in", all, none},
			{1, "in", indexOf("new", eq("a", 1), "a_1", bson.E{Key: "unique", Value: true}), "ok"},
			{1, "in", indexOf("new", eq("a", 1), "a_1", bson.E{Key: "unique", Value: true}), "ok"},
			{1, "in", insertOf("new", bson.D{{Key: "_id", Value: 1}, {Key: "a", Value: bson.A{1, 2}}}), "n 1"},
			{1, "in", findOf("new", eq("a", 2)), `[{"_id":1,"a":[1,2]}]`},
			{1, "commit", nil, "ok"},
			{2, "alone", insertOf("new", a(2, 2)), "n 0, writeErrors 11000"},
			{2, "alone", findOf("new", eq("a", 2)), `[{"_id":1,"a":[1,2]}]`},
		}},
		{"a unique index of its own", []step{
			{1, "begin", indexOf("new", eq("a", 1), "a_1", bson.E{Key: "unique", Value: true}), "ok"},
			{1, "in", insertOf("new", a(1, 1), a(2, 1)), "n 1, writeErrors 11000"},
			{2, "alone", names, none},
		}},
		{"an index after a document that is gone", []step{
			{1, "begin", insertOf("new", a(1, 1)), "n 1"},
			{1, "in", deleteOf("new", eq("_id", 1)), "n 1"},
			{1, "in", indexOf("new", eq("a", 1), "a_1"), "ok"},
			{1, "in", insertOf("new", a(1, 2)), "n 1"},
			{1, "commit", nil, "ok"},
			{2, "alone", document(t, `{find: 'new', filter: {a: 2}, hint: 'a_1'}`), `[{"_id":1,"a":2}]`},
		}},
		{"an index of one with documents", []step{
			{1, "begin", insertOf("new", a(1, 1)), "n 1"},
			{1, "in", indexOf("new", eq("a", 1), "a_1"), "code 263"},
			{1, "abort", nil, "code 251, " + again},
			{2, "alone", names, none},
		}},
		{"an index of one that was there", []step{
			{1, "begin", indexOf("other", eq("a", 1), "a_1"), "code 263"},
		}},
		{"an index that is there", []step{
			{2, "alone", indexOf("other", eq("a", 1), "a_1"), "ok"},
			{1, "begin", indexOf("other", eq("a", 1), "a_1"), "ok"},
			{1, "commit", nil, "ok"},
			{1, "begin", indexOf("other", eq("a", -1), "a_1"), "code 86"},
		}},
		{"a conflicting index of its own", []step{
			{1, "begin", indexOf("new", eq("a", 1), "a_1"), "ok"},
			{1, "in", indexOf("new", eq("a", -1), "a_1"), "code 86"},
			{2, "alone", names, none},
		}},
		{"by name under the read concern snapshot", []step{
			{1, "begin", snapshot(eq("create", "new")), "code 72"},
			{1, "begin", snapshot(all), none},
			{1, "in", eq("create", "new"), "code 72"},
			{1, "begin", snapshot(indexOf("new", eq("a", 1), "a_1")), "code 72"},
		}},
		{"by an insert under the read concern snapshot", []step{
			{1, "begin", snapshot(insertOf("new", a(1, 1))), "n 1"},
			{1, "commit", nil, "ok"},
			{2, "alone", names, made},
		}},
		{"with a validator", []step{
			{1, "begin", bson.D{{Key: "create", Value: "new"}, {Key: "validator", Value: eq("a", eq("$gt", 0))}}, "ok"},
			{1, "in", insertOf("new", a(1, 1)), "n 1"},
			{1, "in", insertOf("new", a(2, -1)), "n 0, writeErrors 121"},
			{2, "alone", names, none},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			play(newSuite(t), c.steps)
		})
	}
}

// TestTransactionMakesDatabases makes collections in databases that are not there.
func TestTransactionMakesDatabases(t *testing.T) {
	t.Parallel()
	d := newSuite(t)
	ctx := t.Context()
	write := func(s *mongo.Session, db, c string) {
		t.Helper()
		_, err := d.Database(db).Collection(c).InsertOne(mongo.NewSessionContext(ctx, s), eq("_id", 1))
		must(t, err)
	}
	databases := func() string {
		names := ""
		for _, db := range d.catalog.Databases() {
			names += " " + db.Name
			for _, c := range d.catalog.Containers(db) {
				names += "." + c.State().Name
			}
		}
		return strings.TrimSpace(names)
	}
	begin := func() *mongo.Session {
		t.Helper()
		s, err := d.StartSession()
		must(t, err)
		must(t, s.StartTransaction())
		return s
	}
	one := begin()
	write(one, "fresh", "c")
	must(t, one.AbortTransaction(ctx))
	if got := databases(); got != "" {
		t.Errorf("after an abort there is %s", got)
	}
	one, two, three := begin(), begin(), begin()
	write(one, "fresh", "c")
	write(two, "fresh", "d")
	write(three, "fresh", "d")
	if got := databases(); got != "" {
		t.Errorf("before the commits there is %s", got)
	}
	must(t, one.CommitTransaction(ctx))
	must(t, two.CommitTransaction(ctx)) // the database is there by now
	if err := three.CommitTransaction(ctx); err == nil {
		t.Error("a collection was made twice")
	}
	if got := databases(); got != "fresh.c.d" {
		t.Errorf("there is %s", got)
	}
	four := begin()
	write(four, "fresh", "e")
	must(t, d.Database("fresh").Drop(ctx))
	if err := four.CommitTransaction(ctx); err == nil {
		t.Error("a collection was made in a database that was dropped")
	}
	if got := databases(); got != "" {
		t.Errorf("there is %s", got)
	}
}

// TestTransactionMakesLifetime makes a TTL index in a transaction.
func TestTransactionMakesLifetime(t *testing.T) {
	t.Parallel()
	d := newSuite(t)
	s, err := d.StartSession()
	must(t, err)
	defer s.EndSession(t.Context())
	for name, key := range map[string]string{"dates": "at", "stamps": "_ts"} {
		c := d.Database("test").Collection(name)
		_, err = s.WithTransaction(t.Context(), func(ctx context.Context) (any, error) {
			if _, err := c.Indexes().CreateOne(ctx, indexOn(key, 10)); err != nil {
				return nil, err
			}
			return c.InsertOne(ctx, bson.D{{Key: "_id", Value: 1}, {Key: "at", Value: d.clock.Now()}})
		})
		must(t, err)
		d.pass(9 * time.Second)
		if n := count(t, c, bson.D{}); n != 1 {
			t.Errorf("%s: %d documents before their end", name, n)
		}
		d.pass(2 * time.Second)
		if n := count(t, c, bson.D{}); n != 0 {
			t.Errorf("%s: %d documents after their end", name, n)
		}
	}
}

// TestTransactionTellsOfCollections watches what a transaction makes.
func TestTransactionTellsOfCollections(t *testing.T) {
	t.Parallel()
	d := newSuite(t)
	ctx := t.Context()
	expanded := options.ChangeStream().SetCustomPipeline(bson.M{"showExpandedEvents": true})
	watch, err := d.Database("test").Watch(ctx, mongo.Pipeline{}, expanded)
	must(t, err)
	m := d.member(1)
	wants(t, "create", m.begin(eq("create", "new")), "ok")
	wants(t, "index", m.in(document(t, `{createIndexes: 'new', indexes: [{key: {a: 1}, name: 'a_1'}]}`)), "ok")
	wants(t, "insert", m.in(insertOf("new", eq("_id", 1))), "n 1")
	wants(t, "commit", m.commit(), "ok")
	for _, want := range []string{"create", "createIndexes", "insert"} {
		if !watch.Next(ctx) {
			t.Fatal(watch.Err())
		}
		event := watch.Current
		kind, name := event.Lookup("operationType").StringValue(), event.Lookup("ns", "coll").StringValue()
		if kind != want || name != "new" {
			t.Errorf("event %s, want %s", event, want)
		}
		if n, ok := event.Lookup("txnNumber").Int64OK(); !ok || n != m.number {
			t.Errorf("%s has no number of the transaction: %s", want, event)
		}
	}
}

// TestTransactionIsForgotten looks for what an abort leaves.
func TestTransactionIsForgotten(t *testing.T) {
	t.Parallel()
	d := newSuite(t)
	m := d.member(1)
	wants(t, "create", m.begin(document(t, `{create: 'new', validator: {a: {$gt: 0}}}`)), "ok")
	wants(t, "insert", m.in(insertOf("new", bson.D{{Key: "_id", Value: 1}, {Key: "a", Value: 1}})), "n 1")
	id := m.in(append(findOf("new", bson.D{}), bson.E{Key: "batchSize", Value: 0})).Lookup("cursor", "id").Int64()
	wants(t, "abort", m.abort(), "ok")
	wants(t, "getMore", m.with(bson.D{{Key: "getMore", Value: id}, {Key: "collection", Value: "new"}}), "code 43")
	kept := d.catalog.AllContainers()
	if len(kept) != 0 || d.server.Remembers() != 0 {
		t.Errorf("%d containers, and something of %d in memory", len(kept), d.server.Remembers())
	}
}
