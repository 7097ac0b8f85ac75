package write

import (
	"errors"
	"sync"
	"testing"

	"github.com/mayflydb/mayfly/internal/store"
)

// Who has left asks for the outcome while the command still runs.
func TestGuardIsAskedWhileItsCommandRuns(t *testing.T) {
	g := &Guard{IfMatch: store.AnyVersion}
	var work sync.WaitGroup
	work.Go(func() { g.end(make([]store.Result, 1), nil) })
	g.Ended()
	work.Wait()
	if end := g.Ended(); !end.Done || end.Refused {
		t.Errorf("%+v", end)
	}
	for verb, want := range map[store.Verb]bool{store.Create: true, store.Upsert: true, store.Replace: false} {
		err := g.begin([]store.Op{{Verb: verb}})
		g.end(nil, err)
		if errors.Is(err, store.ErrPrecondition) != want || g.Ended().Refused != want {
			t.Errorf("%v: %v, %+v", verb, err, g.Ended())
		}
	}
}
