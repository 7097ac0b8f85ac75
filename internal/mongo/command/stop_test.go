package command_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/mayflydb/mayfly/internal/clock"
)

// endless are expressions that take minutes on one small document, though their loops have few turns.
var endless = map[string]string{
	"filter of ranges": `{"$filter": {"input": {"$range": [0, 1000000]}, "cond": {"$in": [-1, {"$range": [0, 1000000]}]}}}`,
	"map of ranges":    `{"$map": {"input": {"$range": [0, 1000000]}, "in": {"$size": {"$range": [0, 1000000]}}}}`,
	"map of sorts":     `{"$let": {"vars": {"a": {"$range": [0, 300000]}}, "in": {"$map": {"input": "$$a", "in": {"$size": {"$sortArray": {"input": "$$a", "sortBy": -1}}}}}}}`,
	"map of unions":    `{"$let": {"vars": {"a": {"$range": [0, 300000]}}, "in": {"$map": {"input": "$$a", "in": {"$size": {"$setUnion": ["$$a", "$$a"]}}}}}}`,
	"map of texts":     `{"$map": {"input": {"$range": [0, 1000000]}, "in": {"$strLenCP": {"$toUpper": "$text"}}}}`,
	"map of searches":  `{"$map": {"input": {"$range": [0, 1000000]}, "in": {"$indexOfCP": ["$text", "zz"]}}}`,
}

func endlessServer(t *testing.T) (*testServer, *mongo.Collection) {
	d := newServer(t, nil)
	c := d.Database("test").Collection("c")
	_, err := c.InsertOne(t.Context(), bson.D{{Key: "_id", Value: 1}, {Key: "text", Value: strings.Repeat("é", 4<<20)}})
	must(t, err)
	return d, c
}

// ways of asking for an expression.
func ways(t *testing.T, text string) map[string]func(ctx context.Context, c *mongo.Collection) error {
	t.Helper()
	var x bson.Raw
	must(t, bson.UnmarshalExtJSON([]byte(`{"x": `+text+`}`), false, &x))
	value := x.Lookup("x")
	return map[string]func(ctx context.Context, c *mongo.Collection) error{
		"aggregate": func(ctx context.Context, c *mongo.Collection) error {
			_, err := c.Aggregate(ctx, bson.A{eq("$project", eq("x", eq("$size", value)))})
			return err
		},
		"find": func(ctx context.Context, c *mongo.Collection) error {
			return c.FindOne(ctx, bson.D{{Key: "$expr", Value: bson.D{{Key: "$eq", Value: bson.A{value, 1}}}}}).Err()
		},
	}
}

// TestStopMeansStop ends expressions by maxTimeMS, by killOp and by leaving. The watchdog is generous, since other
// tests run too.
func TestStopMeansStop(t *testing.T) {
	d, c := endlessServer(t)
	const watchdog = 5 * time.Second
	gone := func(name string, watch clock.Stopwatch) {
		for d.running(t, name) != 0 {
			if watch.Elapsed() > watchdog {
				t.Fatalf("%s still runs", name)
			}
			runtime.Gosched()
		}
	}
	for name, text := range endless {
		for way, ask := range ways(t, text) {
			name := fmt.Sprintf("%s, %s", name, way)
			watch := clock.Start()
			err := askWithin(t.Context(), c, text, way) // no deadline of its own, which the driver would send too
			if took := watch.Elapsed(); !isTimeout(err) || took > watchdog {
				t.Errorf("%s with maxTimeMS: %v after %v", name, err, took)
			}

			ended := make(chan error, 1)
			go func() { ended <- ask(t.Context(), c) }()
			id := d.awaitOp(t, way)
			watch = clock.Start()
			_, err = d.runAdmin(bson.D{{Key: "killOp", Value: 1}, {Key: "op", Value: id}})
			must(t, err)
			if err := <-ended; err == nil || watch.Elapsed() > watchdog {
				t.Errorf("%s with killOp: %v after %v", name, err, watch.Elapsed())
			}

			left, leave := context.WithCancel(t.Context())
			client := d.connect("")
			go func() { ended <- ask(left, client.Database("test").Collection("c")) }()
			d.awaitOp(t, way)
			leave() // the driver closes the connection
			<-ended
			gone(way, clock.Start())
		}
	}
}

func askWithin(ctx context.Context, c *mongo.Collection, text, way string) error {
	var x bson.Raw
	if err := bson.UnmarshalExtJSON([]byte(`{"x": `+text+`}`), false, &x); err != nil {
		return err
	}
	value := x.Lookup("x")
	cmd := pairs("find", c.Name(), "filter", eq("$expr", eq("$eq", bson.A{value, 1})))
	if way == "aggregate" {
		stages := bson.A{eq("$project", eq("x", eq("$size", value)))}
		cmd = pairs("aggregate", c.Name(), "cursor", bson.D{}, "pipeline", stages)
	}
	cmd = append(cmd, bson.E{Key: "maxTimeMS", Value: 100})
	return c.Database().RunCommand(ctx, cmd, options.RunCmd()).Err()
}

func isTimeout(err error) bool {
	e, ok := err.(mongo.ServerError)
	return ok && e.HasErrorCode(50)
}

func (d *testServer) runAdmin(cmd bson.D) (bson.M, error) {
	var answer bson.M
	err := d.Database("admin").RunCommand(d.t.Context(), cmd).Decode(&answer)
	return answer, err
}

// running is the number of a request of that command that runs, 0 when there is none.
func (d *testServer) running(t *testing.T, name string) any {
	t.Helper()
	var answer struct {
		Inprog []struct {
			Opid    int32
			Command bson.Raw
		}
	}
	must(t, d.Database("admin").RunCommand(t.Context(), bson.D{{Key: "currentOp", Value: 1}}).Decode(&answer))
	for _, op := range answer.Inprog {
		if _, err := op.Command.LookupErr(name); err == nil && op.Command.Lookup("$db").StringValue() == "test" {
			return op.Opid
		}
	}
	return 0
}

// awaitOp waits until such a request runs.
func (d *testServer) awaitOp(t *testing.T, name string) any {
	t.Helper()
	for {
		if id := d.running(t, name); id != 0 {
			return id
		}
		runtime.Gosched()
	}
}
