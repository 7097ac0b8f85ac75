package command_test

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/keyring"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/memory"
	"github.com/mayflydb/mayfly/internal/mongo/command"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
	"github.com/mayflydb/mayfly/internal/store"
)

// start is the instant at which the clock of every test begins.
var start = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// A testServer is a server in memory with a clock that stands, and a client of it.
type testServer struct {
	*mongo.Client
	t       testing.TB
	clock   *clock.Virtual
	catalog *catalog.Catalog
	store   *store.Store
	server  *command.Server
	address string

	engine    kv.Engine
	options   command.Options
	reclaimed atomic.Uint64 // documents
}

// newServer serves until the test ends. change may alter the options.
func newServer(t testing.TB, change func(*command.Options)) *testServer {
	t.Helper()
	return newServerOn(t, memory.New(), change)
}

func newServerOn(t testing.TB, engine kv.Engine, change func(*command.Options)) *testServer {
	t.Helper()
	d := &testServer{t: t, clock: clock.NewVirtual(start), engine: engine}
	var err error
	d.catalog, err = catalog.Open(t.Context(), engine, compile)
	must(t, err)
	d.store, err = store.Open(t.Context(), engine, d.catalog)
	must(t, err)
	o := command.Options{
		Catalog: d.catalog, Store: d.store, Clock: d.clock, Keys: ringOf(d.t, "a2V5"), Version: "test",
		ReclaimNow: d.reclaim, Reclaimed: d.reclaimed.Load,
	}
	if change != nil {
		change(&o)
	}
	if o.ReplSet != "" {
		must(t, d.store.KeepLog(t.Context(), start.Unix(), store.LogOptions{}))
	}
	d.options = o
	d.server = command.New(o)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	d.address = l.Addr().String()
	var serving sync.WaitGroup
	serving.Go(func() { _ = d.server.Serve(l) })
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := d.server.Close(ctx); err != nil {
			t.Error(err)
		}
		serving.Wait()
		if err := d.store.Close(); err != nil {
			t.Error(err)
		}
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	d.Client = d.connect("")
	return d
}

// compile makes the filter of a partial index, as a node does.
func compile(query doc.Doc) (func(doc.Doc) bool, error) {
	f, err := filter.Compile(query, filter.Options{})
	if err != nil {
		return nil, err
	}
	return func(d doc.Doc) bool {
		ok, err := f.Match(d, nil)
		return ok && err == nil
	}, nil
}

// connect makes another client; query is what comes after /? in its URI.
func (d *testServer) connect(query string) *mongo.Client {
	d.t.Helper()
	client, err := mongo.Connect(options.Client().ApplyURI("mongodb://" + d.address + "/?" + query))
	must(d.t, err)
	d.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = client.Disconnect(ctx)
	})
	return client
}

// reclaim frees the space of everything that is expired.
func (d *testServer) reclaim(ctx context.Context) error {
	for _, c := range d.catalog.AllContainers() {
		for more := true; more; {
			done, err := d.store.Reclaim(ctx, c, d.clock.Now().Unix(), 1000)
			if err != nil {
				return err
			}
			d.reclaimed.Add(done.Documents)
			more = done.More
		}
	}
	return nil
}

// run sends a command to the database test and gives its answer.
func (d *testServer) run(cmd bson.D) (bson.M, error) {
	var answer bson.M
	err := d.Database("test").RunCommand(d.t.Context(), cmd).Decode(&answer)
	return answer, err
}

// pass moves the clock.
func (d *testServer) pass(by time.Duration) {
	d.t.Helper()
	must(d.t, d.clock.Advance(by))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// ringOf is the keys of an account with a primary key.
func ringOf(t testing.TB, key string) *keyring.Ring {
	t.Helper()
	ring, err := keyring.New(keyring.Options{Primary: key})
	if err != nil {
		t.Fatal(err)
	}
	return ring
}
