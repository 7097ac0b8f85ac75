package store

import (
	"context"
	"sync/atomic"

	"github.com/mayflydb/mayfly/internal/kv"
)

// A SyncGroup is writes that one client waits for together. Each is visible when its call returns, and durable when
// Sync returns, so that they share a sync of the disk. It is safe for concurrent use. A nil one has no effect: where an
// engine cannot make earlier batches durable, each write waits for the disk.
type SyncGroup struct {
	s       *shared
	engine  kv.Syncer
	pending atomic.Bool // something was written that was not durable at once
}

// maxUnsynced is how many documents groups may have written before one of their writes waits for the disk. What is
// visible and not durable stays far below the sequences that are left out after a crash (catalog.Open).
const maxUnsynced = 500

type syncGroupKey struct{}

// NewSyncGroup begins a group.
func (s *Store) NewSyncGroup() *SyncGroup {
	engine, ok := s.engine.(kv.Syncer)
	if !ok {
		return nil
	}
	return &SyncGroup{s: s.shared, engine: engine}
}

// With returns a context for Write and WriteAll, whose writes belong to the group.
func (g *SyncGroup) With(ctx context.Context) context.Context {
	if g == nil {
		return ctx
	}
	return context.WithValue(ctx, syncGroupKey{}, g)
}

// Sync makes what the group has written durable. It does not end with ctx, because what is visible must not stay
// without a sync.
func (g *SyncGroup) Sync(ctx context.Context) error {
	if g == nil || !g.pending.Swap(false) {
		return nil
	}
	return g.s.sync(ctx, g.engine)
}

func (s *shared) sync(ctx context.Context, engine kv.Syncer) error {
	s.unsynced.Store(0)
	return engine.Sync(context.WithoutCancel(ctx))
}

// waitsForDisk reports whether a batch that writes so many documents is durable when it is applied. The others belong
// to a group. They are counted before they are visible, and the count begins again before a batch that waits.
func (s *shared) waitsForDisk(ctx context.Context, documents int) bool {
	g, _ := ctx.Value(syncGroupKey{}).(*SyncGroup)
	if g != nil && s.unsynced.Add(int64(documents)) <= maxUnsynced {
		g.pending.Store(true)
		return false
	}
	if s.unsynced.Load() != 0 {
		s.unsynced.Store(0)
	}
	return true
}

// syncLog makes what a reader of the log has in its snapshot durable, if a group has written some of it: a crash must
// not undo what the reader tells of.
func (s *Store) syncLog(ctx context.Context) error {
	engine, ok := s.engine.(kv.Syncer)
	if !ok || s.unsynced.Load() == 0 {
		return nil
	}
	return s.sync(ctx, engine)
}
