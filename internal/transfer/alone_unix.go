//go:build !windows

package transfer

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// openAlone opens a file to write, and makes it if it is not there; errTaken if somebody else has it open in this way.
// That lasts until the file is closed.
func openAlone(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, errors.Join(errTaken, f.Close())
	}
	// Other errors are those of file systems that have no locks.
	mine, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if now, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(mine, now) {
		return nil, errors.Join(errTaken, f.Close()) // it has just got its place
	}
	return f, nil
}
