package transfer

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// partEnd is the end of the name of a file that is not complete.
const partEnd = ".mayfly-part"

// A replacement is a file that takes the place of another one when it is complete. Until then that one stays as it is,
// and what is written goes to a file beside it.
type replacement struct {
	*os.File
	target string
	part   string      // empty for a device, a pipe, or what a process has open: they are written as they are
	mode   fs.FileMode // of the file that was there, 0 for none
}

// replace opens the replacement of a file. If it goes on, it has what an interrupted one has written, and nobody else
// may write it at the same time; else it has a name of its own.
func replace(path string, goesOn bool) (*replacement, error) {
	target, open, err := lead(path)
	if err != nil {
		return nil, err
	}
	r := &replacement{target: target}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist): // it is made, where links lead if there are any
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, &fs.PathError{Op: "write", Path: path, Err: errors.New("is a folder, not a file")}
	case open: // behind what is written there: the name may lead to a file that others write, too
		r.File, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		return r, err
	case !info.Mode().IsRegular():
		r.File, err = os.OpenFile(path, os.O_WRONLY, 0)
		return r, err
	default:
		r.mode = info.Mode().Perm()
		if r.target, err = filepath.EvalSymlinks(path); err != nil { // the link stays
			return nil, err
		}
		if err := mayWrite(r.target); err != nil {
			return nil, err
		}
	}
	if !goesOn {
		folder, name := filepath.Split(Beside(r.target, ".*"+partEnd))
		if folder == "" {
			folder = "." // else it would be that of temporary files
		}
		if r.File, err = os.CreateTemp(folder, name); err != nil {
			return nil, err
		}
		r.part = r.Name()
		return r, nil
	}
	r.part = Beside(r.target, partEnd)
	if r.File, err = openAlone(r.part); err != nil {
		return nil, fmt.Errorf("to write %s: %w", path, err)
	}
	return r, nil
}

// errTaken is the error for a part that another process, or another export of this one, writes.
var errTaken = errors.New("another export is writing to this file")

// mayWrite reports whether a file may be written: one that may not is not replaced.
func mayWrite(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

// An unplacedError says that a file is complete, and could not take its place.
type unplacedError struct {
	error
	part string
}

func (u *unplacedError) Unwrap() error { return u.error }

func (u *unplacedError) Error() string {
	return fmt.Sprintf("%v: what was written is complete, in %s", u.error, u.part)
}

// commit makes what was written durable, and puts it in its place. If it cannot have that place it stays, see
// unplacedError.
func (r *replacement) commit() error {
	if r.part == "" {
		return r.Close()
	}
	if err := errors.Join(r.Chmod(cmp.Or(r.mode, 0o600)), r.Sync()); err != nil {
		return errors.Join(err, r.drop())
	}
	err := r.release(func() error { return os.Rename(r.part, r.target) })
	if err != nil {
		return &unplacedError{err, r.part}
	}
	return syncFolder(filepath.Dir(r.target))
}

// keep leaves what was written for another run to go on with.
func (r *replacement) keep() error { return r.Close() }

// drop removes what was written.
func (r *replacement) drop() error {
	if r.part == "" {
		return r.Close()
	}
	return r.release(func() error { return os.Remove(r.part) })
}

// release closes the part, and changes its name. Others may have it when it is closed, so that comes last, except on
// Windows, which does not change the name of a file that is open.
func (r *replacement) release(change func() error) error {
	if runtime.GOOS == "windows" {
		return errors.Join(r.Close(), change())
	}
	return errors.Join(change(), r.Close())
}

// Replace writes a file anew. The file that is there stays as it is until write has succeeded and everything is on the
// disk.
func Replace(path string, write func(io.Writer) error) error {
	r, err := replace(path, false)
	if err != nil {
		return err
	}
	if err := write(r); err != nil {
		return errors.Join(err, r.drop())
	}
	return r.commit()
}

// syncFolder makes the names in a folder durable. Windows does that by itself, some file systems cannot, and a folder
// may let nobody read it.
func syncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(path)
	if err == nil {
		err = errors.Join(f.Sync(), f.Close())
	}
	if err == nil || errors.Is(err, syscall.EINVAL) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return fmt.Errorf("sync the folder: %w", err)
}
