package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/store"
)

func (w *world) incoming(stamp expiry.Stamp, id, rest string) store.Incoming {
	w.t.Helper()
	return store.Incoming{Stamp: stamp, Body: w.put(store.Create, "p", id, rest).Body}
}

func (w *world) importAll(o store.ImportOptions, docs ...store.Incoming) (store.Imported, error) {
	return w.store.Import(context.Background(), w.c, w.now, docs, o)
}

// stamps lists the documents as the change feed has them: id@stamp.
func (w *world) stamps() string {
	w.t.Helper()
	var list []string
	for _, rng := range w.ranges() {
		for d, err := range w.store.Changes(context.Background(), w.view(), rng.Range, nil, 0) {
			w.ok(err)
			id, _ := doc.AsString(doc.Lookup(d.Body, "id"))
			list = append(list, fmt.Sprintf("%s@%d", id, d.Stamp-1_000_000))
		}
	}
	return strings.Join(list, " ")
}

func TestImportKeepsStamps(t *testing.T) {
	w := newWorld(t, definition(100))
	done, err := w.importAll(store.ImportOptions{},
		w.incoming(w.now-100, "overdue", ""),
		w.incoming(w.now-99, "a", ""),
		w.incoming(w.now-50, "short", `"ttl":50`),
		w.incoming(w.now-50, "b", `"ttl":51`),
		w.incoming(w.now-20, "c", `"ttl":-1`),
		w.incoming(w.now, "d", ""))
	w.ok(err)
	if done.Written != 4 || done.Overdue != 2 || len(done.Rejected) != 0 {
		t.Errorf("%+v, want 4 written and 2 overdue", done)
	}
	if got, want := w.stamps(), "a@-99 b@-50 c@-20 d@0"; got != want {
		t.Errorf("feed %s, want %s", got, want)
	}
	w.consistent()
	for _, step := range []struct {
		after expiry.Stamp
		want  string
	}{{1, "c@-20 d@0"}, {98, "c@-20 d@0"}, {1, "c@-20"}} {
		w.now += step.after
		if got := w.stamps(); got != step.want {
			t.Errorf("at %d: %s, want %s", w.now-1_000_000, got, step.want)
		}
	}
	reclaimed, err := w.store.Reclaim(context.Background(), w.c, w.now, 100)
	w.ok(err)
	if reclaimed.Documents != 3 {
		t.Errorf("%d reclaimed, want 3", reclaimed.Documents)
	}
	w.consistent()
}

func TestImportNeverChangesAStampToFit(t *testing.T) {
	w := newWorld(t, definition(expiry.Never))
	for _, c := range []struct {
		name    string
		docs    []store.Incoming
		written int
		kind    fault.Kind
	}{
		{"out of order", []store.Incoming{w.incoming(w.now-5, "a", ""), w.incoming(w.now-6, "b", "")}, 0,
			fault.Precondition},
		{"in order", []store.Incoming{w.incoming(w.now-9, "c", ""), w.incoming(w.now-5, "d", "")}, 2, 0},
		{"before the newest of the container", []store.Incoming{w.incoming(w.now-6, "e", "")}, 0, fault.Precondition},
		{"new among kept ones", []store.Incoming{w.incoming(w.now-4, "f", ""), w.incoming(0, "g", "")}, 2, 0},
		{"after a new one", []store.Incoming{w.incoming(w.now-1, "h", "")}, 0, fault.Precondition},
	} {
		done, err := w.importAll(store.ImportOptions{}, c.docs...)
		if (err != nil) != (c.kind != 0) || err != nil && fault.KindOf(err) != c.kind || done.Written != c.written {
			t.Errorf("%s: %+v, %v", c.name, done, err)
		}
	}
	if got, want := w.stamps(), "c@-9 d@-5 f@-4 g@0"; got != want {
		t.Errorf("feed %s, want %s", got, want)
	}
	done, err := w.importAll(store.ImportOptions{}, w.incoming(w.now+1, "future", ""), w.incoming(-1, "past", ""))
	w.ok(err)
	if len(done.Rejected) != 2 || fault.KindOf(done.Rejected[0].Err) != fault.Invalid {
		t.Errorf("%+v, want both rejected", done)
	}
	w.consistent()
}

