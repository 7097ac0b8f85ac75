package command_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/mayflydb/mayfly/internal/mongo/command"
	"github.com/mayflydb/mayfly/internal/mongo/wire"
)

// newReplica serves as a replica set of one.
func newReplica(t testing.TB) *testServer {
	return newServer(t, func(o *command.Options) { o.ReplSet = "globaldb" })
}

// A watched is something that has change streams.
type watched interface {
	Watch(
		ctx context.Context, pipeline any, opts ...options.Lister[options.ChangeStreamOptions],
	) (*mongo.ChangeStream, error)
}

func watch(t testing.TB, what watched, pipeline any, o *options.ChangeStreamOptionsBuilder) *mongo.ChangeStream {
	t.Helper()
	if pipeline == nil {
		pipeline = bson.A{}
	}
	if o == nil {
		o = options.ChangeStream()
	}
	s, err := what.Watch(t.Context(), pipeline, o.SetMaxAwaitTime(20*time.Millisecond))
	must(t, err)
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	return s
}

// next gives the next event of a stream, which must be there.
func next(t testing.TB, s *mongo.ChangeStream) bson.M {
	t.Helper()
	for range 50 { // a batch may be empty because the log has grown by what the stream leaves out
		if s.TryNext(t.Context()) {
			var event bson.M
			must(t, s.Decode(&event))
			return event
		}
		must(t, s.Err())
	}
	t.Fatal("no event")
	return nil
}

// quiet checks that a stream has no more events.
func quiet(t testing.TB, s *mongo.ChangeStream) {
	t.Helper()
	for range 3 {
		if s.TryNext(t.Context()) {
			t.Fatalf("an event more: %s", s.Current)
		}
		must(t, s.Err())
	}
}

// breaks checks that a stream has no events but an error.
func breaks(t testing.TB, s *mongo.ChangeStream, code int) {
	t.Helper()
	for range 50 {
		if s.TryNext(t.Context()) {
			t.Fatalf("an event: %s", s.Current)
		}
		if s.Err() != nil {
			refuses(t, s.Err(), code)
			return
		}
	}
	t.Error("no error")
}

