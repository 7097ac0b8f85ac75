package main

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/pebble"
	"github.com/mayflydb/mayfly/internal/node"
)

// TestServeEndsWithItsDisk lets the log of a running node fail: it is given up, with an exit code for
// its supervisor.
func TestServeEndsWithItsDisk(t *testing.T) {
	broken := &errorfs.Toggle{Injector: errorfs.InjectorFunc(func(op errorfs.Op) error {
		if strings.HasSuffix(op.Path, ".log") && op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			return errorfs.ErrInjected
		}
		return nil
	})}
	engine, err := pebble.Open(pebble.Options{FS: errorfs.Wrap(vfs.NewMem(), broken)})
	if err != nil {
		t.Fatal(err)
	}
	n, err := node.Start(t.Context(), node.Options{Engine: engine, NoSQL: "127.0.0.1:0", TLS: node.TLS{Off: true}})
	if err != nil {
		t.Fatal(err)
	}
	broken.On()
	var b kv.Batch
	b.Set([]byte("a"), nil)
	if err := engine.Apply(t.Context(), &b); fault.KindOf(err) != fault.Undetermined {
		t.Errorf("a write: %v", err)
	}
	err = await(t.Context(), n, slog.New(slog.DiscardHandler))
	if _, ok := errors.AsType[failure](err); !ok || !strings.Contains(err.Error(), "Restart mayfly") {
		t.Errorf("it ends with %v", err)
	}
}
