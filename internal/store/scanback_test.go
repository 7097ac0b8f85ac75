package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/store"
)

// TestPagesFromTheEnd walks from the newest document to the oldest in pages, past dead and deleted ones. What is
// created meanwhile is before the first page.
func TestPagesFromTheEnd(t *testing.T) {
	w := newWorld(t, definition(expiry.Never))
	for i := range 20 {
		_, err := w.write(w.put(store.Create, "p", fmt.Sprint(i), []string{"", `"ttl":10`, ""}[i%3]))
		w.ok(err)
	}
	for _, id := range []string{"0", "12", "18"} {
		_, err := w.write(store.Op{Verb: store.Delete, Key: key("p", id)})
		w.ok(err)
	}
	late := 0
	for _, want := range []string{"19 17 16 15 14 13 11 10 9 8 7 6 5 4 3 2 1", "17 15 14 11 9 8 6 5 3 2"} {
		for _, page := range []int{1, 2, 5, 17, 100} {
			var got []string
			a := access.Access{Reverse: true}
			for {
				rows := w.rows(a, page)
				for _, r := range rows {
					if !strings.HasPrefix(r.id, "late") {
						got = append(got, r.id)
					}
				}
				if len(rows) < page {
					break
				}
				a.After = rows[len(rows)-1].Position
				late++
				_, err := w.write(w.put(store.Create, "p", fmt.Sprint("late", late), ""))
				w.ok(err)
			}
			if !slices.Equal(got, strings.Fields(want)) {
				t.Errorf("%d at a time: %v, want %s", page, got, want)
			}
		}
		w.now += 20
	}
}
