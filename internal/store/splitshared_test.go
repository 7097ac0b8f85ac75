package store_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/store"
)

// write does one operation on the document i, which is in a partition of its own.
func (m *member) write(verb store.Verb, i, n int) error {
	op := store.Op{Verb: verb, Key: key(fmt.Sprint("p", i), "a")}
	if verb != store.Delete {
		body, err := doc.FromJSON(nil, fmt.Appendf(nil, `{"id":"a","pk":"p%d","n":%d}`, i, n), doc.ParseOptions{})
		m.ok(err)
		op.Body = body
	}
	_, err := m.Write(m.Context(), m.c, 0, op)
	return err
}

// values are what the documents have, by their partitions.
func (m *member) values() map[string]int64 {
	m.Helper()
	v, err := m.c.Enter(m.Context(), 0)
	m.ok(err)
	values := map[string]int64{}
	for d, err := range m.Scan(m.Context(), v, access.Access{}) {
		m.ok(err)
		pk, _ := doc.AsString(doc.Lookup(d.Body, "pk"))
		if _, twice := values[pk]; twice {
			m.Errorf("the document of %s comes twice", pk)
		}
		values[string([]byte(pk))] = linearN(d.Body)
	}
	return values
}

// TestSplitIsTakenOver splits a range through one process, which dies at some batch, while another one writes. That one
// finishes the split, and nobody loses anything.
func TestSplitIsTakenOver(t *testing.T) {
	defer store.SplitInSteps(7)()
	for batches := range 14 {
		t.Run(fmt.Sprint("after ", batches), func(t *testing.T) {
			f := newFleet(t)
			a := f.join()
			a.make(definition(expiry.Never))
			b := f.join()
			want := map[string]int64{}
			for i := range 40 {
				f.ok(a.write(store.Create, i, i))
				want[fmt.Sprint("p", i)] = int64(i)
			}
			a.engine.cutAfter(batches+1, batches%2 == 0)
			if _, err := a.Split(t.Context(), a.c, 0, nil); err != nil && fault.KindOf(err) != fault.Undetermined &&
				fault.KindOf(err) != fault.Unavailable {
				t.Fatal(err)
			}
			takeOver := func() { // a's leases have run out
				f.cluster.Move(16 * time.Second)
				b.renew()
				f.ok(b.ResumeBuilds(t.Context()))
			}
			write := func(verb store.Verb, i, n int) {
				if v, err := b.c.Enter(t.Context(), 0); err == nil && v.Splitting != nil && v.Splitting.Sealed {
					takeOver()
				}
				err := b.write(verb, i, n)
				if fault.KindOf(err) == fault.Busy { // a has sealed the range just now, and is dead
					takeOver()
					err = b.write(verb, i, n)
				}
				f.ok(err)
			}
			for i := range 30 {
				if i%10 == 9 {
					takeOver()
				}
				if i%3 == 0 {
					write(store.Delete, i, 0)
					delete(want, fmt.Sprint("p", i))
					continue
				}
				write(store.Upsert, i, 100+i)
				want[fmt.Sprint("p", i)] = int64(100 + i)
			}
			b.find()
			for n := 0; b.c.State().Splitting != nil; n++ {
				f.ok(clock.Pause(t.Context(), time.Millisecond))
				if n%100 == 99 {
					f.cluster.Move(4 * time.Second)
					b.renew()
				}
				f.ok(b.ResumeBuilds(t.Context()))
				if n > 5_000 {
					t.Fatalf("the split %+v has not ended", b.c.State().Splitting)
				}
			}
			a.engine.mend()
			_ = a.ResumeBuilds(t.Context()) // it may tell of its lost connection
			for _, m := range []*member{a, b} {
				if got := m.values(); fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("the documents are %v, want %v", got, want)
				}
				m.consistent()
			}
			f.cluster.Move(16 * time.Second)
			b.renew()
			f.ok(b.Purge(t.Context()))
			b.consistent()
			lower, upper := b.c.KeysOf(0).RangeBounds()
			if split := len(b.c.State().Ranges()) > 1; split && f.countKeys(lower, upper) > 0 {
				t.Error("keys of the range that was split are left")
			}
			f.ok(a.write(store.Create, 99, 99))
			f.ok(b.write(store.Replace, 99, 100))
		})
	}
}

// TestSplitReadsInGroups splits a range of 600 documents. Its steps ask the cluster a few times for each group of them.
func TestSplitReadsInGroups(t *testing.T) {
	const documents = 600
	s := newStreet(t, 1, definition(expiry.Never))
	w := s.worlds[0]
	for i := range documents {
		_, err := w.write(w.put(store.Create, fmt.Sprint("p", i), "a", ""))
		w.ok(err)
	}
	var asked atomic.Int64
	w.through(distant{s.cluster.Process(), &asked})
	asked.Store(0)
	_, err := w.store.Split(t.Context(), w.c, 0, nil)
	w.ok(err)
	for n := 0; w.c.State().Splitting != nil; n++ {
		if n > 10_000 {
			t.Fatal("the split has no end")
		}
		w.ok(w.store.ResumeBuilds(t.Context()))
		w.ok(clock.Pause(t.Context(), time.Millisecond))
	}
	if asked.Load() > documents/2 {
		t.Errorf("the cluster was asked %d times for %d documents", asked.Load(), documents)
	}
	if got := len(strings.Fields(w.scan(access.Access{}))); got != documents {
		t.Errorf("%d documents after the split, want %d", got, documents)
	}
	w.consistent()
}
