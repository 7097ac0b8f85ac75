package command_test

import (
	"context"
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/kvtest"
	"github.com/mayflydb/mayfly/internal/kv/memory"
	"github.com/mayflydb/mayfly/internal/mongo/command"
	"github.com/mayflydb/mayfly/internal/store"
)

// TestStatementsShareASync counts how often a command waits for the disk: once, however many statements it has.
func TestStatementsShareASync(t *testing.T) {
	t.Parallel()
	engine := &kvtest.SyncCounter{Engine: memory.New()}
	d := newServerOn(t, engine, nil)
	ctx, c := t.Context(), d.Database("test").Collection("c")
	insert := func(ids ...int) error {
		var documents []bson.D
		for _, id := range ids {
			documents = append(documents, pairs("_id", id, "x", id))
		}
		_, err := c.InsertMany(ctx, documents, options.InsertMany().SetOrdered(false))
		return err
	}
	bulk := func(models ...mongo.WriteModel) func() error {
		return func() error { _, err := c.BulkWrite(ctx, models); return err }
	}
	inc := func(id int) mongo.WriteModel {
		return mongo.NewUpdateOneModel().SetFilter(eq("_id", id)).SetUpdate(eq("$inc", eq("n", 1)))
	}
	remove := func(id int) mongo.WriteModel { return mongo.NewDeleteOneModel().SetFilter(eq("_id", id)) }
	upsert := func(id int) mongo.WriteModel {
		return mongo.NewReplaceOneModel().SetFilter(eq("_id", id)).SetReplacement(eq("x", 1)).SetUpsert(true)
	}
	fails := mongo.NewUpdateOneModel().SetFilter(eq("_id", 1)).SetUpdate(eq("$inc", eq("_id", 1)))
	must(t, d.Database("test").CreateCollection(ctx, "other"))
	must(t, insert(1, 2, 3, 4, 5))
	engine.Forget()
	for _, w := range []struct {
		name              string
		do                func() error
		fails             bool
		durable, unsynced int64
		synced            bool
	}{
		{"one update", bulk(inc(1)), false, 1, 0, false},
		{"one delete", bulk(remove(5)), false, 1, 0, false},
		{"three updates", bulk(inc(1), inc(2), inc(1)), false, 0, 3, true},
		{"updates that find nothing", bulk(inc(91), inc(92)), false, 0, 0, false},
		{"upserts", bulk(upsert(1), upsert(6), upsert(7)), false, 0, 3, true},
		{"deletes", bulk(remove(6), remove(7), remove(8)), false, 0, 2, true},
		{"an update, then an error", bulk(inc(1), fails, inc(2)), true, 0, 1, true},
		{"documents", func() error { return insert(10, 11, 12) }, false, 1, 0, false},
		// Each batch that fails is tried in parts: 20, then 21 behind the first duplicate, and 22 behind the next one.
		{"documents and duplicates", func() error { return insert(20, 1, 21, 2, 22) }, true, 1, 2, true},
		{"merge", func() error {
			_, err := c.Aggregate(ctx, []bson.D{eq("$limit", 4), eq("$merge", eq("into", "other"))})
			return err
		}, false, 0, 4, true},
	} {
		if err := w.do(); (err != nil) != w.fails {
			t.Errorf("%s: %v", w.name, err)
		}
		engine.Want(t, w.name, w.durable, w.unsynced, w.synced)
	}
	engine.Err = fault.Wrap(fault.Undetermined, errors.New("broken"), "The disk failed.")
	err := bulk(inc(1), inc(2))()
	if e, ok := errors.AsType[mongo.BulkWriteException](err); !ok || e.WriteConcernError == nil ||
		e.WriteConcernError.Message != "The disk failed." {
		t.Errorf("updates that may be lost are acknowledged: %v", err)
	}
}

// TestNothingToWrite answers writes that find nothing, because of what a crash could still undo.
func TestNothingToWrite(t *testing.T) {
	t.Parallel()
	engine := &kvtest.SyncCounter{Engine: memory.New()}
	d := newServerOn(t, engine, nil)
	ctx, c := t.Context(), d.Database("test").Collection("c")
	_, err := c.InsertOne(ctx, eq("_id", "there"))
	must(t, err)
	for i, w := range []struct {
		name   string
		do     func() error
		synced bool
	}{
		{"update", func() error { _, err := c.UpdateOne(ctx, eq("x", 1), eq("$inc", eq("n", 1))); return err }, true},
		{"update of what has the value", func() error {
			_, err := c.UpdateOne(ctx, eq("_id", "there"), eq("$unset", eq("n", 1)))
			return err
		}, true},
		{"delete", func() error { _, err := c.DeleteOne(ctx, eq("x", 1)); return err }, true},
		{"delete of many", func() error { _, err := c.DeleteMany(ctx, eq("x", 1)); return err }, true},
		{"findAndModify", func() error {
			if err := c.FindOneAndDelete(ctx, eq("x", 1)).Err(); err != mongo.ErrNoDocuments {
				return err
			}
			return nil
		}, true},
		{"find", func() error { return c.FindOne(ctx, eq("_id", "there")).Err() }, false},
	} {
		d.writeUnsynced("c", store.Create, eq("_id", i))
		engine.Forget()
		must(t, w.do())
		engine.Want(t, w.name, 0, 0, w.synced)
	}
}