// show writes a value as JSON.
func show(event any) string {
	text, err := bson.MarshalExtJSON(event, false, false)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// unlike are members of an event that no two runs have in common.
var unlike = map[string]bool{"_id": true, "clusterTime": true, "wallTime": true, "collectionUUID": true, "lsid": true}

// essence is what an event says, but not when.
func essence(t testing.TB, s *mongo.ChangeStream) string {
	t.Helper()
	next(t, s)
	var event bson.D
	must(t, s.Decode(&event))
	event = slices.DeleteFunc(event, func(e bson.E) bool { return unlike[e.Key] })
	return show(event)
}

func expect(t testing.TB, s *mongo.ChangeStream, want ...string) {
	t.Helper()
	for _, w := range want {
		if got := essence(t, s); got != w {
			t.Errorf("event\n  %s, want\n  %s", got, w)
		}
	}
}

// refuses checks the code of an error.
func refuses(t testing.TB, err error, code int) {
	t.Helper()
	var e mongo.ServerError
	if !errors.As(err, &e) || !e.HasErrorCode(code) {
		t.Errorf("%v, want code %d", err, code)
	}
}

func TestChangeEvents(t *testing.T) {
	t.Parallel()
	d, ctx := newReplica(t), t.Context()
	db := d.Database("test")
	c := db.Collection("c")
	s := watch(t, c, nil, nil)
	_, err := c.InsertOne(ctx, document(t, `{_id: 1, a: 1, list: [1, 2, 3]}`))
	must(t, err)
	_, err = c.UpdateOne(ctx, eq("_id", 1), bson.D{
		{Key: "$set", Value: bson.D{{Key: "b.c", Value: "x"}}}, {Key: "$unset", Value: eq("a", 1)},
	})
	must(t, err)
	_, err = c.UpdateOne(ctx, eq("_id", 1), bson.A{eq("$set", eq("list", bson.A{1}))})
	must(t, err)
	_, err = c.UpdateOne(ctx, eq("_id", 1), eq("$set", eq("list", bson.A{1}))) // changes nothing
	must(t, err)
	_, err = c.ReplaceOne(ctx, eq("_id", 1), eq("z", true))
	must(t, err)
	_, err = c.UpdateOne(ctx, eq("_id", 2), eq("$set", eq("up", 1)), options.UpdateOne().SetUpsert(true))
	must(t, err)
	must(t, c.FindOneAndUpdate(ctx, eq("_id", 2), eq("$inc", eq("up", 1))).Err())
	_, err = c.DeleteOne(ctx, eq("_id", 1))
	must(t, err)
	must(t, c.FindOneAndDelete(ctx, eq("_id", 2)).Err())
	_, err = db.Collection("other").InsertOne(ctx, eq("_id", 1))
	must(t, err)
	expect(t, s,
		`{"operationType":"insert","fullDocument":{"_id":1,"a":1,"list":[1,2,3]},"ns":{"db":"test","coll":"c"},"documentKey":{"_id":1}}`,
		`{"operationType":"update","ns":{"db":"test","coll":"c"},"documentKey":{"_id":1},"updateDescription":{"updatedFields":{"b":{"c":"x"}},"removedFields":["a"],"truncatedArrays":[]}}`,
		`{"operationType":"update","ns":{"db":"test","coll":"c"},"documentKey":{"_id":1},"updateDescription":{"updatedFields":{},"removedFields":[],"truncatedArrays":[{"field":"list","newSize":1}]}}`,
		`{"operationType":"replace","fullDocument":{"_id":1,"z":true},"ns":{"db":"test","coll":"c"},"documentKey":{"_id":1}}`,
		`{"operationType":"insert","fullDocument":{"_id":2,"up":1},"ns":{"db":"test","coll":"c"},"documentKey":{"_id":2}}`,
		`{"operationType":"update","ns":{"db":"test","coll":"c"},"documentKey":{"_id":2},"updateDescription":{"updatedFields":{"up":2},"removedFields":[],"truncatedArrays":[]}}`,
		`{"operationType":"delete","ns":{"db":"test","coll":"c"},"documentKey":{"_id":1}}`,
		`{"operationType":"delete","ns":{"db":"test","coll":"c"},"documentKey":{"_id":2}}`,
	)
	quiet(t, s)
}

func TestChangeEventsHaveTimes(t *testing.T) {
	t.Parallel()
	d, ctx := newReplica(t), t.Context()
	c := d.Database("test").Collection("c")
	s := watch(t, c, nil, nil)
	var tokens []string
	var times []bson.Timestamp
	for i := range 3 {
		_, err := c.InsertOne(ctx, eq("_id", i))
		must(t, err)
		event := next(t, s)
		id := event["_id"].(bson.D)
		tokens = append(tokens, id[0].Value.(string))
		times = append(times, event["clusterTime"].(bson.Timestamp))
		if wall := event["wallTime"].(bson.DateTime).Time(); !wall.Equal(d.clock.Now()) {
			t.Errorf("wallTime is %v", wall)
		}
		if times[i].T != uint32(d.clock.Now().Unix()) {
			t.Errorf("clusterTime is %v", times[i])
		}
		if i == 1 {
			d.pass(time.Hour)
		}
	}
	if !slices.IsSorted(tokens) || !slices.IsSortedFunc(times, bson.Timestamp.Compare) || tokens[0] == tokens[1] {
		t.Errorf("%v at %v", tokens, times)
	}
}

func TestChangeStreamsOfOneServerOnly(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	_, err := d.Database("test").Collection("c").Watch(t.Context(), bson.A{})
	refuses(t, err, 40573)
}

func TestFullDocument(t *testing.T) {
	t.Parallel()
	d, ctx := newReplica(t), t.Context()
	c := d.Database("test").Collection("c")
	_, err := c.Indexes().CreateOne(ctx, indexOn("at", 10))
	must(t, err)
	lookup := watch(t, c, nil, options.ChangeStream().SetFullDocument(options.UpdateLookup))
	whenAvailable := options.ChangeStream().SetFullDocument(options.WhenAvailable)
	available := watch(t, c, nil, whenAvailable.SetFullDocumentBeforeChange(options.WhenAvailable))
	_, err = c.InsertMany(ctx, []any{eq("_id", 1), pairs("_id", 2, "at", start), eq("_id", 3)})
	must(t, err)
	_, err = c.UpdateMany(ctx, bson.D{}, eq("$set", eq("a", 1)))
	must(t, err)
	_, err = c.UpdateOne(ctx, eq("_id", 1), eq("$set", eq("a", 2)))
	must(t, err)
	_, err = c.DeleteOne(ctx, eq("_id", 3))
	must(t, err)
	d.pass(10 * time.Second)
	for range 3 {
		next(t, lookup)
		next(t, available)
	}
	for _, want := range []string{`{"_id":1,"a":2}`, "null", "null"} {
		event := next(t, lookup)
		full, there := event["fullDocument"]
		if got := "null"; !there {
			t.Error("no fullDocument")
		} else {
			if full != nil {
				got = show(full)
			}
			if got != want {
				t.Errorf("fullDocument is %v, want %s", full, want)
			}
		}
	}
	event := next(t, available)
	for _, name := range []string{"fullDocument", "fullDocumentBeforeChange"} {
		if v, there := event[name]; v != nil || !there {
			t.Errorf("%s is %v, %v", name, v, there)
		}
	}
}

func TestImagesAreNotKept(t *testing.T) {
	t.Parallel()
	d, ctx := newReplica(t), t.Context()
	c := d.Database("test").Collection("c")
	for name, o := range map[string]*options.ChangeStreamOptionsBuilder{
		"after":  options.ChangeStream().SetFullDocument(options.Required),
		"before": options.ChangeStream().SetFullDocumentBeforeChange(options.Required),
	} {
		t.Run(name, func(t *testing.T) {
			s := watch(t, c, nil, o)
			_, err := c.InsertOne(ctx, eq("_id", name))
			must(t, err)
			_, err = c.UpdateOne(ctx, eq("_id", name), eq("$set", eq("a", 1)))
			must(t, err)
			next(t, s)
			breaks(t, s, 47)
		})
	}
}

func TestWatchingMore(t *testing.T) {
	t.Parallel()
	d, ctx := newReplica(t), t.Context()
	one, other := d.Database("one"), d.Database("other")
	database := watch(t, one, nil, nil)
	everything := watch(t, d.Client, nil, nil)
	for _, c := range []*mongo.Collection{one.Collection("a"), one.Collection("b"), other.Collection("a")} {
		_, err := c.InsertOne(ctx, eq("_id", 1))
		must(t, err)
	}
	must(t, one.Collection("b").Drop(ctx))
	_, err := d.Database("admin").Collection("a").InsertOne(ctx, eq("_id", 1))
	must(t, err)
	must(t, d.Database("admin").RunCommand(ctx, document(t, `{renameCollection: 'other.a', to: 'other.z'}`)).Err())
	must(t, one.Drop(ctx))
	must(t, other.Drop(ctx))
	insert := func(db, c string) string {
		return fmt.Sprintf(`{"operationType":"insert","fullDocument":{"_id":1},"ns":{"db":"%s","coll":"%s"},"documentKey":{"_id":1}}`, db, c)
	}
	drop := func(db, c string) string {
		return fmt.Sprintf(`{"operationType":"drop","ns":{"db":"%s","coll":"%s"}}`, db, c)
	}
	expect(t, everything,
		insert("one", "a"), insert("one", "b"), insert("other", "a"), drop("one", "b"),
		`{"operationType":"rename","ns":{"db":"other","coll":"a"},"to":{"db":"other","coll":"z"}}`,
		drop("one", "a"), `{"operationType":"dropDatabase","ns":{"db":"one"}}`,
		drop("other", "z"), `{"operationType":"dropDatabase","ns":{"db":"other"}}`)
	quiet(t, everything)
	expect(t, database, insert("one", "a"), insert("one", "b"), drop("one", "b"), drop("one", "a"),
		`{"operationType":"dropDatabase","ns":{"db":"one"}}`, `{"operationType":"invalidate"}`)
	if database.ID() != 0 || database.TryNext(ctx) {
		t.Error("the stream goes on")
	}
}

func TestInvalidate(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		end  func(context.Context, *testServer) error
		last string // the event before the end
	}{
		"drop": {func(ctx context.Context, d *testServer) error {
			return d.Database("test").Collection("c").Drop(ctx)
		}, "drop"},
		"rename": {func(ctx context.Context, d *testServer) error {
			return d.rename(ctx, "c", "d", false)
		}, "rename"},
		"target": {func(ctx context.Context, d *testServer) error {
			return d.rename(ctx, "other", "c", true)
		}, "rename"},
		"drops": {func(ctx context.Context, d *testServer) error {
			return d.Database("test").Drop(ctx)
		}, "drop"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, ctx := newReplica(t), t.Context()
			c := d.Database("test").Collection("c")
			for _, c := range []*mongo.Collection{c, d.Database("test").Collection("other")} {
				_, err := c.InsertOne(ctx, eq("_id", 0))
				must(t, err)
			}
			s := watch(t, c, nil, nil)
			must(t, x.end(ctx, d))
			last := next(t, s)
			token := s.ResumeToken()
			end := next(t, s)
			if end["operationType"] != "invalidate" || last["operationType"] != x.last {
				t.Errorf("%v, then %v", last, end)
			}
			if s.ID() != 0 {
				t.Error("the cursor is open")
			}
			invalid := s.ResumeToken()
			if invalid.String() <= token.String() {
				t.Errorf("%v then %v", token, invalid)
			}
			_, err := c.InsertOne(ctx, eq("_id", 7))
			must(t, err)

			again := watch(t, c, nil, options.ChangeStream().SetResumeAfter(last["_id"]))
			expect(t, again, `{"operationType":"invalidate"}`)
			_, err = c.Watch(ctx, bson.A{}, options.ChangeStream().SetResumeAfter(invalid))
			refuses(t, err, 260)
			expect(t, watch(t, c, nil, options.ChangeStream().SetStartAfter(invalid)),
				`{"operationType":"insert","fullDocument":{"_id":7},"ns":{"db":"test","coll":"c"},"documentKey":{"_id":7}}`)
		})
	}
}

