package mongo

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/mayflydb/mayfly/conformance/several"
)

// Cursors, streams and transactions that share one connection keep apart what they were asked:
// nothing of a request is lost when the next one comes over the same wire.
func TestEverythingOverOneConnection(t *testing.T) {
	several.Lack(t, "one connection")
	t.Parallel()
	s := start(t, "--memory")
	db := newDatabase(s.connect(t, "maxPoolSize=1"))
	ctx := within(t, 2*patience)
	c := db.Collection("things")
	var documents []any
	for i := range 300 {
		documents = append(documents, bson.M{"_id": i, "kind": fmt.Sprint("kind", i%3), "list": bson.A{bson.M{"n": i}}})
	}
	_, err := c.InsertMany(ctx, documents)
	must(t, err)
	must(t,
		db.CreateView(ctx, "view", "things",
			bson.A{bson.M{"$match": bson.M{"kind": "kind2"}}, bson.M{"$set": bson.M{"text": "of the view"}}}))
	_, err = db.Collection("partial").Indexes().CreateOne(ctx, mongo.IndexModel{Keys: bson.M{"a": 1},
		Options: options.Index().SetPartialFilterExpression(bson.M{"state": "open"}).SetUnique(true)})
	must(t, err)
	stream, err := c.Watch(ctx,
		bson.A{bson.M{"$match": bson.M{"fullDocument.kind": "of the stream"}},
			bson.M{"$set": bson.M{"text": "of the stream too"}}})
	must(t, err)
	defer stream.Close(ctx)

	open := func(cursor *mongo.Cursor, err error) *mongo.Cursor {
		t.Helper()
		must(t, err)
		return cursor
	}
	small := options.Find().SetBatchSize(3).SetSort(bson.D{{Key: "_id", Value: 1}})
	cursors := []struct {
		*mongo.Cursor
		text string // that each document of it has
		want int
	}{
		{open(c.Find(ctx, bson.M{"kind": "kind1"},
			small.SetProjection(bson.M{"kind": 1, "text": bson.M{"$literal": "of the find"}}))), "of the find", 100},
		{open(c.Aggregate(ctx,
			bson.A{bson.M{"$match": bson.M{"kind": "kind0"}}, bson.M{"$set": bson.M{"text": "of the aggregation"}}},
			options.Aggregate().SetBatchSize(3))), "of the aggregation", 100},
		{open(db.Collection("view").Find(ctx, bson.M{"text": "of the view"}, options.Find().SetBatchSize(3))),
			"of the view", 100},
		{open(c.Aggregate(ctx, bson.A{
			bson.M{"$match": bson.M{"_id": bson.M{"$lt": 50}}},
			bson.M{"$lookup": bson.M{"from": "things", "let": bson.M{"me": "$_id"}, "as": "joined", "pipeline": bson.A{
				bson.M{"$match": bson.M{"$expr": bson.M{"$eq": bson.A{"$_id", "$$me"}}}},
				bson.M{"$project": bson.M{"text": "of the lookup"}}}}},
			bson.M{"$project": bson.M{"text": bson.M{"$first": "$joined.text"}}},
		}, options.Aggregate().SetBatchSize(3))), "of the lookup", 50},
	}
	counts := make([]int, len(cursors))
	for going := true; going; {
		going = false
		for i, cursor := range cursors {
			if !cursor.Next(ctx) {
				must(t, cursor.Err())
				continue
			}
			going = true
			counts[i]++
			if text, _ := cursor.Current.Lookup("text").StringValueOK(); text != cursor.text {
				t.Fatalf("cursor %d gives %s, want text %q", i, cursor.Current, cursor.text)
			}
		}
		// What overwrites the bytes of an earlier request, if anything does.
		must(t,
			db.RunCommand(ctx,
				bson.D{{Key: "ping", Value: 1}, {Key: "comment", Value: strings.Repeat("x", 2000)}}).Err())
	}
	for i, cursor := range cursors {
		if counts[i] != cursor.want {
			t.Errorf("cursor %d (%s) gave %d documents, want %d", i, cursor.text, counts[i], cursor.want)
		}
	}

	_, err = c.InsertMany(ctx,
		[]any{bson.M{"_id": "other", "kind": "of nobody"}, bson.M{"_id": "watched", "kind": "of the stream"}})
	must(t, err)
	if !stream.Next(ctx) {
		t.Fatal(stream.Err())
	}
	if text, _ := stream.Current.Lookup("text").StringValueOK(); text != "of the stream too" ||
		stream.Current.Lookup("ns", "coll").StringValue() != "things" {
		t.Errorf("the stream gives %s", stream.Current)
	}

	partial := db.Collection("partial")
	_, err = partial.InsertMany(ctx, []any{bson.M{"a": 1, "state": "open"}, bson.M{"a": 1, "state": "closed"}})
	must(t, err)
	_, err = partial.InsertOne(ctx, bson.M{"a": 1, "state": "open"})
	wantCode(t, "a second open one", err, 11000)

	session, err := db.Client().StartSession()
	must(t, err)
	defer session.EndSession(ctx)
	_, err = session.WithTransaction(ctx, func(inside context.Context) (any, error) {
		for i := range 20 {
			if _, err := c.UpdateOne(inside, bson.M{"_id": i},
				bson.M{"$set": bson.M{"text": fmt.Sprint("in the transaction ", i)}}); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
	must(t, err)
	for i := range 20 {
		if n := count(t, c, bson.M{"_id": i, "text": fmt.Sprint("in the transaction ", i)}); n != 1 {
			t.Errorf("document %d did not take what the transaction wrote", i)
		}
	}
}

// A result is cut into batches and messages, however large its documents are.
func TestLargeResults(t *testing.T) {
	t.Parallel()
	s := start(t, "--memory")
	c := newDatabase(s.connect(t, "")).Collection("large")
	patience, documents := 3*patience, 120_000 // more than one message may have
	switch {
	case several.On && testing.Short():
		documents = 5_000 // each is a millisecond there
	case several.On:
		patience *= 4
	}
	ctx := within(t, patience)
	text := strings.Repeat("x", 3<<20)
	for i := range 12 {
		_, err := c.InsertOne(ctx, bson.M{"_id": i, "text": text})
		must(t, err)
	}
	if n := count(t, c, bson.M{}); n != 12 {
		t.Errorf("%d documents came back", n)
	}
	_, err := c.InsertOne(ctx, bson.M{"text": strings.Repeat("x", 16<<20-50)})
	must(t, err)
	err = c.Database().RunCommand(ctx,
		bson.D{{Key: "insert", Value: "large"},
			{Key: "documents", Value: bson.A{bson.M{"text": strings.Repeat("x", 16<<20)}}}}).Err()
	if err == nil {
		t.Error("a document over 16 MiB was taken")
	}
	var many []any
	for i := range documents {
		many = append(many, bson.D{{Key: "_id", Value: i + 100}})
	}
	inserted, err := c.InsertMany(ctx, many)
	must(t, err)
	if len(inserted.InsertedIDs) != len(many) {
		t.Errorf("%d of %d inserted", len(inserted.InsertedIDs), len(many))
	}
}