// TestTransactionThatReads commits what a crash could still undo, and cannot when the disk fails.
func TestTransactionThatReads(t *testing.T) {
	t.Parallel()
	engine := &kvtest.SyncCounter{Engine: memory.New()}
	d := newServerOn(t, engine, func(o *command.Options) { o.ReplSet = "globaldb" })
	ctx, c := t.Context(), d.Database("test").Collection("c")
	_, err := c.InsertOne(ctx, eq("_id", "there"))
	must(t, err)
	for i, broken := range []error{nil, fault.Wrap(fault.Undetermined, errors.New("broken"), "The disk failed.")} {
		d.writeUnsynced("c", store.Create, eq("_id", i))
		s, err := d.StartSession()
		must(t, err)
		must(t, s.StartTransaction())
		must(t, c.FindOne(mongo.NewSessionContext(ctx, s), eq("_id", i)).Err())
		engine.Forget()
		engine.Err = broken
		err = s.CommitTransaction(ctx)
		engine.Want(t, "a commit", 0, 0, true)
		e, failed := errors.AsType[mongo.CommandError](err)
		// The driver sends a commit again that has failed in this way, and learns that the transaction is gone.
		if failed != (broken != nil) || failed && !e.HasErrorLabel("TransientTransactionError") {
			t.Errorf("a commit when the disk says %v: %v", broken, err)
		}
		engine.Err = nil
		must(t, s.StartTransaction())
		must(t, c.FindOne(mongo.NewSessionContext(ctx, s), eq("_id", i)).Err())
		must(t, s.AbortTransaction(ctx))
		s.EndSession(ctx)
	}
}

// A busyEngine does something when the next durable batch has been applied.
type busyEngine struct {
	*kvtest.SyncCounter
	after func()
}

func (e *busyEngine) Apply(ctx context.Context, b *kv.Batch) error {
	err := e.SyncCounter.Apply(ctx, b)
	if after := e.after; after != nil && !b.SyncLater {
		e.after = nil
		after()
	}
	return err
}

// TestNothingToWriteAfterAll has a statement that waits for the disk, and one behind it that finds nothing, because
// another request has deleted the document in the meantime.
func TestNothingToWriteAfterAll(t *testing.T) {
	t.Parallel()
	engine := &busyEngine{SyncCounter: &kvtest.SyncCounter{Engine: memory.New()}}
	d := newServerOn(t, engine, nil)
	ctx, c := t.Context(), d.Database("test").Collection("c")
	_, err := c.InsertMany(ctx, []bson.D{pairs("_id", 1, "x", 1), pairs("_id", 2, "x", 2)})
	must(t, err)
	for range 300 { // so many that no batch is deferred
		must(t, engine.Apply(ctx, &kv.Batch{SyncLater: true, Orders: []kv.Order{{Key: []byte("n"),
			Place: func([]byte, *kv.Batch) ([]byte, error) { return []byte{1}, nil }}}}))
	}
	engine.Forget()
	engine.after = func() { d.writeUnsynced(c.Name(), store.Delete, eq("_id", 2)) }
	r, err := c.BulkWrite(ctx, []mongo.WriteModel{
		mongo.NewDeleteOneModel().SetFilter(eq("x", 1)), mongo.NewDeleteOneModel().SetFilter(eq("x", 2)),
	})
	must(t, err)
	if n := engine.Unsynced(); r.DeletedCount != 1 || n > 0 {
		t.Errorf("deleted %d, and %d batches that the answer rests on are not durable", r.DeletedCount, n)
	}
}

// writeUnsynced does an operation on a document of the database test, as one of a request that goes on.
func (d *testServer) writeUnsynced(collection string, verb store.Verb, document bson.D) {
	d.t.Helper()
	db, err := d.catalog.Database("test")
	must(d.t, err)
	c, err := d.catalog.Container(db, collection)
	must(d.t, err)
	body, err := bson.Marshal(document)
	must(d.t, err)
	op := store.Op{Verb: verb, Key: store.Identity(doc.Lookup(body, "_id"))}
	if verb == store.Create {
		op.Body = body
	}
	_, err = d.store.Write(d.store.NewSyncGroup().With(context.Background()), c, start.Unix(), op)
	must(d.t, err)
}
