package store

import "github.com/mayflydb/mayfly/internal/kv"

// A snapshotEngine engine reads one snapshot, whatever is written through it.
type snapshotEngine struct {
	kv.Engine
	at kv.Snapshot
}

func (f snapshotEngine) Get(key []byte, use func([]byte) error) (bool, error) {
	return f.at.Get(key, use)
}

func (f snapshotEngine) Iterate(lower, upper []byte) (kv.Iterator, error) {
	return f.at.Iterate(lower, upper)
}

func (f snapshotEngine) Snapshot() kv.Snapshot { return borrowedSnapshot{f.at} }

// A borrowedSnapshot snapshot is its owner's to close.
type borrowedSnapshot struct{ kv.Snapshot }

func (borrowedSnapshot) Close() error { return nil }
