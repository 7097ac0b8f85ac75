package store_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/store"
)

// writeTexts writes documents 0 to n-1, of which every 50th has "rare" in its text. Every 7th text is a number. A
// quarter are in the partition q, the others in p.
func (w *world) writeTexts(n int) {
	w.t.Helper()
	for i := range n {
		text, pk := fmt.Sprintf(`"%d common"`, n-i), "p"
		switch {
		case i%50 == 7:
			text = fmt.Sprintf(`"%d rare"`, n-i)
		case i%7 == 0:
			text = fmt.Sprint(i)
		}
		if i%4 == 1 {
			pk = "q"
		}
		_, err := w.write(w.put(store.Create, pk, fmt.Sprint(i), fmt.Sprintf(`"text":%s,"n":%d`, text, n-i)))
		w.ok(err)
	}
}

// readFor scans, and returns the ids and how many documents were read for them.
func (w *world) readFor(a access.Access, limit int) (ids string, read uint64) {
	w.t.Helper()
	var stats access.Stats
	a.Stats = &stats
	ids = idsOfRows(w.rows(a, limit))
	return ids, stats.Documents
}

// TestStringsAreTested finds documents by a part of a string, without reading the others.
func TestStringsAreTested(t *testing.T) {
	withRanges(t, func(t *testing.T, ranges int) {
		def := definition(expiry.Never)
		def.Partitions = ranges
		w := newWorld(t, def)
		w.writeTexts(1000)
		defer store.Frugal(8)()
		ref := reference{}
		byN := func(reverse bool) access.Access {
			in := access.Range{Path: at("n")}
			return along(access.Walk{Range: in, Set: passing("rare", "text"), Reverse: reverse})
		}
		for _, c := range []struct {
			name string
			a    access.Access
			most uint64 // documents that are read
		}{
			{"rare", only(passing("rare", "text")), 150},
			{"none", only(passing("none", "text")), 60},
			{"either", only(some(passing("rare", "text"), is(`"5 common"`, "text"))), 150},
			{"both", only(all(passing("rare", "text"), passing("3", "text"))), 150},
			{"beside a union of a test", only(all(passing("rare", "text"), some(all(passing("9", "text"), is("5", "n")),
				&access.Range{Path: at("n"), Low: closedAt("2")}))), 150},
			{"in a partition", inPartition("p", only(passing("rare", "text"))), 150},
			{"in an order", byN(false), 150},
			{"in reverse", byN(true), 150},
			{"all", func() access.Access {
				a := only(passing("rare", "text"))
				a.All = true
				return a
			}(), 150},
		} {
			ref.check(w, c.a, -1, c.name)
			if ids, read := w.readFor(c.a, -1); read > c.most {
				t.Errorf("%s: %d documents were read for %d ids, want at most %d", c.name, read,
					len(strings.Fields(ids)), c.most)
			}
			ref.count(w, c.a, walkIn(c.a) == nil, c.name)
			page := ref.check(w, c.a, 7, c.name)
			for len(page) == 7 { // the next pages
				c.a.After = page[6].Position
				page = ref.check(w, c.a, 7, c.name)
			}
		}
		// Where many pass, the first documents are read, and no strings.
		a := only(passing("common", "text"))
		if _, read := w.readFor(a, 10); read > 14*uint64(ranges) {
			t.Errorf("%d documents were read for 10 of many", read)
		}
		ref.check(w, a, -1, "many")
	})
}

// TestTestsOnOtherMachines goes on behind the last document that was handed out, though a group of them was fetched.
func TestTestsOnOtherMachines(t *testing.T) {
	s := newStreet(t, 1, definition(expiry.Never))
	w := s.worlds[0]
	w.writeTexts(600)
	var asked atomic.Int64
	w.through(distant{s.cluster.Process(), &asked})
	defer store.Frugal(8)()
	ref := reference{}
	for _, a := range []access.Access{only(passing("rare", "text")), inPartition("p", only(passing("rare", "text"))),
		along(access.Walk{Range: access.Range{Path: at("n")}, Set: passing("rare", "text")})} {
		ref.check(w, a, -1, fmt.Sprint(a))
		if _, read := w.readFor(a, -1); read > 300 {
			t.Errorf("%v: %d documents were read", a, read)
		}
	}
}

