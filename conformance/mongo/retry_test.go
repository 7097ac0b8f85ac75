package mongo

import (
	"context"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"

	"github.com/mayflydb/mayfly/conformance/several"
)

// failing makes the next command of that name fail once, in the way that data says.
func failing(t *testing.T, c *mongo.Client, command string, data bson.D) {
	t.Helper()
	data = append(bson.D{{Key: "failCommands", Value: bson.A{command}}}, data...)
	must(t,
		c.Database("admin").RunCommand(within(t, patience), bson.D{{Key: "configureFailPoint", Value: "failCommand"},
			{Key: "mode", Value: bson.D{{Key: "times", Value: 1}}}, {Key: "data", Value: data}}).Err())
}

// The driver tries again what fails on the way, and the server does it once.
func TestRetries(t *testing.T) {
	several.Lack(t, "one process")
	t.Parallel()
	s := start(t, "--memory", "--mongo-test-commands")
	client := s.connect(t, "")
	c := newDatabase(client).Collection("c")
	ctx := within(t, patience)
	_, err := c.InsertOne(ctx, bson.M{"_id": 0, "n": 0})
	must(t, err)
	insert := func() error { _, err := c.InsertOne(ctx, bson.M{"a": 1}); return err }
	update := func() error {
		_, err := c.UpdateOne(ctx, bson.M{"_id": 0}, bson.M{"$inc": bson.M{"n": 1}})
		return err
	}
	modify := func() error {
		return c.FindOneAndUpdate(ctx, bson.M{"_id": 0}, bson.M{"$inc": bson.M{"n": 1}}).Err()
	}
	read := func() error { return c.FindOne(ctx, bson.M{"_id": 0}).Err() }
	for _, step := range []struct {
		command string
		data    bson.D
		do      func() error
	}{
		{"insert", bson.D{{Key: "closeConnection", Value: true}}, insert},
		{"insert", bson.D{{Key: "errorCode", Value: 91}, {Key: "errorLabels", Value: bson.A{"RetryableWriteError"}}},
			insert},
		{"insert",
			bson.D{{Key: "writeConcernError",
				Value: bson.D{{Key: "code", Value: 91}, {Key: "errmsg", Value: "going down"}}},
				{Key: "errorLabels", Value: bson.A{"RetryableWriteError"}}}, insert},
		{"update", bson.D{{Key: "closeConnection", Value: true}}, update},
		{"update",
			bson.D{{Key: "writeConcernError",
				Value: bson.D{{Key: "code", Value: 91}, {Key: "errmsg", Value: "going down"}}},
				{Key: "errorLabels", Value: bson.A{"RetryableWriteError"}}}, update},
		{"findAndModify", bson.D{{Key: "closeConnection", Value: true}}, modify},
		{"find", bson.D{{Key: "closeConnection", Value: true}}, read},
		{"find", bson.D{{Key: "errorCode", Value: 11600}}, read},
	} {
		failing(t, client, step.command, step.data)
		if err := step.do(); err != nil {
			t.Errorf("%s with %v: %v", step.command, step.data, err)
		}
	}
	if n := count(t, c, bson.M{"a": 1}); n != 3 {
		t.Errorf("3 inserts made %d documents", n)
	}
	if n := count(t, c, bson.M{"_id": 0, "n": 3}); n != 1 {
		t.Errorf("3 increments: %v", c.FindOne(ctx, bson.M{"_id": 0}))
	}

	// A commit whose answer is lost is tried again, and holds.
	session, err := client.StartSession()
	must(t, err)
	defer session.EndSession(ctx)
	failing(t, client, "commitTransaction", bson.D{{Key: "closeConnection", Value: true}})
	_, err = session.WithTransaction(ctx, func(inside context.Context) (any, error) {
		return c.InsertOne(inside, bson.M{"_id": "committed"})
	})
	must(t, err)
	if n := count(t, c, bson.M{"_id": "committed"}); n != 1 {
		t.Error("the transaction is not there")
	}
	// A stream goes on after its connection is lost.
	stream, err := c.Watch(ctx, mongo.Pipeline{})
	must(t, err)
	defer stream.Close(ctx)
	failing(t, client, "getMore", bson.D{{Key: "closeConnection", Value: true}})
	_, err = c.InsertOne(ctx, bson.M{"_id": 77})
	must(t, err)
	if e := next(ctx, t, stream); e.Key.ID != 77 {
		t.Errorf("%+v", e)
	}
	wantCode(t, "a fail point without --mongo-test-commands",
		start(t, "--memory").connect(t, "").Database("admin").RunCommand(ctx,
			bson.D{{Key: "configureFailPoint", Value: "failCommand"}, {Key: "mode", Value: "off"}}).Err(), 59)
}

// Sessions that are causally consistent, read concerns, and bounds on time.
func TestSessions(t *testing.T) {
	t.Parallel()
	s := start(t, "--memory")
	client := s.connect(t, "")
	db := newDatabase(client)
	ctx := within(t, patience)
	c := db.Collection("c")
	session, err := client.StartSession(options.Session().SetCausalConsistency(true))
	must(t, err)
	defer session.EndSession(ctx)
	inside := mongo.NewSessionContext(ctx, session)
	for i := range 20 {
		_, err := c.InsertOne(inside, bson.M{"_id": i})
		must(t, err)
		if n, err := c.CountDocuments(inside, bson.M{}); err != nil || n != int64(i+1) {
			t.Fatalf("after %d inserts: %d %v", i+1, n, err)
		}
	}
	if session.OperationTime() == nil || session.ClusterTime() == nil {
		t.Error("the server tells no time")
	}

	snapshot, err := client.StartSession(options.Session().SetSnapshot(true))
	must(t, err)
	defer snapshot.EndSession(ctx)
	frozen := mongo.NewSessionContext(ctx, snapshot)
	_, err = c.CountDocuments(frozen, bson.M{})
	wantCode(t, "a snapshot outside of a transaction", err, 72)
	for _, level := range []*readconcern.ReadConcern{readconcern.Local(), readconcern.Majority(),
		readconcern.Available(), readconcern.Linearizable()} {
		if n := count(t, db.Collection("c", options.Collection().SetReadConcern(level)), bson.M{}); n != 20 {
			t.Errorf("read concern %s sees %d documents", level.Level, n)
		}
	}
	short, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err = c.Aggregate(short, bson.A{
		bson.M{"$project": bson.M{"x": bson.M{"$range": bson.A{0, 100000}}}}, bson.M{"$unwind": "$x"},
		bson.M{"$lookup": bson.M{"from": "c", "localField": "x", "foreignField": "none", "as": "y"}},
		bson.M{"$group": bson.M{"_id": "$x", "y": bson.M{"$sum": 1}}}})
	if took := time.Since(began); err == nil || took > 5*time.Second {
		t.Errorf("a long aggregation with 300 ms ended after %v with %v", took, err)
	}
}
