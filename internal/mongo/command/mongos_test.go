package command_test

import (
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/mayflydb/mayfly/internal/kv/kvtest"
	"github.com/mayflydb/mayfly/internal/kv/memory"
	"github.com/mayflydb/mayfly/internal/mongo/command"
)

// newMongos serves as several processes over one engine, until the test ends.
func newMongos(t *testing.T, processes int) []*testServer {
	t.Helper()
	_, list := newCluster(t, processes)
	return list
}

func newCluster(t *testing.T, processes int) (cluster *kvtest.Cluster, list []*testServer) {
	t.Helper()
	cluster = kvtest.NewCluster(memory.New(), start)
	t.Cleanup(func() {
		if err := cluster.Close(); err != nil {
			t.Error(err)
		}
	})
	for range processes {
		list = append(list, newServerOn(t, cluster.Process(), func(o *command.Options) { o.TestCommands = true }))
	}
	return cluster, list
}

// TestRetryAtAnotherProcess sends writes to one process and again to another one, which answers as the first did.
func TestRetryAtAnotherProcess(t *testing.T) {
	t.Parallel()
	list := newMongos(t, 2)
	a, b := list[0].member(1), list[1].member(1)
	inc := eq("$inc", eq("x", 1))
	for _, c := range []struct {
		name        string
		cmd         bson.D
		first, then string
	}{
		{"insert", insertOf("c", eq("_id", 1), eq("_id", 2)), "n 2", "n 2, retriedStmtIds [0,1]"},
		{"update", updateOf("c", eq("_id", 1), inc), "n 1, nModified 1", "n 1, nModified 1, retriedStmtIds [0]"},
		{"update that its own change unselects", updateOf("c", eq("x", 1), inc), "n 1, nModified 1",
			"n 1, nModified 1, retriedStmtIds [0]"},
		{"update of nothing", updateOf("c", eq("x", 100), inc), "n 0, nModified 0", "n 0, nModified 0"},
		{"several updates", pairs("update", "c", "updates", bson.A{
			pairs("q", eq("_id", 1), "u", inc), pairs("q", eq("_id", 77), "u", inc), pairs("q", eq("_id", 2), "u", inc),
		}), "n 2, nModified 2", "n 2, nModified 2, retriedStmtIds [0,2]"},
		{"upsert", pairs("update", "c", "updates", bson.A{pairs("q", eq("_id", 5), "u", inc, "upsert", true)}),
			"n 1, nModified 0", "n 1, nModified 0, retriedStmtIds [0]"},
		{"delete", deleteOf("c", eq("_id", 2)), "n 1", "n 1, retriedStmtIds [0]"},
		{"findAndModify", pairs("findAndModify", "c", "query", eq("_id", 1), "update", inc, "new", true),
			`value {"_id":1,"x":4}`, `retriedStmtId 0, value {"_id":1,"x":4}`},
		{"findAndModify, before", pairs("findAndModify", "c", "query", eq("x", 4), "update", inc),
			`value {"_id":1,"x":4}`, `retriedStmtId 0, value {"_id":1,"x":4}`},
		{"findAndModify that inserts",
			pairs("findAndModify", "c", "query", eq("_id", 6), "update", inc, "new", true, "upsert", true),
			`value {"_id":6,"x":1}`, `retriedStmtId 0, value {"_id":6,"x":1}`},
		{"findAndModify that removes", document(t, `{findAndModify: 'c', query: {x: 1}, sort: {_id: 1}, remove: true}`),
			`value {"_id":5,"x":1}`, `retriedStmtId 0, value {"_id":5,"x":1}`},
		{"a statement that fails", insertOf("c", eq("_id", 10), eq("_id", 1), eq("_id", 11)), "n 1, writeErrors 11000",
			"n 1, retriedStmtIds [0], writeErrors 11000"},
		{"one that fails among others",
			with(insertOf("c", eq("_id", 12), eq("_id", 1), eq("_id", 13)), eq("ordered", false)),
			"n 2, writeErrors 11000", "n 2, retriedStmtIds [0,2], writeErrors 11000"},
	} {
		a.number++
		b.number++
		wants(t, c.name, a.once(c.cmd), c.first)
		wants(t, c.name+" at the other process", b.once(c.cmd), c.then)
		wants(t, c.name+" at the first again", a.once(c.cmd), c.then)
	}
	wants(t, "find", b.with(findOf("c", eq("_id", 1))), `[{"_id":1,"x":5}]`)
	b.number++
	wants(t, "another number", b.once(updateOf("c", eq("_id", 1), inc)), "n 1, nModified 1")
	wants(t, "an old number", a.once(updateOf("c", eq("_id", 1), inc)), "code 225")
}