// TestFirstOfTested walks for the first documents that pass, and gives up before it has read many that do not.
func TestFirstOfTested(t *testing.T) {
	w := newWorld(t, definition(expiry.Never))
	for i := range 600 {
		_, err := w.write(w.put(store.Create, "p", fmt.Sprint(i), fmt.Sprintf(`"text":"a","n":%d`, i)))
		w.ok(err)
	}
	var stats access.Stats
	a := inPartition("p", along(access.Walk{Range: access.Range{Path: at("n")}, Set: passing("none", "text")}))
	a.First, a.Stats = 100, &stats
	var last error
	for _, last = range w.store.Scan(context.Background(), w.view(), a) {
	}
	if last != access.ErrLong || stats.Documents > 200 {
		t.Errorf("%d documents were read: %v", stats.Documents, last)
	}
}

// TestTestedExpire reads no dead document through its string.
func TestTestedExpire(t *testing.T) {
	w := newWorld(t, definition(expiry.Unset))
	defer store.Frugal(4)()
	for i := range 100 {
		_, err := w.write(w.put(store.Create, "p", fmt.Sprint(i), fmt.Sprintf(`"text":"a%d","ttl":%d`, i%10, 1+i)))
		w.ok(err)
	}
	long := strings.Repeat("a7", 200)
	_, err := w.write(w.put(store.Create, "p", "long", fmt.Sprintf(`"text":%q,"ttl":50`, long)))
	w.ok(err)
	w.setTTL(expiry.Never)
	ref := reference{}
	for range 11 {
		ref.check(w, only(passing("a7", "text")), -1, fmt.Sprint(w.now))
		ref.count(w, only(passing("a7", "text")), true, fmt.Sprint(w.now))
		ref.count(w, inPartition("p", only(passing("a7", "text"))), false, fmt.Sprint(w.now))
		w.now += 10
		_, err := w.store.Reclaim(context.Background(), w.c, w.now-5, 3)
		w.ok(err)
	}
	n, ok, err := w.store.Count(context.Background(), w.view(), only(passing("a", "text")))
	if n > 0 || !ok || err != nil {
		t.Errorf("%d of the dead are counted, %v, %v", n, ok, err)
	}
}

// TestCountOfLongStrings reads the documents of strings that entries have in part, if they are few.
func TestCountOfLongStrings(t *testing.T) {
	w := newWorld(t, definition(expiry.Never))
	ref := reference{}
	defer store.Frugal(4)()
	set := passing("end", "text")
	for i := range 20 {
		text := strings.Repeat("x", 5*i)
		if i >= 16 { // four
			text += strings.Repeat("x", 300)
		}
		if i%2 == 1 {
			text += "end"
		}
		_, err := w.write(w.put(store.Create, "p", fmt.Sprint(i), fmt.Sprintf(`"text":"%s"`, text)))
		w.ok(err)
	}
	ref.count(w, only(set), true, "few long strings")
	ref.check(w, only(set), -1, "few long strings")
	ref.count(w, only(all(set, passing("x", "text"))), false, "two tests")
	many := only(some(passing("end", "text"), passing("x", "b"), passing("x", "c"), passing("x", "d"),
		passing("x", "e"))) // five walks over all strings
	if n, ok, err := w.store.Count(context.Background(), w.view(), many); ok || err != nil {
		t.Errorf("many tests: %d, %v", n, err)
	}
	ref.check(w, many, -1, "many tests")
	_, err := w.write(w.put(store.Create, "p", "more", fmt.Sprintf(`"text":"%s"`, strings.Repeat("y", 300))))
	w.ok(err)
	if n, ok, err := w.store.Count(context.Background(), w.view(), only(set)); ok || err != nil {
		t.Errorf("many long strings: %d, %v", n, err)
	}
	// A test that is not certain of a string in a document is no base of a count either.
	for _, a := range []access.Access{only(passing("b", "other")), inPartition("p", only(passing("b", "other")))} {
		if n, ok, err := w.store.Count(context.Background(), w.view(), a); !ok || n != 0 || err != nil {
			t.Errorf("no string: %d, %v, %v", n, ok, err)
		}
	}
	for _, pk := range []string{"p", "few"} {
		_, err = w.write(w.put(store.Create, pk, "unsure", `"other":"bb"`))
		w.ok(err)
	}
	for _, a := range []access.Access{only(passing("b", "other")), inPartition("p", only(passing("b", "other"))),
		inPartition("few", only(passing("b", "other")))} {
		if n, ok, err := w.store.Count(context.Background(), w.view(), a); ok || err != nil {
			t.Errorf("unsure: %d, %v", n, err)
		}
	}
}
