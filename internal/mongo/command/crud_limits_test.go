package command_test

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// firstCode is the code of the first error that a server has answered with, 0 if it is none of a server.
func firstCode(err error) int {
	var e mongo.ServerError
	if errors.As(err, &e) {
		for _, c := range e.ErrorCodes() {
			return c
		}
	}
	return 0
}

// fill inserts documents with the _ids from 0 up to n, padded.
func fill(t testing.TB, c *mongo.Collection, n, pad int) {
	t.Helper()
	list := make([]any, n)
	text := strings.Repeat("x", pad)
	for i := range list {
		list[i] = bson.D{{Key: "_id", Value: i}, {Key: "k", Value: n - i}, {Key: "pad", Value: text}}
	}
	_, err := c.InsertMany(t.Context(), list)
	must(t, err)
}

// createUnique creates a unique index.
func createUnique(t testing.TB, c *mongo.Collection, field string) error {
	t.Helper()
	index := mongo.IndexModel{Keys: eq(field, 1), Options: options.Index().SetUnique(true)}
	_, err := c.Indexes().CreateOne(t.Context(), index)
	return err
}

// together runs do in so many goroutines at once.
func together(n int, do func(i int)) {
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { do(i) })
	}
	group.Wait()
}

func TestManyDuplicates(t *testing.T) {
	t.Parallel()
	c := newServer(t, nil).Database("test").Collection("c")
	const n = 100_000
	list := make([]any, n)
	for i := range list {
		list[i] = bson.D{{Key: "_id", Value: i}}
	}
	for _, want := range []int{0, 60_000} { // whose errors in full are more than an answer holds
		_, err := c.InsertMany(t.Context(), list[:cmp.Or(want, n)], options.InsertMany().SetOrdered(false))
		var e mongo.BulkWriteException
		if errors.As(err, &e); len(e.WriteErrors) != want {
			t.Fatalf("%d errors, want %d: %.200v", len(e.WriteErrors), want, err)
		}
	}
	if got, err := c.EstimatedDocumentCount(t.Context()); got != n || err != nil {
		t.Errorf("%d documents, %v", got, err)
	}
}

