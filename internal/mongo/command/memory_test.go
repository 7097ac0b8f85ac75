package command_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/mongo/command"
	"github.com/mayflydb/mayfly/internal/mongo/wire"
)

const mib = 1 << 20

// newServerWithin is a server whose requests share so much memory, all of which is given back when the test ends.
func newServerWithin(t *testing.T, bytes int64, change func(*command.Options)) (*testServer, *budget.Budget) {
	t.Helper()
	b := budget.New(budget.Options{Memory: bytes, Patience: time.Second})
	t.Cleanup(func() { // after that of the server
		if r := b.Read(); r.Used != 0 || r.Running != 0 || r.Waiting != 0 || r.Queued != 0 {
			t.Errorf("after the server has closed: %+v", r)
		}
	})
	return newServer(t, func(o *command.Options) {
		o.Budget = b
		if change != nil {
			change(o)
		}
	}), b
}

// settles waits until nothing is held any more, or no more than so many bytes.
func settles(t *testing.T, b *budget.Budget, bytes int64) {
	t.Helper()
	for range 1000 {
		if b.Read().Used <= bytes {
			return
		}
		_ = clock.Pause(t.Context(), 10*time.Millisecond)
	}
	t.Errorf("%+v is left", b.Read())
}

// fillWith inserts n documents of so many bytes, one by one.
func fillWith(t *testing.T, d *testServer, n, bytes int) *mongo.Collection {
	t.Helper()
	c := d.Database("test").Collection("c")
	for i := range n {
		_, err := c.InsertOne(t.Context(), pairs("_id", i, "n", -i, "text", strings.Repeat("x", bytes)))
		must(t, err)
	}
	return c
}

// What open cursors hold counts until they are closed, by their clients, by others or by time.
func TestMemoryOfCursors(t *testing.T) {
	for name, end := range map[string]func(d *testServer, x *mongo.Cursor){
		"closed": func(d *testServer, x *mongo.Cursor) { must(t, x.Close(t.Context())) },
		"killed": func(d *testServer, x *mongo.Cursor) {
			_, err := d.run(bson.D{{Key: "killCursors", Value: "c"}, {Key: "cursors", Value: bson.A{x.ID()}}})
			must(t, err)
		},
		"idle": func(d *testServer, x *mongo.Cursor) { d.pass(11 * time.Minute) },
		"its session": func(d *testServer, x *mongo.Cursor) {
			_, err := d.run(bson.D{{Key: "killAllSessions", Value: bson.A{}}})
			must(t, err)
		},
		"read": func(d *testServer, x *mongo.Cursor) {
			var all []bson.Raw
			must(t, x.All(t.Context(), &all))
			if len(all) != 200 {
				t.Errorf("%d rows", len(all))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			d, b := newServerWithin(t, 8*mib, nil)
			c := fillWith(t, d, 200, 5000)
			settles(t, b, 0)
			ctx := t.Context()
			two := options.Aggregate().SetBatchSize(2)
			for _, open := range []func() (*mongo.Cursor, error){
				func() (*mongo.Cursor, error) {
					return c.Find(ctx, bson.D{}, options.Find().SetSort(bson.D{{Key: "n", Value: 1}}).SetBatchSize(2))
				},
				func() (*mongo.Cursor, error) {
					return c.Aggregate(ctx, bson.A{eq("$sort", eq("n", 1)), eq("$set", eq("m", 1))}, two)
				},
				func() (*mongo.Cursor, error) {
					return c.Aggregate(ctx, bson.A{document(t, `{$group: {_id: '$n', text: {$push: '$text'}}}`)}, two)
				},
				func() (*mongo.Cursor, error) { // reads ahead
					return c.Aggregate(ctx, bson.A{eq("$set", eq("m", 1))}, options.Aggregate().SetBatchSize(30))
				},
			} {
				x, err := open()
				must(t, err)
				if r := b.Read(); r.Used == 0 {
					t.Error("an open cursor holds nothing")
				}
				end(d, x)
				settles(t, b, 0)
				_ = x.Close(ctx)
			}
		})
	}
}

