package store

import (
	"context"

	"github.com/mayflydb/mayfly/internal/kv"
)

// A snapshotEngine engine reads one snapshot, whatever is written through it.
type snapshotEngine struct {
	kv.Engine
	at kv.Snapshot
}

func (f snapshotEngine) Get(ctx context.Context, key []byte, use func([]byte) error) (bool, error) {
	return f.at.Get(ctx, key, use)
}

func (f snapshotEngine) Iterate(ctx context.Context, lower, upper []byte) (kv.Iterator, error) {
	return f.at.Iterate(ctx, lower, upper)
}

func (f snapshotEngine) Snapshot(context.Context) (kv.Snapshot, error) {
	return borrowedSnapshot{f.at}, nil
}

// View reads the snapshot. Its mark is of the present, so a batch that rests on it does not notice what has changed
// since the snapshot.
func (f snapshotEngine) View(ctx context.Context) (kv.View, error) {
	v, err := f.Engine.View(ctx)
	v.Reader = f.at
	return v, err
}

// A borrowedSnapshot snapshot is its owner's to close.
type borrowedSnapshot struct{ kv.Snapshot }

func (borrowedSnapshot) Close() error { return nil }
