package command_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
)

// TestTransactionOfADriver moves money between two collections.
func TestTransactionOfADriver(t *testing.T) {
	t.Parallel()
	d := newSuite(t)
	ctx, db := t.Context(), d.Database("test")
	one, two := db.Collection("one"), db.Collection("two")
	_, err := one.InsertOne(ctx, bson.D{{Key: "_id", Value: 1}, {Key: "x", Value: 100}})
	must(t, err)
	_, err = two.InsertOne(ctx, bson.D{{Key: "_id", Value: 1}, {Key: "x", Value: 0}})
	must(t, err)
	s, err := d.StartSession()
	must(t, err)
	defer s.EndSession(ctx)
	move := func(by int) func(context.Context) (any, error) {
		return func(ctx context.Context) (any, error) {
			if _, err := one.UpdateOne(ctx, eq("_id", 1), eq("$inc", eq("x", -by))); err != nil {
				return nil, err
			}
			if _, err := two.UpdateOne(ctx, eq("_id", 1), eq("$inc", eq("x", by))); err != nil {
				return nil, err
			}
			if by < 0 {
				return nil, errors.New("refused")
			}
			return nil, nil
		}
	}
	_, err = s.WithTransaction(ctx, move(30))
	must(t, err)
	if _, err = s.WithTransaction(ctx, move(-1000)); err == nil || err.Error() != "refused" {
		t.Errorf("error %v", err)
	}
	for c, want := range map[*mongo.Collection]int{one: 70, two: 30} {
		if got := count(t, c, eq("x", want)); got != 1 {
			t.Errorf("%s has no document with %d", c.Name(), want)
		}
	}
	if open, locks := d.server.OpenTransactions(); open != 0 || locks != 0 {
		t.Errorf("%d transactions with %d documents are open", open, locks)
	}
}