// Cursors whose sorts hold all memory make others wait and fail, in a way that drivers try again.
func TestNoMemoryForCursors(t *testing.T) {
	d, b := newServerWithin(t, 4*mib, func(o *command.Options) { o.ReplSet = "set" })
	c := fillWith(t, d, 200, 5000)
	open := func() (*mongo.Cursor, error) {
		return c.Find(t.Context(), bson.D{}, options.Find().SetSort(bson.D{{Key: "n", Value: 1}}).SetBatchSize(2))
	}
	var cursors []*mongo.Cursor
	for {
		x, err := open()
		if err != nil {
			var e mongo.CommandError
			if !asCommandError(err, &e) || e.Code != 262 ||
				!e.HasErrorLabel("SystemOverloadedError") || !e.HasErrorLabel("RetryableError") {
				t.Fatalf("%v %v", err, e.Labels)
			}
			break
		}
		if cursors = append(cursors, x); len(cursors) > 10 {
			t.Fatal("there is no limit")
		}
	}
	if len(cursors) < 2 {
		t.Errorf("%d cursors fit", len(cursors))
	}
	for i := range 3 { // small requests go on
		must(t, c.FindOne(t.Context(), bson.D{{Key: "_id", Value: i}}).Err())
		_, err := c.InsertOne(t.Context(), bson.D{{Key: "_id", Value: fmt.Sprint(i)}})
		must(t, err)
	}
	var waited sync.WaitGroup
	waited.Go(func() { // gets what another gives up
		x, err := open()
		if err == nil {
			err = x.Close(t.Context())
		}
		if err != nil {
			t.Error(err)
		}
	})
	for _, x := range cursors {
		must(t, x.Close(t.Context()))
	}
	waited.Wait()
	settles(t, b, 0)
}

func asCommandError(err error, e *mongo.CommandError) (ok bool) {
	*e, ok = err.(mongo.CommandError)
	return ok
}

// What is larger than the budget is refused for good.
func TestRequestLargerThanTheBudget(t *testing.T) {
	d, b := newServerWithin(t, 2*mib, nil)
	c := d.Database("test").Collection("c")
	_, err := c.InsertOne(t.Context(), bson.D{{Key: "text", Value: strings.Repeat("x", 3*mib)}})
	var e mongo.CommandError
	if !asCommandError(err, &e) || e.Code != 146 {
		t.Errorf("an insert: %v", err)
	}
	fillWith(t, d, 400, 5000)
	_, err = c.Find(t.Context(), bson.D{}, options.Find().SetSort(bson.D{{Key: "n", Value: 1}}))
	if !asCommandError(err, &e) || e.Code != 292 {
		t.Errorf("a sort: %v", err)
	}
	settles(t, b, 0)
}

// A batch ends where memory does, and the client reads on; one that may not end waits.
func TestBatchesWithinTheBudget(t *testing.T) {
	d, b := newServerWithin(t, 4*mib, nil)
	c := fillWith(t, d, 40, 200_000)
	for name, open := range map[string]func() (*mongo.Cursor, error){
		"find": func() (*mongo.Cursor, error) { return c.Find(t.Context(), bson.D{}) },
		"pipeline": func() (*mongo.Cursor, error) {
			return c.Aggregate(t.Context(), bson.A{bson.D{{Key: "$set", Value: bson.D{{Key: "m", Value: 1}}}}})
		},
	} {
		x, err := open()
		must(t, err)
		var all []bson.Raw
		must(t, x.All(t.Context(), &all))
		if len(all) != 40 {
			t.Errorf("%s: %d documents", name, len(all))
		}
	}
	settles(t, b, 0)
}

