package store_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/mayflydb/mayfly/internal/store"
)

// TestReclaimStepIsBounded looks through documents whose lifetime counts from a property. Few of them are dead, and no
// step takes on more than a few times as many documents as it may free.
func TestReclaimStepIsBounded(t *testing.T) {
	const documents, limit = 400, 10
	def := definition(10)
	def.TTLProperty = "/born"
	w := newWorld(t, def)
	for i := range documents {
		born := w.now
		if i%100 == 99 {
			born -= 100
		}
		_, err := w.write(w.put(store.Create, "p", fmt.Sprint("d", i), fmt.Sprintf(`"born":%d`, born)))
		w.ok(err)
	}
	freed, steps := uint64(0), 0
	for done := (store.Reclaimed{More: true}); done.More && steps <= documents; steps++ {
		var err error
		done, err = w.store.Reclaim(context.Background(), w.c, w.now, limit)
		w.ok(err)
		freed += done.Documents
	}
	if freed != documents/100 {
		t.Errorf("%d documents are freed, want %d", freed, documents/100)
	}
	if want := documents / (4 * limit); steps < want || steps > want+1 {
		t.Errorf("%d steps, want about %d", steps, want)
	}
}
