package store_test

import (
	"context"
	"errors"
	"fmt"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/mayflydb/mayfly/internal/kv/kvtest"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/store"
)

func TestVerbs(t *testing.T) {
	w := newWorld(t, definition(expiry.Unset))
	steps := []struct {
		name    string
		op      store.Op
		want    fault.Kind
		created bool
	}{
		{"replace what is not there", w.put(store.Replace, "p", "a", ``), fault.NotFound, false},
		{"create", w.put(store.Create, "p", "a", `"n":1`), 0, true},
		{"create again", w.put(store.Create, "p", "a", ``), fault.Exists, false},
		{"same id in another partition", w.put(store.Create, "q", "a", ``), 0, true},
		{"replace", w.put(store.Replace, "p", "a", `"n":2`), 0, false},
		{"upsert over it", w.put(store.Upsert, "p", "a", `"n":3`), 0, false},
		{"upsert anew", w.put(store.Upsert, "p", "b", ``), 0, true},
		{"read", store.Op{Verb: store.Read, Key: key("p", "a")}, 0, false},
		{"delete", store.Op{Verb: store.Delete, Key: key("p", "a")}, 0, false},
		{"delete again", store.Op{Verb: store.Delete, Key: key("p", "a")}, fault.NotFound, false},
		{"wrong partition", store.Op{Verb: store.Create, Key: key("z", "c"), Body: w.body(`{"id":"c","pk":"p"}`)},
			fault.PartitionMismatch, false},
		{"wrong id", store.Op{Verb: store.Create, Key: key("p", "z"), Body: w.body(`{"id":"c","pk":"p"}`)},
			fault.Invalid, false},
		{"no id", store.Op{Verb: store.Create, Key: key("p", "c"), Body: w.body(`{"pk":"p"}`)}, fault.Invalid, false},
	}
	for _, step := range steps {
		r, err := w.write(step.op)
		if step.want == 0 && err != nil || step.want != 0 && fault.KindOf(err) != step.want {
			t.Errorf("%s: %v", step.name, err)
		}
		if r.Created != step.created {
			t.Errorf("%s: created %v", step.name, r.Created)
		}
	}
	w.consistent()
}

func TestBatchIsAllOrNothing(t *testing.T) {
	w := newWorld(t, definition(expiry.Unset))
	_, err := w.store.WriteAll(context.Background(), w.c, w.now, []store.Op{
		w.put(store.Create, "p", "a", ``),
		w.put(store.Create, "p", "b", ``),
		w.put(store.Create, "p", "a", ``),
	})
	var failed *store.BatchError
	if !errors.As(err, &failed) || failed.Index != 2 || fault.KindOf(err) != fault.Exists {
		t.Fatalf("got %v", err)
	}
	if w.alive("p", "a") || w.alive("p", "b") {
		t.Error("a failed batch has written")
	}
	results, err := w.store.WriteAll(context.Background(), w.c, w.now, []store.Op{
		w.put(store.Create, "p", "a", `"n":1`),
		w.put(store.Replace, "p", "a", `"n":2`),
		{Verb: store.Delete, Key: key("p", "a")},
		w.put(store.Create, "p", "a", `"n":3`),
		{Verb: store.Read, Key: key("p", "a")},
	})
	w.ok(err)
	if n, _ := doc.AsInt(doc.Lookup(results[4].Body, "n")); n != 3 {
		t.Errorf("the batch reads n = %d of its own write", n)
	}
	w.consistent()
}

func TestDeleteAndCreateInABatchIsAnotherDocument(t *testing.T) {
	w := newWorld(t, definition(expiry.Never))
	before, err := w.write(w.put(store.Create, "p", "a", `"x":1,"ttl":50`))
	w.ok(err)
	after, err := w.store.WriteAll(context.Background(), w.c, w.now, []store.Op{
		{Verb: store.Delete, Key: key("p", "a")},
		w.put(store.Create, "p", "a", `"x":1`),
	})
	w.ok(err)
	if after[1].Number == before.Number {
		t.Error("the number was used again")
	}
	w.consistent()
}

