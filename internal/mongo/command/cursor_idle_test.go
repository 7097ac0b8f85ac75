package command_test

import (
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/kv/pebble"
	"github.com/mayflydb/mayfly/internal/mongo/command"
	"github.com/mayflydb/mayfly/internal/store"
)

// TestIdleCursorsEnd lets time pass over cursors that nobody reads.
func TestIdleCursorsEnd(t *testing.T) {
	t.Parallel()
	d := newSuite(t)
	m := d.member(1)
	wants(t, "insert", m.with(insertOf("c", eq("_id", 1), eq("_id", 2), eq("_id", 3))), "n 3")
	open := func(cmd bson.D, how func(bson.D, ...bson.E) bson.Raw) int64 {
		t.Helper()
		id := how(cmd).Lookup("cursor", "id").Int64()
		if id == 0 {
			t.Fatalf("%v has no cursor", cmd)
		}
		return id
	}
	of := func(cmd bson.D, more ...bson.E) bson.D { return append(append(bson.D{}, cmd...), more...) }
	size := bson.E{Key: "batchSize", Value: 1}
	find := of(findOf("c", bson.D{}), size)
	aggregate := pairs("aggregate", "c", "pipeline", bson.A{}, "cursor", bson.D{size})
	watch := document(t, `{aggregate: 'c', pipeline: [{$changeStream: {}}], cursor: {}}`)
	alone := func(cmd bson.D, more ...bson.E) bson.Raw { return m.with(cmd, more...) }
	ids := map[string]int64{
		"find":        open(find, alone),
		"sorted":      open(of(find, bson.E{Key: "sort", Value: eq("x", 1)}), alone),
		"aggregate":   open(aggregate, alone),
		"stream":      open(watch, alone),
		"kept":        open(of(find, bson.E{Key: "noCursorTimeout", Value: true}), alone),
		"read":        open(find, alone),
		"transaction": open(find, m.begin),
	}
	more := func(name string, how func(bson.D, ...bson.E) bson.Raw) int32 {
		return codeIn(how(of(pairs("getMore", ids[name], "collection", "c"), size)))
	}
	cursors := func(names ...string) int64 {
		t.Helper()
		n, ok := d.status().Lookup(append([]string{"metrics", "cursor"}, names...)...).Int64OK()
		if !ok {
			t.Fatalf("no metrics.cursor.%v", names)
		}
		return n
	}
	opened, all, kept := cursors("totalOpened"), cursors("open", "total"), cursors("open", "noTimeout")
	if opened != 7 || all != 7 || kept != 1 {
		t.Errorf("%d cursors were opened, %d are, %d of them for ever", opened, all, kept)
	}
	d.pass(5 * time.Minute)
	if got := more("read", alone); got != 0 {
		t.Errorf("getMore: %d", got)
	}
	d.pass(5*time.Minute - time.Second)
	if ended, all := cursors("timedOut"), cursors("open", "total"); ended != 0 || all != 7 {
		t.Errorf("before their time %d have ended, %d are open", ended, all)
	}
	d.pass(5 * time.Second)
	if ended, all := cursors("timedOut"), cursors("open", "total"); ended != 4 || all != 3 {
		t.Errorf("%d have ended, %d are open", ended, all)
	}
	for _, name := range []string{"find", "sorted", "aggregate", "stream"} {
		if got := more(name, alone); got != 43 {
			t.Errorf("getMore of %s: %d", name, got)
		}
	}
	for _, name := range []string{"kept", "read"} {
		if got := more(name, alone); got != 0 {
			t.Errorf("getMore of %s: %d", name, got)
		}
	}
	if got := more("transaction", m.in); got != 0 {
		t.Errorf("getMore in the transaction: %d", got)
	}
	wants(t, "commit", m.commit(), "ok")
	d.pass(24 * time.Hour)
	if all := cursors("open", "total"); all != 1 {
		t.Errorf("%d are open after a day", all)
	}
	if got := more("kept", alone); got != 0 {
		t.Errorf("getMore of the one without a limit: %d", got)
	}
}

// TestNothingIsLeftOfAServer closes a server on the machine's clock: the bubble fails if something of it runs on.
func TestNothingIsLeftOfAServer(t *testing.T) {
	engine, err := pebble.Open(pebble.Options{Memory: true})
	must(t, err)
	cat, err := catalog.Open(t.Context(), engine, compile)
	must(t, err)
	documents, err := store.Open(t.Context(), engine, cat)
	must(t, err)
	synctest.Test(t, func(t *testing.T) {
		s := command.New(command.Options{
			Catalog: cat, Store: documents, Clock: clock.NewReal(time.Time{}), Keys: ringOf(t, "a2V5"),
		})
		must(t, clock.Pause(t.Context(), time.Minute))
		must(t, s.Close(t.Context()))
	})
	must(t, documents.Close())
	must(t, engine.Close())
}
