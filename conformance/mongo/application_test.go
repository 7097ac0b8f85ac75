package mongo

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/mayflydb/mayfly/conformance/several"
)

// A shop is a database of a replica set on the real clock, for one test.
func newShop(t *testing.T) (context.Context, *mongo.Database) {
	t.Helper()
	s := start(t, "--memory")
	return within(t, 2*patience), newDatabase(s.connect(t, "replicaSet=globaldb"))
}

type product struct {
	ID    string   `bson:"_id"`
	Price int      `bson:"price"`
	Stock int      `bson:"stock"`
	Tags  []string `bson:"tags,omitempty"`
}

// A day in a shop: stock, carts that expire, orders, reports, a view.
func TestApplication(t *testing.T) {
	t.Parallel()
	ctx, db := newShop(t)
	products, orders := db.Collection("products"), db.Collection("orders")
	_, err := products.Indexes().CreateMany(ctx, []mongo.IndexModel{
		{Keys: bson.D{{Key: "tags", Value: 1}, {Key: "price", Value: -1}}},
		{Keys: bson.D{{Key: "stock", Value: 1}},
			Options: options.Index().SetPartialFilterExpression(bson.D{{Key: "stock",
				Value: bson.D{{Key: "$lt", Value: 5}}}})},
	})
	must(t, err)
	var writes []mongo.WriteModel
	for i := range 1000 {
		writes = append(writes,
			mongo.NewInsertOneModel().SetDocument(product{fmt.Sprintf("p%03d", i), i % 100, 10,
				[]string{"all", fmt.Sprint("t", i%10)}}))
	}
	writes = append(writes,
		mongo.NewUpdateOneModel().SetFilter(bson.M{"_id": "p000"}).SetUpdate(bson.M{"$inc": bson.M{"stock": -7},
			"$push": bson.M{"tags": "sale"}}),
		mongo.NewUpdateManyModel().SetFilter(bson.M{"tags": "t9"}).SetUpdate(bson.M{"$mul": bson.M{"price": 2}}),
		mongo.NewReplaceOneModel().SetFilter(bson.M{"_id": "new"}).SetReplacement(bson.M{"price": 1,
			"stock": 1}).SetUpsert(true),
		mongo.NewDeleteOneModel().SetFilter(bson.M{"_id": "p999"}))
	written, err := products.BulkWrite(ctx, writes)
	must(t, err)
	if got := [5]int64{written.InsertedCount, written.MatchedCount, written.ModifiedCount, written.UpsertedCount,
		written.DeletedCount}; got != [5]int64{1000, 101, 101, 1, 1} {
		t.Errorf("bulkWrite: %v", got)
	}

	cursor, err := products.Find(ctx, bson.M{"tags": "t9", "price": bson.M{"$gte": 100}},
		options.Find().SetSort(bson.D{{Key: "price", Value: -1}, {Key: "_id", Value: 1}}).SetBatchSize(7).SetLimit(30))
	must(t, err)
	var found []product
	must(t, cursor.All(ctx, &found))
	if len(found) != 30 || found[0].Price != 198 || found[29].Price < 100 {
		t.Errorf("%d products, %+v", len(found), found)
	}

	for i := range 50 {
		_, err := orders.InsertOne(ctx, bson.M{"_id": i, "customer": fmt.Sprint("c", i%5), "lines": bson.A{
			bson.M{"product": fmt.Sprintf("p%03d", i), "n": i%3 + 1}, bson.M{"product": "p100", "n": 1}}})
		must(t, err)
	}
	cursor, err = orders.Aggregate(ctx, bson.A{
		bson.M{"$unwind": "$lines"},
		bson.M{"$lookup": bson.M{"from": "products", "localField": "lines.product", "foreignField": "_id",
			"as": "product"}},
		bson.M{"$group": bson.D{{Key: "_id", Value: "$customer"}, {Key: "n", Value: bson.M{"$sum": "$lines.n"}},
			{Key: "products", Value: bson.M{"$addToSet": bson.M{"$first": "$product._id"}}}}},
		bson.M{"$project": bson.M{"n": 1, "products": bson.M{"$size": "$products"}}},
		bson.M{"$sort": bson.M{"_id": 1}},
	}, options.Aggregate().SetBatchSize(2))
	must(t, err)
	var report []struct {
		ID          string `bson:"_id"`
		N, Products int
	}
	must(t, cursor.All(ctx, &report))
	if len(report) != 5 || report[0].ID != "c0" || report[0].N+report[1].N+report[2].N+report[3].N+report[4].N != 149 ||
		report[3].Products != 11 {
		t.Errorf("report: %+v", report)
	}

	var taken product
	must(t,
		products.FindOneAndUpdate(ctx, bson.M{"_id": "p001", "stock": bson.M{"$gt": 0}},
			bson.M{"$inc": bson.M{"stock": -1}},
			options.FindOneAndUpdate().SetReturnDocument(options.After)).Decode(&taken))
	if taken.Stock != 9 {
		t.Errorf("after taking one: %+v", taken)
	}
	must(t, db.CreateView(ctx, "sale", "products", bson.A{bson.M{"$match": bson.M{"tags": "sale"}}}))
	if n := count(t, db.Collection("sale"), bson.M{}); n != 1 {
		t.Errorf("%d products in the sale", n)
	}
	names, err := db.ListCollectionNames(ctx, bson.M{"type": "collection"})
	must(t, err)
	if len(names) != 2 {
		t.Errorf("collections: %v", names)
	}
	must(t, db.Drop(ctx))
	if names, err = db.ListCollectionNames(ctx, bson.M{}); err != nil || len(names) != 0 {
		t.Errorf("after dropDatabase: %v %v", names, err)
	}
}

