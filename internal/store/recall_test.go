package store_test

import (
	"context"
	"testing"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/pebble"
	"github.com/mayflydb/mayfly/internal/store"
)

// A recalling engine counts what is looked for among remembered values, and what is to be remembered.
type recalling struct {
	*pebble.Engine
	recalled, remembered *int
}

func (e recalling) Snapshot(ctx context.Context) (kv.Snapshot, error) {
	s, err := e.Engine.Snapshot(ctx)
	return recallingSnapshot{s, e}, err
}

type recallingSnapshot struct {
	kv.Snapshot
	of recalling
}

func (s recallingSnapshot) Recall(key []byte) kv.Remembered {
	*s.of.recalled++
	return s.Snapshot.(kv.Rememberer).Recall(key)
}

func (s recallingSnapshot) Remember(key, value []byte) {
	*s.of.remembered++
	s.Snapshot.(kv.Rememberer).Remember(key, value)
}

func (s recallingSnapshot) IterateRun(ctx context.Context, lower, upper []byte) (kv.Iterator, error) {
	return s.Snapshot.(kv.Rememberer).IterateRun(ctx, lower, upper)
}

// TestWalkOverAllRecallsNothing asks that a walk over all records, which has each of them, neither looks for values in
// memory nor fills the memory with them, unless the texts are wanted that are kept there.
func TestWalkOverAllRecallsNothing(t *testing.T) {
	w := newWorld(t, definition(expiry.Never))
	var recalled, remembered int
	w.through(recalling{w.engine, &recalled, &remembered})
	for _, id := range []string{"a", "b", "c"} {
		_, err := w.write(w.put(store.Create, "p", id, `"n":1`))
		w.ok(err)
	}
	for _, c := range []struct {
		name  string
		a     access.Access
		looks int
	}{
		{"everything", access.Access{}, 0},
		{"everything with texts", access.Access{Texts: true}, 3},
		{"equality", only(is("1", "n")), 3},
	} {
		recalled, remembered = 0, 0
		if got := w.scan(c.a); got != "a b c" {
			t.Fatalf("%s: %s", c.name, got)
		}
		if recalled != c.looks || remembered != c.looks {
			t.Errorf("%s: %d values looked for and %d to be remembered, want %d", c.name, recalled, remembered, c.looks)
		}
	}
}