func TestLargeDocuments(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	c := d.Database("test").Collection("c")
	const most = 16 << 20
	sized := func(n int) bson.Raw {
		empty, err := bson.Marshal(bson.D{{Key: "_id", Value: n}, {Key: "s", Value: ""}})
		must(t, err)
		raw, err := bson.Marshal(bson.D{{Key: "_id", Value: n}, {Key: "s", Value: strings.Repeat("x", n-len(empty))}})
		must(t, err)
		return raw
	}
	_, err := c.InsertOne(t.Context(), sized(most))
	must(t, err)
	got, err := c.FindOne(t.Context(), bson.D{{Key: "_id", Value: most}}).Raw()
	if err != nil || len(got) != most {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	raw := answerTo(t, d.Database("test"), pairs("insert", "c", "documents", bson.A{sized(most - 1000)}))
	if raw.Lookup("n").AsInt64() != 1 {
		t.Errorf("%v", raw)
	}
	_, err = c.UpdateOne(t.Context(), eq("_id", most), eq("$set", eq("more", 1)))
	if got := firstCode(err); got != 10334 && got != 17419 {
		t.Errorf("growing: %v", err)
	}
	cursor, err := c.Find(t.Context(), bson.D{})
	must(t, err)
	n := 0
	for cursor.Next(t.Context()) {
		n++
	}
	if must(t, cursor.Err()); n != 2 {
		t.Errorf("%d large documents", n)
	}
}

func TestBatches(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	db := d.Database("test")
	c := db.Collection("c")
	fill(t, c, 1000, 1000)
	_, err := c.Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: bson.D{{Key: "k", Value: 1}}})
	must(t, err)
	sizes := func(cmd string) (list []int, ids []int32) {
		t.Helper()
		raw := answerTo(t, db, parsed(t, cmd))
		name := "firstBatch"
		for {
			batch, err := raw.LookupErr("cursor", name)
			if err != nil {
				t.Fatalf("%s: %v", cmd, raw)
			}
			values, err := batch.Array().Values()
			must(t, err)
			for _, v := range values {
				ids = append(ids, v.Document().Lookup("_id").Int32())
			}
			list = append(list, len(values))
			id := raw.Lookup("cursor", "id").Int64()
			if id == 0 {
				return list, ids
			}
			name = "nextBatch"
			raw = answerTo(t, db, pairs("getMore", id, "collection", "c", "batchSize", 400))
		}
	}
	for _, x := range []struct {
		cmd, want   string
		first, last int32
	}{
		{`{find: 'c'}`, "[101 400 400 99]", 0, 999},
		{`{find: 'c', batchSize: 0}`, "[0 400 400 200]", 0, 999},
		{`{find: 'c', batchSize: 1, limit: 500}`, "[1 400 99]", 0, 499},
		{`{find: 'c', sort: {k: 1}}`, "[101 400 400 99]", 999, 0},
		{`{find: 'c', sort: {k: 1}, skip: 10, limit: 300}`, "[101 199]", 989, 690},
		{`{find: 'c', sort: {pad: 1, k: 1}, skip: 10, limit: 300}`, "[101 199]", 989, 690},
		{`{find: 'c', sort: {$natural: -1}, skip: 10, limit: 300}`, "[101 199]", 989, 690},
		{`{find: 'c', filter: {$expr: {$gte: ['$_id', 0]}}, batchSize: 500}`, "[500 400 100]", 0, 999},
		{`{aggregate: 'c', pipeline: [], cursor: {}}`, "[101 400 400 99]", 0, 999},
		{`{aggregate: 'c', pipeline: [{$sort: {k: 1}}], cursor: {}}`, "[101 400 400 99]", 999, 0},
		{`{aggregate: 'c', pipeline: [{$sort: {k: 1}}, {$skip: 10}, {$limit: 300}], cursor: {}}`, "[101 199]", 989, 690},
		{`{aggregate: 'c', pipeline: [{$sort: {pad: 1, k: 1}}, {$skip: 10}, {$limit: 300}], cursor: {}}`, "[101 199]", 989, 690},
		{`{aggregate: 'c', pipeline: [{$sort: {$natural: -1}}], cursor: {}}`, "", 0, 0},
		{`{aggregate: 'c', pipeline: [{$limit: 50}], cursor: {batchSize: 10}}`, "[10 40]", 0, 49},
		{`{aggregate: 'c', pipeline: [{$match: {k: {$lte: 1000}}}, {$sort: {k: -1}}, {$lookup: {from: 'c', localField: '_id', foreignField: 'k', as: 'l'}}], cursor: {batchSize: 0}}`, "[0 400 400 200]", 0, 999},
		{`{aggregate: 'c', pipeline: [{$match: {_id: 5}}, {$lookup: {from: 'c', localField: 'pad', foreignField: 'pad', as: 'l'}}, {$unwind: '$l'}, {$replaceWith: '$l'}], cursor: {batchSize: 10}}`, "[10 400 400 190]", 0, 999},
		{`{aggregate: 'c', pipeline: [{$match: {_id: 5}}, {$unionWith: 'c'}], cursor: {batchSize: 10}}`, "[10 400 400 191]", 5, 999},
		{`{aggregate: 'c', pipeline: [], hint: {$natural: -1}, cursor: {batchSize: 10}}`, "[10 400 400 190]", 999, 0},
	} {
		if x.want == "" {
			continue
		}
		list, ids := sizes(x.cmd)
		if got := fmt.Sprint(list); got != x.want || ids[0] != x.first || ids[len(ids)-1] != x.last {
			t.Errorf("%s: %s, from %d to %d; want %s, from %d to %d",
				x.cmd, got, ids[0], ids[len(ids)-1], x.want, x.first, x.last)
		}
	}
}

func TestLargeReplies(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	db := d.Database("test")
	c := db.Collection("c")
	fill(t, c, 40, 1<<20)
	raw := answerTo(t, db, parsed(t, `{find: 'c'}`))
	values, err := raw.Lookup("cursor", "firstBatch").Array().Values()
	must(t, err)
	if len(values) != 15 && len(values) != 16 || len(raw) > 17<<20 {
		t.Errorf("%d documents in %d bytes", len(values), len(raw))
	}
	for _, sort := range []bson.D{{}, {{Key: "_id", Value: -1}}, {{Key: "k", Value: 1}}} {
		cursor, err := c.Find(t.Context(), bson.D{}, options.Find().SetSort(sort))
		must(t, err)
		var all []bson.Raw
		if must(t, cursor.All(t.Context(), &all)); len(all) != 40 {
			t.Errorf("%v: %d", sort, len(all))
		}
	}
}

