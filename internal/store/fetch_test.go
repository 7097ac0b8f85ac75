package store_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/store"
)

// A distant engine counts what would be a request to other machines: gets, and calls for several keys.
type distant struct {
	kv.Engine
	asked *atomic.Int64
}

func (e distant) Shared() bool { return true }

func (e distant) Snapshot(ctx context.Context) (kv.Snapshot, error) {
	s, err := e.Engine.Snapshot(ctx)
	return distantSnapshot{distantReader{s, e.asked}, s}, err
}

func (e distant) Get(ctx context.Context, key []byte, use func([]byte) error) (bool, error) {
	return distantReader{e.Engine, e.asked}.Get(ctx, key, use)
}

func (e distant) GetAll(ctx context.Context, keys [][]byte) (kv.Values, error) {
	return distantReader{e.Engine, e.asked}.GetAll(ctx, keys)
}

func (e distant) View(ctx context.Context) (kv.View, error) {
	v, err := e.Engine.View(ctx)
	v.Reader = distantReader{v.Reader, e.asked}
	return v, err
}

type distantSnapshot struct {
	distantReader
	of kv.Snapshot
}

func (s distantSnapshot) Close() error { return s.of.Close() }

type distantReader struct {
	of    kv.Reader
	asked *atomic.Int64
}

func (r distantReader) Get(ctx context.Context, key []byte, use func([]byte) error) (bool, error) {
	r.asked.Add(1)
	return r.of.Get(ctx, key, use)
}

func (r distantReader) GetAll(ctx context.Context, keys [][]byte) (kv.Values, error) {
	r.asked.Add(1)
	return r.of.(kv.MultiReader).GetAll(ctx, keys)
}

// Iterate counts each place to which an iterator jumps. Its steps come in pages.
func (r distantReader) Iterate(ctx context.Context, lower, upper []byte) (kv.Iterator, error) {
	r.asked.Add(1)
	it, err := r.of.Iterate(ctx, lower, upper)
	return distantIterator{it, r.asked}, err
}

type distantIterator struct {
	kv.Iterator
	asked *atomic.Int64
}

func (it distantIterator) Seek(key []byte) bool {
	it.asked.Add(1)
	return it.Iterator.Seek(key)
}

// TestReadsInGroups reads 600 documents in each way that leads to them over something else. Each way gives all of them
// in its order, and asks the cluster some ten times rather than 600.
func TestReadsInGroups(t *testing.T) {
	const documents, few = 600, 40
	s := newStreet(t, 1, definition(expiry.Never))
	w := s.worlds[0]
	var ids []string
	for i := range documents {
		ids = append(ids, fmt.Sprintf("%03d", i))
		absent := ""
		if i%2 == 0 {
			absent = `,"even":true`
		}
		_, err := w.write(w.put(store.Create, "p", fmt.Sprintf("%03d", i),
			fmt.Sprintf(`"n":%d,"group":%d%s`, (i*7)%documents, i%3, absent)))
		w.ok(err)
	}
	var asked atomic.Int64
	w.through(distant{s.cluster.Process(), &asked})
	n := access.Range{Path: at("n")}
	for name, of := range map[string]access.Selection{
		"partition": access.Partition{doc.String("p")},
		"walk":      &access.Walk{Range: n},
		"reverse":   &access.Walk{Range: n, Reverse: true},
		"absent":    &access.Walk{Range: access.Range{Path: at("even")}, Absent: true},
		"absent in reverse": &access.Walk{
			Range: access.Range{Path: at("even")}, Absent: true, Reverse: true,
		},
		"set": &access.Filter{Set: access.Intersection{&n}},
		"ids": in(access.Partition{doc.String("p")}, lookupOf(ids...)).Of,
	} {
		for _, unordered := range []bool{false, true} {
			asked.Store(0)
			got := strings.Fields(w.scan(access.Access{Of: of, Unordered: unordered}))
			if len(got) != documents {
				t.Errorf("%s, unordered %v: %d documents, want %d", name, unordered, len(got), documents)
			}
			if asked.Load() > few {
				t.Errorf("%s, unordered %v: the cluster was asked %d times for %d documents",
					name, unordered, asked.Load(), documents)
			}
			for i, id := range got {
				want := fmt.Sprintf("%03d", i)
				switch name {
				case "walk", "reverse":
					place := i
					if name == "reverse" {
						place = documents - 1 - i
					}
					number, err := strconv.Atoi(id)
					w.ok(err)
					if !unordered && (number*7)%documents != place {
						t.Fatalf("%s: document %s comes as %d", name, id, i)
					}
				case "partition", "set", "ids":
					if id != want {
						t.Fatalf("%s: document %s comes in the place of %s", name, id, want)
					}
				}
			}
		}
	}
	asked.Store(0)
	feed := 0
	for _, err := range w.store.Changes(t.Context(), w.view(), 0, nil, 0) {
		w.ok(err)
		feed++
	}
	if feed != documents || asked.Load() > few {
		t.Errorf("a feed of %d documents asked %d times", feed, asked.Load())
	}
	asked.Store(0)
	for d, err := range w.store.Scan(t.Context(), w.view(), access.Access{Of: &access.Walk{Range: n}}) {
		w.ok(err)
		_ = d
		break
	}
	if asked.Load() > 10 {
		t.Errorf("the first document of a walk asked %d times", asked.Load())
	}
}

