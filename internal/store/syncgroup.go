package store

import (
	"context"
	"sync/atomic"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
)

// A SyncGroup is writes that one client waits for together. Each is visible when its call returns, and durable when
// Sync returns, so that they share a sync of the disk. It is safe for concurrent use. A nil one has no effect: where an
// engine cannot make earlier batches durable, each write waits for the disk.
type SyncGroup struct {
	engine kv.Syncer
	rests  atomic.Bool // what its writes have told rests on what may not be durable
}

// A batch of a group waits for the disk, and with it all batches before, while maxUnsynced batches are not durable, or
// if it has more than maxShared sequences. So groups leave far fewer sequences that a crash may undo than are left out
// after it (catalog.Open).
const (
	maxUnsynced = 200
	maxShared   = 10
)

type syncGroupKey struct{}

// NewSyncGroup begins a group.
func (s *Store) NewSyncGroup() *SyncGroup {
	engine, ok := s.engine.(kv.Syncer)
	if !ok {
		return nil
	}
	return &SyncGroup{engine: engine}
}

// With returns a context for Write and WriteAll, whose writes belong to the group.
func (g *SyncGroup) With(ctx context.Context) context.Context {
	if g == nil {
		return ctx
	}
	return context.WithValue(ctx, syncGroupKey{}, g)
}

// groupOf is the group of a write, nil for none.
func groupOf(ctx context.Context) *SyncGroup {
	g, _ := ctx.Value(syncGroupKey{}).(*SyncGroup)
	return g
}

// defers reports whether a batch with so many sequences does not wait for the disk.
func (g *SyncGroup) defers(sequences int) bool {
	return g != nil && sequences <= maxShared && g.engine.Unsynced() < maxUnsynced
}

// Sync makes durable what the answer to the client rests on. It does not end with ctx, since a client that has gone may
// ask again. Its error is fault.Undetermined.
func (g *SyncGroup) Sync(ctx context.Context) error {
	if g == nil || !g.rests.Load() {
		return nil
	}
	err := g.engine.Sync(context.WithoutCancel(ctx))
	if err != nil && fault.KindOf(err) != fault.Undetermined { // the engine had failed before
		err = fault.Wrap(fault.Undetermined, err, "The disk failed before these writes were durable. "+
			"They may or may not be stored: read before you write again.")
	}
	return err
}

// SyncSeen makes durable what is visible: for readers of changes, since others act on what they are told, and for
// requests that have nothing to write because of what others have written.
func (s *Store) SyncSeen(ctx context.Context) error {
	if engine, ok := s.engine.(kv.Syncer); ok {
		return engine.Sync(ctx)
	}
	return nil
}

// SyncRead is SyncSeen for those who have written nothing themselves: if the disk fails, that is fault.Unavailable.
func (s *Store) SyncRead(ctx context.Context) error {
	err := s.SyncSeen(ctx)
	if fault.KindOf(err) == fault.Undetermined {
		err = fault.Wrap(fault.Unavailable, err, "The disk failed before what was read was durable. "+
			"It may not be stored: read again when the disk works.")
	}
	return err
}
