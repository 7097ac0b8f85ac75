package mongo

import (
	"math"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// A clocked server and a database of its own on it.
func onVirtualClock(t *testing.T, flags ...string) (*server, *mongo.Database) {
	t.Helper()
	s := start(t, append([]string{"--memory", "--clock=virtual=" + someday}, flags...)...)
	return s, newDatabase(s.connect(t, ""))
}

// stampIndex is db.coll.createIndex({_ts: 1}, {expireAfterSeconds: n}).
func stampIndex(t *testing.T, c *mongo.Collection, n int32) {
	t.Helper()
	_, err := c.Indexes().CreateOne(within(t, patience), mongo.IndexModel{
		Keys: bson.D{{Key: "_ts", Value: 1}}, Options: options.Index().SetExpireAfterSeconds(n)})
	must(t, err)
}

// The samples of "Expire data with Azure Cosmos DB's API for MongoDB", in the Go driver's words.
func TestCosmosSamples(t *testing.T) {
	t.Parallel()
	s, db := onVirtualClock(t)
	ctx := within(t, patience)
	c := db.Collection("coll")

	var reply struct {
		T       string `bson:"_t"`
		OK      float64
		Created bool  `bson:"createdCollectionAutomatically"`
		Before  int32 `bson:"numIndexesBefore"`
		After   int32 `bson:"numIndexesAfter"`
	}
	must(t, db.RunCommand(ctx, bson.D{{Key: "createIndexes", Value: "coll"}, {Key: "indexes", Value: bson.A{bson.D{
		{Key: "key", Value: bson.D{{Key: "_ts", Value: 1}}}, {Key: "name", Value: "_ts_1"},
		{Key: "expireAfterSeconds", Value: 10}}}}}).Decode(&reply))
	if reply.T != "CreateIndexesResponse" || reply.OK != 1 || !reply.Created || reply.Before != 1 || reply.After != 2 {
		t.Errorf("createIndexes answers %+v", reply)
	}

	lives := []struct {
		ttl     any
		seconds int
	}{
		{20.0, 20}, {int32(20), 20}, {int64(20), 20}, // override
		{20.5, 10}, {int64(2147483649), 10}, // stored and ignored
		{"20", 10}, {true, 10}, {nil, 10}, {math.NaN(), 10}, {math.Inf(1), 10}, {int32(0), 10}, {int32(-2), 10},
		{bson.D{{Key: "a", Value: 20}}, 10}, {bson.A{20}, 10},
		{int32(-1), 1 << 30}, {int64(-1), 1 << 30}, {-1.0, 1 << 30},
	}
	alive := func(second int) (n int) {
		for _, l := range lives {
			if second < l.seconds {
				n++
			}
		}
		return n
	}
	for _, l := range lives {
		_, err := c.InsertOne(ctx,
			bson.D{{Key: "id", Value: 1}, {Key: "location", Value: "Paris"}, {Key: "ttl", Value: l.ttl}})
		must(t, err)
	}
	if raw, err := c.FindOne(ctx, bson.D{}).Raw(); err != nil || raw.Lookup("_ts").Type != 0 {
		t.Errorf("the stamp shows: %v %v", raw, err)
	}
	second := 0
	for _, at := range []int{0, 9, 10, 19, 20, 1000} {
		if at > second {
			s.advance(t, time.Duration(at-second)*time.Second)
			second = at
		}
		wantAlive(t, c, at, alive(at))
	}
}

// wantAlive asks for the number of documents in every way a client has.
func wantAlive(t *testing.T, c *mongo.Collection, second, want int) {
	t.Helper()
	ctx := within(t, patience)
	estimated, err := c.EstimatedDocumentCount(ctx)
	must(t, err)
	counted, err := c.CountDocuments(ctx, bson.D{})
	must(t, err)
	indexed, err := c.CountDocuments(ctx, bson.D{{Key: "_id", Value: bson.D{{Key: "$exists", Value: true}}}})
	must(t, err)
	var distinct []any
	must(t, c.Distinct(ctx, "_id", bson.D{}).Decode(&distinct))
	if got := [5]int{count(t, c, bson.D{}), int(estimated), int(counted), int(indexed),
		len(distinct)}; got != [5]int{want, want, want, want, want} {
		t.Errorf("second %d: find, estimate, count, count by _id, distinct see %v documents, want %d", second, got,
			want)
	}
}

// What was there before the index counts from its own last change, and every write starts anew.
func TestStampOfOldDocuments(t *testing.T) {
	t.Parallel()
	s, db := onVirtualClock(t)
	ctx := within(t, patience)
	c := db.Collection("c")
	_, err := c.InsertMany(ctx, []any{bson.D{{Key: "_id", Value: "old"}}, bson.D{{Key: "_id", Value: "touched"}}})
	must(t, err)
	s.advance(t, time.Hour)
	_, err = c.UpdateByID(ctx, "touched", bson.D{{Key: "$set", Value: bson.D{{Key: "a", Value: 1}}}})
	must(t, err)
	stampIndex(t, c, 10)
	wantAlive(t, c, 0, 1)
	s.advance(t, 9*time.Second)
	_, err = c.UpdateByID(ctx, "touched", bson.D{{Key: "$inc", Value: bson.D{{Key: "a", Value: 1}}}})
	must(t, err)
	s.advance(t, 9*time.Second)
	wantAlive(t, c, 18, 1)

	// collMod changes the lifetime, dropIndexes ends it.
	var changed struct {
		Old int64 `bson:"expireAfterSeconds_old"`
		New int64 `bson:"expireAfterSeconds_new"`
	}
	must(t, db.RunCommand(ctx, bson.D{{Key: "collMod", Value: "c"}, {Key: "index", Value: bson.D{
		{Key: "keyPattern", Value: bson.D{{Key: "_ts", Value: 1}}},
		{Key: "expireAfterSeconds", Value: 100}}}}).Decode(&changed))
	if changed.Old != 10 || changed.New != 100 {
		t.Errorf("collMod answers %+v", changed)
	}
	s.advance(t, 90*time.Second)
	wantAlive(t, c, 108, 1)
	must(t, c.Indexes().DropOne(ctx, "_ts_1"))
	s.advance(t, 24*time.Hour)
	wantAlive(t, c, 0, 1)
}

// An expired document is absent for writes too: its _id and its unique values are free.
func TestExpiredAreAbsentForWrites(t *testing.T) {
	t.Parallel()
	s, db := onVirtualClock(t)
	ctx := within(t, patience)
	c := db.Collection("c")
	stampIndex(t, c, 10)
	_, err := c.Indexes().CreateOne(ctx,
		mongo.IndexModel{Keys: bson.D{{Key: "email", Value: 1}}, Options: options.Index().SetUnique(true)})
	must(t, err)
	one := bson.D{{Key: "_id", Value: 1}, {Key: "email", Value: "a@example.com"}}
	_, err = c.InsertOne(ctx, one)
	must(t, err)
	_, err = c.InsertOne(ctx, one)
	wantCode(t, "the _id again", err, 11000)
	_, err = c.InsertOne(ctx, bson.D{{Key: "_id", Value: 2}, {Key: "email", Value: "a@example.com"}})
	wantCode(t, "the email again", err, 11000)
	s.advance(t, 10*time.Second)

	updated, err := c.UpdateByID(ctx, 1, bson.D{{Key: "$set", Value: bson.D{{Key: "a", Value: 1}}}})
	must(t, err)
	deleted, err := c.DeleteOne(ctx, bson.D{{Key: "_id", Value: 1}})
	must(t, err)
	if updated.MatchedCount != 0 || deleted.DeletedCount != 0 {
		t.Errorf("an expired document was updated (%d) or deleted (%d)", updated.MatchedCount, deleted.DeletedCount)
	}
	if err := c.FindOneAndDelete(ctx, bson.D{}).Err(); err != mongo.ErrNoDocuments {
		t.Errorf("findAndModify of an expired document: %v", err)
	}
	_, err = c.InsertOne(ctx, bson.D{{Key: "_id", Value: 2}, {Key: "email", Value: "a@example.com"}})
	must(t, err)
	upserted, err := c.UpdateOne(ctx, bson.D{{Key: "_id", Value: 1}},
		bson.D{{Key: "$set", Value: bson.D{{Key: "email", Value: "b@example.com"}}}},
		options.UpdateOne().SetUpsert(true))
	must(t, err)
	if upserted.UpsertedCount != 1 {
		t.Errorf("upsert over an expired document: %+v", upserted)
	}
}

// MongoDB's own TTL: a date in the document, hidden at its deadline, deleted by the monitor.
func TestDates(t *testing.T) {
	t.Parallel()
	s, db := onVirtualClock(t)
	ctx := within(t, patience)
	c := db.Collection("sessions")
	_, err := c.Indexes().CreateOne(ctx,
		mongo.IndexModel{Keys: bson.D{{Key: "at", Value: 1}}, Options: options.Index().SetExpireAfterSeconds(60)})
	must(t, err)
	now, err := time.Parse(time.RFC3339, someday)
	must(t, err)
	_, err = c.InsertMany(ctx, []any{
		bson.D{{Key: "_id", Value: "now"}, {Key: "at", Value: now}},
		bson.D{{Key: "_id", Value: "later"}, {Key: "at", Value: now.Add(40 * time.Second)}},
		bson.D{{Key: "_id", Value: "earliest"},
			{Key: "at", Value: bson.A{now.Add(time.Hour), now.Add(20 * time.Second), "x"}}},
		bson.D{{Key: "_id", Value: "no date"}, {Key: "at", Value: "yesterday"}},
		bson.D{{Key: "_id", Value: "none"}},
	})
	must(t, err)
	second := 0
	for _, step := range []struct{ at, want int }{{0, 5}, {59, 5}, {60, 4}, {79, 4}, {80, 3}, {99, 3}, {100, 2},
		{10000, 2}} {
		s.advance(t, time.Duration(step.at-second)*time.Second)
		second = step.at
		wantAlive(t, c, step.at, step.want)
	}
	for _, bad := range []struct {
		key     bson.D
		seconds any
		code    int
	}{
		{bson.D{{Key: "w", Value: 1}}, -1, 67},
		{bson.D{{Key: "w", Value: 1}}, int64(2147483648), 67},
		{bson.D{{Key: "w", Value: 1}}, "x", 67},
		{bson.D{{Key: "w", Value: 1}}, math.NaN(), 67},
		{bson.D{{Key: "w", Value: 1}, {Key: "x", Value: 1}}, 10, 67},
		{bson.D{{Key: "_id", Value: 1}}, 10, 197},
		{bson.D{{Key: "at", Value: 1}}, 10, 85},
		{bson.D{{Key: "_ts", Value: 1}}, 0, 2},
	} {
		err := db.RunCommand(ctx,
			bson.D{{Key: "createIndexes", Value: "sessions"}, {Key: "indexes", Value: bson.A{bson.D{
				{Key: "key", Value: bad.key}, {Key: "name", Value: bad.key[0].Key + "_1"},
				{Key: "expireAfterSeconds", Value: bad.seconds}}}}}).Err()
		wantCode(t, bad.key.String(), err, bad.code)
	}
}

// --mongo-ttl=cosmos has lifetimes on _ts only.
func TestCosmosTTLOnly(t *testing.T) {
	t.Parallel()
	_, db := onVirtualClock(t, "--mongo-ttl=cosmos")
	_, err := db.Collection("c").Indexes().CreateOne(within(t, patience), mongo.IndexModel{
		Keys: bson.D{{Key: "at", Value: 1}}, Options: options.Index().SetExpireAfterSeconds(60)})
	wantCode(t, "a date with --mongo-ttl=cosmos", err, 2)
	stampIndex(t, db.Collection("c"), 10)
}

// The pattern by which test suites wait for the monitor.
func TestMonitorPasses(t *testing.T) {
	t.Parallel()
	s, db := onVirtualClock(t)
	ctx := within(t, patience)
	admin := db.Client().Database("admin")
	must(t,
		admin.RunCommand(ctx, bson.D{{Key: "setParameter", Value: 1}, {Key: "ttlMonitorSleepSecs", Value: 1}}).Err())
	c := db.Collection("c")
	_, err := c.Indexes().CreateOne(ctx,
		mongo.IndexModel{Keys: bson.D{{Key: "at", Value: 1}}, Options: options.Index().SetExpireAfterSeconds(1)})
	must(t, err)
	now, _ := time.Parse(time.RFC3339, someday)
	for range 10 {
		_, err = c.InsertOne(ctx, bson.D{{Key: "at", Value: now}})
		must(t, err)
	}
	before, deleted := monitor(t, admin)
	passes := before
	for second := 0; passes < before+2; passes, _ = monitor(t, admin) {
		if second++; second > 60 {
			t.Fatalf("%d passes before, %d after a minute", before, passes)
		}
		s.advance(t, time.Second)
	}
	if _, got := monitor(t, admin); got-deleted < 10 {
		t.Errorf("metrics.ttl.deletedDocuments went from %d to %d, want 10 more", deleted, got)
	}
}

func monitor(t *testing.T, admin *mongo.Database) (passes, deleted int64) {
	t.Helper()
	var status struct {
		Metrics struct {
			TTL struct {
				Passes           int64
				DeletedDocuments int64 `bson:"deletedDocuments"`
			}
		}
	}
	must(t, admin.RunCommand(within(t, patience), bson.D{{Key: "serverStatus", Value: 1}}).Decode(&status))
	return status.Metrics.TTL.Passes, status.Metrics.TTL.DeletedDocuments
}