// Every write of one document, and what the driver reports of it.
func TestWrites(t *testing.T) {
	t.Parallel()
	ctx, db := newShop(t)
	c := db.Collection("c")
	inserted, err := c.InsertMany(ctx,
		[]any{bson.M{"_id": 1, "a": 1}, bson.M{"_id": 2, "a": 2}, bson.M{"_id": 1}, bson.M{"_id": 3}},
		options.InsertMany().SetOrdered(false))
	var bulk mongo.BulkWriteException
	if !errors.As(err, &bulk) || len(bulk.WriteErrors) != 1 || bulk.WriteErrors[0].Index != 2 ||
		bulk.WriteErrors[0].Code != 11000 || len(inserted.InsertedIDs) != 3 {
		t.Errorf("unordered insert: %v %v", inserted, err)
	}
	updated, err := c.UpdateMany(ctx, bson.M{"a": bson.M{"$exists": true}},
		bson.A{bson.M{"$set": bson.M{"b": bson.M{"$add": bson.A{"$a", 10}}}}})
	must(t, err)
	same, err := c.UpdateOne(ctx, bson.M{"_id": 1}, bson.M{"$set": bson.M{"b": 11}})
	must(t, err)
	array, err := c.UpdateOne(ctx, bson.M{"_id": 3}, bson.M{"$set": bson.M{"grades": bson.A{80, 95, 100}}})
	must(t, err)
	filtered, err := c.UpdateOne(ctx, bson.M{"_id": 3}, bson.M{"$inc": bson.M{"grades.$[high]": 1}},
		options.UpdateOne().SetArrayFilters([]any{bson.M{"high": bson.M{"$gte": 95}}}))
	must(t, err)
	if updated.ModifiedCount != 2 || same.MatchedCount != 1 || same.ModifiedCount != 0 || array.ModifiedCount != 1 ||
		filtered.ModifiedCount != 1 {
		t.Errorf("updates: %+v %+v %+v %+v", updated, same, array, filtered)
	}
	var got bson.M
	must(t, c.FindOneAndReplace(ctx, bson.M{"grades.1": 96}, bson.M{"x": 1}).Decode(&got))
	if !reflect.DeepEqual(got["grades"], bson.A{int32(80), int32(96), int32(101)}) {
		t.Errorf("replaced %v", got)
	}
	upserted, err := c.ReplaceOne(ctx, bson.M{"_id": "u"}, bson.M{"x": 2}, options.Replace().SetUpsert(true))
	must(t, err)
	deleted, err := c.DeleteMany(ctx, bson.M{"x": bson.M{"$gte": 1}})
	must(t, err)
	if upserted.UpsertedID != "u" || deleted.DeletedCount != 2 {
		t.Errorf("upserted %+v, deleted %+v", upserted, deleted)
	}
	_, err = c.UpdateOne(ctx, bson.M{"_id": 1}, bson.M{"$set": bson.M{"_id": 2}})
	wantCode(t, "another _id", err, 66)
	_, err = c.UpdateOne(ctx, bson.M{"_id": 1}, bson.M{"$noSuch": bson.M{"a": 2}})
	wantCode(t, "an operator that there is not", err, 9)
	wantCode(t, "a command that there is not", db.RunCommand(ctx, bson.M{"noSuch": 1}).Err(), 59)
}

