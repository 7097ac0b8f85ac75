package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/store"
)

// wrote does an operation that must succeed.
func (w *world) wrote(x *store.ContainerTransaction, op store.Op) store.Result {
	w.t.Helper()
	r, err := x.Do(context.Background(), op)
	w.ok(err)
	return r
}

// seen lists a partition as a transaction sees it, behind a position.
func (w *world) seen(
	x *store.ContainerTransaction, pk string, after access.Position,
) (list []string, last access.Position) {
	w.t.Helper()
	sel := access.Access{Of: access.Partition{doc.String(pk)}, After: after}
	for d, err := range x.Scan(context.Background(), sel) {
		w.ok(err)
		id, _ := doc.AsString(doc.Lookup(d.Body, "id"))
		n, _ := doc.AsInt(doc.Lookup(d.Body, "n"))
		list = append(list, fmt.Sprintf("%s=%d", id, n))
		last = d.Position
	}
	return list, last
}

// becomes fails the test unless err has that kind.
func (w *world) becomes(err error, want fault.Kind) {
	w.t.Helper()
	if err == nil || fault.KindOf(err) != want {
		w.t.Fatalf("error %v, want one of kind %v", err, want)
	}
}

func TestTransactionReadsItsOwnWrites(t *testing.T) {
	w := newWorld(t, definition(expiry.Unset))
	for _, id := range []string{"a", "b", "c"} {
		_, err := w.write(w.put(store.Create, "p", id, `"n":1`))
		w.ok(err)
	}
	_, err := w.write(w.put(store.Create, "q", "other", ""))
	w.ok(err)

	x := w.begin()
	created := w.wrote(x, w.put(store.Create, "p", "d", `"n":1`))
	if !created.Created || created.Number < store.StandIn || created.Sequence < store.StandIn {
		t.Errorf("a new document shows number %d, sequence %d, created %v", created.Number, created.Sequence,
			created.Created)
	}
	w.wrote(x, w.put(store.Replace, "p", "a", `"n":2`))
	w.wrote(x, store.Op{Verb: store.Delete, Key: key("p", "b")})
	w.wrote(x, w.put(store.Create, "q", "elsewhere", ""))

	read := w.wrote(x, store.Op{Verb: store.Read, Key: key("p", "a")})
	if n, _ := doc.AsInt(doc.Lookup(read.Body, "n")); n != 2 {
		t.Errorf("a read gives n = %d, want 2", n)
	}
	_, err = x.Do(context.Background(), store.Op{Verb: store.Read, Key: key("p", "b")})
	w.becomes(err, fault.NotFound)

	all, _ := w.seen(x, "p", nil)
	if want := []string{"a=2", "c=1", "d=1"}; !slices.Equal(all, want) {
		t.Errorf("the scan gives %v, want %v", all, want)
	}
	if rest, _ := w.seen(x, "p", access.NumberPosition(nil, created.Number)); len(rest) != 0 {
		t.Errorf("behind the last there is %v", rest)
	}
	if w.alive("p", "d") || !w.alive("p", "b") {
		t.Error("somebody else sees what is not committed")
	}

	results, err := x.Commit(context.Background())
	w.ok(err)
	if len(results) != 5 {
		t.Fatalf("%d results, want 5", len(results))
	}
	if d := results[0]; d.Number == 0 || d.Number >= store.StandIn || d.Sequence >= store.StandIn {
		t.Errorf("after the commit the document has number %d, sequence %d", d.Number, d.Sequence)
	}
	if results[4].Version != results[1].Version {
		t.Errorf("the read shows version %v, the write before it %v", results[4].Version, results[1].Version)
	}
	if !w.alive("p", "d") || w.alive("p", "b") {
		t.Error("the commit has not done what the transaction did")
	}
	w.consistent()
}

func TestTransactionStandInsAreGoodForConditions(t *testing.T) {
	w := newWorld(t, definition(expiry.Unset))
	x := w.begin()
	defer x.Rollback()
	first := w.wrote(x, w.put(store.Create, "p", "a", `"n":1`))
	op := w.put(store.Replace, "p", "a", `"n":2`)
	op.IfMatch = &first.Version
	second := w.wrote(x, op)
	_, err := x.Do(context.Background(), op)
	w.becomes(err, fault.Precondition)
	op.IfMatch = &second.Version
	w.wrote(x, op)
}