// TestStatementsSeeThoseBefore has several statements in one command, each of which selects what the one before made.
func TestStatementsSeeThoseBefore(t *testing.T) {
	t.Parallel()
	m := newMongos(t, 1)[0].member(1)
	wants(t, "insert", m.with(insertOf("c", eq("_id", 1))), "n 1")
	for i := range 3 {
		wants(t, "update", m.with(pairs("update", "c", "updates", bson.A{
			pairs("q", eq("_id", 1), "u", eq("$set", eq("x", i))),
			pairs("q", eq("x", i), "u", eq("$inc", eq("y", 1)), "multi", true),
			pairs("q", eq("y", i+1), "u", eq("$inc", eq("z", 1))),
		})), "n 3, nModified 3")
	}
	wants(t, "an upsert and a deletion of what it made", m.with(pairs("update", "c", "updates", bson.A{
		pairs("q", eq("_id", 2), "u", eq("$set", eq("x", 9)), "upsert", true),
		pairs("q", eq("x", 9), "u", eq("$set", eq("x", 10))),
	})), "n 2, nModified 1")
}

// TestRetryOfManyStatements has writes of several batches, of which another process has done a part.
func TestRetryOfManyStatements(t *testing.T) {
	t.Parallel()
	list := newMongos(t, 2)
	a, b := list[0].member(1), list[1].member(1)
	var documents bson.A
	for i := range 1200 {
		documents = append(documents, eq("_id", i))
	}
	insert := pairs("insert", "c", "documents", documents, "ordered", false)
	wants(t, "a document in the way", a.with(insertOf("c", eq("_id", 700))), "n 1")
	a.number, b.number = 1, 1
	wants(t, "the first part", a.once(pairs("insert", "c", "documents", documents[:600])), "n 600")
	var answer struct {
		N       int
		Retried []int  `bson:"retriedStmtIds"`
		Errors  bson.A `bson:"writeErrors"`
	}
	must(t, bson.Unmarshal(b.once(insert), &answer))
	if answer.N != 1199 || len(answer.Retried) != 600 || len(answer.Errors) != 1 {
		t.Errorf("n %d, %d retried, errors %v", answer.N, len(answer.Retried), answer.Errors)
	}
	must(t, bson.Unmarshal(a.once(insert), &answer))
	if answer.N != 1199 || len(answer.Retried) != 1199 || len(answer.Errors) != 1 {
		t.Errorf("again: n %d, %d retried, errors %v", answer.N, len(answer.Retried), answer.Errors)
	}
}

// TestRetriesAtOnce sends one write to three processes at the same time. It is done once.
func TestRetriesAtOnce(t *testing.T) {
	t.Parallel()
	list := newMongos(t, 3)
	setup := list[0].member(9)
	wants(t, "insert", setup.with(insertOf("c", pairs("_id", 1, "x", 0))), "n 1")
	const rounds = 30
	var members []*member
	for _, d := range list {
		members = append(members, d.member(1))
	}
	update := pairs("update", "c", "updates", bson.A{
		pairs("q", eq("_id", 1), "u", eq("$inc", eq("x", 1))), pairs("q", eq("_id", 1), "u", eq("$inc", eq("x", 1))),
	})
	for number := range int64(rounds) {
		var done sync.WaitGroup
		for _, m := range members {
			m.number = number
			done.Go(func() {
				var answer struct{ OK, N, NModified int }
				if err := bson.Unmarshal(m.once(update), &answer); err != nil || answer.N != 2 {
					t.Errorf("round %d: %+v, %v", number, answer, err)
				}
			})
		}
		done.Wait()
	}
	wants(t, "find", setup.with(findOf("c", bson.D{})), `[{"_id":1,"x":60}]`)
}

