package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/kvtest"
	"github.com/mayflydb/mayfly/internal/store"
)

// newLogged opens a world whose collection c is logged.
func newLogged(t testing.TB, ttl expiry.TTL) *world {
	w := newWorld(t, collection("c", ttl))
	w.keepLog()
	return w
}

func (w *world) keepLog() {
	w.t.Helper()
	w.ok(w.store.KeepLog(context.Background(), w.now, store.LogOptions{}))
}

// events lists what the log has behind a time.
func (w *world) events(after store.LogTime) (list []string) {
	w.t.Helper()
	last := after
	for e, err := range w.store.Log(context.Background(), after) {
		w.ok(err)
		if e.Time <= last {
			w.t.Errorf("time %x follows %x", e.Time, last)
		}
		last = e.Time
		list = append(list, event(e))
	}
	return list
}

// event is an entry as text: kind, collection, _id, body, note, label.
func event(e store.LogEntry) string {
	text := e.Kind
	if e.ContainerName != "" {
		text += " " + e.ContainerName
	}
	if name, ok := doc.AsString(e.ID); ok {
		text += "/" + name
	}
	for _, x := range []struct {
		name string
		doc  doc.Doc
	}{{"full", e.Full}, {"note", e.Note}, {"label", e.Label}} {
		if x.doc != nil {
			n, _ := doc.AsInt(doc.Lookup(x.doc, "n"))
			text += fmt.Sprintf(" %s %d", x.name, n)
		}
	}
	return text
}

func (w *world) oldest() store.LogTime {
	w.t.Helper()
	at, err := w.store.LogOldest(context.Background())
	w.ok(err)
	return at
}

func (w *world) newest() store.LogTime {
	w.t.Helper()
	at, err := w.store.LogNewest(context.Background())
	w.ok(err)
	return at
}