func TestManyTransactionsAtOnce(t *testing.T) {
	t.Parallel()
	d := newSuite(t)
	ctx, c := t.Context(), d.Database("test").Collection("c")
	_, err := c.InsertOne(ctx, bson.D{{Key: "_id", Value: 1}, {Key: "x", Value: 0}})
	must(t, err)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			s, err := d.StartSession()
			if err != nil {
				t.Error(err)
				return
			}
			defer s.EndSession(ctx)
			for range 10 {
				_, err := s.WithTransaction(ctx, func(ctx context.Context) (any, error) {
					var got struct{ X int }
					if err := c.FindOne(ctx, eq("_id", 1)).Decode(&got); err != nil {
						return nil, err
					}
					_, err := c.UpdateOne(ctx, eq("_id", 1), eq("$set", eq("x", got.X+1)))
					return nil, err
				}, options.Transaction().SetReadConcern(readconcern.Snapshot()))
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Go(func() {
		for range 20 {
			if _, err := c.UpdateOne(ctx, eq("_id", 1), eq("$inc", eq("x", 1))); err != nil {
				t.Error(err)
			}
		}
	})
	all.Wait()
	if count(t, c, eq("x", 60)) != 1 {
		t.Error("a write was lost:", c.FindOne(ctx, bson.D{}))
	}
}

// A step is a command of one of several clients, and what it is answered.
type step struct {
	who  byte
	how  string // begin, in, commit, abort, once, alone
	cmd  bson.D
	want string
}

func TestTransactions(t *testing.T) {
	t.Parallel()
	const again = `["TransientTransactionError"]`
	x := func(id, v int) bson.D { return bson.D{{Key: "_id", Value: id}, {Key: "x", Value: v}} }
	inc := updateOf("c", eq("_id", 1), eq("$inc", eq("x", 1)))
	all := findOf("c", bson.D{})
	one := `[{"_id": 1,"x": 0}]`
	cases := []struct {
		name  string
		steps []step
	}{
		{"nobody else sees it before the commit", []step{
			{1, "begin", insertOf("c", x(2, 0)), "n 1"},
			{2, "alone", all, one},
			{1, "in", all, `[{"_id": 1,"x": 0},{"_id": 2,"x": 0}]`},
			{1, "commit", nil, "ok"},
			{2, "alone", all, `[{"_id": 1,"x": 0},{"_id": 2,"x": 0}]`},
		}},
		{"aborted", []step{
			{1, "begin", inc, "n 1, nModified 1"},
			{1, "abort", nil, "ok"},
			{2, "alone", all, one},
			{1, "abort", nil, "code 251, " + again},
			{1, "commit", nil, "code 251, " + again},
			{1, "in", all, "code 251, " + again},
		}},
		{"reads are of one moment", []step{
			{1, "begin", findOf("c", eq("_id", 1)), one},
			{2, "alone", inc, "n 1, nModified 1"},
			{2, "alone", insertOf("c", x(2, 0)), "n 1"},
			{1, "in", findOf("c", eq("_id", 1)), one},
			{1, "in", all, one},
			{1, "in", eqAggregate("c", eq("$match", eq("x", 0))), one},
			{1, "commit", nil, "ok"},
			{1, "alone", all, `[{"_id": 1,"x": 1},{"_id": 2,"x": 0}]`},
		}},
		{"reads are of the moment of the first command, though that found no collection", []step{
			{1, "begin", findOf("none", bson.D{}), "[]"},
			{2, "alone", inc, "n 1, nModified 1"},
			{1, "in", all, one},
		}},
		{"the second of two transactions fails at once", []step{
			{1, "begin", inc, "n 1, nModified 1"},
			{2, "begin", inc, "code 112, " + again},
			{2, "commit", nil, "code 251, " + again},
			{1, "commit", nil, "ok"},
			{2, "begin", inc, "n 1, nModified 1"},
			{2, "commit", nil, "ok"},
			{2, "alone", all, `[{"_id": 1,"x": 2}]`},
		}},
		{"a write of what has changed since the snapshot", []step{
			{1, "begin", all, one},
			{2, "alone", inc, "n 1, nModified 1"},
			{1, "in", inc, "code 112, " + again},
			{1, "commit", nil, "code 251, " + again},
		}},
		{"two inserts of one _id", []step{
			{1, "begin", insertOf("c", x(7, 1)), "n 1"},
			{2, "begin", insertOf("c", x(7, 2)), "code 112, " + again},
			{1, "commit", nil, "ok"},
			{2, "alone", findOf("c", eq("_id", 7)), `[{"_id": 7,"x": 1}]`},
		}},
		{"a delete that finds nothing stands in nobody's way", []step{
			{1, "begin", deleteOf("c", bson.D{{Key: "_id", Value: 1}, {Key: "x", Value: 5}}), "n 0"},
			{2, "begin", inc, "n 1, nModified 1"},
			{2, "commit", nil, "ok"},
			{1, "commit", nil, "ok"},
		}},
		{"a statement that fails aborts", []step{
			{1, "begin", insertOf("c", x(2, 0)), "n 1"},
			{1, "in", insertOf("c", x(1, 0)), "n 0, writeErrors 11000"},
			{1, "in", all, "code 251, " + again},
			{1, "commit", nil, "code 251, " + again},
			{1, "alone", all, one},
		}},
		{"a collection is made by name", []step{
			{1, "begin", eq("create", "made"), "ok"},
			{1, "in", insertOf("made", x(1, 0)), "n 1"},
			{2, "alone", findOf("made", bson.D{}), "[]"},
			{1, "commit", nil, "ok"},
			{2, "alone", findOf("made", bson.D{}), one},
		}},
		{"a command that fails aborts", []step{
			{1, "begin", insertOf("c", x(2, 0)), "n 1"},
			{1, "in", findOf("c", eq("$nonsense", 1)), "code 2"},
			{1, "commit", nil, "code 251, " + again},
		}},
		{"what is not allowed does not", []step{
			{1, "begin", insertOf("c", x(2, 0)), "n 1"},
			{1, "in", eq("count", "c"), "code 263"},
			{1, "in", eq("listCollections", 1), "code 263"},
			{1, "in", eq("drop", "c"), "code 263"},
			{1, "commit", nil, "ok"},
		}},
		{"commit again", []step{
			{1, "begin", insertOf("c", x(2, 0)), "n 1"},
			{1, "commit", nil, "ok"},
			{1, "commit", nil, "ok"},
			{1, "abort", nil, "code 256"},
			{1, "in", all, "code 256"},
		}},
		{"a transaction that has done nothing", []step{
			{1, "begin", findOf("none", bson.D{}), "[]"},
			{1, "commit", nil, "ok"},
		}},
		{"the next one ends the one before", []step{
			{1, "begin", inc, "n 1, nModified 1"},
			{1, "begin", inc, "n 1, nModified 1"},
			{1, "commit", nil, "ok"},
			{1, "alone", all, `[{"_id": 1,"x": 1}]`},
		}},
		{"so does a retryable write", []step{
			{1, "begin", insertOf("c", x(2, 0)), "n 1"},
			{1, "next", nil, ""},
			{1, "once", insertOf("c", x(3, 0)), "n 1"},
			{1, "alone", all, `[{"_id": 1,"x": 0},{"_id": 3,"x": 0}]`},
		}},
		{"numbers do not fall", []step{
			{1, "begin", inc, "n 1, nModified 1"},
			{1, "back", nil, ""},
			{1, "in", inc, "code 225"},
			{1, "begin", inc, "code 117"},
		}},
		{"a collection is made", []step{
			{1, "begin", insertOf("fresh", x(1, 0)), "n 1"},
			{1, "in", insertOf("c", x(2, 0)), "n 1"},
			{1, "commit", nil, "ok"},
			{2, "alone", findOf("fresh", bson.D{}), one},
		}},
		{"several collections or none", []step{
			{1, "begin", insertOf("c", x(2, 0)), "n 1"},
			{1, "in", insertOf("other", x(2, 0)), "n 1"},
			{2, "alone", findOf("other", bson.D{}), "[]"},
			{1, "in", deleteOf("c", eq("_id", 1)), "n 1"},
			{1, "abort", nil, "ok"},
			{2, "alone", findOf("other", bson.D{}), "[]"},
			{2, "alone", all, one},
		}},
		{"findAndModify, many updates, and what it has written itself", []step{
			{1, "begin", document(t, `{findAndModify: 'c', query: {_id: 1}, update: {$set: {x: 5}}, new: true}`),
				`value {"_id":1,"x":5}`},
			{1, "in", insertOf("c", x(2, 5)), "n 1"},
			{1, "in", document(t, `{update: 'c', updates: [{q: {x: 5}, u: {$inc: {x: 1}}, multi: true}]}`),
				"n 2, nModified 2"},
			{1, "in", document(t, `{find: 'c', sort: {_id: -1}}`), `[{"_id":2,"x":6},{"_id":1,"x":6}]`},
			{1, "in", document(t, `{distinct: 'c', key: 'x'}`), "ok"},
			{2, "alone", all, one},
			{1, "commit", nil, "ok"},
			{2, "alone", all, `[{"_id":1,"x":6},{"_id":2,"x":6}]`},
		}},
		{"the first command names the read concern", []step{
			{1, "begin", with(all, eq("readConcern", eq("level", "snapshot"))), one},
			{1, "in", with(all, eq("readConcern", eq("level", "snapshot"))), "code 72"},
		}},
		{"the write concern of the commit", []step{
			{1, "begin", insertOf("c", x(2, 0)), "n 1"},
			{1, "in", document(t, `{commitTransaction: 1, writeConcern: {w: 2}}`), "concern 100"},
			{1, "in", document(t, `{commitTransaction: 1, writeConcern: {w: 'majority'}}`), "ok"},
		}},
		{"other databases", []step{
			{1, "begin", append(all[:len(all):len(all)], bson.E{Key: "autocommit", Value: false}), one},
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			play(newSuite(t), c.steps)
		})
	}
}

// play takes steps with two members, after a document in test.c and a collection test.other were made.
func play(d *testServer, steps []step) {
	t := d.t
	members := map[byte]*member{1: d.member(1), 2: d.member(2)}
	wants(t, "before", members[2].with(insertOf("c", bson.D{{Key: "_id", Value: 1}, {Key: "x", Value: 0}})), "n 1")
	wants(t, "before", members[2].with(eq("create", "other")), "ok")
	for i, s := range steps {
		m := members[s.who]
		var answer bson.Raw
		switch s.how {
		case "begin":
			answer = m.begin(s.cmd)
		case "in":
			answer = m.in(s.cmd)
		case "commit":
			answer = m.commit()
		case "abort":
			answer = m.abort()
		case "once":
			answer = m.once(s.cmd)
		case "next":
			m.number++
			continue
		case "back":
			m.number--
			continue
		default:
			answer = m.with(s.cmd)
		}
		wants(t, s.how+" in step "+string(rune('1'+i)), answer, s.want)
	}
}

func eqAggregate(c string, stages ...any) bson.D {
	return pairs("aggregate", c, "pipeline", bson.A(stages), "cursor", bson.D{})
}

// TestWritesWaitForTransactions writes what a transaction has written.
func TestWritesWaitForTransactions(t *testing.T) {
	t.Parallel()
	d := newSuite(t)
	in, out := d.member(1), d.member(2)
	wants(t, "insert", out.with(insertOf("c", bson.D{{Key: "_id", Value: 1}, {Key: "x", Value: 0}})), "n 1")
	inc := updateOf("c", eq("_id", 1), eq("$inc", eq("x", 1)))
	wants(t, "update", in.begin(inc), "n 1, nModified 1")
	wants(t, "a limit of time", out.with(with(inc, eq("maxTimeMS", 20))), "code 50")
	wants(t, "another document", out.with(insertOf("c", eq("_id", 2))), "n 1")
	answer := make(chan bson.Raw, 1)
	go func() { answer <- out.with(inc) }()
	d.until(func() bool { return d.server.Awaited() })
	wants(t, "commit", in.commit(), "ok")
	wants(t, "update", <-answer, "n 1, nModified 1")
	wants(t, "find", out.with(findOf("c", eq("_id", 1))), `[{"_id":1,"x":2}]`)
}

// TestTransactionAndTime reads and writes what expires while a transaction is open.
func TestTransactionAndTime(t *testing.T) {
	t.Parallel()
	d := newSuite(t)
	c := d.Database("test").Collection("c")
	_, err := c.Indexes().CreateOne(t.Context(), indexOn("at", 10))
	must(t, err)
	documents := []any{pairs("_id", 1, "at", start), pairs("_id", 2, "at", start), pairs("_id", 3, "x", 1)}
	_, err = c.InsertMany(t.Context(), documents)
	must(t, err)
	ids := eqAggregate("c", eq("$project", eq("_id", 1)))
	m, other := d.member(1), d.member(2)
	wants(t, "begin", m.begin(ids), `[{"_id":1},{"_id":2},{"_id":3}]`)
	d.pass(11 * time.Second)
	wants(t, "outside", other.with(ids), `[{"_id":3}]`)
	wants(t, "inside", m.in(ids), `[{"_id":1},{"_id":2},{"_id":3}]`)
	must(t, d.reclaim(t.Context()))
	wants(t, "inside, when they are reclaimed", m.in(ids), `[{"_id":1},{"_id":2},{"_id":3}]`)
	wants(t, "a living one", m.in(updateOf("c", eq("_id", 3), eq("$inc", eq("x", 1)))), "n 1, nModified 1")
	wants(t, "commit", m.commit(), "ok")

	_, err = c.InsertOne(t.Context(), bson.D{{Key: "_id", Value: 4}, {Key: "at", Value: start.Add(11 * time.Second)}})
	must(t, err)
	wants(t, "begin", m.begin(updateOf("c", eq("_id", 4), eq("$set", eq("x", 1)))), "n 1, nModified 1")
	d.pass(11 * time.Second)
	wants(t, "a dead one", other.with(findOf("c", eq("_id", 4))), "[]")
	wants(t, "commit of a write to a dead one", m.commit(), `code 112, ["TransientTransactionError"]`)
}

func TestTransactionsEndInTime(t *testing.T) {
	t.Parallel()
	d := newSuite(t)
	m := d.member(1)
	wants(t, "begin", m.begin(insertOf("c", eq("_id", 1), eq("_id", 2))), "n 2")
	id := m.in(append(findOf("c", bson.D{}), bson.E{Key: "batchSize", Value: 1})).Lookup("cursor", "id").Int64()
	if id == 0 {
		t.Fatal("no cursor")
	}
	d.server.EndTransactions(time.Hour)
	wants(t, "getMore outside", m.with(pairs("getMore", id, "collection", "c")), "code 50738")
	d.server.EndTransactions(0)
	wants(t, "find", m.in(findOf("c", bson.D{})), `code 251, ["TransientTransactionError"]`)
	wants(t, "getMore", m.with(bson.D{{Key: "getMore", Value: id}, {Key: "collection", Value: "c"}}), "code 43")
	wants(t, "find", m.with(findOf("c", bson.D{})), "[]")
}

// TestCursorOfATransaction reads in batches, with writes between.
func TestCursorOfATransaction(t *testing.T) {
	t.Parallel()
	d := newSuite(t)
	m := d.member(1)
	wants(t, "insert", m.with(insertOf("c", eq("_id", 1), eq("_id", 2), eq("_id", 3))), "n 3")
	id := m.begin(append(findOf("c", bson.D{}), bson.E{Key: "batchSize", Value: 1})).Lookup("cursor", "id").Int64()
	wants(t, "insert", d.member(2).with(insertOf("c", eq("_id", 4))), "n 1")
	wants(t, "delete", m.in(deleteOf("c", eq("_id", 3))), "n 1")
	more := m.in(bson.D{{Key: "getMore", Value: id}, {Key: "collection", Value: "c"}})
	if batch, ok := more.Lookup("cursor", "nextBatch").ArrayOK(); !ok || len(batch) < 10 {
		t.Errorf("getMore: %s", more)
	}
	wants(t, "commit", m.commit(), "ok")
	wants(t, "find", m.with(findOf("c", bson.D{})), `[{"_id":1},{"_id":2},{"_id":4}]`)
}

// TestDriverBeginsAnew has collections made in the middle of a transaction, and commits that fail.
func TestDriverBeginsAnew(t *testing.T) {
	t.Parallel()
	d := newSuite(t)
	ctx, db := t.Context(), d.Database("test")
	must(t, db.CreateCollection(ctx, "c"))
	s, err := d.StartSession()
	must(t, err)
	defer s.EndSession(ctx)
	for i, fail := range []func(){
		func() {},
		func() { d.failOnce(bson.D{{Key: "closeConnection", Value: true}}, "commitTransaction") },
		func() { d.failOnce(bson.D{{Key: "errorCode", Value: 91}}, "commitTransaction") },
		func() { d.failOnce(bson.D{{Key: "errorCode", Value: 251}}, "commitTransaction") },
		func() { d.fail(eq("times", 2), bson.D{{Key: "errorCode", Value: 10107}}, "commitTransaction") },
		func() {
			d.failOnce(document(t, `{writeConcernError: {code: 91, errmsg: 'stopping'}}`), "commitTransaction")
		},
		func() { d.failOnce(bson.D{{Key: "closeConnection", Value: true}}, "insert") },
		func() { d.failOnce(bson.D{{Key: "errorCode", Value: 112}}, "insert") },
	} {
		fail()
		_, err := s.WithTransaction(ctx, func(ctx context.Context) (any, error) {
			if _, err := db.Collection("c").InsertOne(ctx, eq("_id", i)); err != nil {
				return nil, err
			}
			return db.Collection("fresh").InsertOne(ctx, eq("_id", i))
		})
		if err != nil {
			t.Errorf("%d: %v", i, err)
		}
		for _, name := range []string{"c", "fresh"} {
			if n := count(t, db.Collection(name), eq("_id", i)); n != 1 {
				t.Errorf("%d: %d documents in %s", i, n, name)
			}
		}
	}
}
