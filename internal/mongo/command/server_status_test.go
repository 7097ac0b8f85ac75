package command_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/command"
)

// traffic is the section network of serverStatus, which mongostat, MongoDB Compass and exporters read.
// mongodb/mongo-tools: mongostat/status/server_status.go
type traffic struct{ in, out, requests, errors int64 }

func statusOf(t *testing.T, d *testServer) (s traffic, raw bson.M) {
	t.Helper()
	answer, err := d.Database("admin").RunCommand(t.Context(), eq("serverStatus", 1)).Raw()
	must(t, err)
	decoder := bson.NewDecoder(bson.NewDocumentReader(bytes.NewReader(answer)))
	decoder.DefaultDocumentM()
	must(t, decoder.Decode(&raw))
	network, _ := raw["network"].(bson.M)
	s.in, _ = network["bytesIn"].(int64)
	s.out, _ = network["bytesOut"].(int64)
	s.requests, _ = network["numRequests"].(int64)
	asserts, _ := raw["asserts"].(bson.M)
	s.errors, _ = asserts["user"].(int64)
	return s, raw
}

func TestServerStatusCountsTraffic(t *testing.T) {
	d := newServer(t, nil)
	c := d.Database("shop").Collection("c")
	before, _ := statusOf(t, d)
	const each = 10_000
	for i := range 20 {
		_, err := c.InsertOne(t.Context(), pairs("_id", i, "text", strings.Repeat("x", each)))
		must(t, err)
	}
	between, _ := statusOf(t, d)
	var list []bson.Raw
	rows, err := c.Find(t.Context(), bson.D{})
	must(t, err)
	must(t, rows.All(t.Context(), &list))
	after, _ := statusOf(t, d)
	in, out := between.in-before.in, after.out-between.out
	if in < 20*each || in > 22*each {
		t.Errorf("20 writes of %d bytes have sent %d", each, in)
	}
	if out < 20*each || out > 22*each {
		t.Errorf("a find of 20 documents of %d bytes has received %d", each, out)
	}
	if n := between.requests - before.requests; n < 21 || n > 30 {
		t.Errorf("20 writes are %d requests", n)
	}
	// What a client that has left has carried stays counted.
	other := d.connect("")
	_, err = other.Database("shop").Collection("c").InsertOne(t.Context(), pairs("text", strings.Repeat("x", each)))
	must(t, err)
	must(t, other.Disconnect(context.Background()))
	if last, _ := statusOf(t, d); last.in-after.in < each {
		t.Errorf("the traffic falls from %d to %d", after.in, last.in)
	}
}

func TestServerStatusCountsErrors(t *testing.T) {
	d := newServer(t, nil)
	c := d.Database("shop").Collection("c")
	before, _ := statusOf(t, d)
	_, err := c.InsertOne(t.Context(), eq("_id", 1))
	must(t, err)
	if _, err = c.InsertOne(t.Context(), eq("_id", 1)); !mongo.IsDuplicateKeyError(err) {
		t.Fatal(err)
	}
	_ = d.Database("shop").RunCommand(t.Context(), eq("noSuchCommand", 1)).Err()
	after, raw := statusOf(t, d)
	if n := after.errors - before.errors; n != 2 {
		t.Errorf("two errors are %d: %v", n, raw["asserts"])
	}
}

func TestServerStatusCountsTransactions(t *testing.T) {
	alone := newServer(t, nil)
	if _, raw := statusOf(t, alone); raw["repl"] != nil || raw["transactions"] != nil {
		t.Errorf("a stand-alone server has repl %v and transactions %v", raw["repl"], raw["transactions"])
	}
	d := newServer(t, func(o *command.Options) { o.ReplSet = "globaldb" })
	must(t, send(t, d.Database("shop"), `{create: 'c'}`))
	begin := func() *mongo.Session {
		t.Helper()
		s, err := d.StartSession()
		must(t, err)
		must(t, s.StartTransaction(options.Transaction()))
		must(t, mongo.WithSession(context.Background(), s, func(ctx context.Context) error {
			_, err := d.Database("shop").Collection("c").InsertOne(ctx, bson.D{})
			return err
		}))
		return s
	}
	for range 3 {
		must(t, begin().CommitTransaction(t.Context()))
	}
	must(t, begin().AbortTransaction(t.Context()))
	open := begin()
	_, raw := statusOf(t, d)
	got, _ := raw["transactions"].(bson.M)
	for name, want := range map[string]int64{
		"totalStarted": 5, "totalCommitted": 3, "totalAborted": 1, "currentOpen": 1, "currentInactive": 1,
		"currentActive": 0, "totalPrepared": 0,
	} {
		if got[name] != want {
			t.Errorf("%s is %v, want %d", name, got[name], want)
		}
	}
	must(t, open.AbortTransaction(t.Context()))
	repl, _ := raw["repl"].(bson.M)
	if repl["setName"] != "globaldb" || repl["isWritablePrimary"] != true || repl["secondary"] != false {
		t.Errorf("repl is %v", repl)
	}
	lock, _ := raw["globalLock"].(bson.M)
	clients, _ := lock["activeClients"].(bson.M)
	queue, _ := lock["currentQueue"].(bson.M)
	if n, _ := lock["totalTime"].(int64); n <= 0 || clients["total"] == int32(0) || queue["total"] != int32(0) {
		t.Errorf("globalLock is %v", lock)
	}
}

// The commands of Local are not in the sums, from which they would be missing once they have ended.
func TestServerStatusLeavesOutLocal(t *testing.T) {
	d := newServer(t, nil)
	before, _ := statusOf(t, d)
	text, err := bson.Marshal(pairs("serverStatus", 1, "comment", strings.Repeat("x", 100_000), "$db", "admin"))
	must(t, err)
	answer, err := d.server.Local(t.Context(), doc.Doc(text))
	must(t, err)
	in, _ := bson.Raw(answer).Lookup("network", "bytesIn").AsInt64OK()
	if more := in - before.in; in == 0 || more > 50_000 { // the driver's heartbeats count
		t.Errorf("bytesIn has grown by %d", more)
	}
}