func TestImportOverFloors(t *testing.T) {
	w := newWorld(t, definition(10))
	_, err := w.write(w.put(store.Create, "p", "old", ""))
	w.ok(err)
	w.now += 100
	_, err = w.store.Reclaim(context.Background(), w.c, w.now, 100)
	w.ok(err)
	w.setTTL(expiry.Unset) // what 10 s have ended stays so
	done, err := w.importAll(store.ImportOptions{},
		w.incoming(w.now-50, "below the floor", ""), w.incoming(w.now-40, "never", `"ttl":-1`),
		w.incoming(w.now-5, "above", ""))
	w.ok(err)
	if done.Overdue != 1 || done.Written != 2 {
		t.Errorf("%+v, want 1 overdue", done)
	}
	w.setTTL(20)
	w.now += 20
	if got, want := w.stamps(), "never@60"; got != want {
		t.Errorf("feed %s, want %s", got, want)
	}
	reclaimed, err := w.store.Reclaim(context.Background(), w.c, w.now, 100)
	w.ok(err)
	if reclaimed.Documents != 1 {
		t.Errorf("%d reclaimed, want 1", reclaimed.Documents)
	}
	w.consistent()
}

func TestImportOnConflict(t *testing.T) {
	for _, c := range []struct {
		how  store.OnConflict
		want string
		done store.Imported
	}{
		{store.RejectExisting, "a@0 b@0",
			store.Imported{Written: 1,
				Rejected: []store.Rejection{{Index: 0, Err: store.ErrExists}, {Index: 2, Err: store.ErrExists}}}},
		{store.SkipExisting, "a@0 b@0", store.Imported{Written: 1, Skipped: 2}},
		{store.ReplaceExisting, "a@0 b@0", store.Imported{Written: 3, Replaced: 2}},
	} {
		w := newWorld(t, definition(100))
		_, err := w.write(w.put(store.Create, "p", "a", `"v":1`))
		w.ok(err)
		done, err := w.importAll(store.ImportOptions{OnConflict: c.how},
			w.incoming(0, "a", `"v":2`), w.incoming(0, "b", `"v":2`), w.incoming(0, "b", `"v":3`))
		w.ok(err)
		if fmt.Sprint(done) != fmt.Sprint(c.done) || w.stamps() != c.want {
			t.Errorf("%d: %+v with feed %s, want %+v with %s", c.how, done, w.stamps(), c.done, c.want)
		}
		w.consistent()
		// An expired document is in nobody's way.
		w.now += 100
		if done, err := w.importAll(store.ImportOptions{OnConflict: c.how}, w.incoming(0, "a", "")); err != nil ||
			done.Written != 1 || done.Replaced != 0 {
			t.Errorf("%d: over an expired one: %+v %v", c.how, done, err)
		}
	}
}

func TestImportReplacesOnlyWhatDiffers(t *testing.T) {
	w := newWorld(t, definition(100))
	again := []store.Incoming{w.incoming(w.now-9, "a", ""), w.incoming(w.now-8, "b", "")}
	for i, want := range []store.Imported{{Written: 2}, {Skipped: 2}} {
		done, err := w.importAll(store.ImportOptions{OnConflict: store.ReplaceExisting}, again...)
		w.ok(err)
		if fmt.Sprint(done) != fmt.Sprint(want) {
			t.Errorf("time %d: %+v, want %+v", i, done, want)
		}
	}
}

// TestImportGoesOnAfterALostAnswer sends documents again that were written, one id twice among them, as one does when
// the answer to a chunk was lost.
func TestImportGoesOnAfterALostAnswer(t *testing.T) {
	w := newWorld(t, definition(100))
	docs := []store.Incoming{
		w.incoming(w.now-50, "a", `"v":1`), w.incoming(w.now-40, "a", `"v":2`), w.incoming(w.now-30, "b", ""),
	}
	for i, want := range []store.Imported{{Written: 3, Replaced: 1}, {Skipped: 3}} {
		done, err := w.importAll(store.ImportOptions{OnConflict: store.ReplaceExisting}, docs...)
		w.ok(err)
		if fmt.Sprint(done) != fmt.Sprint(want) || w.stamps() != "a@-40 b@-30" {
			t.Errorf("time %d: %+v with feed %s, want %+v", i, done, w.stamps(), want)
		}
	}
	w.consistent()
}

