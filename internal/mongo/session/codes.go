package session

import (
	"context"
	"errors"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/store"
)

// CodeOf is any error as MongoDB's.
func CodeOf(err error) *code.Error {
	if e, ok := errors.AsType[*code.Error](err); ok {
		return e
	}
	return Translate(err)
}

// ErrHangUp ends the connection without an answer: what a fail point asks for.
var ErrHangUp = errors.New("hang up")

// codes is the only place that knows which of MongoDB's codes a fault becomes.
var codes = map[fault.Kind]code.Code{
	fault.Internal:          code.InternalError,
	fault.Invalid:           code.BadValue,
	fault.NotFound:          code.NamespaceNotFound,
	fault.OwnerNotFound:     code.NamespaceNotFound,
	fault.Exists:            code.DuplicateKey,
	fault.Precondition:      code.WriteConflict,
	fault.NotModified:       code.InternalError,
	fault.PartitionMismatch: code.BadValue,
	fault.PatchCondition:    code.WriteConflict,
	fault.TooLarge:          code.BSONObjectTooLarge,
	fault.Conflict:          code.WriteConflict,
	fault.Unauthorized:      code.AuthenticationFailed,
	fault.Forbidden:         code.Unauthorized,
	fault.MethodNotAllowed:  code.CommandNotSupported,
	fault.Unsupported:       code.CommandNotSupported,
	fault.Timeout:           code.MaxTimeMSExpired,
	fault.Unavailable:       code.ShutdownInProgress,
	fault.Corrupt:           code.InternalError,
	fault.OutOfSpace:        code.OutOfDiskSpace,
	fault.Busy:              code.ExceededTimeLimit, // see busyLabels
	fault.Undetermined:      code.WriteConcernTimeout,
}

// Translate makes MongoDB's error of one that the packages below gave.
func Translate(err error) *code.Error {
	switch {
	case fault.KindOf(err) == fault.Undetermined: // whatever ended it
	case errors.Is(err, context.DeadlineExceeded):
		return code.New(code.MaxTimeMSExpired, "operation exceeded time limit")
	case errors.Is(err, context.Canceled):
		return code.New(code.Interrupted, "operation was interrupted")
	case errors.Is(err, store.ErrParallelArrays):
		e := code.New(code.CannotIndexParallelArrays, "cannot index parallel arrays")
		e.Cause = err
		return e
	}
	if missing, ok := errors.AsType[*store.NoID](err); ok {
		err = fault.Wrap(fault.Invalid, err, "The document has no %s.", missing.Member)
	}
	if ambiguous, ok := errors.AsType[*store.AmbiguousPath](err); ok {
		err = fault.Wrap(fault.Invalid, err, "Ambiguous field name found in array (do not use numeric field names in "+
			"embedded elements in an array), field: '%s'", ambiguous.Step)
	}
	kind := fault.KindOf(err)
	e := code.New(codes[kind], "%s", fault.Message(err))
	e.Cause = err
	if e.Message == "" {
		e.Message = "An internal error occurred. See the log of the server."
	}
	if e.Code == code.WriteConflict {
		e.Message = "Caused by :: Write conflict during plan execution and yielding is disabled. :: " +
			"Please retry your operation or multi-document transaction."
	}
	return e
}

// Busy reports whether an error says that the server has no memory or no time left for the operation.
func Busy(err error) bool { return isKind(err, fault.Busy) }

// Undetermined reports whether an error says that a write may or may not have happened.
func Undetermined(err error) bool { return isKind(err, fault.Undetermined) }

func isKind(err error, kind fault.Kind) bool {
	e := code.Of(err)
	return e != nil && fault.KindOf(e.Cause) == kind || fault.KindOf(err) == kind
}