func (d *testServer) rename(ctx context.Context, from, to string, over bool) error {
	cmd := pairs("renameCollection", "test."+from, "to", "test."+to, "dropTarget", over)
	return d.Database("admin").RunCommand(ctx, cmd).Err()
}

func TestResuming(t *testing.T) {
	t.Parallel()
	d, ctx := newReplica(t), t.Context()
	c := d.Database("test").Collection("c")
	s := watch(t, c, nil, nil)
	early := s.ResumeToken()
	var events []bson.Raw
	for i := range 4 {
		_, err := c.InsertOne(ctx, eq("_id", i))
		must(t, err)
	}
	for range 4 {
		next(t, s)
		events = append(events, s.Current)
	}
	quiet(t, s)
	_, err := d.Database("test").Collection("other").InsertOne(ctx, eq("_id", 1))
	must(t, err)
	quiet(t, s)
	late := s.ResumeToken()
	beginning := bson.Timestamp{T: uint32(start.Unix())}
	var at bson.Timestamp
	at.T, at.I = events[2].Lookup("clusterTime").Timestamp()
	id := func(i int) bson.Raw { return events[i].Lookup("_id").Document() }
	for name, x := range map[string]struct {
		o     *options.ChangeStreamOptionsBuilder
		first int
	}{
		"resumeAfter an event":  {options.ChangeStream().SetResumeAfter(id(1)), 2},
		"startAfter an event":   {options.ChangeStream().SetStartAfter(id(2)), 3},
		"resumeAfter the start": {options.ChangeStream().SetResumeAfter(early), 0},
		"resumeAfter the end":   {options.ChangeStream().SetResumeAfter(late), 4},
		"startAtOperationTime":  {options.ChangeStream().SetStartAtOperationTime(&at), 2},
		"at the beginning":      {options.ChangeStream().SetStartAtOperationTime(&beginning), 0},
		"small batches":         {options.ChangeStream().SetResumeAfter(early).SetBatchSize(1), 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := watch(t, c, nil, x.o)
			for i := x.first; i < 4; i++ {
				if next(t, s); s.Current.String() != events[i].String() {
					t.Errorf("%s, want %s", s.Current, events[i])
				}
			}
			quiet(t, s)
		})
	}
	if late.String() <= id(3).String() {
		t.Error("the token of an empty batch has not moved on")
	}
	_, err = c.Watch(ctx, bson.A{}, options.ChangeStream().SetResumeAfter(id(0)).SetStartAtOperationTime(&at))
	refuses(t, err, 40674)
	_, err = c.Watch(ctx, bson.A{}, options.ChangeStream().SetResumeAfter(id(0)).SetStartAfter(id(0)))
	refuses(t, err, 50865)
	_, err = d.Database("test").Collection("d").Watch(ctx, bson.A{}, options.ChangeStream().SetResumeAfter(id(0)))
	refuses(t, err, 280)
}

