package reaper_test

import (
	"errors"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/store"
)

// TestLogIsTrimmed lets the log grow old.
func TestLogIsTrimmed(t *testing.T) {
	y := newYard(t, nil)
	y.ok(y.store.KeepLog(ctx, y.now(), store.LogOptions{Retention: 300}))
	var entries func() int
	entries = func() (n int) {
		oldest, err := y.store.LogOldest(ctx)
		y.ok(err)
		for _, err := range y.store.Log(ctx, oldest) {
			if errors.Is(err, store.ErrLogTrimmed) { // since oldest was read
				return entries()
			}
			y.ok(err)
			n++
		}
		return n
	}
	y.Start()
	for range 10 {
		y.ok(y.store.AppendLog(ctx, store.LogEntry{Kind: "create", Wall: 1000 * y.now()}))
		y.ok(y.clock.Advance(50 * time.Second))
	}
	y.until("the old half to go", func() bool { return entries() <= 7 })
	if n := entries(); n < 6 {
		t.Errorf("%d entries are left", n)
	}
	y.ok(y.clock.Advance(time.Hour))
	y.until("the rest to go", func() bool { return entries() == 0 })
}
