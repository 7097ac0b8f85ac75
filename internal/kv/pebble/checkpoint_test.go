package pebble

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/kvtest"
)

func TestCheckpoint(t *testing.T) {
	for name, o := range map[string]Options{
		"ordinary": {}, "small memtables, values apart": {MemTableBytes: 64 << 10, SeparateValues: 500},
		"no sync": {NoSync: true},
	} {
		t.Run(name, func(t *testing.T) {
			kvtest.Copy(t, func(t *testing.T) kv.Engine {
				o.Dir = filepath.Join(t.TempDir(), "db")
				return start(t, o)
			}, func(t *testing.T, e kv.Engine) kv.Engine {
				o.Dir = filepath.Join(t.TempDir(), "copy")
				if err := e.(kv.Checkpointer).Checkpoint(t.Context(), o.Dir); err != nil {
					t.Fatal(err)
				}
				return start(t, o)
			})
		})
	}
}

// What can go wrong with a checkpoint leaves the engine as it was, and no folder.
func TestCheckpointThatFails(t *testing.T) {
	memory := start(t, Options{})
	defer stop(t, memory)
	if err := memory.Checkpoint(t.Context(), "copy"); fault.KindOf(err) != fault.Unsupported {
		t.Errorf("in memory: %v", err)
	}

	var full atomic.Bool // read by the engine's goroutines, too
	fs := errorfs.Wrap(vfs.Default, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if full.Load() && strings.Contains(op.Path, "copy") && op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			return syscall.ENOSPC
		}
		return nil
	}))
	root := t.TempDir()
	e := start(t, Options{Dir: filepath.Join(root, "db"), FS: fs})
	defer stop(t, e)
	set(t, e, "a", "1")
	if err := os.Mkdir(filepath.Join(root, "taken"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := e.Checkpoint(t.Context(), filepath.Join(root, "taken")); err == nil {
		t.Error("a folder that exists was accepted")
	}
	full.Store(true)
	dir := filepath.Join(root, "copy")
	if err := e.Checkpoint(t.Context(), dir); fault.KindOf(err) != fault.OutOfSpace {
		t.Errorf("on a full disk: %v", err)
	}
	full.Store(false)
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder of a failed checkpoint: %v", err)
	}
	set(t, e, "a", "2") // the engine has not failed
	if err := e.Checkpoint(t.Context(), dir); err != nil {
		t.Error(err)
	}
}
