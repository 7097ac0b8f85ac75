package mongo

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// Documents, indexes, views, rules and lifetimes outlive the process, however it ends.
func TestRestartKeepsEverything(t *testing.T) {
	t.Parallel()
	s := start(t, "--data", t.TempDir(), "--clock=virtual="+someday)
	client := s.connect(t, "")
	db := client.Database("shop")
	ctx := within(t, 3*patience)
	must(t,
		db.CreateCollection(ctx, "orders",
			options.CreateCollection().SetValidator(bson.D{{Key: "n", Value: bson.D{{Key: "$type", Value: "int"}}}})))
	must(t,
		db.CreateView(ctx, "big", "orders",
			bson.A{bson.D{{Key: "$match", Value: bson.D{{Key: "n", Value: bson.D{{Key: "$gte", Value: 90}}}}}}}))
	orders := db.Collection("orders")
	_, err := orders.Indexes().CreateOne(ctx,
		mongo.IndexModel{Keys: bson.D{{Key: "n", Value: -1}}, Options: options.Index().SetUnique(true).SetName("by n")})
	must(t, err)
	stampIndex(t, orders, 1000)
	var all []any
	for n := range 100 {
		all = append(all, bson.D{{Key: "_id", Value: fmt.Sprint(n)}, {Key: "n", Value: int32(n)}})
	}
	all[0] = append(all[0].(bson.D), bson.E{Key: "ttl", Value: 10})
	_, err = orders.InsertMany(ctx, all)
	must(t, err)

	want := 100
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL, syscall.SIGKILL} {
		s.signal(sig)
		must(t, s.run())
		if n := count(t, orders, bson.D{}); n != want {
			t.Errorf("after %v: %d documents, want %d", sig, n, want)
		}
		if n := count(t, db.Collection("big"), bson.D{}); n != 10 {
			t.Errorf("after %v the view shows %d", sig, n)
		}
		specs, err := orders.Indexes().ListSpecifications(ctx)
		must(t, err)
		if len(specs) != 3 || specs[1].Name != "by n" || specs[2].ExpireAfterSeconds == nil ||
			*specs[2].ExpireAfterSeconds != 1000 {
			t.Errorf("after %v: indexes %+v", sig, specs)
		}
		_, err = orders.InsertOne(ctx, bson.D{{Key: "n", Value: int32(50)}})
		wantCode(t, "a unique value again", err, 11000)
		_, err = orders.InsertOne(ctx, bson.D{{Key: "n", Value: "text"}})
		wantCode(t, "what the validator refuses", err, 121)
		if sig == syscall.SIGTERM {
			s.advance(t, 10*time.Second)
			want--
		}
	}
	s.advance(t, 990*time.Second)
	s.crash(t)
	if n := count(t, orders, bson.D{}); n != 0 {
		t.Errorf("%d documents outlived their second and a kill", n)
	}
}

// Users and what they may do outlive the process too.
func TestRestartKeepsUsers(t *testing.T) {
	t.Parallel()
	s := start(t, "--data", t.TempDir(), "--mongo-auth", "on", "--key",
		"dGhlIGtleSBvZiB0aGlzIHRlc3QsIDMyIGJ5dGVzIGxvbmc=")
	root := connect(t, s.as("mayfly", "dGhlIGtleSBvZiB0aGlzIHRlc3QsIDMyIGJ5dGVzIGxvbmc=", ""))
	must(t,
		root.Database("shop").RunCommand(within(t, patience),
			bson.D{{Key: "createUser", Value: "ann"}, {Key: "pwd", Value: "x"},
				{Key: "roles", Value: bson.A{"readWrite"}}}).Err())
	s.crash(t)
	_, err := connect(t,
		s.as("ann", "x", "authSource=shop")).Database("shop").Collection("c").InsertOne(within(t, patience), bson.D{})
	must(t, err)
}

