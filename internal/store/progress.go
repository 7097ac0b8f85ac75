package store

import (
	"context"
	"slices"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/lease"
)

// A buildTurn is the right to build indexes of a container, and where the build goes on. Where one process alone has
// the data, it is nil: a build starts again after a restart, and nobody else takes it over.
type buildTurn struct {
	lease    *lease.Lease
	progress keys.Progress
	key      []byte // of progress
}

// takeTurn gives the turn to build some indexes, from where an earlier holder of it has come. ok is false if another
// process, or another goroutine, has the turn. indexes are called when nobody else can change them.
func (s *Store) takeTurn(
	ctx context.Context, c *catalog.Container, work string, kind byte, indexes func() []uint32,
) (t *buildTurn, ok bool, err error) {
	if !s.catalog.Shared() {
		indexes() // for its effect
		return nil, true, nil
	}
	l, err := s.leases.Take(ctx, leaseOf(work, c))
	if err != nil || l == nil {
		return nil, false, err
	}
	// The catalog may have forgotten that the last holder has finished.
	if err := s.catalog.Refresh(ctx); err != nil {
		return nil, false, err
	}
	t = &buildTurn{lease: l, key: c.KeysOf(0).Building(nil, kind)}
	t.progress.Indexes = indexes()
	_, err = s.engine.Get(ctx, t.key, func(value []byte) error {
		p, err := keys.DecodeProgress(value)
		if err != nil {
			return corrupt(err, "progress of an index build")
		}
		if slices.Equal(p.Indexes, t.progress.Indexes) {
			t.progress = p
		}
		return nil
	})
	return t, err == nil, err
}

// from is the document to go on with, 0 for the first.
func (t *buildTurn) from() uint64 {
	if t == nil {
		return 0
	}
	return t.progress.Next
}

// builds reports whether a named index is one of those that are built. Where one process alone has the data, requests
// take turns by themselves.
func (t *buildTurn) builds(index uint32) bool {
	return t == nil || slices.Contains(t.progress.Indexes, index)
}

// guard makes a step in a range depend on the turn, and keep that it is done.
func (t *buildTurn) guard(ctx context.Context, b *kv.Batch, rng keys.Range, next uint64) error {
	if t == nil {
		return nil
	}
	if next != 0 { // else this was the last step of a range, which may be done again
		t.progress.Range, t.progress.Next = rng.Range, next
	}
	b.Set(t.key, t.progress.Append(nil))
	return t.lease.Guard(ctx, b)
}

// end gives the turn back. ctx may be over.
func (t *buildTurn) end(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.lease.Release(context.WithoutCancel(ctx))
}
