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

// TestSurvey holds a survey against the usage, and its bound.
func TestSurvey(t *testing.T) {
	w := newWorld(t, definition(10))
	for i := range 50 {
		_, err := w.write(w.put(store.Create, "p", fmt.Sprint("inherits", i), ``))
		w.ok(err)
		_, err = w.write(w.put(store.Create, "p", fmt.Sprint("own", i), `"ttl":5`))
		w.ok(err)
	}
	start := w.now
	for _, c := range []struct {
		name           string
		after          int64
		most           int
		living, stored uint64
		oldest         int64
		bounded        bool
	}{
		{"all alive", 4, 1000, 100, 100, 0, false},
		{"half of them dead", 5, 1000, 50, 100, 5, false},
		{"all dead", 10, 1000, 0, 100, 5, false},
		{"more dead than it may look at", 10, 20, 79, 100, 5, true},
		{"one of each queue", 10, 1, 98, 100, 5, true},
	} {
		w.now = start + c.after
		got, err := w.store.Survey(context.Background(), w.now, c.most)
		w.ok(err)
		oldest := got.Oldest
		if oldest != 0 {
			oldest -= start
		}
		if got.Documents != c.living || got.Stored != c.stored || oldest != c.oldest || got.Bounded != c.bounded ||
			got.Containers != 1 || got.Databases != 1 {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// TestSurveyByDate does so where dates end documents, which a survey does not read.
func TestSurveyByDate(t *testing.T) {
	for _, c := range []struct {
		name       string
		descending bool
		dates      func(ends int64) any
	}{
		{"a date each", false, func(ends int64) any { return time.Unix(ends, 0) }},
		{"latest first", true, func(ends int64) any { return time.Unix(ends, 0) }},
		{"two dates each", false, func(ends int64) any { return bson.A{time.Unix(ends, 0), time.Unix(ends+1, 0)} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, w := context.Background(), newDatedWorld(t)
			_, err := w.catalog.ReplaceIndexes(ctx, w.now, w.c, func(*catalog.State) ([]catalog.NamedIndex, error) {
				return []catalog.NamedIndex{{Name: "at",
						Columns: []catalog.NamedColumn{{Path: "at", Descending: c.descending}}, Expires: true,
						Seconds: 1}},
					nil
			})
			w.ok(err)
			w.ok(w.buildNamed())
			for i := range 30 {
				body, err := bson.Marshal(bson.D{{Key: "_id", Value: i},
					{Key: "at", Value: c.dates(w.now + int64(i/10))}})
				w.ok(err)
				_, err = w.write(store.Op{Verb: store.Create, Key: store.Identity(doc.Int(int64(i))), Lenient: true,
					Body: body})
				w.ok(err)
			}
			start := w.now
			for after := range int64(5) {
				w.now = start + after
				v, err := w.c.Enter(ctx, w.now)
				w.ok(err)
				want, err := w.store.Usage(ctx, v)
				w.ok(err)
				got, err := w.store.Survey(ctx, w.now, 1000)
				w.ok(err)
				if got.Usage != want {
					t.Errorf("after %d s the survey finds %+v, the usage is %+v", after, got.Usage, want)
				}
				waiting, err := w.store.Waiting(ctx, w.c, w.now)
				w.ok(err)
				if waiting != (want.Oldest != 0) {
					t.Errorf("after %d s somebody waits: %v", after, waiting)
				}
			}
			for done := (store.Reclaimed{More: true}); done.More; {
				done, err = w.store.Reclaim(ctx, w.c, w.now, 1000)
				w.ok(err)
			}
			if waiting, err := w.store.Waiting(ctx, w.c, w.now); err != nil || waiting {
				t.Errorf("somebody waits when all are reclaimed: %v %v", waiting, err)
			}
		})
	}
}
