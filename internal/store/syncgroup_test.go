package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/kvtest"
	"github.com/mayflydb/mayfly/internal/store"
)

// newSyncWorld is a collection whose syncs are counted, and a function that writes n documents, one by one.
func newSyncWorld(t *testing.T) (w *world, e *kvtest.SyncCounter, create func(g *store.SyncGroup, n int)) {
	w = newWorld(t, collection("c", expiry.Never))
	e = &kvtest.SyncCounter{Engine: w.engine}
	w.through(e)
	e.Forget()
	created := 0
	return w, e, func(g *store.SyncGroup, n int) {
		t.Helper()
		for range n {
			created++
			_, err := w.store.Write(g.With(t.Context()), w.c, w.now, w.doing(store.Create, fmt.Sprint(created), ""))
			w.ok(err)
		}
	}
}

func TestSyncGroup(t *testing.T) {
	w, e, create := newSyncWorld(t)
	create(nil, 3)
	e.Want(t, "without a group", 3, 0, false)

	g := w.store.NewSyncGroup()
	w.ok(g.Sync(t.Context()))
	e.Want(t, "an empty group", 0, 0, false)
	create(g, 10)
	e.Want(t, "a group", 0, 10, false)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	w.ok(g.Sync(ended)) // the client has gone
	e.Want(t, "its end", 0, 0, true)
	w.ok(g.Sync(t.Context()))
	e.Want(t, "its second end", 0, 0, false)
}

// TestSyncGroupIsBounded writes as much as a crash may undo after others have seen it.
func TestSyncGroupIsBounded(t *testing.T) {
	w, e, create := newSyncWorld(t)
	g, other := w.store.NewSyncGroup(), w.store.NewSyncGroup()
	create(g, 150)
	create(other, 50)
	e.Want(t, "as much as there may be", 0, 200, false)
	create(g, 1)
	e.Want(t, "one more", 1, 0, false)
	create(other, 10)
	create(nil, 1)
	create(other, 10)
	w.ok(g.Sync(t.Context()))
	w.ok(other.Sync(t.Context()))
	e.Want(t, "two groups and a write", 1, 20, true)
	var ops []store.Op
	for n := range 11 {
		ops = append(ops, w.doing(store.Create, fmt.Sprint("of many ", n), ""))
	}
	_, err := w.store.WriteAll(g.With(t.Context()), w.c, w.now, ops)
	w.ok(err)
	e.Want(t, "a batch of many", 1, 0, false)
}

// TestSyncGroupFails says each time that nobody knows what is durable.
func TestSyncGroupFails(t *testing.T) {
	w, e, create := newSyncWorld(t)
	e.Err = fault.Wrap(fault.Unavailable, errors.New("broken"), "The disk failed.")
	g := w.store.NewSyncGroup()
	create(g, 1)
	for range 2 {
		if err := g.Sync(t.Context()); fault.KindOf(err) != fault.Undetermined || !errors.Is(err, e.Err) {
			t.Errorf("a sync that fails: %v", err)
		}
	}
	e.Err = nil
	w.ok(g.Sync(t.Context()))
}

// TestNothingToWrite has outcomes that rest on what others have written and a crash could undo.
func TestNothingToWrite(t *testing.T) {
	for name, op := range map[string]func(w *world) store.Op{
		"a document that is there": func(w *world) store.Op { return w.doing(store.Create, "1", "") },
		"one that is not":          func(w *world) store.Op { return w.doing(store.Delete, "2", "") },
		"a read":                   func(w *world) store.Op { return w.doing(store.Read, "1", "") },
		"one that stays as it is": func(w *world) store.Op {
			op := w.doing(store.Patch, "1", "")
			op.Edit = func(access.Document) (doc.Doc, error) { return nil, nil }
			return op
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, e, create := newSyncWorld(t)
			synced := name != "a read"
			group := w.store.NewSyncGroup()
			create(group, 1)
			_, _ = w.store.Write(t.Context(), w.c, w.now, op(w))
			e.Want(t, "alone", 0, 1, synced)
			_, _ = w.store.Write(t.Context(), w.c, w.now, op(w))
			e.Want(t, "again", 0, 0, false)
			w.ok(group.Sync(t.Context()))

			create(group, 1)
			other := w.store.NewSyncGroup()
			_, _ = w.store.Write(other.With(t.Context()), w.c, w.now, op(w))
			e.Forget()
			w.ok(other.Sync(t.Context()))
			e.Want(t, "in a group", 0, 0, synced)
			w.ok(group.Sync(t.Context()))
		})
	}
}

