package store_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/store"
)

// BenchmarkWriteBesideStreams writes small documents one by one, durable on disk, alone and in groups of 100, while
// streams read the log.
func BenchmarkWriteBesideStreams(b *testing.B) {
	for _, streams := range []int{0, 1, 10} {
		for _, group := range []int{1, 100} {
			b.Run(fmt.Sprintf("streams=%d/group=%d", streams, group), func(b *testing.B) {
				w := newDisk(b, collection("c", expiry.Never), false)
				w.keepLog()
				ctx, cancel := context.WithCancel(b.Context())
				var running sync.WaitGroup
				for range streams {
					running.Go(func() { w.follow(ctx) })
				}
				var g *store.SyncGroup
				for n := 0; b.Loop(); n++ {
					if group > 1 && n%group == 0 {
						w.ok(g.Sync(ctx))
						g = w.store.NewSyncGroup()
					}
					_, err := w.store.Write(g.With(ctx), w.c, w.now, w.doing(store.Create, fmt.Sprint(n), ""))
					w.ok(err)
				}
				w.ok(g.Sync(ctx))
				cancel()
				running.Wait()
			})
		}
	}
}

// follow reads the log as it grows.
func (w *world) follow(ctx context.Context) {
	last, err := w.store.LogNewest(ctx)
	for err == nil {
		grown := w.store.LogChanged()
		for e, failed := range w.store.Log(ctx, last) {
			if err = failed; err != nil {
				return
			}
			last = e.Time
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return
		}
	}
}