// logs fails the test unless the log has exactly these events behind a time.
func (w *world) logs(after store.LogTime, want ...string) {
	w.t.Helper()
	if got := w.events(after); strings.Join(got, "\n") != strings.Join(want, "\n") {
		w.t.Errorf("the log has\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// difference is a Note: what n has grown by.
func (w *world) difference(before, after doc.Doc) doc.Doc {
	n, _ := doc.AsInt(doc.Lookup(before, "n"))
	m, _ := doc.AsInt(doc.Lookup(after, "n"))
	return w.body(fmt.Sprintf(`{"n":%d}`, m-n))
}

func TestLogTellsOfEachOperation(t *testing.T) {
	w := newLogged(t, expiry.Unset)
	d, nosql := w.another(collection("d", expiry.Unset)), w.another(renamed(definition(expiry.Unset), "nosql"))
	noted := func(op store.Op) store.Op { op.Note = w.difference; return op }
	w.at(w.c, noted(w.doing(store.Create, "a", `"n":1`)))
	w.at(d, w.doing(store.Upsert, "b", `"n":2`))
	w.at(nosql, w.put(store.Create, "p", "x", ""))
	w.at(w.c, noted(w.doing(store.Patch, "a", `"n":10`)))
	w.at(w.c, w.doing(store.Patch, "a", `"n":11`))
	w.at(d, noted(w.doing(store.Upsert, "b", `"n":20`)))
	w.at(d, w.doing(store.Read, "b", ""))
	skipped := w.doing(store.Delete, "b", "")
	skipped.If = nIs(7)
	w.at(d, skipped)
	_, err := w.write(w.doing(store.Create, "a", ""))
	w.becomes(err, fault.Exists)
	w.now++
	_, err = w.store.WriteAll(context.Background(), w.c, w.now, []store.Op{
		w.doing(store.Delete, "a", ""), w.doing(store.Create, "a", `"n":3`), noted(w.doing(store.Patch, "a", `"n":4`)),
		w.doing(store.Create, "z", `"n":5`),
	})
	w.ok(err)
	w.at(d, w.doing(store.Delete, "b", ""))
	w.ok(w.store.AppendLog(context.Background(), store.LogEntry{
		Kind: "drop", Wall: w.now*1000 + 345, Database: d.Database.ID, DatabaseName: "d", Container: d.ID,
		ContainerName: "d", Note: w.body(`{"n":6}`),
	}))
	w.logs(w.oldest(), "insert c/a full 1", "insert d/b full 2", "update c/a note 9", "replace c/a full 11",
		"replace d/b full 20 note 18",
		"delete c/a", "insert c/a full 3", "update c/a note 1", "insert c/z full 5", "delete d/b", "drop d note 6")
	var last store.LogEntry
	for e, err := range w.store.Log(context.Background(), w.oldest()) {
		w.ok(err)
		if e.Kind != "drop" && (e.Wall%1000 != 0 || e.Time.Seconds() != uint32(e.Wall/1000)) {
			t.Errorf("%s was at %d ms, time %d", event(e), e.Wall, e.Time.Seconds())
		}
		last = e
		last.DatabaseName, last.ContainerName = strings.Clone(e.DatabaseName), strings.Clone(e.ContainerName)
	}
	if last.Wall != w.now*1000+345 || last.Database != d.Database.ID || last.Container != d.ID ||
		last.DatabaseName != "d" || last.Time != w.newest() {
		t.Errorf("the last entry is %+v", last)
	}
	w.logs(last.Time)
	w.consistent()
}

func TestNoLogWithoutKeeping(t *testing.T) {
	w := newWorld(t, collection("c", 5))
	op := w.doing(store.Create, "a", "")
	op.Note = func(_, _ doc.Doc) doc.Doc { t.Error("a note was asked for"); return nil }
	w.at(w.c, op)
	w.ok(w.store.AppendLog(context.Background(), store.LogEntry{Kind: "drop"}))
	w.now += 10
	w.reclaimAll()
	w.ok(w.store.TrimDue(context.Background(), w.now))
	w.ok(w.store.ForgetLog(context.Background()))
	w.logs(0)
}

// reclaimAll reclaims and sweeps until there is nothing left to do.
func (w *world) reclaimAll() {
	w.t.Helper()
	for _, c := range w.store.Containers() {
		for more := true; more; {
			done, err := w.store.Reclaim(context.Background(), c, w.now, 7)
			w.ok(err)
			more = done.More
		}
		for w.store.SweepDue(context.Background(), c, 0) {
			_, err := w.store.Sweep(context.Background(), c, 1000)
			w.ok(err)
		}
	}
}

func TestLogOfGroups(t *testing.T) {
	w := newLogged(t, expiry.Unset)
	d := w.another(collection("d", expiry.Unset))
	w.at(w.c, w.doing(store.Create, "a", `"n":1`))
	from := w.newest()
	g := w.beginSnapshot()
	g.Label = w.body(`{"n":77}`)
	w.wrote(g.On(w.viewOf(d)), w.doing(store.Create, "x", `"n":1`))
	w.wrote(g.On(w.view()), w.doing(store.Delete, "a", ""))
	w.wrote(g.On(w.viewOf(d)), w.doing(store.Create, "y", `"n":2`))
	w.wrote(g.On(w.view()), w.doing(store.Create, "a", `"n":3`))
	w.at(d, w.doing(store.Create, "other", `"n":9`))
	w.logs(from, "insert d/other full 9")
	w.ok(g.Commit(context.Background()))
	w.logs(from, "insert d/other full 9", "insert d/x full 1 label 77", "delete c/a label 77",
		"insert d/y full 2 label 77", "insert c/a full 3 label 77")

	from = w.newest()
	g = w.beginSnapshot()
	w.wrote(g.On(w.view()), w.doing(store.Create, "lost", ""))
	w.wrote(g.On(w.viewOf(d)), w.doing(store.Patch, "x", `"n":5`))
	w.at(d, w.doing(store.Patch, "x", `"n":6`))
	w.becomes(g.Commit(context.Background()), fault.Conflict)
	x := w.begin()
	w.wrote(x, w.doing(store.Create, "alone", `"n":8`))
	_, err := x.Commit(context.Background())
	w.ok(err)
	w.logs(from, "replace d/x full 6", "insert c/alone full 8")
}

// TestLogOfTheDead checks that each document that expires is told of once, before whatever takes
// its place.
func TestLogOfTheDead(t *testing.T) {
	for _, c := range []struct {
		name  string
		after func(w *world)
		want  []string
	}{
		{"reclaimed", func(*world) {}, []string{"delete c/a", "delete c/b"}},
		{"read before", func(w *world) {
			_, err := w.write(w.doing(store.Delete, "a", ""))
			w.becomes(err, fault.NotFound)
		}, []string{"delete c/a", "delete c/b"}},
		{"created again", func(w *world) { w.at(w.c, w.doing(store.Create, "a", `"n":2,"ttl":-1`)) },
			[]string{"delete c/a", "insert c/a full 2", "delete c/b"}},
		{"created again and replaced", func(w *world) {
			w.at(w.c, w.doing(store.Upsert, "a", `"n":2,"ttl":-1`))
			w.at(w.c, w.doing(store.Replace, "a", `"n":3,"ttl":-1`))
		}, []string{"delete c/a", "insert c/a full 2", "replace c/a full 3", "delete c/b"}},
		{"created again and deleted", func(w *world) {
			w.at(w.c, w.doing(store.Create, "a", `"n":2`))
			w.at(w.c, w.doing(store.Delete, "a", ""))
		}, []string{"delete c/a", "insert c/a full 2", "delete c/a", "delete c/b"}},
		{"created again and deleted at once", func(w *world) {
			_, err := w.store.WriteAll(context.Background(), w.c, w.now,
				[]store.Op{w.doing(store.Create, "a", `"n":2`), w.doing(store.Delete, "a", "")})
			w.ok(err)
		}, []string{"delete c/a", "insert c/a full 2", "delete c/a", "delete c/b"}},
		{"created again in a group", func(w *world) {
			g := w.beginSnapshot()
			w.wrote(g.On(w.view()), w.doing(store.Create, "a", `"n":2,"ttl":-1`))
			w.ok(g.Commit(context.Background()))
		}, []string{"delete c/a", "insert c/a full 2", "delete c/b"}},
		{"reclaimed before a group ends", func(w *world) {
			g := w.beginSnapshot()
			w.wrote(g.On(w.view()), w.doing(store.Create, "a", `"n":2,"ttl":-1`))
			w.reclaimAll()
			w.becomes(g.Commit(context.Background()), fault.Conflict)
		}, []string{"delete c/a", "delete c/b"}},
	} {
		for _, ttl := range []expiry.TTL{expiry.Never, 5} {
			t.Run(fmt.Sprintf("%s, container ttl %d", c.name, ttl), func(t *testing.T) {
				w := newLogged(t, ttl)
				rest := `"n":1`
				if ttl == expiry.Never {
					rest = `"n":1,"ttl":5`
				}
				w.at(w.c, w.doing(store.Create, "a", rest))
				w.at(w.c, w.doing(store.Create, "b", rest))
				from := w.newest()
				w.now += 6
				w.logs(from)
				c.after(w)
				w.reclaimAll()
				w.reclaimAll()
				w.logs(from, c.want...)
				w.consistent()
			})
		}
	}
}

// An interloper does something before the next batch is applied.
type interloper struct {
	kv.Engine
	before func()
}

func (m *interloper) DeletesRanges() bool { return true }

func (m *interloper) Apply(ctx context.Context, b *kv.Batch) error {
	if before := m.before; before != nil {
		m.before = nil
		before()
	}
	return m.Engine.Apply(ctx, b)
}

// TestLogOfTheDeadMeetsAWrite lets a write take the place of a dead document between what the
// reaper reads and what it writes, and the other way round.
func TestLogOfTheDeadMeetsAWrite(t *testing.T) {
	start := func(t *testing.T) (*world, *interloper, store.LogTime) {
		w := newWorld(t, collection("c", expiry.Never))
		m := &interloper{Engine: w.engine}
		w.through(m)
		var err error
		w.c, err = w.catalog.ContainerByID(w.c.ID)
		w.ok(err)
		w.keepLog()
		for n := range 600 { // as many as would go as one range
			w.at(w.c, w.doing(store.Create, fmt.Sprint(n), `"ttl":5`))
		}
		w.now += 6
		_, err = w.catalog.DeclareDead(context.Background(), w.now, w.c)
		w.ok(err)
		return w, m, w.newest()
	}
	reclaim := func(w *world) {
		_, err := w.store.Reclaim(context.Background(), w.c, w.now, 1000)
		w.ok(err)
	}
	create := func(w *world) { w.at(w.c, w.doing(store.Create, "300", `"n":1`)) }
	told := func(w *world, from store.LogTime) {
		w.t.Helper()
		deleted := map[string]int{}
		for _, text := range w.events(from) {
			deleted[text]++
		}
		if len(deleted) != 601 || deleted["delete c/300"] != 1 || deleted["insert c/300 full 1"] != 1 {
			w.t.Errorf("the log has %d different events, %d deletes of the one that was made again", len(deleted),
				deleted["delete c/300"])
		}
		w.consistent()
	}
	t.Run("write before the reaper", func(t *testing.T) {
		w, m, from := start(t)
		m.before = func() { create(w) }
		reclaim(w)
		told(w, from)
	})
	t.Run("reaper before the write", func(t *testing.T) {
		w, m, from := start(t)
		m.before = func() { reclaim(w) }
		create(w)
		told(w, from)
	})
}

// TestLogReplays lets writers, groups and the reaper work side by side while time goes on. The
// events of each document are ones that can follow each other, and at the end they tell what is there.
func TestLogReplays(t *testing.T) {
	w := newLogged(t, expiry.Unset)
	w.setTTL(3)
	d := w.another(collection("d", 4))
	both := []*catalog.Container{w.c, d}
	var mu sync.Mutex
	now := func() expiry.Stamp { mu.Lock(); defer mu.Unlock(); return w.now }
	over := make(chan struct{})
	var work, reaper sync.WaitGroup
	reaper.Go(func() {
		for {
			select {
			case <-over:
				return
			default:
			}
			for _, c := range both {
				if _, err := w.store.Reclaim(context.Background(), c, now(), 600); err != nil {
					t.Error(err)
				}
				if _, err := w.store.Sweep(context.Background(), c, 50); err != nil {
					t.Error(err)
				}
			}
		}
	})
	for worker := range 3 {
		rng := rand.New(rand.NewPCG(3, uint64(worker)))
		work.Go(func() {
			for n := range 400 {
				c := both[rng.IntN(2)]
				verb := []store.Verb{store.Create, store.Upsert, store.Replace, store.Patch, store.Delete}[rng.IntN(5)]
				rest := fmt.Sprintf(`"n":%d`, worker*1000+n)
				if rng.IntN(3) == 0 {
					rest += fmt.Sprintf(`,"ttl":%d`, 1+rng.IntN(3))
				}
				op := w.doing(verb, fmt.Sprint(rng.IntN(8)), rest)
				var err error
				if rng.IntN(3) == 0 {
					err = w.grouped(c, now(), op)
				} else {
					_, err = w.store.Write(context.Background(), c, now(), op)
				}
				switch fault.KindOf(err) {
				case fault.NotFound, fault.Exists, fault.Conflict:
				default:
					if err != nil {
						t.Error(err)
					}
				}
				if rng.IntN(20) == 0 {
					mu.Lock()
					w.now++
					mu.Unlock()
				}
			}
		})
	}
	work.Wait()
	close(over)
	reaper.Wait()
	w.now += 2
	w.reclaimAll()
	there := map[string]int64{}
	for e, err := range w.store.Log(context.Background(), w.oldest()) {
		w.ok(err)
		text := event(e)
		name := fmt.Sprint(strings.Fields(text)[1])
		_, alive := there[name]
		if alive == (e.Kind == store.LogInsert) {
			t.Errorf("%s, but the document is there: %v", text, alive)
		}
		if delete(there, name); e.Full != nil {
			there[name], _ = doc.AsInt(doc.Lookup(e.Full, "n"))
		}
	}
	for _, c := range both {
		prefix := c.State().Name + "/"
		for _, text := range strings.Fields(w.inside(c)) {
			var name, n string
			name, n, _ = strings.Cut(text, "=")
			if got, ok := there[prefix+name]; !ok || fmt.Sprint(got) != n {
				t.Errorf("%s%s is there, the log says %d, %v", prefix, text, got, ok)
			}
			delete(there, prefix+name)
		}
	}
	if len(there) > 0 {
		t.Errorf("the log has what is not there: %v", there)
	}
	w.consistent()
}

// grouped does one operation in a group of its own.
func (w *world) grouped(c *catalog.Container, now expiry.Stamp, op store.Op) error {
	v, err := c.Enter(context.Background(), now)
	if err != nil {
		return err
	}
	g := w.beginSnapshot()
	defer g.Rollback()
	if _, err := g.On(v).Do(context.Background(), op); err != nil {
		return err
	}
	return g.Commit(context.Background())
}

func TestLogIsFollowed(t *testing.T) {
	w := newLogged(t, expiry.Unset)
	const each = 50
	seen := make(chan int)
	go func() {
		after, n := w.oldest(), 0
		for n < 3*each {
			grown := w.store.LogChanged()
			for e, err := range w.store.Log(context.Background(), after) {
				if err != nil {
					t.Error(err)
				}
				after = e.Time
				n++
			}
			if n < 3*each {
				<-grown
			}
		}
		seen <- n
	}()
	var work sync.WaitGroup
	for worker := range 3 {
		work.Go(func() {
			for n := range each {
				if _, err := w.write(w.doing(store.Create, fmt.Sprint(worker, "/", n), "")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	work.Wait()
	if n := <-seen; n != 3*each {
		t.Errorf("%d entries came", n)
	}
}

// single is an engine that deletes no ranges.
type single struct{ kv.Engine }

func TestLogIsTrimmed(t *testing.T) {
	for _, whole := range []bool{true, false} {
		t.Run(fmt.Sprintf("by ranges %v", whole), func(t *testing.T) {
			w := newWorld(t, collection("c", expiry.Unset))
			if !whole {
				w.through(single{w.engine})
				var err error
				w.c, err = w.catalog.ContainerByID(w.c.ID)
				w.ok(err)
			}
			w.ok(w.store.KeepLog(context.Background(), w.now, store.LogOptions{Retention: 100, Bytes: 100_000}))
			begin := w.newest()
			pad := strings.Repeat("x", 900)
			for n := range 30 {
				w.at(w.c, w.doing(store.Create, fmt.Sprint(n), fmt.Sprintf(`"n":%d,"pad":%q`, n, pad)))
				w.now += 10
			}
			w.ok(w.store.TrimDue(context.Background(), w.now))
			if list := w.events(w.oldest()); len(list) != 10 || list[0] != "insert c/20 full 20" {
				t.Errorf("%d entries are left: %v", len(list), list)
			}
			var failed error
			for _, err := range w.store.Log(context.Background(), begin) {
				failed = err
			}
			if !errors.Is(failed, store.ErrLogTrimmed) {
				t.Errorf("reading from before gives %v", failed)
			}
			for n := range 200 {
				w.at(w.c, w.doing(store.Upsert, "many", fmt.Sprintf(`"n":%d,"pad":%q`, n, pad)))
			}
			w.ok(w.store.TrimDue(context.Background(), w.now))
			list := w.events(w.oldest())
			if len(list) < 85 || len(list) > 100 || list[len(list)-1] != "replace c/many full 199" {
				t.Errorf("%d entries are left, the last is %s", len(list), list[len(list)-1])
			}
			oldest := w.oldest()
			w.ok(w.store.TrimDue(context.Background(), w.now))
			if w.oldest() != oldest {
				t.Error("it is trimmed twice")
			}
			w.now += 1000
			w.ok(w.store.TrimDue(context.Background(), w.now))
			if w.logs(w.oldest()); w.oldest() != w.newest() {
				t.Errorf("an empty log begins at %x and ends at %x", w.oldest(), w.newest())
			}
			w.at(w.c, w.doing(store.Create, "last", ""))
			w.logs(w.oldest(), "insert c/last full 0")
		})
	}
}

func TestLogGoesOn(t *testing.T) {
	w := newLogged(t, expiry.Unset)
	from := w.oldest()
	w.at(w.c, w.doing(store.Create, "a", ""))
	w.at(w.c, w.doing(store.Create, "b", ""))
	newest := w.newest()
	w.reopen()
	w.keepLog()
	w.now-- // the clock has been put back
	w.at(w.c, w.doing(store.Create, "c", ""))
	w.logs(from, "insert c/a full 0", "insert c/b full 0", "insert c/c full 0")
	if got := w.newest(); got != newest+1 {
		t.Errorf("time %x follows %x", got, newest)
	}

	w.reopen() // without a log
	w.ok(w.store.ForgetLog(context.Background()))
	w.at(w.c, w.doing(store.Create, "d", ""))
	w.reopen()
	w.keepLog()
	var failed error
	for _, err := range w.store.Log(context.Background(), newest+1) {
		failed = err
	}
	if !errors.Is(failed, store.ErrLogTrimmed) {
		t.Errorf("going on over a gap gives %v", failed)
	}
	w.at(w.c, w.doing(store.Create, "e", ""))
	w.logs(w.oldest(), "insert c/e full 0")
}

// TestLogAfterCrashes loses entries that were seen, several times in a row, and lets the
// clock show the same seconds again: no time comes twice.
func TestLogAfterCrashes(t *testing.T) {
	fs := vfs.NewCrashableMem()
	w := &world{t: t, fs: kvtest.Cloneable{MemFS: fs}, now: 1_000_000}
	w.open()
	db, err := w.catalog.CreateDatabase(context.Background(), w.now, "d", nil)
	w.ok(err)
	w.c, err = w.catalog.CreateContainer(context.Background(), w.now, db, collection("c", expiry.Unset), nil)
	w.ok(err)
	w.keepLog()
	seen := map[store.LogTime]string{}
	note := func(w *world, text string) {
		w.t.Helper()
		w.at(w.c, w.doing(store.Create, text, ""))
		at := w.newest()
		if seen[at] != "" {
			w.t.Errorf("%s and %s are both at %x", seen[at], text, at)
		}
		seen[at] = text
	}
	for life := range 5 {
		note(w, fmt.Sprint("kept ", life))
		copied := fs.CrashClone(vfs.CrashCloneCfg{})
		for n := range 6 { // lost
			note(w, fmt.Sprint(life, ", lost ", n))
			w.now += int64(n % 2)
		}
		w.close()
		fs = copied
		w = &world{t: t, fs: kvtest.Cloneable{MemFS: fs}, now: 1_000_000, c: w.c}
		w.open()
		w.keepLog()
		// a second too early
		w.ok(w.store.AppendLog(context.Background(), store.LogEntry{Kind: "create", Wall: 999_999_000}))
		if at := w.newest(); seen[at] != "" {
			t.Errorf("an entry is at %x, as %s was", at, seen[at])
		}
	}
	w.close()
}
