package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/kvtest"
	"github.com/mayflydb/mayfly/internal/store"
)

func TestSyncGroup(t *testing.T) {
	w := newWorld(t, collection("c", expiry.Never))
	e := &kvtest.SyncCounter{Engine: w.engine}
	w.through(e)
	created := 0
	create := func(g *store.SyncGroup, n int) {
		t.Helper()
		for range n {
			created++
			op := w.doing(store.Create, fmt.Sprint(created), `"x":1`)
			_, err := w.store.Write(g.With(t.Context()), w.c, w.now, op)
			w.ok(err)
		}
	}
	e.Forget()

	create(nil, 3)
	e.Want(t, "without a group", 3, 0, 0)

	g := w.store.NewSyncGroup()
	w.ok(g.Sync(t.Context()))
	e.Want(t, "an empty group", 0, 0, 0)
	create(g, 10)
	e.Want(t, "a group", 0, 10, 0)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	w.ok(g.Sync(ended)) // the client has gone
	e.Want(t, "its end", 0, 0, 1)
	w.ok(g.Sync(t.Context()))
	e.Want(t, "its second end", 0, 0, 0)

	// What may be lost after others have seen it is bounded: one write in 500 waits for the disk.
	other := w.store.NewSyncGroup()
	create(g, 300)
	create(other, 200)
	e.Want(t, "as much as may be lost", 0, 500, 0)
	create(g, 1)
	e.Want(t, "one more", 1, 0, 0)
	create(other, 500)
	e.Want(t, "the same again", 0, 500, 0)
	create(nil, 1)
	create(other, 500)
	e.Want(t, "after a write of another client", 1, 500, 0)

	e.Err = errors.New("the disk failed")
	for _, g := range []*store.SyncGroup{g, other} {
		if err := g.Sync(t.Context()); err != e.Err {
			t.Errorf("a sync that fails: %v", err)
		}
	}
}

// TestLogIsDurable reads the log before the end of a group.
func TestLogIsDurable(t *testing.T) {
	w := newWorld(t, collection("c", expiry.Never))
	e := &kvtest.SyncCounter{Engine: w.engine}
	w.through(e)
	w.keepLog()
	g := w.store.NewSyncGroup()
	from, err := w.store.LogNewest(t.Context())
	w.ok(err)
	read := func() (n int) {
		t.Helper()
		for _, err := range w.store.Log(t.Context(), from) {
			w.ok(err)
			n++
		}
		return n
	}
	e.Forget()
	_, err = w.store.Write(g.With(t.Context()), w.c, w.now, w.doing(store.Create, "1", `"x":1`))
	w.ok(err)
	if n := read(); n != 1 {
		t.Errorf("%d entries", n)
	}
	e.Want(t, "an entry", 0, 1, 1)
	if n := read(); n != 1 {
		t.Errorf("%d entries", n)
	}
	e.Want(t, "the same entry", 0, 0, 0)
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
	e.Want(t, "a write", 1, 0, 0)
}