// TestReceiptsAreSwept lets a client that has gone be forgotten.
func TestReceiptsAreSwept(t *testing.T) {
	t.Parallel()
	cluster, list := newCluster(t, 2)
	a, b := list[0].member(1), list[1].member(1)
	insert := insertOf("c", eq("_id", 1))
	wants(t, "insert", a.once(insert), "n 1")
	wants(t, "again", b.once(insert), "n 1, retriedStmtIds [0]")
	for range 3 { // the first look may be before the receipt is old enough
		cluster.Move(31 * time.Minute)
		for _, d := range list {
			d.pass(31 * time.Minute)
		}
	}
	wants(t, "after the receipt is gone", list[1].member(1).once(insert), "n 0, writeErrors 11000")
}

func TestTransactionsAtOneProcess(t *testing.T) {
	t.Parallel()
	list := newMongos(t, 2)
	a, b := list[0].member(1), list[1].member(1)
	commit := bson.D{{Key: "commitTransaction", Value: 1},
		{Key: "recoveryToken", Value: bson.D{{Key: "recoveryShardId", Value: "mayfly"}}}}
	wants(t, "create", a.with(insertOf("c", eq("_id", 0))), "n 1")

	b.number = 1
	answer := a.begin(insertOf("c", eq("_id", 1)))
	wants(t, "begin", answer, "n 1")
	if shard, _ := answer.Lookup("recoveryToken", "recoveryShardId").StringValueOK(); shard != "mayfly" {
		t.Errorf("recoveryToken %v", answer.Lookup("recoveryToken"))
	}
	wants(t, "a command at the other process", b.in(insertOf("c", eq("_id", 2))),
		`code 251, ["TransientTransactionError"]`)
	wants(t, "commit", a.in(commit), "ok")
	wants(t, "the same commit at the other process", b.in(commit), "ok")
	wants(t, "and there again", b.in(commit), "ok")
	wants(t, "and at the first", a.in(commit), "ok")

	b.number = 2
	wants(t, "begin", a.begin(insertOf("c", eq("_id", 2))), "n 1")
	wants(t, "a commit at the other process", b.in(commit), `code 251, ["TransientTransactionError"]`)
	wants(t, "a commit after that", a.in(commit), `code 251, ["TransientTransactionError"]`)
	wants(t, "find", a.with(findOf("c", bson.D{})), `[{"_id":0}, {"_id":1}]`)

	b.number = 4
	wants(t, "begin", a.begin(insertOf("c", eq("_id", 3))), "n 1")
	wants(t, "a write of a newer number", b.once(insertOf("c", eq("_id", 4))), "n 1")
	wants(t, "a late commit", a.in(commit), "code 225")
	wants(t, "find", a.with(findOf("c", bson.D{})), `[{"_id":0}, {"_id":1}, {"_id":4}]`)
}

// clientOf is a client of several addresses.
func clientOf(t *testing.T, addresses []string, query string) *mongo.Client {
	t.Helper()
	client, err := mongo.Connect(options.Client().ApplyURI(
		"mongodb://" + strings.Join(addresses, ",") + "/?" + query))
	must(t, err)
	t.Cleanup(func() { _ = client.Disconnect(t.Context()) })
	return client
}

func addressesOf(list []*testServer) (addresses []string) {
	for _, d := range list {
		addresses = append(addresses, d.address)
	}
	return addresses
}

// TestDriverOfSeveralMongos loses answers of one process. The driver sends the write again, to the other process.
func TestDriverOfSeveralMongos(t *testing.T) {
	t.Parallel()
	list := newMongos(t, 2)
	ctx := t.Context()
	client := clientOf(t, addressesOf(list), "")
	c := client.Database("test").Collection("c")
	for i := range 20 {
		for _, d := range list { // whichever it asks, the connection ends after the write
			d.failPoint("onPrimaryTransactionalWrite", eq("times", 1), eq("closeConnection", true))
		}
		_, err := c.InsertOne(ctx, pairs("_id", i, "x", 0))
		must(t, err)
		_, err = c.UpdateOne(ctx, eq("_id", i), eq("$inc", eq("x", 1)))
		must(t, err)
	}
	if n := count(t, c, eq("x", 1)); n != 20 {
		t.Errorf("%d of 20 documents were changed once", n)
	}
	first, second := list[0].server.Requests("insert"), list[1].server.Requests("insert")
	if first == 0 || second == 0 || first+second != 40 {
		t.Errorf("the processes got %d and %d inserts, want 40 together", first, second)
	}
	transact(t, client, 20)
	readAll(t, c, 20)
}

