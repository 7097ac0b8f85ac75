package command_test

import (
	"context"
	"sync/atomic"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/kvtest"
	"github.com/mayflydb/mayfly/internal/kv/memory"
)

// A doubtfulProcess cannot tell what has become of the next batches that write documents.
type doubtfulProcess struct {
	kv.Engine
	next   atomic.Int32
	stores bool // them
}

func (e *doubtfulProcess) Shared() bool { return true }

func (e *doubtfulProcess) Apply(ctx context.Context, b *kv.Batch) error {
	if len(b.Orders) == 0 || e.next.Load() == 0 {
		return e.Engine.Apply(ctx, b)
	}
	e.next.Add(-1)
	if e.stores {
		if err := e.Engine.Apply(ctx, b); err != nil {
			return err
		}
	}
	return fault.New(fault.Undetermined, "The write may or may not be stored.")
}

// TestUnknownOutcomeIsFound writes to an engine that cannot tell whether it has written. The receipt tells.
func TestUnknownOutcomeIsFound(t *testing.T) {
	t.Parallel()
	for _, stores := range []bool{false, true} {
		cluster := kvtest.NewCluster(memory.New(), start)
		t.Cleanup(func() { must(t, cluster.Close()) })
		engine := &doubtfulProcess{Engine: cluster.Process(), stores: stores}
		d := newServerOn(t, engine, nil)
		ctx, c := t.Context(), d.Database("test").Collection("c")
		_, err := c.InsertMany(ctx, []bson.D{eq("_id", 1), eq("_id", 3)})
		must(t, err)
		inc := eq("$inc", eq("x", 1))
		for _, w := range []struct {
			name string
			do   func() error
		}{
			{"update", func() error {
				r, err := c.UpdateOne(ctx, eq("_id", 1), inc)
				if err == nil && r.ModifiedCount != 1 {
					t.Errorf("stores %v: an update has changed %d", stores, r.ModifiedCount)
				}
				return err
			}},
			{"findAndModify", func() error { return c.FindOneAndUpdate(ctx, eq("_id", 1), inc).Err() }},
			{"insert", func() error { _, err := c.InsertOne(ctx, pairs("_id", 2, "x", 1)); return err }},
			{"delete", func() error {
				r, err := c.DeleteOne(ctx, eq("_id", 3))
				if err == nil && r.DeletedCount != 1 {
					t.Errorf("stores %v: %d deleted", stores, r.DeletedCount)
				}
				return err
			}},
			{"transaction", func() error {
				s, err := d.StartSession()
				must(t, err)
				defer s.EndSession(ctx)
				must(t, s.StartTransaction())
				within := mongo.NewSessionContext(ctx, s)
				_, err = c.UpdateOne(within, eq("_id", 1), inc)
				must(t, err)
				engine.next.Store(1)
				return s.CommitTransaction(within)
			}},
		} {
			if w.name != "transaction" {
				engine.next.Store(1)
			}
			if err := w.do(); err != nil {
				t.Errorf("stores %v, %s: %v", stores, w.name, err)
			}
		}
		if n := count(t, c, pairs("_id", 1, "x", 3)) + count(t, c, eq("_id", 2)); n != 2 {
			t.Errorf("stores %v: %d of 2 documents are as they should be", stores, n)
		}
		if n := count(t, c, eq("_id", 3)); n != 0 {
			t.Errorf("stores %v: a document is there that was deleted", stores)
		}
	}
}

// TestLongDoubtIsTold has an engine that cannot tell for longer than anyone waits. The client is told, sends the write
// again, and hears what became of it once the engine is well.
func TestLongDoubtIsTold(t *testing.T) {
	t.Parallel()
	for _, stores := range []bool{false, true} {
		cluster := kvtest.NewCluster(memory.New(), start)
		t.Cleanup(func() { must(t, cluster.Close()) })
		engine := &doubtfulProcess{Engine: cluster.Process(), stores: stores}
		other := newServerOn(t, cluster.Process(), nil)
		d := newServerOn(t, engine, nil)
		m, o := d.member(1), other.member(1)
		wants(t, "insert", m.with(insertOf("c", eq("_id", 0))), "n 1")
		update := updateOf("c", eq("_id", 0), eq("$inc", eq("x", 1)))
		m.number, o.number = 1, 1
		engine.next.Store(3)
		first := "n 0, nModified 0, concern 64, [\"RetryableWriteError\"]"
		if stores {
			first = "n 1, nModified 1, retriedStmtIds [0]" // the next attempt finds the receipt
		}
		wants(t, "the first attempt", m.once(update), first)
		engine.next.Store(0)
		then := "n 1, nModified 1"
		if stores {
			then += ", retriedStmtIds [0]"
		}
		wants(t, "a retry elsewhere", o.once(update), then)
		wants(t, "a retry", m.once(update), "n 1, nModified 1, retriedStmtIds [0]")
		wants(t, "find", o.with(findOf("c", bson.D{})), `[{"_id":0,"x":1}]`)

		insert := insertOf("c", eq("_id", 1))
		wants(t, "begin", m.begin(insert), "n 1")
		o.number = m.number
		engine.next.Store(3)
		if stores {
			wants(t, "commit", m.commit(), "ok")
		} else {
			wants(t, "commit", m.commit(), `concern 64, ["RetryableWriteError"]`)
		}
		engine.next.Store(0)
		found := `code 251, ["TransientTransactionError"]`
		if stores {
			found = "ok"
		}
		wants(t, "commit elsewhere", o.commit(), found)
		wants(t, "commit again", m.commit(), found)
	}
}