// Clients that ask for much and take nothing give way to one that waits.
func TestUnreadAnswers(t *testing.T) {
	d, b := newServerWithin(t, 40*mib, nil)
	fillWith(t, d, 12, mib)
	find := bson.D{{Key: "find", Value: "c"}, {Key: "singleBatch", Value: true}} // a batch that may not end early
	frame := frameOf(t, append(find, bson.E{Key: "$db", Value: "test"}))
	for range 6 {
		conn, err := net.Dial("tcp", d.address)
		must(t, err)
		must(t, conn.(*net.TCPConn).SetReadBuffer(4096))
		t.Cleanup(func() { _ = conn.Close() })
		_, err = conn.Write(frame)
		must(t, err)
	}
	for b.Read().Used < 12*mib {
		_ = clock.Pause(t.Context(), time.Millisecond)
	}
	var err error
	for range 10 { // each of which waits
		if _, err = d.run(find); err == nil {
			return
		}
	}
	t.Error(err)
}

// Clients that send most of a large frame and then nothing give way to one that waits.
func TestUnfinishedFrames(t *testing.T) {
	d, b := newServerWithin(t, 40*mib, nil)
	fillWith(t, d, 12, mib)
	text := strings.Repeat("x", 10*mib)
	frame := frameOf(t, pairs("insert", "c", "documents", bson.A{eq("text", text)}, "$db", "test"))
	for range 6 {
		conn, err := net.Dial("tcp", d.address)
		must(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		go conn.Write(frame[:len(frame)-1]) // blocks once there is no memory for it
	}
	for b.Read().Used < 28*mib {
		_ = clock.Pause(t.Context(), time.Millisecond)
	}
	find := bson.D{{Key: "find", Value: "c"}, {Key: "singleBatch", Value: true}}
	var err error
	for range 10 { // each of which waits
		if _, err = d.run(find); err == nil {
			return
		}
	}
	t.Error(err)
}

// Clients that leave in the middle of anything leave nothing behind.
func TestClientsThatLeave(t *testing.T) {
	d, b := newServerWithin(t, 8*mib, func(o *command.Options) { o.ReplSet = "set" })
	fillWith(t, d, 10, 100_000)
	settles(t, b, 0)
	lsid := bson.D{{Key: "id", Value: bson.Binary{Subtype: 4, Data: []byte("0123456789abcdef")}}}
	large := strings.Repeat("x", 300_000)
	for name, cmd := range map[string]bson.D{
		"find":          eq("find", "c"),
		"sorted find":   document(t, `{find: 'c', sort: {n: 1}, batchSize: 20}`),
		"insert":        pairs("insert", "c", "documents", bson.A{eq("text", large)}),
		"update":        document(t, `{update: 'c', updates: [{q: {}, u: {$set: {a: 1}}, multi: true}]}`),
		"out":           document(t, `{aggregate: 'c', pipeline: [{$out: 'o'}], cursor: {}}`),
		"modify":        document(t, `{findAndModify: 'c', query: {_id: 1}, update: {$inc: {a: 1}}}`),
		"distinct":      document(t, `{distinct: 'c', key: 'text'}`),
		"change stream": document(t, `{aggregate: 'c', pipeline: [{$changeStream: {}}], cursor: {}}`),
		"transaction": pairs("insert", "c", "documents", bson.A{pairs("_id", "t", "text", large)},
			"lsid", lsid, "txnNumber", int64(1), "autocommit", false, "startTransaction", true),
	} {
		frame := frameOf(t, append(cmd, bson.E{Key: "$db", Value: "test"}))
		for _, sent := range []int{len(frame) / 2, len(frame), 2 * len(frame)} {
			var left sync.WaitGroup
			for range 2 {
				conn, err := net.Dial("tcp", d.address)
				must(t, err)
				left.Go(func() {
					_, _ = conn.Write(append(frame, frame...)[:sent])
					if sent == len(frame) {
						_, _ = conn.Read(make([]byte, 100))
					}
					_ = conn.Close()
				})
			}
			left.Wait()
			_ = name
		}
	}
	_, err := d.run(bson.D{{Key: "killAllSessions", Value: bson.A{}}})
	must(t, err)
	for range 1000 {
		if d.server.Status().Connections <= 3 {
			break
		}
		_ = clock.Pause(t.Context(), 10*time.Millisecond)
	}
	d.pass(11 * time.Minute) // cursors that are open yet
	settles(t, b, 0)
}

// frameOf is an OP_MSG of a command.
func frameOf(t *testing.T, cmd bson.D) []byte {
	t.Helper()
	body, err := bson.Marshal(cmd)
	must(t, err)
	return wire.AppendMsg(nil, 1, 0, 0, body)
}

// What a transaction has written counts until its end, however it ends.
func TestMemoryOfTransactions(t *testing.T) {
	for name, end := range map[string]func(s *mongo.Session) error{
		"commit": func(s *mongo.Session) error { return s.CommitTransaction(t.Context()) },
		"abort":  func(s *mongo.Session) error { return s.AbortTransaction(t.Context()) },
		"left":   func(s *mongo.Session) error { s.EndSession(t.Context()); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			d, b := newServerWithin(t, 64*mib, func(o *command.Options) { o.ReplSet = "set" })
			c := fillWith(t, d, 2, mib)
			settles(t, b, 0)
			s, err := d.StartSession()
			must(t, err)
			must(t, s.StartTransaction())
			ctx := mongo.NewSessionContext(t.Context(), s)
			_, err = c.InsertOne(ctx, bson.D{{Key: "text", Value: strings.Repeat("x", mib)}})
			must(t, err)
			_, err = c.UpdateOne(ctx, eq("_id", 1), eq("$set", eq("a", 1)))
			must(t, err)
			if r := b.Read(); r.Used < 2*mib {
				t.Errorf("%+v while 2 MiB are written", r)
			}
			must(t, end(s))
			settles(t, b, 0)
			s.EndSession(context.Background())
		})
	}
}