// transact commits transactions of several commands.
func transact(t *testing.T, client *mongo.Client, n int) {
	t.Helper()
	c := client.Database("test").Collection("transacted")
	_, err := c.InsertOne(t.Context(), eq("_id", -1))
	must(t, err)
	for i := range n {
		s, err := client.StartSession()
		must(t, err)
		must(t, s.StartTransaction())
		ctx := mongo.NewSessionContext(t.Context(), s)
		for k := range 3 {
			_, err := c.InsertOne(ctx, eq("_id", 10*i+k))
			must(t, err)
		}
		must(t, s.CommitTransaction(ctx))
		s.EndSession(ctx)
	}
	if got := count(t, c, bson.D{}); got != int64(3*n+1) {
		t.Errorf("transactions have inserted %d documents, want %d", got, 3*n+1)
	}
}

// readAll reads cursors of several batches.
func readAll(t *testing.T, c *mongo.Collection, want int) {
	t.Helper()
	for range 10 {
		cursor, err := c.Find(t.Context(), bson.D{}, options.Find().SetBatchSize(2))
		must(t, err)
		var all []bson.D
		must(t, cursor.All(t.Context(), &all))
		if len(all) != want {
			t.Errorf("a cursor gave %d of %d documents", len(all), want)
		}
	}
}

// A balancer sends each connection to the next process, as a plain TCP load balancer does.
func balancer(t *testing.T, to []*testServer) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	var running sync.WaitGroup
	t.Cleanup(func() {
		_ = l.Close()
		running.Wait()
	})
	var next atomic.Int64
	running.Go(func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			back, err := net.Dial("tcp", to[int(next.Add(1))%len(to)].address)
			if err != nil {
				_ = from.Close()
				continue
			}
			for _, pair := range [][2]net.Conn{{from, back}, {back, from}} {
				running.Go(func() {
					_, _ = io.Copy(pair[0], pair[1])
					_ = pair[0].Close()
					_ = pair[1].Close()
				})
			}
		}
	})
	return l.Addr().String()
}