func TestBadResumeTokens(t *testing.T) {
	t.Parallel()
	d := newReplica(t)
	for name, x := range map[string]struct {
		token any
		code  int
	}{
		"not hex":      {eq("_data", "xyz"), 9},
		"empty":        {eq("_data", ""), 40649},
		"no data":      {bson.D{}, 40647},
		"another type": {eq("_data", 1), 40647},
		"MongoDB's":    {eq("_data", "8263A1B2C3000000012B022C0100296E5A1004"), 260},
		"wrong part":   {eq("_data", "91000000000000000011"), 260},
		"no document":  {"x", 14},
		"too old":      {eq("_data", "910000000100000001C0"), 286},
		"unknown":      {eq("_data", "91FFFFFFFF0000000140"), 280},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := d.run(eqAggregate("c", eq("$changeStream", eq("resumeAfter", x.token))))
			refuses(t, err, x.code)
		})
	}
}

func TestWatchArguments(t *testing.T) {
	t.Parallel()
	d := newReplica(t)
	for name, x := range map[string]struct {
		db   string
		on   any
		arg  any
		rest []any
		code int
	}{
		"no document":          {"test", "c", 1, nil, 50808},
		"unknown":              {"test", "c", eq("x", 1), nil, 40415},
		"fullDocument":         {"test", "c", eq("fullDocument", "all"), nil, 2},
		"type of fullDocument": {"test", "c", eq("fullDocument", 1), nil, 14},
		"type of time":         {"test", "c", eq("startAtOperationTime", 1), nil, 14},
		"everything of test":   {"test", 1, eq("allChangesForCluster", true), nil, 72},
		"everything of c":      {"admin", "c", eq("allChangesForCluster", true), nil, 72},
		"admin":                {"admin", 1, bson.D{}, nil, 73},
		"config":               {"config", "c", bson.D{}, nil, 73},
		"local":                {"local", 1, bson.D{}, nil, 73},
		"system":               {"test", "system.views", bson.D{}, nil, 73},
		"group":                {"test", "c", bson.D{}, []any{eq("$group", eq("_id", 1))}, 20},
		"out":                  {"test", "c", bson.D{}, []any{eq("$out", "x")}, 20},
	} {
		t.Run(name, func(t *testing.T) {
			stages := append(bson.A{eq("$changeStream", x.arg)}, x.rest...)
			cmd := pairs("aggregate", x.on, "pipeline", stages, "cursor", bson.D{})
			err := d.Database(x.db).RunCommand(t.Context(), cmd).Err()
			refuses(t, err, x.code)
		})
	}
}