// An insert of many is refused before its first document is there, or not at all.
func TestInsertIsRefusedAsAWhole(t *testing.T) {
	d, b := newServerWithin(t, 16*mib, nil)
	c := d.Database("test").Collection("many")
	var done sync.WaitGroup
	for i := range 12 {
		done.Go(func() {
			var list []any
			for k := range 40 {
				list = append(list, pairs("_id", fmt.Sprint(i, " ", k), "text", strings.Repeat("x", 50_000)))
			}
			_, err := c.InsertMany(t.Context(), list)
			n, e := c.CountDocuments(t.Context(), eq("_id", eq("$regex", fmt.Sprintf("^%d ", i))))
			if e != nil || err == nil && n != 40 || err != nil && n != 0 {
				t.Errorf("%d documents are there after: %v %v", n, err, e)
			}
		})
	}
	done.Wait()
	settles(t, b, 0)
}

// Frames that hold far more than they are make each other wait.
func TestPackedFrames(t *testing.T) {
	d, b := newServerWithin(t, 32*mib, nil)
	body, err := bson.Marshal(pairs("ping", 1, "$db", "admin", "comment", strings.Repeat("x", 10*mib)))
	must(t, err)
	plain := wire.AppendMsg(nil, 1, 0, 0, body)
	var done sync.WaitGroup
	for _, c := range []wire.Compressor{wire.Zstd, wire.Zlib, wire.Snappy} {
		frame := wire.AppendCompressed(nil, plain, c)
		for range 8 {
			done.Go(func() {
				conn, err := net.Dial("tcp", d.address)
				if err != nil {
					t.Error(err)
					return
				}
				defer conn.Close()
				if _, err := conn.Write(frame); err != nil {
					t.Error(err)
				}
				head := make([]byte, 4)
				if _, err := conn.Read(head); err != nil || binary.LittleEndian.Uint32(head) > 1000 {
					t.Errorf("%s: %v %v", c, head, err)
				}
			})
		}
	}
	done.Wait()
	if r := b.Read(); r.Highest > 32*mib {
		t.Errorf("%+v", r)
	}
	settles(t, b, 0)
}
