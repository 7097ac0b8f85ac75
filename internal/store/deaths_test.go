package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/store"
)

// deaths counts on, in steps of most entries.
func (w *world) deaths(t *store.DeathCursor, most int) (total uint64) {
	w.t.Helper()
	for more := true; more; {
		var n uint64
		var err error
		n, more, err = w.store.Deaths(context.Background(), w.c, w.now, t, most)
		w.ok(err)
		total += n
	}
	return total
}

// TestDeaths counts the dead of both queues, each once, in steps of any size and beside a reaper.
func TestDeaths(t *testing.T) {
	for _, most := range []int{1, 7, 1000} {
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			w := newWorld(t, definition(10))
			for i := range 30 {
				_, err := w.write(w.put(store.Create, "p", fmt.Sprint("inherits", i), ``))
				w.ok(err)
				_, err = w.write(w.put(store.Create, "p", fmt.Sprint("own", i), fmt.Sprintf(`"ttl":%d`, 5+i%2)))
				w.ok(err)
			}
			var toll store.DeathCursor
			start := w.now
			for _, c := range []struct {
				name          string
				after         int64
				reclaim, want int
			}{
				{"all alive", 4, 0, 0},
				{"a quarter", 5, 0, 15},
				{"the same moment", 5, 0, 0},
				{"another quarter, beside a reaper", 6, 20, 15},
				{"the rest", 10, 0, 30},
				{"nothing is left", 11, 1000, 0},
			} {
				w.now = start + c.after
				if got := w.deaths(&toll, most); got != uint64(c.want) {
					t.Errorf("%s: %d have died, want %d", c.name, got, c.want)
				}
				if c.reclaim > 0 {
					_, err := w.store.Reclaim(context.Background(), w.c, w.now, c.reclaim)
					w.ok(err)
				}
			}
		})
	}
}

// TestDeathsByDate does the same where dates in an index end documents.
func TestDeathsByDate(t *testing.T) {
	for _, descending := range []bool{false, true} {
		for _, most := range []int{1, 7, 1000} {
			t.Run(fmt.Sprint(most, descending), func(t *testing.T) {
				w := newDatedWorld(t)
				_, err := w.catalog.ReplaceIndexes(context.Background(), w.now, w.c,
					func(*catalog.State) ([]catalog.NamedIndex, error) {
						return []catalog.NamedIndex{{Name: "at",
							Columns: []catalog.NamedColumn{{Path: "at", Descending: descending}}, Expires: true,
							Seconds: 1}}, nil
					})
				w.ok(err)
				w.ok(w.buildNamed())
				for i := range 30 {
					body, err := bson.Marshal(bson.D{{Key: "_id", Value: i},
						{Key: "at", Value: time.Unix(w.now+int64(i/10), 0)}})
					w.ok(err)
					_, err = w.write(store.Op{Verb: store.Create, Key: store.Identity(doc.Int(int64(i))), Lenient: true,
						Body: body})
					w.ok(err)
				}
				var toll store.DeathCursor
				start, total := w.now, uint64(0)
				for after, want := range []uint64{0, 10, 10, 10, 0} {
					w.now = start + int64(after)
					got := w.deaths(&toll, most)
					if total += got; got != want {
						t.Errorf("after %d s %d have died, want %d", after, got, want)
					}
				}
				// Steps of three, while a document with a date of long ago comes in: it goes with a later pass.
				done, freed := store.Reclaimed{More: true}, uint64(0)
				for step := 0; done.More; step++ {
					done, err = w.store.Reclaim(context.Background(), w.c, w.now, 3)
					w.ok(err)
					if freed += done.Documents; step == 2 {
						body, err := bson.Marshal(bson.D{{Key: "_id", Value: 100}, {Key: "at", Value: time.Unix(1, 0)}})
						w.ok(err)
						_, err = w.write(store.Op{Verb: store.Create, Key: store.Identity(doc.Int(100)), Lenient: true,
							Body: body})
						w.ok(err)
					}
				}
				again, err := w.store.Reclaim(context.Background(), w.c, w.now, 1000)
				w.ok(err)
				if freed+again.Documents != total+1 {
					t.Errorf("%d and then %d of %d documents are freed", freed, again.Documents, total+1)
				}
			})
		}
	}
}
