package command_test

import (
	"context"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/mayflydb/mayfly/internal/mongo/command"
)

// The tests here restate those that all drivers share:
// https://github.com/mongodb/specifications/tree/master/source/change-streams/tests

// newTested serves as a replica set that has fail points.
func newTested(t testing.TB) *testServer {
	return newServer(t, func(o *command.Options) { o.ReplSet, o.TestCommands = "globaldb", true })
}

// failCommand makes commands fail.
func (d *testServer) failCommand(times int, data bson.D) {
	d.t.Helper()
	_, err := d.admin(pairs("configureFailPoint", "failCommand", "mode", eq("times", times), "data", data))
	must(d.t, err)
}

// insertThree inserts {x: 1} to {x: 3}, and checks that the stream has them.
func insertThree(t testing.TB, c *mongo.Collection, s *mongo.ChangeStream) {
	t.Helper()
	for i := range 3 {
		_, err := c.InsertOne(t.Context(), eq("x", i+1))
		must(t, err)
	}
	for i := range int32(3) {
		next(t, s)
		if x := s.Current.Lookup("fullDocument", "x").Int32(); x != i+1 {
			t.Errorf("event of %d, want %d", x, i+1)
		}
	}
}

func TestConsecutiveResume(t *testing.T) {
	t.Parallel()
	d := newTested(t)
	c := d.Database("test").Collection("c")
	d.failCommand(2, bson.D{{Key: "failCommands", Value: bson.A{"getMore"}}, {Key: "closeConnection", Value: true}})
	o := options.ChangeStream().SetBatchSize(1).SetMaxAwaitTime(20 * time.Millisecond)
	s, err := c.Watch(t.Context(), bson.A{}, o)
	must(t, err)
	defer s.Close(context.Background())
	insertThree(t, c, s)
}

func TestResumableErrors(t *testing.T) {
	t.Parallel()
	d := newTested(t)
	c := d.Database("test").Collection("c")
	for name, x := range map[string]struct {
		code   int
		label  bson.A // in place of the server's own
		resume bool
	}{
		"HostUnreachable":       {6, nil, true},
		"HostNotFound":          {7, nil, true},
		"NetworkTimeout":        {89, nil, true},
		"ShutdownInProgress":    {91, nil, true},
		"PrimarySteppedDown":    {189, nil, true},
		"SocketException":       {9001, nil, true},
		"NotWritablePrimary":    {10107, nil, true},
		"InterruptedAtShutdown": {11600, nil, true},
		"NotPrimaryOrSecondary": {13436, nil, true},
		"RetryChangeStream":     {234, nil, true},
		"StaleShardVersion":     {63, nil, false},
		"CursorNotFound":        {43, nil, true},
		"a label":               {50, bson.A{"ResumableChangeStreamError"}, true},
		"no label":              {6, bson.A{}, false},
		"ElectionInProgress":    {216, nil, false},
		"MaxTimeMSExpired":      {50, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := watch(t, c, nil, nil)
			point, next := "failGetMoreAfterCursorCheckout", eq("errorCode", x.code)
			if x.label != nil {
				point = "failCommand"
				next = with(next, pairs("failCommands", bson.A{"getMore"}, "errorLabels", x.label))
			}
			d.failPoint(point, eq("times", 1), next)
			if x.resume {
				insertThree(t, c, s)
			} else {
				breaks(t, s, x.code)
			}
		})
	}
}

func TestProjectedEvents(t *testing.T) {
	t.Parallel()
	d, ctx := newReplica(t), t.Context()
	c := d.Database("test").Collection("c")
	for name, x := range map[string]struct {
		stage bson.D
		want  string
	}{
		"an operationType of the future": {eq("$project", pairs("operationType", "addedInFuture", "ns", 1)),
			`{"ns":{"db":"test","coll":"c"},"operationType":"addedInFuture"}`},
		"a new field": {eq("$project", pairs("operationType", 1, "ns", 1, "newField", "new")),
			`{"operationType":"insert","ns":{"db":"test","coll":"c"},"newField":"new"}`},
		"another ns": {eq("$project", pairs("operationType", "insert", "ns.viewOn", "db.coll")),
			`{"ns":{"viewOn":"db.coll"},"operationType":"insert"}`},
		"more in ns": {eq("$project", eq("ns", pairs("db", "$ns.db", "viewOn", "x"))),
			`{"ns":{"db":"test","viewOn":"x"}}`},
		"another name": {eq("$project", bson.D{{Key: "optype", Value: "$operationType"}}), `{"optype":"insert"}`},
	} {
		t.Run(name, func(t *testing.T) {
			s := watch(t, c, bson.A{x.stage}, nil)
			_, err := c.InsertOne(ctx, bson.D{})
			must(t, err)
			expect(t, s, x.want)
		})
	}
}

func TestStreamErrorsHaveLabels(t *testing.T) {
	t.Parallel()
	d, ctx := newReplica(t), t.Context()
	c := d.Database("test").Collection("c")
	s := watch(t, c, bson.A{eq("$project", eq("_id", 0))}, nil)
	_, err := c.InsertOne(ctx, bson.D{})
	must(t, err)
	breaks(t, s, 280)
	if e, ok := s.Err().(mongo.ServerError); !ok || !e.HasErrorLabel("NonResumableChangeStreamError") {
		t.Errorf("%v", s.Err())
	}
	_, err = c.Watch(ctx, bson.A{eq("$unsupported", "foo")})
	refuses(t, err, 40324)
	comment := watch(t, c, nil, options.ChangeStream().SetComment(eq("name", "test1")))
	quiet(t, comment)
}