// TestReadersHaveWrittenNothing says so when the disk fails below what they would tell.
func TestReadersHaveWrittenNothing(t *testing.T) {
	w, e, create := newSyncWorld(t)
	create(w.store.NewSyncGroup(), 1)
	e.Err = fault.Wrap(fault.Undetermined, errors.New("broken"), "The disk failed during this write.")
	read := w.doing(store.Read, "1", "")
	for name, end := range map[string]func() error{
		"a change feed": func() (failed error) {
			for _, err := range w.store.Changes(t.Context(), w.view(), 0, nil, 0) {
				failed = err
			}
			return failed
		},
		"a transaction": func() error {
			x := w.begin()
			_, _ = x.Do(t.Context(), read)
			_, err := x.Commit(t.Context())
			return err
		},
		"a snapshot": func() error {
			x := w.beginSnapshot()
			defer x.Rollback()
			_, _ = x.On(w.view()).Do(t.Context(), read)
			return x.SyncRead(t.Context())
		},
	} {
		if err := end(); fault.KindOf(err) != fault.Unavailable || !errors.Is(err, e.Err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTransactionThatWritesNothing ends with what it has read of a group that has not ended.
func TestTransactionThatWritesNothing(t *testing.T) {
	w, e, create := newSyncWorld(t)
	group := w.store.NewSyncGroup()
	read := w.doing(store.Read, "1", "")
	for name, end := range map[string]func() error{
		"of one container": func() error {
			x := w.begin()
			_, _ = x.Do(t.Context(), read)
			_, err := x.Commit(t.Context())
			return err
		},
		"of one container, given up": func() error {
			x := w.begin()
			defer x.Rollback()
			_, _ = x.Do(t.Context(), read)
			return x.Confirm(t.Context())
		},
		"of a snapshot": func() error {
			x := w.beginSnapshot()
			defer x.Rollback()
			_, _ = x.On(w.view()).Do(t.Context(), read)
			return x.SyncRead(t.Context())
		},
	} {
		create(group, 1)
		w.ok(end())
		e.Want(t, name, 0, 1, true)
		w.ok(end())
		e.Want(t, name+", again", 0, 0, false)
	}
	w.ok(group.Sync(t.Context()))
}

// TestChangesAreDurable reads the change feed before the end of the group that has written to it.
func TestChangesAreDurable(t *testing.T) {
	w, e, create := newSyncWorld(t)
	m := &lateSnapshot{SyncCounter: e}
	w.through(m)
	e.Forget()
	g := w.store.NewSyncGroup()
	m.before = func() { m.before = nil; create(g, 1) }
	read := func(when string, unsynced int64, synced bool) {
		t.Helper()
		n := 0
		for _, err := range w.store.Changes(t.Context(), w.view(), 0, nil, 0) {
			w.ok(err)
			n++
		}
		if n != 1 {
			t.Errorf("%s: %d changes, want 1", when, n)
		}
		e.Want(t, when, 0, unsynced, synced)
	}
	read("a change that has just come", 1, true)
	read("the same change", 0, false)
	w.ok(g.Sync(t.Context()))
}

// A lateSnapshot is an engine that does something before it takes a snapshot.
type lateSnapshot struct {
	*kvtest.SyncCounter
	before func()
}

func (m *lateSnapshot) Snapshot(ctx context.Context) (kv.Snapshot, error) {
	if m.before != nil {
		m.before()
	}
	return m.SyncCounter.Snapshot(ctx)
}

// TestLogIsDurable reads the log before the end of the group that has written to it.
func TestLogIsDurable(t *testing.T) {
	w, e, create := newSyncWorld(t)
	m := &lateSnapshot{SyncCounter: e}
	w.through(m)
	w.keepLog()
	from, err := w.store.LogNewest(t.Context())
	w.ok(err)
	changed := w.store.LogChanged()
	g := w.store.NewSyncGroup()
	read := func(when string, want int, unsynced int64, synced bool) {
		t.Helper()
		n := 0
		for _, err := range w.store.Log(t.Context(), from) {
			w.ok(err)
			n++
		}
		if n != want {
			t.Errorf("%s: %d entries, want %d", when, n, want)
		}
		e.Want(t, when, 0, unsynced, synced)
	}
	e.Forget()
	m.before = func() { create(g, 1) }
	read("an entry that has just come", 1, 1, true)
	select {
	case <-changed:
	default:
		t.Error("nobody is told of what has changed")
	}
	m.before = nil
	read("the same entry", 1, 0, false)
	from, err = w.store.LogNewest(t.Context())
	w.ok(err)
	var b kv.Batch
	b.SyncLater = true
	b.Follow([]byte("not of the log"), func([]byte, *kv.Batch) ([]byte, error) { return []byte{1}, nil })
	w.ok(e.Apply(t.Context(), &b))
	read("nothing, while others write", 0, 1, false)
	w.ok(g.Sync(t.Context()))
}

// TestEngineWithoutSync cannot make earlier batches durable, so each waits.
func TestEngineWithoutSync(t *testing.T) {
	w := newWorld(t, collection("c", expiry.Never))
	e := &kvtest.SyncCounter{Engine: w.engine}
	w.through(struct{ kv.Engine }{e})
	g := w.store.NewSyncGroup()
	e.Forget()
	_, err := w.store.Write(g.With(t.Context()), w.c, w.now, w.doing(store.Create, "1", `"x":1`))
	w.ok(err)
	w.ok(g.Sync(t.Context()))
	e.Want(t, "a write", 1, 0, false)
}
