package reaper

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/store"
)

// TestPauseDuringAWait pauses a pass while it waits for its next step.
func TestPauseDuringAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(Options{Rate: 1, Store: new(store.Store), Clock: clock.NewVirtual(time.Unix(0, 0))})
		onward := make(chan bool, 1)
		go func() { onward <- r.paced(step{documents: 100}) }()
		synctest.Wait()
		r.Pause()
		watch := clock.Start()
		if <-onward {
			t.Error("a paused pass takes another step")
		}
		if waited := watch.Elapsed(); waited > 100*time.Second {
			t.Errorf("it waited for %v", waited)
		}
		if r.paced(step{documents: 100}) {
			t.Error("a paused pass begins")
		}
		r.Resume()
		if !r.paced(step{documents: 1}) {
			t.Error("a resumed pass does not go on")
		}
		ended, cancel := context.WithCancel(context.Background())
		go func() {
			defer cancel()
			onward <- r.paced(step{documents: 1_000_000})
		}()
		synctest.Wait()
		watch = clock.Start()
		r.Stop()
		if <-onward || watch.Elapsed() != 0 {
			t.Errorf("a stopped pass goes on, after %v", watch.Elapsed())
		}
		<-ended.Done()
	})
}
