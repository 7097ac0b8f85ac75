package transfer

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// sharingViolation is the error for a file that another one has open and does not share.
// https://learn.microsoft.com/windows/win32/debug/system-error-codes--0-499-
const sharingViolation = syscall.Errno(32)

// openAlone opens a file to write, and makes it if it is not there; errTaken if somebody else has it open. That lasts
// until the file is closed.
func openAlone(path string) (*os.File, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	handle, err := syscall.CreateFile(name, syscall.GENERIC_WRITE, 0, nil, syscall.OPEN_ALWAYS,
		syscall.FILE_ATTRIBUTE_NORMAL, 0)
	switch {
	case errors.Is(err, sharingViolation):
		return nil, errTaken
	case err != nil:
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(handle), path), nil
}