// TestImportGoesOnWithVersionsOfOneSecond sends two versions of one second again, after which the container has a later
// stamp: the earlier version cannot be written any more, and need not be.
func TestImportGoesOnWithVersionsOfOneSecond(t *testing.T) {
	w := newWorld(t, definition(100))
	o := store.ImportOptions{OnConflict: store.ReplaceExisting, Resent: true}
	docs := []store.Incoming{
		w.incoming(w.now-50, "a", `"v":1,"ttl":60`),
		w.incoming(w.now-50, "a", `"v":2`),
		w.incoming(w.now-30, "b", ""),
	}
	for i, c := range []struct {
		docs int
		want store.Imported
	}{
		{1, store.Imported{Written: 1}},
		{2, store.Imported{Written: 1, Replaced: 1, Skipped: 1}},
		{2, store.Imported{Written: 2, Replaced: 2}}, // as nothing came later, they can take their places again
		{3, store.Imported{Written: 3, Replaced: 2}},
		{3, store.Imported{Skipped: 3}},
	} {
		done, err := w.importAll(o, docs[:c.docs]...)
		if err != nil || fmt.Sprint(done) != fmt.Sprint(c.want) {
			t.Fatalf("time %d: %+v %v, want %+v", i, done, err, c.want)
		}
	}
	w.now += 20 // the first version is overdue, which must not end the second one
	done, err := w.importAll(o, docs...)
	if err != nil || done.Overdue != 1 || done.Skipped != 2 || w.stamps() != "a@-50 b@-30" {
		t.Errorf("%+v %v with feed %s", done, err, w.stamps())
	}
	// A document that was never sent before replaces nothing in silence.
	o.Resent = false
	if _, err := w.importAll(o, docs[1:]...); err != nil {
		t.Error(err)
	}
	_, err = w.importAll(o, w.incoming(w.now-70, "a", `"v":3`))
	if fault.KindOf(err) != fault.Precondition {
		t.Errorf("%v, want that it cannot keep its stamp", err)
	}
	w.consistent()
}

// A version that is over takes the older one with it, whether that came in the same import or before, and what follows
// keeps its stamp.
func TestImportOfAnOverdueVersionEndsTheOlderOne(t *testing.T) {
	w := newWorld(t, definition(-1))
	o := store.ImportOptions{OnConflict: store.ReplaceExisting}
	_, err := w.importAll(o, w.incoming(w.now-90, "before", ""), w.incoming(w.now-89, "other", ""))
	w.ok(err)
	done, err := w.importAll(o,
		w.incoming(w.now-80, "a", ""),
		w.incoming(w.now-70, "a", `"ttl":5`),
		w.incoming(w.now-70, "before", `"ttl":5`),
		w.incoming(w.now-60, "b", ""))
	w.ok(err)
	if done.Written != 2 || done.Overdue != 2 {
		t.Errorf("%+v, want 2 written and 2 overdue", done)
	}
	if got, want := w.stamps(), "other@-89 b@-60"; got != want {
		t.Errorf("living: %s, want %s", got, want)
	}
	w.consistent()
}

func TestImportLimitsPartitionKeys(t *testing.T) {
	w := newWorld(t, definition(100))
	incoming := func(id string, size int) store.Incoming {
		return store.Incoming{Body: w.put(store.Create, strings.Repeat("x", size), id, "").Body}
	}
	done, err := w.importAll(store.ImportOptions{},
		incoming("longest", catalog.MaxPartitionString), incoming("too long", catalog.MaxPartitionString+1))
	w.ok(err)
	if done.Written != 1 || len(done.Rejected) != 1 || done.Rejected[0].Index != 1 ||
		fault.KindOf(done.Rejected[0].Err) != fault.Invalid {
		t.Errorf("%+v, want the second rejected", done)
	}
	w.consistent()
}

func TestImportRejectsSingleDocuments(t *testing.T) {
	def := definition(100)
	def.Unique = [][]string{{"/mail"}}
	w := newWorld(t, def)
	done, err := w.importAll(store.ImportOptions{},
		w.incoming(0, "a", `"mail":"x"`), w.incoming(0, "b", `"mail":"x"`), store.Incoming{Body: w.body(`{"pk":"p"}`)},
		w.incoming(0, "c", `"mail":"y","ttl":0`), w.incoming(0, "d", `"mail":"y"`), w.incoming(0, "e", `"mail":"z"`))
	w.ok(err)
	var rejected []int
	for _, r := range done.Rejected {
		rejected = append(rejected, r.Index)
	}
	if !slices.Equal(rejected, []int{1, 2, 3}) || done.Written != 3 {
		t.Errorf("%+v, want 1, 2 and 3 rejected", done)
	}
	var taken *store.TakenKey
	if !errors.As(done.Rejected[0].Err, &taken) {
		t.Errorf("%v, want a taken unique key", done.Rejected[0].Err)
	}
	w.consistent()
}