func TestViewsHaveNoChangeStreams(t *testing.T) {
	t.Parallel()
	d, ctx := newReplica(t), t.Context()
	db := d.Database("test")
	for name, stages := range map[string]bson.A{"empty": {}, "some": {eq("$match", eq("a", 1))}} {
		must(t, db.CreateView(ctx, name, "c", stages))
		_, err := db.Collection(name).Watch(ctx, bson.A{})
		refuses(t, err, 166)
	}
}

func TestChangeStreamPipeline(t *testing.T) {
	t.Parallel()
	d, ctx := newReplica(t), t.Context()
	c := d.Database("test").Collection("c")
	s := watch(t, c, bson.A{
		eq("$match", eq("fullDocument.n", eq("$gte", 2))),
		eq("$addFields", eq("twice", eq("$multiply", bson.A{2, "$fullDocument.n"}))),
		eq("$project", bson.D{{Key: "operationType", Value: 1}, {Key: "twice", Value: 1}}),
	}, nil)
	spoilt := watch(t, c, bson.A{eq("$project", eq("_id", 0))}, nil)
	changed := watch(t, c, bson.A{eq("$addFields", eq("_id", "x"))}, nil)
	for i := range 4 {
		_, err := c.InsertOne(ctx, bson.D{{Key: "_id", Value: i}, {Key: "n", Value: i}})
		must(t, err)
	}
	expect(t, s, `{"operationType":"insert","twice":4}`, `{"operationType":"insert","twice":6}`)
	quiet(t, s)
	for _, s := range []*mongo.ChangeStream{spoilt, changed} {
		breaks(t, s, 280)
	}
}

func TestExpiredDocumentsAreDeletedOnce(t *testing.T) {
	t.Parallel()
	d, ctx := newReplica(t), t.Context()
	c := d.Database("test").Collection("c")
	_, err := c.Indexes().CreateOne(ctx, indexOn("at", 10))
	must(t, err)
	s := watch(t, c, bson.A{eq("$match", eq("operationType", "delete"))}, nil)
	for i := range 2 {
		_, err = c.InsertOne(ctx, bson.D{{Key: "_id", Value: i}, {Key: "at", Value: start}})
		must(t, err)
	}
	d.pass(time.Minute)
	if n := count(t, c, bson.D{}); n != 0 {
		t.Errorf("%d are left", n)
	}
	quiet(t, s)
	_, err = c.InsertOne(ctx, eq("_id", 1)) // takes the place of a dead one
	must(t, err)
	deleted := `{"operationType":"delete","ns":{"db":"test","coll":"c"},"documentKey":{"_id":%d}}`
	expect(t, s, fmt.Sprintf(deleted, 1))
	must(t, d.reclaim(ctx))
	expect(t, s, fmt.Sprintf(deleted, 0))
	must(t, d.reclaim(ctx))
	quiet(t, s)
}

func TestHistoryIsLost(t *testing.T) {
	t.Parallel()
	d, ctx := newReplica(t), t.Context()
	c := d.Database("test").Collection("c")
	s := watch(t, c, nil, nil)
	idle, err := c.Watch(ctx, bson.A{}, options.ChangeStream().SetMaxAwaitTime(20*time.Millisecond))
	must(t, err)
	_, err = c.InsertOne(ctx, eq("_id", 1))
	must(t, err)
	event := next(t, s)
	at := event["clusterTime"].(bson.Timestamp)
	d.pass(2 * time.Hour)
	_, err = c.InsertOne(ctx, eq("_id", 2))
	must(t, err)
	next(t, s)
	must(t, d.store.TrimDue(ctx, d.clock.Now().Unix()))
	for _, o := range []*options.ChangeStreamOptionsBuilder{
		options.ChangeStream().SetResumeAfter(event["_id"]),
		options.ChangeStream().SetStartAtOperationTime(&at),
	} {
		_, err = c.Watch(ctx, bson.A{}, o)
		refuses(t, err, 286)
	}
	breaks(t, idle, 286)
	_, err = c.InsertOne(ctx, eq("_id", 3))
	must(t, err)
	expect(t, s, `{"operationType":"insert","fullDocument":{"_id":3},"ns":{"db":"test","coll":"c"},"documentKey":{"_id":3}}`)
}