// Transactions move money between accounts without losing any.
func TestTransactions(t *testing.T) {
	t.Parallel()
	ctx, db := newShop(t)
	accounts := db.Collection("accounts")
	for i := range 4 {
		_, err := accounts.InsertOne(ctx, bson.M{"_id": i, "balance": 100})
		must(t, err)
	}
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			session, err := db.Client().StartSession()
			if err != nil {
				t.Error(err)
				return
			}
			defer session.EndSession(ctx)
			for i := range 20 {
				_, err := session.WithTransaction(ctx, func(ctx context.Context) (any, error) {
					from, to := (worker+i)%4, (worker+i+1)%4
					if _, err := accounts.UpdateOne(ctx, bson.M{"_id": from},
						bson.M{"$inc": bson.M{"balance": -1}}); err != nil {
						return nil, err
					}
					return accounts.UpdateOne(ctx, bson.M{"_id": to}, bson.M{"$inc": bson.M{"balance": 1}})
				})
				if err != nil {
					t.Errorf("worker %d: %v", worker, err)
					return
				}
			}
		})
	}
	all.Wait()
	cursor, err := accounts.Aggregate(ctx,
		bson.A{bson.M{"$group": bson.M{"_id": nil, "sum": bson.M{"$sum": "$balance"}}}})
	must(t, err)
	var sums []struct{ Sum int }
	must(t, cursor.All(ctx, &sums))
	if len(sums) != 1 || sums[0].Sum != 400 {
		t.Errorf("the accounts hold %v, want 400", sums)
	}

	session, err := db.Client().StartSession()
	must(t, err)
	defer session.EndSession(ctx)
	inside := mongo.NewSessionContext(ctx, session)
	must(t, session.StartTransaction())
	_, err = accounts.InsertOne(inside, bson.M{"_id": "new"})
	must(t, err)
	if count(t, accounts, bson.M{"_id": "new"}) != 0 {
		t.Error("an insert shows before its commit")
	}
	if err := accounts.FindOne(inside, bson.M{"_id": "new"}).Err(); err != nil {
		t.Errorf("a transaction does not read its own write: %v", err)
	}
	must(t, session.AbortTransaction(ctx))
	if count(t, accounts, bson.M{"_id": "new"}) != 0 {
		t.Error("an insert outlives its abort")
	}
	must(t, session.StartTransaction())
	_, err = accounts.UpdateByID(inside, 0, bson.M{"$set": bson.M{"x": 1}})
	must(t, err)
	other, err := db.Client().StartSession()
	must(t, err)
	defer other.EndSession(ctx)
	must(t, other.StartTransaction())
	_, err = accounts.UpdateByID(mongo.NewSessionContext(ctx, other), 0, bson.M{"$set": bson.M{"x": 2}})
	apart := several.On && err == nil // they are in two processes, of which the second to commit fails: D-90
	if apart {
		must(t, session.CommitTransaction(ctx))
		err = other.CommitTransaction(ctx)
	}
	wantCode(t, "two transactions write one document", err, 112)
	var labeled mongo.LabeledError
	if !errors.As(err, &labeled) || !labeled.HasErrorLabel("TransientTransactionError") {
		t.Errorf("labels of %v", err)
	}
	if !apart {
		must(t, session.CommitTransaction(ctx))
	}
	if count(t, accounts, bson.M{"_id": 0, "x": 1}) != 1 {
		t.Error("the first transaction is not there")
	}
}