// What was acknowledged is there after a kill in the middle of the writing, also if it was one of many statements.
func TestAcknowledgedWritesSurviveAKill(t *testing.T) {
	t.Parallel()
	s := start(t, "--data", t.TempDir())
	const writers = 8
	acknowledged := make(chan string, 100_000)
	done := make(chan struct{}, writers)
	c := s.connect(t, "retryWrites=false").Database("db").Collection("c")
	ctx := within(t, patience)
	for w := range writers {
		go func() {
			defer func() { done <- struct{}{} }()
			for i := 0; ; i++ {
				id := fmt.Sprintf("%d-%d", w, i)
				if w%2 == 0 {
					if _, err := c.InsertOne(ctx, bson.D{{Key: "_id", Value: id}}); err != nil {
						return
					}
					acknowledged <- id
					continue
				}
				var upserts []mongo.WriteModel
				for n := range 20 {
					upserts = append(upserts, mongo.NewReplaceOneModel().SetFilter(bson.D{
						{Key: "_id", Value: fmt.Sprintf("%s-%d", id, n)}}).SetReplacement(bson.D{}).SetUpsert(true))
				}
				if _, err := c.BulkWrite(ctx, upserts); err != nil {
					return
				}
				for n := range upserts {
					acknowledged <- fmt.Sprintf("%s-%d", id, n)
				}
			}
		}()
	}
	for len(acknowledged) < 1_000 && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	s.signal(syscall.SIGKILL)
	for range writers {
		<-done
	}
	close(acknowledged)
	must(t, s.run())
	cursor, err := s.connect(t, "").Database("db").Collection("c").Find(within(t, patience), bson.D{})
	must(t, err)
	var found []struct {
		ID string `bson:"_id"`
	}
	must(t, cursor.All(within(t, patience), &found))
	there := map[string]bool{}
	for _, f := range found {
		there[f.ID] = true
	}
	n := 0
	for id := range acknowledged {
		if n++; !there[id] {
			t.Errorf("%s was acknowledged and is gone", id)
		}
	}
	if n < 1_000 {
		t.Errorf("only %d writes were acknowledged", n)
	}
}

// A folder goes from a stand-alone server to a replica set and back. Documents stay. Change streams go on after a
// restart of the set, and are told that they cannot when there was a stand-alone server in between, which nobody
// could watch.
func TestRestartAsAnother(t *testing.T) {
	t.Parallel()
	alone, set := []string{"--mongo-replset="}, []string{}
	common := []string{"--data", t.TempDir(), "--clock=virtual=" + someday}
	s := start(t, append(common, alone...)...)
	again := func(mode []string) *mongo.Collection {
		t.Helper()
		s.signal(syscall.SIGTERM)
		s.flags = append(append([]string{}, common...), mode...)
		must(t, s.run())
		return s.connect(t, "").Database("shop").Collection("orders")
	}
	ctx := within(t, 3*patience)
	insert := func(c *mongo.Collection, id string) {
		t.Helper()
		_, err := c.InsertOne(ctx, bson.D{{Key: "_id", Value: id}, {Key: "n", Value: 1}})
		must(t, err)
	}
	next := func(stream *mongo.ChangeStream) string {
		t.Helper()
		if !stream.Next(ctx) {
			t.Fatal(stream.Err())
		}
		var e struct {
			OperationType string
			FullDocument  struct {
				ID string `bson:"_id"`
				N  int
			}
		}
		must(t, stream.Decode(&e))
		return fmt.Sprintf("%s %s %d", e.OperationType, e.FullDocument.ID, e.FullDocument.N)
	}
	insert(s.connect(t, "").Database("shop").Collection("orders"), "alone")

	c := again(set)
	stream, err := c.Watch(ctx, mongo.Pipeline{})
	must(t, err)
	insert(c, "watched")
	if got := next(stream); got != "insert watched 1" {
		t.Errorf("the stream tells %s", got)
	}
	token := stream.ResumeToken()
	insert(c, "unread")
	_, err = c.UpdateOne(ctx, bson.D{{Key: "_id", Value: "unread"}},
		bson.D{{Key: "$set", Value: bson.D{{Key: "n", Value: 2}}}})
	must(t, err)
	stream.Close(ctx)

	c = again(set)
	stream, err = c.Watch(ctx, mongo.Pipeline{}, options.ChangeStream().SetResumeAfter(token))
	must(t, err)
	if got := next(stream); got != "insert unread 1" {
		t.Errorf("after a restart the stream tells %s, not what the document was at that moment", got)
	}
	stream.Close(ctx)

	insert(again(alone), "unwatched")
	c = again(set)
	if n := count(t, c, bson.D{}); n != 4 {
		t.Errorf("%d documents, want 4", n)
	}
	_, err = c.Watch(ctx, mongo.Pipeline{}, options.ChangeStream().SetResumeAfter(token))
	wantCode(t, "a stream that would have a gap", err, 286)
	stream, err = c.Watch(ctx, mongo.Pipeline{})
	must(t, err)
	defer stream.Close(ctx)
	insert(c, "set")
	if got := next(stream); got != "insert set 1" {
		t.Errorf("the stream tells %s", got)
	}
}