func TestExpandedEvents(t *testing.T) {
	t.Parallel()
	d, ctx := newReplica(t), t.Context()
	db := d.Database("test")
	s := watch(t, db, nil, options.ChangeStream().SetShowExpandedEvents(true))
	plain := watch(t, db, nil, nil)
	c := db.Collection("c")
	must(t, db.CreateCollection(ctx, "c"))
	_, err := c.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: eq("x", 1)})
	must(t, err)
	_, err = c.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: eq("x", 1)}) // is there
	must(t, err)
	must(t, c.Indexes().DropOne(ctx, "x_1"))
	must(t, db.RunCommand(ctx, bson.D{{Key: "collMod", Value: "c"}, {Key: "validationLevel", Value: "off"}}).Err())
	must(t, d.rename(ctx, "c", "d", false))
	expect(t, s,
		`{"operationType":"create","ns":{"db":"test","coll":"c"},"operationDescription":{"idIndex":{"v":2,"key":{"_id":1},"name":"_id_"}}}`,
		`{"operationType":"createIndexes","ns":{"db":"test","coll":"c"},"operationDescription":{"indexes":[{"v":2,"key":{"x":1},"name":"x_1"}]}}`,
		`{"operationType":"dropIndexes","ns":{"db":"test","coll":"c"},"operationDescription":{"indexes":[{"v":2,"key":{"x":1},"name":"x_1"}]}}`,
		`{"operationType":"modify","ns":{"db":"test","coll":"c"},"operationDescription":{"validationLevel":"off"}}`,
		`{"operationType":"rename","ns":{"db":"test","coll":"c"},"to":{"db":"test","coll":"d"},"operationDescription":{"to":{"db":"test","coll":"d"}}}`)
	expect(t, plain, `{"operationType":"rename","ns":{"db":"test","coll":"c"},"to":{"db":"test","coll":"d"}}`)
}

// TestEventsOfViews is mongodb/mongo: jstests/change_streams/ddl_view_events.js, as of 7.0: nsType came later
// (mongodb/specifications: source/change-streams/tests/unified/change-streams-nsType.yml).
func TestEventsOfViews(t *testing.T) {
	t.Parallel()
	d, ctx := newReplica(t), t.Context()
	db := d.Database("test")
	must(t, db.CreateCollection(ctx, "base"))
	s := watch(t, db, nil, options.ChangeStream().SetShowExpandedEvents(true))
	all := watch(t, d.Client, nil, options.ChangeStream().SetShowExpandedEvents(true))
	plain := watch(t, db, nil, nil)
	base := watch(t, db.Collection("base"), nil, options.ChangeStream().SetShowExpandedEvents(true))
	later := watch(t, db.Collection("v"), nil, options.ChangeStream().SetShowExpandedEvents(true))
	must(t, db.CreateView(ctx, "v", "base", bson.A{eq("$match", eq("a", 2))}))
	if !s.Next(ctx) {
		t.Fatal(s.Err())
	}
	if s.Current.Lookup("collectionUUID").Type != 0 || s.Current.Lookup("wallTime").Type == 0 {
		t.Errorf("event %s", s.Current)
	}
	again := watch(t, db, nil, options.ChangeStream().SetShowExpandedEvents(true).SetResumeAfter(s.ResumeToken()))
	must(t, db.CreateView(ctx, "w", "v", bson.A{}))
	must(t, db.RunCommand(ctx, document(t, `{collMod: 'w', viewOn: 'v', pipeline: [{$match: {a: 1}}]}`)).Err())
	must(t, db.Collection("v").Drop(ctx))
	must(t, db.Collection("w").Drop(ctx))
	must(t, db.CreateCollection(ctx, "v"))
	_, err := db.Collection("base").InsertOne(ctx, eq("_id", 1))
	must(t, err)
	events := []string{
		`{"operationType":"create","ns":{"db":"test","coll":"w"},"operationDescription":{"viewOn":"v","pipeline":[]}}`,
		`{"operationType":"modify","ns":{"db":"test","coll":"w"},"operationDescription":{"viewOn":"v","pipeline":[{"$match":{"a":1}}]}}`,
		`{"operationType":"drop","ns":{"db":"test","coll":"v"}}`,
		`{"operationType":"drop","ns":{"db":"test","coll":"w"}}`,
		`{"operationType":"create","ns":{"db":"test","coll":"v"},"operationDescription":{"idIndex":{"v":2,"key":{"_id":1},"name":"_id_"}}}`,
		`{"operationType":"insert","fullDocument":{"_id":1},"ns":{"db":"test","coll":"base"},"documentKey":{"_id":1}}`,
	}
	expect(t, s, events...)
	expect(t, again, events...)
	expect(t, all, `{"operationType":"create","ns":{"db":"test","coll":"v"},"operationDescription":{"viewOn":"base","pipeline":[{"$match":{"a":2}}]}}`)
	expect(t, all, events...)
	expect(t, plain, events[5])
	expect(t, base, events[5])
	expect(t, later, events[4])
	must(t, db.CreateView(ctx, "x", "base", bson.A{}))
	must(t, db.Drop(ctx))
	expect(t, s, `{"operationType":"create","ns":{"db":"test","coll":"x"},"operationDescription":{"viewOn":"base","pipeline":[]}}`,
		`{"operationType":"drop","ns":{"db":"test","coll":"base"}}`,
		`{"operationType":"drop","ns":{"db":"test","coll":"v"}}`,
		`{"operationType":"dropDatabase","ns":{"db":"test"}}`)
	expect(t, plain,
		`{"operationType":"drop","ns":{"db":"test","coll":"base"}}`,
		`{"operationType":"drop","ns":{"db":"test","coll":"v"}}`,
		`{"operationType":"dropDatabase","ns":{"db":"test"}}`)
}