// A change stream tells of all that happens, and goes on where it stopped.
func TestChangeStream(t *testing.T) {
	several.Lack(t, "change streams")
	t.Parallel()
	ctx, db := newShop(t)
	c := db.Collection("c")
	_, err := c.InsertOne(ctx, bson.M{"_id": 0})
	must(t, err)
	stream, err := c.Watch(ctx, mongo.Pipeline{}, options.ChangeStream().SetFullDocument(options.UpdateLookup))
	must(t, err)
	defer stream.Close(ctx)
	var token bson.Raw
	for _, step := range []struct {
		kind string
		full bson.M
		do   func() error
	}{
		{"insert", bson.M{"_id": int32(1), "a": int32(1)}, func() error {
			_, err := c.InsertOne(ctx, bson.M{"_id": 1, "a": 1})
			return err
		}},
		{"update", bson.M{"_id": int32(1), "a": int32(2)}, func() error {
			_, err := c.UpdateByID(ctx, 1, bson.M{"$inc": bson.M{"a": 1}})
			return err
		}},
		{"replace", bson.M{"_id": int32(1), "z": int32(1)}, func() error {
			_, err := c.ReplaceOne(ctx, bson.M{"_id": 1}, bson.M{"z": 1})
			return err
		}},
		{"delete", nil, func() error { _, err := c.DeleteOne(ctx, bson.M{"_id": 1}); return err }},
	} {
		must(t, step.do())
		event := next(ctx, t, stream)
		if event.Kind != step.kind || event.Key.ID != 1 || !reflect.DeepEqual(event.Full, step.full) {
			t.Errorf("%+v, want %s %v", event, step.kind, step.full)
		}
		if step.kind == "update" {
			token = stream.ResumeToken()
			if changed := event.Update.Fields; !reflect.DeepEqual(changed, bson.M{"a": int32(2)}) {
				t.Errorf("updateDescription has %v", changed)
			}
		}
	}
	resumed, err := c.Watch(ctx, mongo.Pipeline{{{Key: "$match", Value: bson.M{"operationType": "delete"}}}},
		options.ChangeStream().SetResumeAfter(token))
	must(t, err)
	defer resumed.Close(ctx)
	if event := next(ctx, t, resumed); event.Kind != "delete" {
		t.Errorf("resumed: %+v", event)
	}
	must(t, c.Drop(ctx))
	for _, want := range []string{"drop", "invalidate"} {
		if event := next(ctx, t, stream); event.Kind != want {
			t.Errorf("%+v, want %s", event, want)
		}
	}
}

// A document that its lifetime ends is a delete in the stream.
func TestChangeStreamShowsExpiry(t *testing.T) {
	several.Lack(t, "change streams")
	t.Parallel()
	s, db := onVirtualClock(t)
	ctx := within(t, patience)
	c := db.Collection("c")
	stampIndex(t, c, 10)
	stream, err := db.Watch(ctx, mongo.Pipeline{})
	must(t, err)
	defer stream.Close(ctx)
	_, err = c.InsertOne(ctx, bson.M{"_id": 1})
	must(t, err)
	s.advance(t, 11*time.Second)
	for _, want := range []string{"insert", "delete"} {
		if event := next(ctx, t, stream); event.Kind != want || event.Key.ID != 1 {
			t.Errorf("%+v, want %s", event, want)
		}
	}
}

type event struct {
	Kind string `bson:"operationType"`
	Key  struct {
		ID int `bson:"_id"`
	} `bson:"documentKey"`
	Full   bson.M `bson:"fullDocument"`
	Update struct {
		Fields bson.M `bson:"updatedFields"`
	} `bson:"updateDescription"`
}

func next(ctx context.Context, t *testing.T, stream *mongo.ChangeStream) (e event) {
	t.Helper()
	if !stream.Next(ctx) {
		t.Fatalf("the stream ended: %v", stream.Err())
	}
	must(t, stream.Decode(&e))
	return e
}

// Files of several chunks come back as they went.
func TestFiles(t *testing.T) {
	t.Parallel()
	ctx, db := newShop(t)
	bucket := db.GridFSBucket()
	content := bytes.Repeat([]byte("0123456789abcdef"), 100_000)
	id, err := bucket.UploadFromStream(ctx, "a.bin", bytes.NewReader(content))
	must(t, err)
	var back bytes.Buffer
	_, err = bucket.DownloadToStream(ctx, id, &back)
	must(t, err)
	if sha256.Sum256(back.Bytes()) != sha256.Sum256(content) {
		t.Errorf("%d bytes came back of %d", back.Len(), len(content))
	}
	must(t, bucket.Delete(ctx, id))
	if n := count(t, db.Collection("fs.chunks"), bson.M{}); n != 0 {
		t.Errorf("%d chunks are left", n)
	}
}
