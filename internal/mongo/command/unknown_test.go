package command_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/memory"
	"github.com/mayflydb/mayfly/internal/mongo/command"
)

// A doubtful engine cannot tell what has become of the next durable batch.
type doubtful struct {
	*memory.Engine
	next   atomic.Bool
	stores bool // the batch
}

func (e *doubtful) Apply(ctx context.Context, b *kv.Batch) error {
	if b.NoSync || !e.next.Swap(false) {
		return e.Engine.Apply(ctx, b)
	}
	if e.stores {
		if err := e.Engine.Apply(ctx, b); err != nil {
			return err
		}
	}
	return fault.New(fault.Undetermined, "The write may or may not be stored.")
}

// TestUnknownOutcome writes to an engine that cannot tell whether it has written. A driver sends a retryable write
// again; it is not done a second time, and the application is told that the outcome is unknown.
func TestUnknownOutcome(t *testing.T) {
	t.Parallel()
	for _, stores := range []bool{false, true} {
		engine := &doubtful{Engine: memory.New(), stores: stores}
		d := newServerOn(t, engine, func(o *command.Options) { o.ReplSet = "rs" })
		ctx, c := t.Context(), d.Database("test").Collection("c")
		_, err := c.InsertMany(ctx, []bson.D{eq("_id", 1), eq("_id", 3)})
		must(t, err)
		inc := eq("$inc", eq("x", 1))
		for _, w := range []struct {
			name string
			do   func() error
		}{
			{"update", func() error { _, err := c.UpdateOne(ctx, eq("_id", 1), inc); return err }},
			{"findAndModify", func() error { return c.FindOneAndUpdate(ctx, eq("_id", 1), inc).Err() }},
			{"insert", func() error { _, err := c.InsertOne(ctx, pairs("_id", 2, "x", 1)); return err }},
			{"delete", func() error { _, err := c.DeleteOne(ctx, eq("_id", 3)); return err }},
		} {
			before := d.server.Requests(w.name)
			engine.next.Store(true)
			err := w.do()
			if !isUnknown(err) {
				t.Errorf("stores %v, %s: %v", stores, w.name, err)
			}
			if n := d.server.Requests(w.name) - before; n != 2 {
				t.Errorf("stores %v, %s: %d requests", stores, w.name, n)
			}
		}
		want := []int64{0, 0, 1} // increments, inserted, deleted
		if stores {
			want = []int64{1, 1, 0}
		}
		got := []int64{count(t, c, pairs("_id", 1, "x", 2)), count(t, c, eq("_id", 2)), count(t, c, eq("_id", 3))}
		if !slices.Equal(got, want) {
			t.Errorf("stores %v: there is %v, want %v", stores, got, want)
		}
	}
}

// isUnknown reports whether an error is one of the write concern, and not one of the write.
func isUnknown(err error) bool {
	if w, ok := errors.AsType[mongo.WriteException](err); ok {
		return len(w.WriteErrors) == 0 && w.WriteConcernError != nil && w.WriteConcernError.Code == 64
	}
	e, ok := errors.AsType[mongo.CommandError](err)
	return ok && e.HasErrorCode(64)
}

func TestUnknownCommit(t *testing.T) {
	t.Parallel()
	for _, stores := range []bool{false, true} {
		engine := &doubtful{Engine: memory.New(), stores: stores}
		d := newServerOn(t, engine, func(o *command.Options) { o.ReplSet = "rs" })
		c := d.Database("test").Collection("c")
		_, err := c.InsertOne(t.Context(), eq("_id", 1))
		must(t, err)
		s, err := d.StartSession()
		must(t, err)
		defer s.EndSession(t.Context())
		must(t, s.StartTransaction())
		ctx := mongo.NewSessionContext(t.Context(), s)
		_, err = c.UpdateOne(ctx, eq("_id", 1), eq("$inc", eq("x", 1)))
		must(t, err)
		engine.next.Store(true)
		before := d.server.Requests("commitTransaction")
		for range 2 {
			err := s.CommitTransaction(ctx)
			labels, ok := errors.AsType[mongo.LabeledError](err)
			if !ok || !labels.HasErrorLabel("UnknownTransactionCommitResult") ||
				labels.HasErrorLabel("TransientTransactionError") {
				t.Errorf("stores %v: %v", stores, err)
			}
		}
		if n := d.server.Requests("commitTransaction") - before; n != 4 {
			t.Errorf("stores %v: %d commits were sent", stores, n)
		}
		found := int64(0)
		if stores {
			found = 1
		}
		if n := count(t, c, eq("x", 1)); n != found {
			t.Errorf("stores %v: %d documents are changed", stores, n)
		}
	}
}

// Without a number nobody sends a write again, and what is no write of documents has an error.
func TestUnknownOutcomeWithoutANumber(t *testing.T) {
	t.Parallel()
	engine := &doubtful{Engine: memory.New()}
	d := newServerOn(t, engine, func(o *command.Options) { o.ReplSet = "rs" })
	must(t, d.Database("test").CreateCollection(t.Context(), "c"))
	engine.next.Store(true)
	answer := answerTo(t, d.Database("test"), insertOf("c", eq("_id", 1)))
	var got bson.M
	must(t, bson.Unmarshal(answer, &got))
	if got["ok"] != 1.0 || got["n"] != int32(0) || got["errorLabels"] != nil || got["writeConcernError"] == nil {
		t.Errorf("insert: %v", got)
	}
	engine.next.Store(true)
	var e mongo.CommandError
	if err := d.Database("test").CreateCollection(t.Context(), "other"); !errors.As(err, &e) || e.Code != 64 {
		t.Errorf("create: %v", err)
	}
}