// TestPathsInDoubt is
// mongodb/specifications: source/change-streams/tests/unified/change-streams-disambiguatedPaths.yml.
func TestPathsInDoubt(t *testing.T) {
	t.Parallel()
	d, ctx := newReplica(t), t.Context()
	c := d.Database("test").Collection("c")
	_, err := c.InsertOne(ctx, document(t, `{_id: 1, a: {1: 1}, b: [{1: 1, text: 'some text'}]}`))
	must(t, err)
	s := watch(t, c, nil, options.ChangeStream().SetShowExpandedEvents(true))
	plain := watch(t, c, nil, nil)
	for _, u := range []bson.D{eq("a.1", 2), eq("b.0.1", 2), eq("c", 1)} {
		_, err = c.UpdateByID(ctx, 1, eq("$set", u))
		must(t, err)
	}
	const head, key = `{"operationType":"update","ns":{"db":"test","coll":"c"},"documentKey":{"_id":1},"updateDescription":{"updatedFields":`, `,"removedFields":[],"truncatedArrays":[]`
	expect(t, s,
		head+`{"a.1":2}`+key+`,"disambiguatedPaths":{"a.1":["a","1"]}}}`,
		head+`{"b.0.1":2}`+key+`,"disambiguatedPaths":{"b.0.1":["b",0,"1"]}}}`,
		head+`{"c":1}`+key+`,"disambiguatedPaths":{}}}`)
	expect(t, plain, head+`{"a.1":2}`+key+`}}`, head+`{"b.0.1":2}`+key+`}}`, head+`{"c":1}`+key+`}}`)
}

func TestTransactionsAreToldOfTogether(t *testing.T) {
	t.Parallel()
	d, ctx := newReplica(t), t.Context()
	a, b := d.Database("test").Collection("a"), d.Database("test").Collection("b")
	for _, c := range []*mongo.Collection{a, b} {
		_, err := c.InsertOne(ctx, eq("_id", 0))
		must(t, err)
	}
	s := watch(t, d.Database("test"), nil, nil)
	must(t, d.UseSession(ctx, func(ctx context.Context) error {
		session := mongo.SessionFromContext(ctx)
		for _, end := range []func(context.Context) error{session.AbortTransaction, session.CommitTransaction} {
			must(t, session.StartTransaction())
			_, err := a.InsertOne(ctx, eq("_id", 1))
			must(t, err)
			_, err = b.UpdateOne(ctx, eq("_id", 0), eq("$set", eq("n", 1)))
			must(t, err)
			_, err = a.DeleteOne(ctx, eq("_id", 0))
			must(t, err)
			_, err = d.Database("test").Collection("z").InsertOne(t.Context(), bson.D{})
			must(t, err)
			if e := next(t, s); e["fullDocument"] == nil || e["txnNumber"] != nil {
				t.Errorf("%v before the end of a transaction", e)
			}
			quiet(t, s)
			must(t, end(ctx))
		}
		return nil
	}))
	want := []string{
		`{"operationType":"insert","txnNumber":2,"fullDocument":{"_id":1},"ns":{"db":"test","coll":"a"},"documentKey":{"_id":1}}`,
		`{"operationType":"update","txnNumber":2,"ns":{"db":"test","coll":"b"},"documentKey":{"_id":0},"updateDescription":{"updatedFields":{"n":1},"removedFields":[],"truncatedArrays":[]}}`,
		`{"operationType":"delete","txnNumber":2,"ns":{"db":"test","coll":"a"},"documentKey":{"_id":0}}`,
	}
	for _, w := range want {
		if got := essence(t, s); got != w {
			t.Errorf("event\n  %s, want\n  %s", got, w)
		}
		if s.Current.Lookup("lsid", "id").Type != bson.TypeBinary {
			t.Errorf("lsid is %v", s.Current.Lookup("lsid"))
		}
	}
	quiet(t, s)
}

