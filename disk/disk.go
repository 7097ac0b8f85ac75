// Package disk has the options of package mayfly for databases that outlive their process:
//
//	db, err := mayfly.Open(ctx, disk.Dir("data"))
//
// It is a package of its own so that programs and tests that keep everything in memory do not need the storage engine
// for disks and its modules.
package disk

import (
	"cmp"
	"context"

	"github.com/mayflydb/mayfly"
	"github.com/mayflydb/mayfly/internal/embedded"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/pebble"
	"github.com/mayflydb/mayfly/internal/node"
)

// Dir keeps the data in a folder instead of in memory. The folder is created if absent, and locked against other
// processes.
func Dir(path string) mayfly.Option {
	return func(s *embedded.Settings) { s.Node.Dir, s.OpenEngine = path, open }
}

// NoSync acknowledges writes before they are durable: a crash of the machine
// may undo the newest ones. In memory it changes nothing.
func NoSync() mayfly.Option {
	return func(s *embedded.Settings) { s.NoSync = true }
}

func open(ctx context.Context, s embedded.Settings, dir string) (kv.Engine, error) {
	if dir == "" {
		if err := node.CheckEngineDir(s.Node.Dir); err != nil {
			return nil, err
		}
	}
	engine, err := pebble.OpenContext(ctx, pebble.Options{
		Dir: cmp.Or(dir, node.EngineDir(s.Node.Dir)), NoSync: s.NoSync, Reserve: pebble.DefaultReserve,
		Logger: s.Node.Logger,
	})
	if err != nil {
		return nil, err // not an engine that is nil
	}
	return engine, nil
}
