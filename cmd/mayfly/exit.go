package main

import (
	"errors"

	"github.com/mayflydb/mayfly/internal/remote"
	"github.com/mayflydb/mayfly/internal/terminal"
)

// Exit codes. docs/command-line.md lists them for scripts.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2 // the arguments or the settings are wrong; nothing was done
	exitUnreachable = 3 // no server answers
	exitRefused     = 4 // the server does not allow it, or nobody confirmed it
	exitNotFound    = 5 // what the arguments name does not exist
)

// A failure is an error of the work itself. All other errors are errors of usage.
type failure struct{ error }

func (f failure) Unwrap() error { return f.error }

// A coded error is a failure with an exit code of its own.
type coded struct {
	error
	code int
}

func (c coded) Unwrap() error { return c.error }

// exitCode is what a script may know of an error.
func exitCode(err error) int {
	if own, ok := errors.AsType[coded](err); ok {
		return own.code
	}
	if _, ok := errors.AsType[*remote.Unreachable](err); ok {
		return exitUnreachable
	}
	if _, ok := errors.AsType[failure](err); !ok {
		return exitUsage
	}
	switch {
	case remote.Refused(err), errors.Is(err, terminal.ErrNoTerminal), errors.Is(err, terminal.ErrDeclined):
		return exitRefused
	case remote.NotFound(err):
		return exitNotFound
	}
	return exitFailed
}
