package copying_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/mayflydb/mayfly/internal/copying"
)

// mongo is an endpoint with these names.
func (b *box) mongo(names string) copying.Endpoint {
	b.Helper()
	host, query, _ := strings.Cut(b.n.MongoURI(), "?")
	uri := strings.TrimSuffix(host, "/") + "/" + names
	if query != "" {
		uri += "?" + query
	}
	e, err := copying.ParseEndpoint(uri)
	b.ok(err)
	return e
}

func (b *box) db(name string) *mongo.Database {
	b.Helper()
	client, err := mongo.Connect(options.Client().ApplyURI(b.n.MongoURI()))
	b.ok(err)
	b.Cleanup(func() { _ = client.Disconnect(context.Background()) })
	return client.Database(name)
}

func (b *box) run(db *mongo.Database, command bson.D) {
	b.Helper()
	b.ok(db.RunCommand(b.Context(), command).Err())
}

// ids gives the _id values in a collection, in order.
func ids(t testing.TB, c *mongo.Collection) string {
	t.Helper()
	cursor, err := c.Find(t.Context(), bson.D{}, options.Find().SetSort(bson.D{{Key: "_id", Value: 1}}))
	if err != nil {
		t.Fatal(err)
	}
	var list []struct {
		ID any `bson:"_id"`
	}
	if err := cursor.All(t.Context(), &list); err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, d := range list {
		texts = append(texts, fmt.Sprint(d.ID))
	}
	return strings.Join(texts, " ")
}

func dates(b *box) *mongo.Database {
	b.Helper()
	db := b.db("shop")
	b.run(db, bson.D{
		{Key: "create", Value: "tokens"},
		{Key: "validator", Value: bson.D{{Key: "end", Value: bson.D{{Key: "$exists", Value: true}}}}},
	})
	_, err := db.Collection("tokens").Indexes().CreateMany(b.Context(), []mongo.IndexModel{
		{Keys: bson.D{{Key: "end", Value: 1}}, Options: options.Index().SetExpireAfterSeconds(10)},
		{Keys: bson.D{{Key: "b", Value: 1}, {Key: "a", Value: -1}}, Options: options.Index().SetUnique(true).
			SetPartialFilterExpression(bson.D{{Key: "a", Value: bson.D{{Key: "$exists", Value: true}}}})},
	})
	b.ok(err)
	var docs []any
	for n, id := range []any{1, 2.5, "text", bson.D{{Key: "k", Value: 1}}, bson.NewObjectID(), true} {
		end := any(begin.Add(time.Duration(10*n) * time.Second))
		if n == 5 {
			end = "never"
		}
		docs = append(docs, bson.D{
			{Key: "_id", Value: id}, {Key: "end", Value: end}, {Key: "a", Value: n}, {Key: "_ts", Value: n},
		})
	}
	_, err = db.Collection("tokens").InsertMany(b.Context(), docs)
	b.ok(err)
	b.run(db, bson.D{{Key: "create", Value: "early"}, {Key: "viewOn", Value: "tokens"},
		{Key: "pipeline", Value: bson.A{bson.D{{Key: "$match", Value: bson.D{{Key: "a", Value: 1}}}}}}})
	return db
}

// Collections arrive with their views, validators and indexes, and documents end with their dates.
func TestDates(t *testing.T) {
	from, to := newBox(t), newBox(t)
	source := dates(from)
	target := to.db("shop")
	advance(5*time.Second, from, to)
	o := copying.Options{From: from.mongo("shop"), To: to.mongo("shop"), Compare: true}
	result, err := copying.Run(t.Context(), o)
	from.ok(err)
	if len(result.Containers) != 2 || result.Containers[0].Written != 6 || result.Differences() != 0 ||
		!result.Containers[1].View {
		t.Fatalf("%+v %+v", result.Containers[0], result.Containers[1])
	}
	for range 60 {
		a, b := ids(t, source.Collection("tokens")), ids(t, target.Collection("tokens"))
		if a != b {
			t.Fatalf("%s in the source, %s in the target", a, b)
		}
		advance(time.Second, from, to)
	}
	if got := ids(t, target.Collection("tokens")); got != "true" {
		t.Errorf("at the end there is %q", got)
	}
	if _, err := target.Collection("tokens").InsertOne(t.Context(), bson.D{{Key: "_id", Value: 7}}); err == nil {
		t.Error("the target has no validator")
	}
	// The same again finds equal collections, and one that has changed is refused.
	_, err = copying.Run(t.Context(), o)
	from.ok(err)
	to.run(target, bson.D{{Key: "collMod", Value: "tokens"},
		{Key: "index", Value: bson.D{{Key: "name", Value: "end_1"}, {Key: "expireAfterSeconds", Value: 11}}}})
	_, err = copying.Run(t.Context(), o)
	different, ok := errors.AsType[*copying.DifferentError](err)
	if !ok || len(different.What) != 1 || !strings.HasPrefix(different.What[0], "index end_1:") {
		t.Errorf("error %v", err)
	}
}