func TestCursorsThatEnd(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	db := d.Database("test")
	open := func(cmd string) (*mongo.Collection, bson.D) {
		t.Helper()
		must(t, db.Drop(t.Context()))
		c := db.Collection("c")
		fill(t, c, 100, 10)
		_, err := c.Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: bson.D{{Key: "k", Value: 1}}})
		must(t, err)
		id := answerTo(t, db, parsed(t, cmd)).Lookup("cursor", "id").Int64()
		if id == 0 {
			t.Fatalf("%s has no cursor", cmd)
		}
		return c, bson.D{{Key: "getMore", Value: id}, {Key: "collection", Value: "c"}}
	}
	failsWith := func(cmd bson.D, want int32) {
		t.Helper()
		if raw := answerTo(t, db, cmd); raw.Lookup("code").AsInt64() != int64(want) {
			t.Errorf("%v, want the code %d", raw, want)
		}
	}
	c, more := open(`{find: 'c', batchSize: 5}`)
	must(t, c.Drop(t.Context()))
	failsWith(more, 175)
	failsWith(more, 43)

	c, more = open(`{find: 'c', batchSize: 5, filter: {k: {$gt: 0}}}`)
	must(t, c.Indexes().DropAll(t.Context()))
	failsWith(more, 175)

	_, more = open(`{find: 'c', batchSize: 5}`)
	raw := answerTo(t, db, pairs("killCursors", "c", "cursors", bson.A{more[0].Value, int64(7)}))
	if text := differs("", value(raw), value(parsed(t, `{cursorsKilled: [{$$any: 1}], cursorsNotFound: [7], cursorsAlive: [], cursorsUnknown: []}`))); text != "" {
		t.Errorf("%s of %v", text, raw)
	}
	failsWith(more, 43)

	_, more = open(`{find: 'c', batchSize: 5}`)
	failsWith(append(bson.D{more[0]}, bson.E{Key: "collection", Value: "other"}), 13)
	failsWith(append(append(bson.D{}, more...), bson.E{Key: "batchSize", Value: -1}), 51024)
}

// TestOneCounter has many clients change one document at once: no change may be lost.
func TestOneCounter(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	c := d.Database("test").Collection("c")
	_, err := c.InsertOne(t.Context(), bson.D{{Key: "_id", Value: 1}, {Key: "name", Value: "a"}, {Key: "n", Value: 0}})
	must(t, err)
	const each = 50
	one := bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}}
	together(16, func(i int) {
		for range each {
			var err error
			filter := bson.D{{Key: "name", Value: "a"}}
			switch i % 3 {
			case 0:
				_, err = c.UpdateOne(t.Context(), bson.D{{Key: "_id", Value: 1}}, one)
			case 1:
				_, err = c.UpdateMany(t.Context(), filter, one)
			default:
				err = c.FindOneAndUpdate(t.Context(), filter, one).Err()
			}
			if err != nil {
				t.Error(err)
				return
			}
		}
	})
	var got struct{ N int }
	if must(t, c.FindOne(t.Context(), bson.D{}).Decode(&got)); got.N != 16*each {
		t.Errorf("%d after %d", got.N, 16*each)
	}
}

func TestConcurrentUpserts(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	for name, unique := range map[string]bool{"plain": false, "unique": true} {
		c := d.Database("test").Collection(name)
		if unique {
			must(t, createUnique(t, c, "key"))
		}
		for key := range 10 {
			var made atomic.Int64
			together(16, func(i int) {
				filter, change := eq("key", key), eq("$inc", eq("n", 1))
				result, err := c.UpdateOne(t.Context(), filter, change, options.UpdateOne().SetUpsert(true))
				if err != nil {
					t.Errorf("%s: %v", name, err)
					return
				}
				made.Add(result.UpsertedCount)
			})
			var sum []struct{ N, Count int }
			cursor, err := c.Aggregate(t.Context(), bson.A{
				eq("$match", eq("key", key)),
				eq("$group", pairs("_id", nil, "n", eq("$sum", "$n"), "count", eq("$sum", 1))),
			})
			must(t, err)
			must(t, cursor.All(t.Context(), &sum))
			if sum[0].N != 16 || sum[0].Count != int(made.Load()) || unique && made.Load() != 1 {
				t.Errorf("%s: %+v, %d were made", name, sum, made.Load())
			}
		}
	}
}

func TestConcurrentDeletes(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	c := d.Database("test").Collection("c")
	fill(t, c, 400, 10)
	var mu sync.Mutex
	seen, deleted := map[int32]int{}, int64(0)
	together(16, func(i int) {
		for {
			if i%2 == 0 {
				result, err := c.DeleteOne(t.Context(), bson.D{{Key: "k", Value: bson.D{{Key: "$gt", Value: 0}}}})
				if err != nil {
					t.Error(err)
				}
				if err != nil || result.DeletedCount == 0 {
					return
				}
				mu.Lock()
				deleted++
				mu.Unlock()
				continue
			}
			var got struct {
				ID int32 `bson:"_id"`
			}
			first := options.FindOneAndDelete().SetSort(eq("k", 1))
			err := c.FindOneAndDelete(t.Context(), bson.D{}, first).Decode(&got)
			if errors.Is(err, mongo.ErrNoDocuments) {
				return
			}
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			seen[got.ID]++
			mu.Unlock()
		}
	})
	if len(seen)+int(deleted) != 400 {
		t.Errorf("%d were given and %d deleted of 400", len(seen), deleted)
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("%d came %d times", id, n)
		}
	}
}

