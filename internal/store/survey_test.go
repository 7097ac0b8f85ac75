package store_test

import (
	"context"
	"fmt"
	"testing"

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
		if got.Documents != c.living || got.Stored != c.stored || oldest != c.oldest || got.Bounded != c.bounded || got.Containers != 1 || got.Databases != 1 {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}
