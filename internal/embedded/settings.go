// Package embedded is what the packages that start a database inside a program share: what their
// options change. It keeps the engine on disk, and all that this needs, out of programs and tests
// that have no use for it.
package embedded

import (
	"context"

	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/node"
)

// Settings say how a database starts.
type Settings struct {
	Node   node.Options
	NoSync bool // acknowledge writes before they are durable

	// OpenEngine opens the engine on disk; if nil, everything stays in memory.
	// It opens the one in dir, or in the folder of Node.Dir if dir is empty.
	OpenEngine func(ctx context.Context, s Settings, dir string) (kv.Engine, error)
}