func TestEveryChangeOnce(t *testing.T) {
	t.Parallel()
	d, ctx := newReplica(t), t.Context()
	c := d.Database("test").Collection("c")
	s := watch(t, c, nil, options.ChangeStream().SetBatchSize(7))
	first := s.ResumeToken()
	const writers, each = 4, 50
	var writing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			for i := range each {
				id := w*each + i
				_, err := c.InsertOne(ctx, eq("_id", id))
				if err == nil {
					_, err = c.UpdateOne(ctx, eq("_id", id), eq("$set", eq("n", 1)))
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	var events []bson.Raw
	for len(events) < 2*writers*each {
		next(t, s)
		events = append(events, s.Current)
	}
	writing.Wait()
	quiet(t, s)
	done := map[int32]string{}
	for _, e := range events {
		id, kind := e.Lookup("documentKey", "_id").Int32(), e.Lookup("operationType").StringValue()
		if want := map[string]string{"": "insert", "insert": "update"}[done[id]]; kind != want {
			t.Fatalf("%s of %d after %q", kind, id, done[id])
		}
		done[id] = kind
	}
	for _, from := range []int{0, 1, 57, 399} {
		token := any(first)
		if from > 0 {
			token = events[from-1].Lookup("_id").Document()
		}
		again := watch(t, c, nil, options.ChangeStream().SetResumeAfter(token))
		for _, want := range events[from:] {
			if next(t, again); again.Current.String() != want.String() {
				t.Fatalf("%s, want %s", again.Current, want)
			}
		}
	}
}

// A waiting is a getMore that waits for a minute at most.
type waiting struct {
	*peer
	cursor int64
}

// await opens a stream and waits for its events.
func (d *testServer) await(p *peer) *waiting {
	d.t.Helper()
	w := &waiting{peer: p}
	first := w.ask(document(d.t, `{aggregate: 1, pipeline: [{$changeStream: {}}], cursor: {}, $db: 'test'}`))
	w.cursor = first.Lookup("cursor", "id").Int64()
	w.sent++
	w.send(appendMsg(w.peer, w.getMore()))
	d.until(func() bool { return d.server.Waiting() == 1 })
	return w
}

func (w *waiting) getMore() bson.D {
	return pairs("getMore", w.cursor, "collection", "$cmd.aggregate", "maxTimeMS", 60_000, "$db", "test")
}

func (w *waiting) result() bson.Raw { return bson.Raw(w.receive(wire.OpMsg)[5:]) }

// until waits for something that happens soon.
func (d *testServer) until(happens func() bool) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), 20*time.Second)
	defer cancel()
	for !happens() {
		must(d.t, ctx.Err())
		_, err := d.run(eq("ping", 1))
		must(d.t, err)
	}
}

func TestAWaitingCursorIsKilled(t *testing.T) {
	t.Parallel()
	d := newReplica(t)
	w, other := d.await(d.peer()), d.peer()
	killed := other.ask(pairs("killCursors", "$cmd.aggregate", "cursors", bson.A{w.cursor}, "$db", "test"))
	if n := killed.Lookup("cursorsKilled", "0").Int64(); n != w.cursor {
		t.Errorf("%v", killed)
	}
	if got := w.result(); codeIn(got) != 237 {
		t.Errorf("%v", got)
	}
	if got := other.ask(w.getMore()); codeIn(got) != 43 {
		t.Errorf("%v", got)
	}
}

func TestAWaitingCursorEndsWithTheServer(t *testing.T) {
	t.Parallel()
	d := newReplica(t)
	w := d.await(d.peer())
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	must(t, d.server.Close(ctx))
	got := w.result()
	label, _ := got.Lookup("errorLabels", "0").StringValueOK()
	if codeIn(got) != 11600 || label != "ResumableChangeStreamError" {
		t.Errorf("%v", got)
	}
}

func TestAWaitingCursorEndsWithItsClient(t *testing.T) {
	t.Parallel()
	for name, encrypted := range map[string]bool{"plain": false, "TLS": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newReplica(t)
			p := d.peer()
			if encrypted {
				p.conn = d.encrypted(t)
			}
			d.leaves(t, d.await(p))
		})
	}
}

// encrypted connects through TLS.
func (d *testServer) encrypted(t testing.TB) net.Conn {
	t.Helper()
	donor := httptest.NewTLSServer(nil) // of a certificate
	defer donor.Close()
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: donor.TLS.Certificates})
	must(t, err)
	go func() { _ = d.server.Serve(l) }()
	conn, err := tls.Dial("tcp", l.Addr().String(), &tls.Config{InsecureSkipVerify: true})
	must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	must(t, conn.SetDeadline(time.Now().Add(20*time.Second)))
	return conn
}

// leaves lets the client of a waiting cursor send something else meanwhile, and later go.
func (d *testServer) leaves(t *testing.T, w *waiting) {
	w.send(appendMsg(&peer{t: t, sent: w.sent + 1}, document(t, `{ping: 1, $db: 'test'}`))) // is answered afterwards
	_, err := d.Database("test").Collection("c").InsertOne(t.Context(), eq("_id", 1))
	must(t, err)
	if got := w.result(); got.Lookup("cursor", "nextBatch", "0", "operationType").StringValue() != "insert" {
		t.Errorf("%v", got)
	}
	w.sent++
	if got := w.result(); codeIn(got) != 0 {
		t.Errorf("%v", got)
	}
	w.sent++
	w.send(appendMsg(w.peer, w.getMore()))
	d.until(func() bool { return d.server.Waiting() == 1 })
	must(t, w.conn.Close())
	d.until(func() bool { return d.server.Waiting() == 0 })
}