// TestInsertAtDeadline reuses the _id of a document in the second in which that ends.
func TestInsertAtDeadline(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	c := d.Database("test").Collection("c")
	_, err := c.Indexes().CreateOne(t.Context(), indexOn("at", 10))
	must(t, err)
	insert := func() error {
		_, err := c.InsertOne(t.Context(), bson.D{{Key: "_id", Value: 1}, {Key: "at", Value: d.clock.Now()}})
		return err
	}
	must(t, insert())
	for range 3 {
		d.pass(9 * time.Second)
		if err := insert(); !mongo.IsDuplicateKeyError(err) {
			t.Errorf("it is alive: %v", err)
		}
		d.pass(time.Second)
		if n := count(t, c, bson.D{}); n != 0 {
			t.Errorf("%d alive", n)
		}
		if result, err := c.DeleteOne(t.Context(), eq("_id", 1)); err != nil || result.DeletedCount != 0 {
			t.Errorf("%+v, %v", result, err)
		}
		must(t, insert())
		if err := insert(); !mongo.IsDuplicateKeyError(err) {
			t.Errorf("it is there again: %v", err)
		}
	}
	var got bson.M
	err = c.FindOneAndUpdate(t.Context(), eq("_id", 2), eq("$set", eq("at", start)),
		options.FindOneAndUpdate().SetUpsert(true).SetReturnDocument(options.After)).Decode(&got)
	if err != nil || got["_id"] != int32(2) {
		t.Errorf("an upsert that has ended: %v, %v", got, err)
	}
}

func TestTimeLimit(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	db := d.Database("test")
	fill(t, db.Collection("c"), 2000, 10)
	for _, cmd := range []string{
		`{find: 'c', filter: {$expr: {$eq: [{$reduce: {input: {$range: [0, 3000]}, initialValue: '$k', in: {$add: ['$$value', '$$this']}}}, -1]}}, maxTimeMS: 20}`,
		`{aggregate: 'c', pipeline: [{$match: {$expr: {$eq: [{$reduce: {input: {$range: [0, 3000]}, initialValue: '$k', in: {$add: ['$$value', '$$this']}}}, -1]}}}], cursor: {}, maxTimeMS: 20}`,
		`{count: 'c', query: {$expr: {$eq: [{$reduce: {input: {$range: [0, 3000]}, initialValue: '$k', in: {$add: ['$$value', '$$this']}}}, -1]}}, maxTimeMS: 20}`,
		`{update: 'c', updates: [{q: {$expr: {$eq: [{$reduce: {input: {$range: [0, 3000]}, initialValue: '$k', in: {$add: ['$$value', '$$this']}}}, -1]}}, u: {$set: {a: 1}}}], maxTimeMS: 20}`,
		`{delete: 'c', deletes: [{q: {$expr: {$eq: [{$reduce: {input: {$range: [0, 3000]}, initialValue: '$k', in: {$add: ['$$value', '$$this']}}}, -1]}}, limit: 0}], maxTimeMS: 20}`,
		`{distinct: 'c', key: 'k', query: {$expr: {$eq: [{$reduce: {input: {$range: [0, 3000]}, initialValue: '$k', in: {$add: ['$$value', '$$this']}}}, -1]}}, maxTimeMS: 20}`,
	} {
		if raw := answerTo(t, db, parsed(t, cmd)); raw.Lookup("code").AsInt64() != 50 {
			t.Errorf("%.20s: %.300v", cmd, raw)
		}
	}
}

// TestConcurrentMerges has pipelines insert the same documents at once: each finds those of the others.
func TestConcurrentMerges(t *testing.T) {
	t.Parallel()
	db := newServer(t, nil).Database("test")
	fill(t, db.Collection("c"), 100, 10)
	must(t, createUnique(t, db.Collection("byK"), "k"))
	together(8, func(int) {
		for _, cmd := range []string{
			`{aggregate: 'c', pipeline: [{$merge: 'byID'}], cursor: {}}`,
			`{aggregate: 'c', pipeline: [{$unset: '_id'}, {$merge: {into: 'byK', on: 'k'}}], cursor: {}}`,
		} {
			if raw := answerTo(t, db, parsed(t, cmd)); raw.Lookup("ok").AsFloat64() != 1 {
				t.Errorf("%s: %v", cmd, raw)
			}
		}
	})
	for _, name := range []string{"byID", "byK"} {
		if n := count(t, db.Collection(name), bson.D{}); n != 100 {
			t.Errorf("%d %s", n, name)
		}
	}
	if raw := answerTo(t, db, parsed(t, `{aggregate: 'c', pipeline: [{$set: {k: 1000, _id: {$ifNull: ['$no', 5]}}}, {$limit: 1}, {$merge: {into: 'c', on: '_id', whenMatched: 'fail'}}], cursor: {}}`)); raw.Lookup("code").AsInt64() != 11000 {
		t.Errorf("%v", raw)
	}
}
