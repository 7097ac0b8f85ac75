package command_test

import (
	"context"
	"strings"
	"testing"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/mayflydb/mayfly/internal/mongo/command"
)

// operationsOf gives what $currentOp shows of operations that a query selects, as soon as there are any.
func operationsOf(t *testing.T, d *testServer, stage, match string) (list []bson.M) {
	t.Helper()
	for range 10_000 {
		c, err := d.Database("admin").Aggregate(t.Context(), bson.A{
			document(t, stage), bson.D{{Key: "$match", Value: document(t, match)}},
		})
		must(t, err)
		must(t, c.All(t.Context(), &list))
		if len(list) > 0 {
			return list
		}
	}
	t.Fatalf("no operation matches %s", match)
	return nil
}

func TestCurrentOpIsCut(t *testing.T) {
	d := newServer(t, nil)
	db := d.Database("shop")
	must(t, send(t, db, `{create: 'c'}`))
	must(t, send(t, db, `{createIndexes: 'c', indexes: [{key: {a: 1}, name: 'a_1'}]}`))
	var many bson.A
	for i := range 50_000 {
		many = append(many, bson.D{{Key: "_id", Value: i}, {Key: "a", Value: 1}, {Key: "t", Value: "b"}})
	}
	must(t, db.RunCommand(t.Context(), bson.D{{Key: "insert", Value: "c"}, {Key: "documents", Value: many}}).Err())
	values := make(bson.A, 2000)
	for i := range values {
		values[i] = strings.Repeat("漢", 100)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			_ = db.RunCommand(ctx, bson.D{
				{Key: "find", Value: "c"},
				{Key: "filter", Value: bson.D{
					{Key: "a", Value: 1},
					{Key: "t", Value: bson.D{{Key: "$nin", Value: values}}},
					{Key: "$expr", Value: bson.D{{Key: "$eq", Value: bson.A{"$t", "shown"}}}},
				}},
			}).Err()
		}
	}()
	defer func() {
		cancel()
		<-done
	}()
	for _, c := range []struct {
		stage string
		most  int
	}{{`{$currentOp: {}}`, 50_000}, {`{$currentOp: {truncateOps: true}}`, 1000}} {
		op := operationsOf(t, d, c.stage, `{ns: 'shop.c', op: 'query', planSummary: {$exists: true}}`)[0]
		if op["planSummary"] != "IXSCAN { a: 1 }" {
			t.Errorf("the plan is %v", op["planSummary"])
		}
		shown, _ := op["command"].(bson.D)
		if len(shown) == 0 || shown[0].Key != "$truncated" {
			t.Fatalf("%s shows %.100v", c.stage, op)
		}
		text := shown[0].Value.(string)
		if len(text) > c.most || len(text) < c.most/2 || !utf8.ValidString(text) || !strings.HasSuffix(text, "...") {
			t.Errorf("%s shows %d bytes: %.100s", c.stage, len(text), text)
		}
	}
}

func TestCurrentOpShowsIdleTransactions(t *testing.T) {
	d := newServer(t, func(o *command.Options) { o.ReplSet = "globaldb" })
	db := d.Database("shop")
	must(t, send(t, db, `{create: 'c'}`))
	s, err := d.StartSession()
	must(t, err)
	defer s.EndSession(t.Context())
	must(t, s.StartTransaction())
	ctx := context.Background()
	must(t, mongo.WithSession(ctx, s, func(ctx context.Context) error {
		_, err := db.Collection("c").InsertOne(ctx, eq("_id", 1))
		return err
	}))
	op := operationsOf(t, d, `{$currentOp: {}}`, `{type: 'idleSession'}`)[0]
	if op["active"] != false || op["lsid"] == nil || op["transaction"] == nil {
		t.Errorf("a transaction is shown as %v", op)
	}
	c, err := d.Database("admin").Aggregate(t.Context(), bson.A{
		document(t, `{$currentOp: {idleSessions: false}}`), document(t, `{$match: {type: 'idleSession'}}`),
	})
	must(t, err)
	var list []bson.M
	must(t, c.All(t.Context(), &list))
	if len(list) > 0 {
		t.Errorf("without idle sessions: %v", list)
	}
	must(t, s.AbortTransaction(ctx))
	c, err = d.Database("admin").Aggregate(t.Context(), bson.A{
		document(t, `{$currentOp: {}}`), document(t, `{$match: {type: 'idleSession'}}`),
	})
	must(t, err)
	must(t, c.All(t.Context(), &list))
	if len(list) > 0 {
		t.Errorf("after its end: %v", list)
	}
}