// Lives that count from the last write need the stamps, which only the admin API has.
func TestLivesOfDocuments(t *testing.T) {
	from, to := newBox(t), newBox(t)
	source, target := from.db("shop").Collection("visits"), to.db("shop").Collection("visits")
	_, err := source.Indexes().CreateOne(t.Context(), mongo.IndexModel{
		Keys: bson.D{{Key: "_ts", Value: 1}}, Options: options.Index().SetExpireAfterSeconds(100)})
	from.ok(err)
	for _, ttl := range []any{nil, 20, 50, 150, -1} {
		_, err := source.InsertOne(t.Context(), bson.D{{Key: "_id", Value: fmt.Sprint(ttl)}, {Key: "ttl", Value: ttl}})
		from.ok(err)
	}
	advance(30*time.Second, from, to)
	o := copying.Options{From: from.mongo("shop/visits"), To: to.mongo("shop"), Compare: true}
	if _, err := copying.Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "--from-admin") {
		t.Fatalf("error %v", err)
	}
	o.FromAdmin, o.ToAdmin = from.admin, to.admin
	result, err := copying.Run(t.Context(), o)
	from.ok(err)
	if p := result.Containers[0]; p.Written != 4 || p.Different != 0 {
		t.Errorf("%+v", p)
	}
	for second := 30; second <= 152; second++ {
		if a, b := ids(t, source), ids(t, target); a != b {
			t.Fatalf("after %d s: %s in the source, %s in the target", second, a, b)
		}
		advance(time.Second, from, to)
	}
	if got := ids(t, target); got != "-1" {
		t.Errorf("at the end there is %q", got)
	}
}

// A copy goes on after the last _id, whatever its type.
func TestInterruptedDocuments(t *testing.T) {
	for _, fails := range []bool{false, true} {
		t.Run(fmt.Sprint("without $expr=", fails), func(t *testing.T) { testInterruptedDocuments(t, fails) })
	}
}

// fails is a source that does not know $expr, as FerretDB.
func testInterruptedDocuments(t *testing.T, fails bool) {
	from, to := newBox(t), newBox(t)
	dates(from)
	o := copying.Options{
		From: from.mongo("shop/tokens"), To: to.mongo("other/tokens"), Batch: 1, Compare: true,
		Checkpoint: filepath.Join(t.TempDir(), "checkpoint"),
	}
	for runs := int64(0); ; runs++ {
		ctx, stop := context.WithCancel(t.Context())
		o.Progress = func(_ string, read, _ int64) {
			if read > runs && read < 6 {
				stop()
			}
		}
		if fails && runs > 0 {
			from.run(from.db("admin"), bson.D{
				{Key: "configureFailPoint", Value: "failCommand"},
				{Key: "mode", Value: bson.D{{Key: "times", Value: 1}}},
				{Key: "data", Value: bson.D{
					{Key: "failCommands", Value: bson.A{"find"}}, {Key: "errorCode", Value: 238},
				}},
			})
		}
		result, err := copying.Run(ctx, o)
		stop()
		if err == nil {
			if p := result.Containers[0]; runs < 4 || p.Read != 6 || p.Written != 6 || p.Different != 0 {
				t.Errorf("after %d interruptions: %+v", runs, p)
			}
			return
		}
		if !errors.Is(err, context.Canceled) || runs > 10 {
			t.Fatal(err)
		}
	}
}