// TestImportAgain imports random parts of a sorted list again and again, as one does after interruptions, while time
// passes and the reaper runs.
func TestImportAgain(t *testing.T) {
	seed := rand.Uint64()
	t.Log("seed", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	w := newWorld(t, definition(300))
	var docs []store.Incoming
	for i := range 3000 {
		rest := []string{"", `"ttl":-1`, `"ttl":250`, `"ttl":1000`}[r.IntN(4)]
		docs = append(docs, w.incoming(w.now-500+int64(i/6), fmt.Sprint("item-", i), rest))
	}
	for from := 0; from < len(docs); {
		to := min(len(docs), from+1+r.IntN(1200))
		_, err := w.importAll(store.ImportOptions{OnConflict: store.SkipExisting}, docs[max(0, from-r.IntN(300)):to]...)
		w.ok(err)
		from = to
		w.now += int64(r.IntN(3))
		if r.IntN(2) == 0 {
			_, err := w.store.Reclaim(context.Background(), w.c, w.now, 1000)
			w.ok(err)
		}
	}
	w.consistent()
	want := map[string]bool{}
	policy := w.view().Policy
	for _, d := range docs {
		ttl, err := expiry.ParseItem(doc.Lookup(d.Body, "ttl"))
		w.ok(err)
		if !policy.Dead(expiry.Document{Wrote: d.Stamp, TTL: ttl}, w.now) {
			id, _ := doc.AsString(doc.Lookup(d.Body, "id"))
			want[fmt.Sprintf("%s@%d", id, d.Stamp-1_000_000)] = true
		}
	}
	got := strings.Fields(w.stamps())
	for _, x := range got {
		if !want[x] {
			t.Errorf("%s is there and should not be", x)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d documents, want %d", len(got), len(want))
	}
}

func TestImportIntoMongo(t *testing.T) {
	w := newWorld(t, catalog.Definition{Name: "c", Dialect: catalog.Mongo, TTL: 100})
	w.ok(w.store.KeepLog(context.Background(), w.now, store.LogOptions{}))
	done, err := w.importAll(store.ImportOptions{Lenient: true},
		store.Incoming{Stamp: w.now - 100, Body: w.body(`{"_id":1}`)},
		store.Incoming{Stamp: w.now - 99, Body: w.body(`{"_id":2,"ttl":0}`)})
	w.ok(err)
	if done.Written != 1 || done.Overdue != 1 {
		t.Errorf("%+v", done)
	}
	err = w.store.Read(context.Background(), w.view(), store.Identity(doc.Int(2)), func(d access.Document) error {
		if d.Deadline != w.now+1 {
			t.Errorf("deadline %d, want %d", d.Deadline, w.now+1)
		}
		return nil
	})
	w.ok(err)
	events := 0
	for e, err := range w.store.Log(context.Background(), w.oldest()) {
		w.ok(err)
		if e.Kind == store.LogInsert && e.Wall == 1000*w.now {
			events++
		}
	}
	if events != 1 {
		t.Errorf("%d inserts in the log at the time of the import, want 1", events)
	}
	w.consistent()
}

// BenchmarkImport writes durable documents of about 300 bytes with the default indexing.
func BenchmarkImport(b *testing.B) {
	w := newDisk(b, definition(expiry.Never), false)
	docs := make([]store.Incoming, b.N)
	for i := range docs {
		docs[i] = store.Incoming{Body: w.body(importText(i)), Stamp: w.now - 10}
	}
	b.ResetTimer()
	for from := 0; from < len(docs); from += 5000 {
		done, err := w.importAll(store.ImportOptions{}, docs[from:min(len(docs), from+5000)]...)
		w.ok(err)
		if len(done.Rejected) > 0 {
			b.Fatal(done.Rejected[0].Err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "documents/s")
}

func importText(i int) string {
	return fmt.Sprintf(`{"id":"item-%d","pk":"p%d","name":"name %d","n":%d,"group":%d,"tags":["red","green"],`+
		`"address":{"city":"city %d","zip":"%05d"},"text":"%s"}`, i, i%1000, i*7919, i, i%100, i%500, i%99999,
		filler[:120])
}
