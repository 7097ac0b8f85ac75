package transfer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
)

// descriptor matches names of what a process has open. They look like links to files, and are none: who replaces the
// file leaves the process with the old one.
// https://man7.org/linux/man-pages/man5/proc_pid_fd.5.html
var descriptor = regexp.MustCompile(`^(/dev/fd|/proc/[^/]+(/task/[^/]+)?/fd)/[0-9]+$`)

// ownOutput matches the names of the standard output among them.
var ownOutput = regexp.MustCompile(`^(/dev|/proc/(self|thread-self))/fd/1$`)

// followedLinks is how many links a path may lead through, as on Linux.
const followedLinks = 40

// lead follows the links of a path to the place where a file is or would be made. It stops at what a process has open.
func lead(path string) (at string, open bool, err error) {
	at = path
	for range followedLinks {
		absolute, err := filepath.Abs(at)
		if err != nil {
			return "", false, err
		}
		if descriptor.MatchString(absolute) {
			return absolute, true, nil
		}
		info, err := os.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode()&fs.ModeSymlink == 0 {
			return at, false, nil
		}
		if err != nil {
			return "", false, err
		}
		to, err := os.Readlink(at)
		if err != nil {
			return "", false, err
		}
		if !filepath.IsAbs(to) {
			folder, _ := filepath.Split(at)
			to = folder + to // not cleaned: a folder before .. may be a link
		}
		at = to
	}
	return "", false, &fs.PathError{Op: "open", Path: path, Err: syscall.ELOOP}
}

// IsOutput reports whether a path leads to the standard output of this process.
func IsOutput(path string) bool {
	at, open, err := lead(path)
	return err == nil && open && ownOutput.MatchString(at)
}
