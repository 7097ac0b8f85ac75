package store

import "github.com/mayflydb/mayfly/internal/kv"

// A frozen engine reads one snapshot, whatever is written through it.
type frozen struct {
	kv.Engine
	at kv.Snapshot
}

func (f frozen) Get(key []byte, use func([]byte) error) (bool, error) { return f.at.Get(key, use) }

func (f frozen) Iterate(lower, upper []byte) (kv.Iterator, error) { return f.at.Iterate(lower, upper) }

func (f frozen) Snapshot() kv.Snapshot { return lent{f.at} }

// A lent snapshot is its owner's to close.
type lent struct{ kv.Snapshot }

func (lent) Close() error { return nil }