// TestBatchReadsInGroups upserts 100 documents in one batch, when they are new and when they are there.
func TestBatchReadsInGroups(t *testing.T) {
	const documents = 100
	s := newStreet(t, 1, definition(expiry.Never))
	w := s.worlds[0]
	var asked atomic.Int64
	w.through(distant{s.cluster.Process(), &asked})
	for round := range 2 {
		var ops []store.Op
		for i := range documents {
			ops = append(ops, w.put(store.Upsert, "p", fmt.Sprint(i), fmt.Sprintf(`"round":%d`, round)))
		}
		ops = append(ops, store.Op{Verb: store.Delete, Key: key("p", "7")})
		asked.Store(0)
		results, err := w.store.WriteAll(t.Context(), w.c, w.now, ops)
		w.ok(err)
		for i, r := range results[:documents] {
			if want := round == 0 || i == 7; r.Created != want {
				t.Errorf("round %d: document %d is created: %v", round, i, r.Created)
			}
		}
		if asked.Load() > 10 {
			t.Errorf("round %d: the cluster was asked %d times for %d documents", round, asked.Load(), documents)
		}
	}
	if got := len(strings.Fields(w.scan(access.Access{}))); got != documents-1 {
		t.Errorf("%d documents, want %d", got, documents-1)
	}
	w.consistent()
}

// TestLookupsInOnePass upserts 1,300 documents in one batch, every third of which is there, and deletes one and creates
// it again far apart in it. What the batch finds in one pass is what single operations find.
func TestLookupsInOnePass(t *testing.T) {
	withRanges(t, func(t *testing.T, ranges int) {
		const documents = 1300
		def := definition(expiry.Never)
		def.Partitions = ranges
		w := newWorld(t, def)
		at := func(i int) (pk, id string) { return fmt.Sprint(i % 50), fmt.Sprint(i * 7919 % documents) }
		for i := 0; i < documents; i += 3 {
			pk, id := at(i)
			_, err := w.write(w.put(store.Create, pk, id, `"round":0`))
			w.ok(err)
		}
		var ops []store.Op
		for i := range documents {
			pk, id := at(i)
			ops = append(ops, w.put(store.Upsert, pk, id, `"round":1`))
			if i == 100 {
				pk, id = at(0)
				ops = append(ops, store.Op{Verb: store.Delete, Key: key(pk, id)})
			}
		}
		pk, id := at(0)
		ops = append(ops, w.put(store.Create, pk, id, `"round":2`))
		results, err := w.store.WriteAll(t.Context(), w.c, w.now, ops)
		w.ok(err)
		if last := len(results) - 1; !results[last].Created {
			t.Error("the document that was deleted in the batch is not created again")
		}
		results = append(results[:101:101], results[102:]...)
		for i, r := range results[:documents] {
			if want := i%3 != 0; r.Created != want {
				t.Errorf("document %d is created: %v, want %v", i, r.Created, want)
			}
		}
		if got := len(strings.Fields(w.scan(access.Access{}))); got != documents {
			t.Errorf("%d documents, want %d", got, documents)
		}
		w.consistent()
	})
}

// TestDatesAreReadInGroups walks along an index on dates, forward and back, and reclaims the documents that the dates
// have ended.
func TestDatesAreReadInGroups(t *testing.T) {
	const documents = 200
	s := newStreet(t, 1, collection("c", expiry.Unset))
	w := s.worlds[0]
	w.announce(catalog.NamedIndex{Name: "at", Columns: []catalog.NamedColumn{{Path: "at"}}, Expires: true, Seconds: 1})
	w.ok(w.buildNamed())
	for i := range documents {
		body, err := bson.Marshal(bson.D{{Key: "_id", Value: i},
			{Key: "at", Value: s.cluster.Now().Add(time.Duration(-i) * time.Millisecond)}})
		w.ok(err)
		_, err = w.write(store.Op{
			Verb: store.Create, Key: store.Identity(doc.Int(int64(i))), Lenient: true, Body: body,
		})
		w.ok(err)
	}
	var asked atomic.Int64
	w.through(distant{s.cluster.Process(), &asked})
	few := func(what string) {
		t.Helper()
		if n := asked.Swap(0); n > documents/4 {
			t.Errorf("%s: the cluster was asked %d times for %d documents", what, n, documents)
		}
	}
	for _, reverse := range []bool{false, true} {
		asked.Store(0)
		scan := access.IndexScan{Index: w.c.State().Named[0].ID, Reverse: reverse}
		ids := []int64{}
		for d, err := range w.store.Scan(t.Context(), w.view(), access.Access{Of: &access.IndexScans{scan}}) {
			w.ok(err)
			id, _ := doc.AsInt64Exact(doc.Lookup(d.Body, "_id"))
			ids = append(ids, id)
		}
		few(fmt.Sprint("walk, in reverse: ", reverse))
		if len(ids) != documents || slices.IsSorted(ids) != reverse {
			t.Errorf("%d documents, in reverse %v: %v", len(ids), reverse, ids)
		}
	}
	s.cluster.Move(10 * time.Second)
	asked.Store(0)
	done, err := w.store.Reclaim(t.Context(), w.c, w.now, 2*documents)
	w.ok(err)
	few("reclaiming")
	if done.Documents != documents || done.More {
		t.Errorf("%d documents are freed, want %d; more: %v", done.Documents, documents, done.More)
	}
	w.consistent()
}