func TestTransactionRollback(t *testing.T) {
	w := newWorld(t, definition(expiry.Unset))
	x := w.begin()
	w.wrote(x, w.put(store.Create, "p", "a", ""))
	x.Rollback()
	x.Rollback()
	if w.alive("p", "a") {
		t.Error("the document is there")
	}
	_, err := x.Do(context.Background(), store.Op{Verb: store.Read, Key: key("p", "a")})
	w.becomes(err, fault.Internal)
	_, err = x.Commit(context.Background())
	w.becomes(err, fault.Internal)
	w.consistent()
}

func TestTransactionGoesOnAfterAFailedOperation(t *testing.T) {
	def := definition(60)
	def.Unique = [][]string{{"/u"}}
	w := newWorld(t, def)
	_, err := w.write(w.put(store.Create, "p", "a", `"u":1`))
	w.ok(err)
	_, err = w.write(w.put(store.Create, "p", "b", `"u":2`))
	w.ok(err)

	x := w.begin()
	for _, bad := range []struct {
		name string
		op   store.Op
		want fault.Kind
	}{
		{"id taken", w.put(store.Create, "p", "a", ""), fault.Exists},
		{"unique key taken", w.put(store.Replace, "p", "b", `"u":1`), fault.Exists},
		{"not there", w.put(store.Replace, "p", "z", ""), fault.NotFound},
		{"no life span", w.put(store.Create, "p", "y", `"u":9,"ttl":0`), fault.Invalid},
		{"other partition", store.Op{Verb: store.Create, Key: key("q", "x"), Body: w.body(`{"id":"x","pk":"p"}`)},
			fault.PartitionMismatch},
	} {
		_, err := x.Do(context.Background(), bad.op)
		if fault.KindOf(err) != bad.want {
			t.Errorf("%s: error %v, want one of kind %v", bad.name, err, bad.want)
		}
	}
	_, err = x.Do(context.Background(), w.put(store.Create, "p", "c", `"u":2`))
	w.becomes(err, fault.Exists) // b has not given up its key
	w.wrote(x, w.put(store.Create, "p", "d", `"u":9`))
	_, err = x.Commit(context.Background())
	w.ok(err)
	w.consistent()
}

func TestTransactionConflict(t *testing.T) {
	scan := func(w *world, x *store.ContainerTransaction) { w.seen(x, "p", nil) }
	read := func(w *world, x *store.ContainerTransaction) {
		w.wrote(x, store.Op{Verb: store.Read, Key: key("p", "a")})
	}
	miss := func(w *world, x *store.ContainerTransaction) {
		_, err := x.Do(context.Background(), store.Op{Verb: store.Read, Key: key("p", "z")})
		w.becomes(err, fault.NotFound)
	}
	replace := func(w *world) { _, err := w.write(w.put(store.Replace, "p", "a", `"n":7`)); w.ok(err) }
	remove := func(w *world) { _, err := w.write(store.Op{Verb: store.Delete, Key: key("p", "a")}); w.ok(err) }
	create := func(w *world) { _, err := w.write(w.put(store.Create, "p", "z", "")); w.ok(err) }
	expire := func(w *world) { w.now += 10; w.view() }
	nothing := func(w *world) {}
	for _, c := range []struct {
		name     string
		look     func(*world, *store.ContainerTransaction)
		between  func(*world)
		conflict bool
	}{
		{"nobody else", scan, nothing, false},
		{"a document that was read is replaced", read, replace, true},
		{"a document that was read is deleted", read, remove, true},
		{"a document that was read expires", read, expire, true},
		{"a scanned document is replaced", scan, replace, true},
		{"a scanned document is deleted", scan, remove, true},
		{"a scanned document expires", scan, expire, true},
		{"an id that was free is taken", miss, create, true},
		{"a phantom is no conflict", scan, create, false},
		{"what was not looked at is no conflict", miss, replace, false},
		{"what expires was not looked at", miss, expire, false},
	} {
		for _, writes := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, writes %v", c.name, writes), func(t *testing.T) {
				w := newWorld(t, definition(10))
				_, err := w.write(w.put(store.Create, "p", "a", `"n":1`))
				w.ok(err)
				x := w.begin()
				c.look(w, x)
				if writes {
					w.wrote(x, w.put(store.Create, "p", "new", ""))
				}
				c.between(w)
				confirmed := x.Confirm(context.Background())
				_, err = x.Commit(context.Background())
				for _, err := range []error{confirmed, err} {
					if c.conflict != (fault.KindOf(err) == fault.Conflict) || !c.conflict && err != nil {
						t.Errorf("error %v, want a conflict: %v", err, c.conflict)
					}
				}
				if got, want := w.alive("p", "new"), writes && !c.conflict; got != want {
					t.Errorf("the write is there: %v, want %v", got, want)
				}
				w.consistent()
			})
		}
	}
}

