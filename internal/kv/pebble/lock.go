package pebble

import (
	"io"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Lock locks a folder that exists, as an engine that is opened there does, until the result is closed or the process
// ends. It leaves a small file in the folder. It fails with fault.Unavailable if somebody else has the lock.
func Lock(dir string) (io.Closer, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	lock, err := pebble.LockDirectory(dir, vfs.Default)
	if err != nil {
		return nil, lockFault(err, dir)
	}
	return lock, nil
}