func TestConditions(t *testing.T) {
	w := newWorld(t, definition(expiry.Unset))
	first, err := w.write(w.put(store.Create, "p", "a", ``))
	w.ok(err)
	old := first.Version
	second, err := w.write(w.put(store.Replace, "p", "a", ``))
	w.ok(err)
	present := second.Version
	with := func(op store.Op, match, none *access.Version) store.Op {
		op.IfMatch, op.IfNoneMatch = match, none
		return op
	}
	read := store.Op{Verb: store.Read, Key: key("p", "a")}
	for _, c := range []struct {
		name string
		op   store.Op
		want fault.Kind
	}{
		{"stale replace", with(w.put(store.Replace, "p", "a", ``), &old, nil), fault.Precondition},
		{"stale delete", with(store.Op{Verb: store.Delete, Key: key("p", "a")}, &old, nil), fault.Precondition},
		{"stale upsert", with(w.put(store.Upsert, "p", "a", ``), &old, nil), fault.Precondition},
		{"upsert of nothing with a match", with(w.put(store.Upsert, "p", "b", ``), &old, nil), 0},
		{"replace of nothing with a match", with(w.put(store.Replace, "p", "z", ``), &old, nil), fault.NotFound},
		{"unchanged read", with(read, nil, &present), fault.NotModified},
		{"changed read", with(read, nil, &old), 0},
		{"any version", with(w.put(store.Replace, "p", "a", ``), store.AnyVersion, nil), 0},
		{"none of any version", with(w.put(store.Upsert, "p", "a", ``), nil, store.AnyVersion), fault.Precondition},
	} {
		if _, err := w.write(c.op); fault.KindOf(err) != c.want || (err != nil) != (c.want != 0) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	w.consistent()
}

func TestUniqueKeys(t *testing.T) {
	def := definition(expiry.Never)
	def.Unique = [][]string{{"/email"}, {"/a", "/b"}}
	w := newWorld(t, def)
	must := func(op store.Op) { t.Helper(); _, err := w.write(op); w.ok(err) }
	refused := func(op store.Op) {
		t.Helper()
		if _, err := w.write(op); fault.KindOf(err) != fault.Exists {
			t.Errorf("got %v", err)
		}
	}
	must(w.put(store.Create, "p", "1", `"email":"x","a":1,"b":1`))
	refused(w.put(store.Create, "p", "2", `"email":"x","a":1,"b":2`))
	refused(w.put(store.Create, "p", "2", `"email":"y","a":1,"b":1`))
	must(w.put(store.Create, "q", "2", `"email":"x","a":1,"b":1`))
	must(w.put(store.Create, "p", "2", `"email":"y","a":1,"b":2,"ttl":10`))
	refused(w.put(store.Replace, "p", "2", `"email":"x","a":1,"b":2`))
	w.now += 10 // 2 is dead: its keys are free
	must(w.put(store.Create, "p", "3", `"email":"y","a":1,"b":2`))
	must(w.put(store.Replace, "p", "1", `"email":"z","a":1,"b":1`))
	must(w.put(store.Create, "p", "4", `"email":"x","a":4,"b":4`))
	_, err := w.store.WriteAll(context.Background(), w.c, w.now, []store.Op{
		{Verb: store.Delete, Key: key("p", "4")},
		w.put(store.Create, "p", "5", `"email":"x","a":5,"b":5`),
	})
	w.ok(err)
	w.consistent()
}

func TestFeedOrder(t *testing.T) {
	w := newWorld(t, definition(expiry.Unset))
	for _, id := range []string{"a", "b", "c", "d"} {
		_, err := w.write(w.put(store.Create, "p", id, ``))
		w.ok(err)
	}
	w.now += 5
	middle, err := w.store.Sequence(context.Background(), w.c, w.rangeOf("p"))
	w.ok(err)
	_, err = w.write(w.put(store.Replace, "p", "b", ``))
	w.ok(err)
	_, err = w.write(store.Op{Verb: store.Delete, Key: key("p", "a")})
	w.ok(err)
	if got := w.feed(nil, 0); got != "c d b" {
		t.Errorf("feed %q", got)
	}
	if got := w.feed(nil, middle); got != "b" {
		t.Errorf("feed after %d: %q", middle, got)
	}
	at, err := w.store.SequenceAt(context.Background(), w.view(), w.rangeOf("p"), w.now-1)
	w.ok(err)
	if got := w.feed(nil, at); got != "b" {
		t.Errorf("feed after the first second: %q", got)
	}
	if got := w.scan(access.Access{}); got != "b c d" {
		t.Errorf("scan %q is not in order of creation", got)
	}
}

// feed gives the ids of the change feeds of all ranges, scan those of a walk.
func (w *world) feed(scope access.Scope, after uint64) string {
	w.t.Helper()
	var all []string
	for _, rng := range w.ranges() {
		if ids := w.ids(w.store.Changes(context.Background(), w.view(), rng.Range, scope, after)); ids != "" {
			all = append(all, ids)
		}
	}
	return strings.Join(all, " ")
}

func (w *world) scan(a access.Access) string {
	w.t.Helper()
	return w.ids(w.store.Scan(context.Background(), w.view(), a))
}

func (w *world) ids(documents func(func(access.Document, error) bool)) string {
	w.t.Helper()
	var ids string
	for d, err := range documents {
		w.ok(err)
		id, _ := doc.AsString(doc.Lookup(d.Body, "id"))
		if ids != "" {
			ids += " "
		}
		ids += strings.Clone(id) // it shares the document's memory
	}
	return ids
}

func TestAbsentAndNullAreOneUniqueValue(t *testing.T) {
	def := definition(expiry.Unset)
	def.Unique = [][]string{{"/u"}}
	w := newWorld(t, def)
	_, err := w.write(w.put(store.Create, "p", "a", ``))
	w.ok(err)
	if _, err := w.write(w.put(store.Create, "p", "b", `"u":null`)); fault.KindOf(err) != fault.Exists {
		t.Errorf("null beside an absent value: %v", err)
	}
	w.consistent()
}

func TestDeletePartitionSparesWhatComesLater(t *testing.T) {
	w := newWorld(t, definition(expiry.Never))
	for n := range 200 {
		_, err := w.write(w.put(store.Create, "p", fmt.Sprint("old", n), ``))
		w.ok(err)
	}
	stop, done := make(chan struct{}), make(chan int)
	go func() {
		n := 0
		for ; ; n++ {
			select {
			case <-stop:
				done <- n
				return
			default:
				if _, err := w.write(w.put(store.Create, "p", fmt.Sprint("new", n), ``)); err != nil {
					t.Error(err)
				}
			}
		}
	}()
	deleted, err := w.store.DeletePartition(context.Background(), w.c, w.now, key("p", "").Partition)
	close(stop)
	created := <-done
	w.ok(err)
	usage, err := w.store.Usage(context.Background(), w.view())
	w.ok(err)
	if int(usage.Documents) != 200+created-deleted {
		t.Errorf("%d documents of 200 and %d, %d deleted", usage.Documents, created, deleted)
	}
	for n := range 200 {
		if w.alive("p", fmt.Sprint("old", n)) {
			t.Fatalf("old%d is still there", n)
		}
	}
	w.consistent()
}

func TestClockStartsBelowWhatWasSeen(t *testing.T) {
	w := newWorld(t, definition(10))
	_, err := w.write(w.put(store.Create, "p", "a", ``))
	w.ok(err)
	w.now += 10
	_, err = w.write(w.put(store.Create, "p", "b", ``)) // stamped when a is dead
	w.ok(err)
	w.reopen()
	w.now-- // the mark of the clock is a second old
	if w.alive("p", "a") {
		t.Error("a document came back with an earlier clock")
	}
}

func TestSequencesOfACrashDoNotComeAgain(t *testing.T) {
	mem := vfs.NewCrashableMem()
	w := &world{t: t, fs: kvtest.Cloneable{MemFS: mem}, now: 1_000_000}
	w.open()
	db, err := w.catalog.CreateDatabase(context.Background(), w.now, "d", nil)
	w.ok(err)
	w.c, err = w.catalog.CreateContainer(context.Background(), w.now, db, definition(expiry.Unset), nil)
	w.ok(err)
	sequence := func(id string) uint64 {
		t.Helper()
		r, err := w.write(w.put(store.Create, "p", id, ``))
		w.ok(err)
		return r.Sequence
	}
	first := sequence("a")
	w.reopen()
	if next := sequence("b"); next != first+1 {
		t.Errorf("sequence %d, after closing and opening %d", first, next)
	}
	crashed := mem.CrashClone(vfs.CrashCloneCfg{})
	w.close()
	w.fs = kvtest.Cloneable{MemFS: crashed}
	w.open()
	defer w.close()
	after := sequence("c")
	if after < first+1+10_000 || sequence("d") != after+1 {
		t.Errorf("sequence %d, after a crash %d", first+1, after)
	}
}

// Without it a change feed would say that there is nothing new, and begin anew.
func TestSequenceTellsOfFailure(t *testing.T) {
	w := &world{t: t, fs: vfs.NewMem(), now: 1_000_000}
	w.open()
	db, err := w.catalog.CreateDatabase(context.Background(), w.now, "d", nil)
	w.ok(err)
	c, err := w.catalog.CreateContainer(context.Background(), w.now, db, definition(expiry.Unset), nil)
	w.ok(err)
	w.close()
	if _, err := w.store.Sequence(context.Background(), c, 0); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("got %v, want unavailable", err)
	}
}
