package command_test

import (
	"errors"
	"strconv"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/store"
)

// cosmos makes a container as the API for NoSQL does, with a partition key path.
func (d *testServer) cosmos(name, path string) *catalog.Container {
	d.t.Helper()
	ctx, now := d.t.Context(), start.Unix()
	db, err := d.catalog.Database("test")
	if err != nil {
		db, err = d.catalog.CreateDatabase(ctx, now, "test", nil)
		must(d.t, err)
	}
	c, err := d.catalog.CreateContainer(ctx, now, db, catalog.Definition{
		Name: name, TTL: 60, Partitions: 4,
		Partition: catalog.PartitionKey{Paths: []string{path}, Version: 2},
		Indexing:  catalog.Indexing{Included: []string{"/*"}},
	}, nil)
	must(d.t, err)
	return c
}

// put writes {id, pk, n} as the API for NoSQL does.
func (d *testServer) put(c *catalog.Container, id, pk string, n int) {
	d.t.Helper()
	body, err := bson.Marshal(bson.D{{Key: "id", Value: id}, {Key: "pk", Value: pk}, {Key: "n", Value: n}})
	must(d.t, err)
	key := store.Key{Partition: []doc.Value{doc.String(pk)}, ID: id}
	_, err = d.store.Write(d.t.Context(), c, d.clock.Now().Unix(), store.Op{Verb: store.Create, Key: key, Body: body})
	must(d.t, err)
}

func TestContainersOfTheOtherAPI(t *testing.T) {
	d := newServer(t, nil)
	made := d.cosmos("items", "/pk")
	for i := range 300 {
		d.put(made, "i"+strconv.Itoa(i), "p"+strconv.Itoa(i%7), i)
	}
	c := d.Database("test").Collection("items")

	t.Run("find", func(t *testing.T) {
		var found bson.D
		must(t, c.FindOne(t.Context(), bson.D{{Key: "_id", Value: "i42"}}).Decode(&found))
		same(t, found, document(t, `{_id: 'i42', id: 'i42', pk: 'p0', n: 42}`))
		if err := c.FindOne(t.Context(), bson.D{{Key: "_id", Value: 42}}).Err(); !errors.Is(err, mongo.ErrNoDocuments) {
			t.Errorf("by a number: %v", err)
		}
		sevens := options.Find().SetBatchSize(7).SetSort(eq("_id", 1))
		cursor, err := c.Find(t.Context(), eq("n", eq("$gte", 100)), sevens)
		must(t, err)
		var list []bson.M
		must(t, cursor.All(t.Context(), &list))
		if len(list) != 200 || list[0]["_id"] != "i100" || list[199]["_id"] != "i299" {
			t.Errorf("%d found", len(list))
		}
		cursor, err = c.Find(t.Context(), bson.D{}, options.Find().SetBatchSize(50))
		must(t, err)
		must(t, cursor.All(t.Context(), &list))
		if len(list) != 300 {
			t.Errorf("%d found in batches", len(list))
		}
	})
	t.Run("by id through the index", func(t *testing.T) {
		answer, err := d.run(document(t, `{explain: {find: 'items', filter: {_id: 'i42'}}}`))
		must(t, err)
		same(t, inside(t, answer, "executionStats", "nReturned"), 1)
		same(t, inside(t, answer, "executionStats", "totalDocsExamined"), 1)
	})
	t.Run("count, distinct, aggregate", func(t *testing.T) {
		same(t, count(t, c, bson.D{{Key: "pk", Value: "p0"}}), 43)
		n, err := c.EstimatedDocumentCount(t.Context())
		must(t, err)
		same(t, n, 300)
		var values []string
		must(t, c.Distinct(t.Context(), "pk", bson.D{}).Decode(&values))
		if len(values) != 7 {
			t.Errorf("%v", values)
		}
		two, sum := eq("$match", eq("_id", eq("$in", bson.A{"i1", "i2"}))), eq("$sum", "$n")
		same(t, rows(t, c, two, eq("$group", pairs("_id", nil, "n", sum))), []bson.M{{"_id": nil, "n": 3}})
	})
	t.Run("joins", func(t *testing.T) {
		_, err := d.Database("test").Collection("orders").InsertOne(t.Context(), document(t, `{_id: 1, item: 'i7'}`))
		must(t, err)
		lookup := document(t, `{$lookup: {from: 'items', localField: 'item', foreignField: '_id', as: 'x'}}`)
		list := rows(t, d.Database("test").Collection("orders"), lookup)
		same(t, inside(t, list[0]["x"].(bson.A)[0], "n"), 7)
	})
	t.Run("indexes", func(t *testing.T) {
		list, err := c.Indexes().ListSpecifications(t.Context())
		must(t, err)
		if len(list) != 2 || list[0].Name != "_id_" || list[1].Name != "_ts_1" || *list[1].ExpireAfterSeconds != 60 {
			t.Errorf("%+v", list)
		}
		same(t, rows(t, c, document(t, `{$collStats: {count: {}}}`))[0]["count"], 300)
		_, err = d.run(bson.D{{Key: "validate", Value: "items"}})
		must(t, err)
	})
	t.Run("writes", func(t *testing.T) {
		_, err := c.InsertOne(t.Context(), bson.D{{Key: "_id", Value: "x"}})
		refused(t, err)
		_, err = c.UpdateOne(t.Context(), eq("_id", "i1"), eq("$set", eq("n", 0)))
		refused(t, err)
		_, err = c.DeleteMany(t.Context(), bson.D{})
		refused(t, err)
		refused(t, c.Drop(t.Context()))
		refused(t, d.Database("test").Drop(t.Context()))
		_, err = d.admin(bson.D{{Key: "renameCollection", Value: "test.items"}, {Key: "to", Value: "test.x"}})
		refused(t, err)
		_, err = d.run(bson.D{{Key: "create", Value: "items"}})
		fails(t, err, 48, "NoSQL")
	})
	t.Run("ids that are not unique", func(t *testing.T) {
		d.put(made, "i42", "elsewhere", 1)
		for name, filter := range map[string]bson.D{
			"all": {}, "the id": eq("_id", "i42"), "another field": eq("n", eq("$gte", 0)),
		} {
			cursor, err := c.Find(t.Context(), filter, options.Find().SetBatchSize(10))
			if err == nil {
				var list []bson.M
				err = cursor.All(t.Context(), &list)
			}
			if err == nil {
				t.Errorf("%s: no error", name)
				continue
			}
			fails(t, err, 115, "is not unique")
		}
		var found bson.M
		must(t, c.FindOne(t.Context(), bson.D{{Key: "_id", Value: "i41"}}).Decode(&found))
	})
}

// refused asks that a write failed because the container belongs to the other API.
func refused(t testing.TB, err error) {
	t.Helper()
	var e mongo.ServerError
	if !errors.As(err, &e) || !e.HasErrorCode(115) {
		t.Errorf("got %v, want 115", err)
	}
}