func TestTransactionLifetime(t *testing.T) {
	w := newWorld(t, definition(expiry.Never))
	_, err := w.write(w.put(store.Create, "p", "old", `"ttl":5`))
	w.ok(err)
	w.now += 5

	x := w.begin()
	if all, _ := w.seen(x, "p", nil); len(all) != 0 {
		t.Errorf("the scan gives the dead: %v", all)
	}
	_, err = x.Do(context.Background(), store.Op{Verb: store.Read, Key: key("p", "old")})
	w.becomes(err, fault.NotFound)
	made := w.wrote(x, w.put(store.Create, "p", "old", `"n":2,"ttl":3`))
	if made.Deadline != w.now+3 {
		t.Errorf("the deadline is %d, want %d", made.Deadline, w.now+3)
	}
	if all, _ := w.seen(x, "p", nil); !slices.Equal(all, []string{"old=2"}) {
		t.Errorf("the scan gives %v", all)
	}
	_, err = x.Commit(context.Background())
	w.ok(err)
	w.now += 2
	if !w.alive("p", "old") {
		t.Error("dead before its time")
	}
	w.now++
	if w.alive("p", "old") {
		t.Error("alive after its time")
	}
	w.consistent()
}

func TestTransactionDeletesAndCreatesAgain(t *testing.T) {
	w := newWorld(t, definition(expiry.Unset))
	before, err := w.write(w.put(store.Create, "p", "a", `"n":1`))
	w.ok(err)
	_, err = w.write(w.put(store.Create, "p", "b", `"n":1`))
	w.ok(err)
	x := w.begin()
	for n := range 3 {
		w.wrote(x, store.Op{Verb: store.Delete, Key: key("p", "a")})
		w.wrote(x, w.put(store.Create, "p", "a", fmt.Sprintf(`"n":%d`, n+2)))
	}
	w.wrote(x, w.put(store.Upsert, "p", "a", `"n":9`))
	if all, _ := w.seen(x, "p", nil); !slices.Equal(all, []string{"b=1", "a=9"}) {
		t.Errorf("the scan gives %v", all)
	}
	results, err := x.Commit(context.Background())
	w.ok(err)
	if last := results[len(results)-1]; last.Number == before.Number || last.Created {
		t.Errorf("number %d created %v, want a new number and no creation", last.Number, last.Created)
	}
	w.consistent()
}

func TestTransactionLimits(t *testing.T) {
	w := newWorld(t, definition(expiry.Unset))
	x := w.begin()
	defer x.Rollback()
	text := make([]byte, 1<<20)
	for i := range text {
		text[i] = 'x'
	}
	var err error
	n := 0
	for ; err == nil && n < 100; n++ {
		_, err = x.Do(context.Background(), w.put(store.Upsert, "p", fmt.Sprint(n), fmt.Sprintf(`"t":%q`, text)))
	}
	w.becomes(err, fault.TooLarge)
	if !x.Full() || n > 40 {
		t.Errorf("full: %v after %d MiB", x.Full(), n)
	}

	y := w.begin()
	for i := 0; err == nil || i < 20_000; i++ {
		if _, err = y.Do(context.Background(), w.put(store.Upsert, "p", fmt.Sprint(i), "")); err != nil {
			break
		}
	}
	w.becomes(err, fault.TooLarge)
	if !y.Full() {
		t.Error("it is full and does not say so")
	}
	if _, err := y.Commit(context.Background()); err != nil {
		t.Errorf("what fits cannot be committed: %v", err)
	}
	w.consistent()
}

func TestTransactionRefusesOtherScans(t *testing.T) {
	w := newWorld(t, definition(expiry.Unset))
	x := w.begin()
	defer x.Rollback()
	scan := func(a access.Access) (failed error) {
		for _, err := range x.Scan(context.Background(), a) {
			failed = errors.Join(failed, err)
		}
		return failed
	}
	whole := access.Access{Of: access.Partition{doc.String("p")}}
	w.becomes(scan(access.Access{}), fault.Internal)
	w.wrote(x, w.put(store.Create, "p", "a", ""))
	w.ok(scan(whole))
	w.becomes(scan(inPartition("p", lookupOf("a"))), fault.Internal)
}

func TestTransactionMeetsAChangedContainer(t *testing.T) {
	w := newWorld(t, definition(expiry.Unset))
	x := w.begin()
	w.wrote(x, w.put(store.Create, "p", "a", ""))
	w.setTTL(5)
	_, err := x.Commit(context.Background())
	w.becomes(err, fault.Conflict)
	if w.alive("p", "a") {
		t.Error("the document is there")
	}
}