// TestDriverBehindABalancer is a client that knows one address, and that there is a balancer.
func TestDriverBehindABalancer(t *testing.T) {
	t.Parallel()
	list := newMongos(t, 2)
	client := clientOf(t, []string{balancer(t, list)}, "loadBalanced=true&maxPoolSize=8")
	c := client.Database("test").Collection("c")
	var done sync.WaitGroup
	for i := range 20 {
		done.Go(func() {
			if _, err := c.InsertOne(t.Context(), pairs("_id", i, "x", 0)); err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
	// An open cursor keeps its connection, so that with 8 of them the client has all 8 connections of its pool,
	// which the balancer has sent to both processes.
	var open []*mongo.Cursor
	for range 8 {
		cursor, err := c.Find(t.Context(), bson.D{}, options.Find().SetBatchSize(2))
		must(t, err)
		open = append(open, cursor)
	}
	for i, d := range list {
		if n := d.server.Requests("find"); n != 4 {
			t.Errorf("process %d answered %d of 8 queries, want 4", i, n)
		}
	}
	for _, cursor := range open {
		var all []bson.D
		must(t, cursor.All(t.Context(), &all))
		if len(all) != 20 {
			t.Errorf("a cursor gave %d of 20 documents", len(all))
		}
	}
	readAll(t, c, 20)
	transact(t, client, 20)
}

// TestBalancedConnectionEnds ends what a client has open at a connection together with that.
func TestBalancedConnectionEnds(t *testing.T) {
	t.Parallel()
	d := newMongos(t, 1)[0]
	p := d.member(1)
	hello := p.ask(document(t, `{hello: 1, $db: 'admin', loadBalanced: true}`))
	if _, ok := hello.Lookup("serviceId").ObjectIDOK(); !ok {
		t.Errorf("hello has no serviceId: %s", hello)
	}
	wants(t, "insert", p.with(insertOf("c", eq("_id", 1), eq("_id", 2), eq("_id", 3))), "n 3")
	p.with(pairs("find", "c", "batchSize", 1))
	wants(t, "begin", p.begin(insertOf("c", eq("_id", 4))), "n 1")
	if s := d.server.Status(); s.Cursors != 1 || s.Transactions != 1 {
		t.Errorf("open: %+v", s)
	}
	must(t, p.conn.Close())
	for s := d.server.Status(); s.Cursors+s.Transactions > 0; s = d.server.Status() {
		runtime.Gosched()
	}
}

// TestMongosAnswers is what tells a mongos from a member of a replica set.
func TestMongosAnswers(t *testing.T) {
	t.Parallel()
	list := newMongos(t, 2)
	d, ctx := list[0], t.Context()
	admin := d.Database("admin")
	var hello bson.M
	must(t, admin.RunCommand(ctx, eq("hello", 1)).Decode(&hello))
	for _, name := range []string{"setName", "hosts", "primary", "electionId", "setVersion", "serviceId"} {
		if hello[name] != nil {
			t.Errorf("hello has %s: %v", name, hello[name])
		}
	}
	if hello["msg"] != "isdbgrid" || hello["isWritablePrimary"] != true ||
		hello["logicalSessionTimeoutMinutes"] != int32(30) {
		t.Errorf("hello: %v", hello)
	}
	for _, c := range []struct {
		cmd  bson.D
		code int
	}{
		{eq("replSetGetStatus", 1), 125},
		{eq("replSetGetConfig", 1), 125},
		{eq("replSetInitiate", bson.D{}), 125},
	} {
		refuses(t, admin.RunCommand(ctx, c.cmd).Err(), c.code)
	}
	var status, shards bson.M
	must(t, admin.RunCommand(ctx, eq("serverStatus", 1)).Decode(&status))
	if status["process"] != "mongos" || status["repl"] != nil {
		t.Errorf("serverStatus: process %v, repl %v", status["process"], status["repl"])
	}
	must(t, admin.RunCommand(ctx, eq("isdbgrid", 1)).Err())
	must(t, admin.RunCommand(ctx, eq("listShards", 1)).Decode(&shards))
	if list, _ := shards["shards"].(bson.A); len(list) != 1 {
		t.Errorf("listShards: %v", shards)
	}
	alone := newSuite(t)
	refuses(t, alone.Database("admin").RunCommand(ctx, eq("isdbgrid", 1)).Err(), 59)
	refuses(t, alone.Database("admin").RunCommand(ctx, eq("listShards", 1)).Err(), 59)
}

// TestD90 is several processes over one engine: no change streams, and what one of them has open no other one has.
func TestD90(t *testing.T) {
	t.Parallel()
	list := newMongos(t, 2)
	ctx := t.Context()
	c := list[0].Database("test").Collection("c")
	_, err := c.InsertMany(ctx, []bson.D{eq("_id", 1), eq("_id", 2), eq("_id", 3)})
	must(t, err)
	_, err = c.Watch(ctx, bson.A{})
	refuses(t, err, 40573)
	if e, ok := errors.AsType[mongo.CommandError](err); !ok || !strings.Contains(e.Message, "D-90") {
		t.Errorf("change streams: %v", err)
	}
	a, b := list[0].member(1), list[1].member(1)
	id := a.with(pairs("find", "c", "batchSize", 1)).Lookup("cursor", "id")
	wants(t, "getMore at another process", b.with(pairs("getMore", id, "collection", "c")), "code 43")
	rest := a.with(pairs("getMore", id, "collection", "c")).Lookup("cursor", "nextBatch")
	if got := compact(rest.String()); got != compact(`[{"_id":2},{"_id":3}]`) {
		t.Errorf("getMore: %s", got)
	}
}

// TestClusterTimeOfProcesses follows a client from one process to another whose clock is behind.
func TestClusterTimeOfProcesses(t *testing.T) {
	t.Parallel()
	list := newMongos(t, 2)
	a, b := list[0].member(1), list[1].member(2)
	list[0].pass(2 * time.Second)
	first := a.with(insertOf("c", eq("_id", 1)))
	told := first.Lookup("$clusterTime")
	seconds, _ := first.Lookup("operationTime").Timestamp()
	if want := uint32(start.Unix()) + 2; seconds != want {
		t.Errorf("operationTime %d, want %d", seconds, want)
	}
	second := b.with(findOf("c", bson.D{}), bson.E{Key: "$clusterTime", Value: told}, bson.E{Key: "readConcern",
		Value: eq("afterClusterTime", first.Lookup("operationTime"))})
	wants(t, "a causal read", second, `[{"_id":1}]`)
	if s, _ := second.Lookup("operationTime").Timestamp(); s < seconds {
		t.Errorf("operationTime fell from %d to %d", seconds, s)
	}
}
