package tikv

import (
	"context"
	"errors"

	tikverr "github.com/tikv/client-go/v2/error"

	"github.com/mayflydb/mayfly/internal/fault"
)

// unavailable is the error of a call that the cluster did not answer. If that is because ctx has ended, its error is
// among the causes.
func unavailable(ctx context.Context, err error, message string) error {
	if ended := ctx.Err(); ended != nil && !errors.Is(err, ended) {
		err = errors.Join(ended, err)
	}
	return fault.Wrap(fault.Unavailable, err, "%s", message)
}

// ofCall is the error of a call for its caller, whose context is ctx. If the call's own time is over, and not that of
// ctx, no error of a context is among the causes: the APIs would take it for the end of the request, which is not over.
func ofCall(ctx context.Context, err error) error {
	over := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
	f, ok := errors.AsType[*fault.Error](err)
	if !over || !ok || f.Cause == nil || ctx.Err() != nil {
		return err
	}
	return fault.Wrap(f.Kind, errors.New(f.Cause.Error()), "%s", f.Message)
}

// readFault is the error of a read.
func readFault(ctx context.Context, err error) error {
	if _, collected := errors.AsType[*tikverr.ErrGCTooEarly](err); collected {
		return fault.Wrap(fault.Unavailable, err,
			"what was to be read is so old that it has been collected as garbage: begin again")
	}
	return unavailable(ctx, err, "the cluster cannot be read")
}

// undetermined is the error of a batch that may be written or not.
func undetermined(cause error) error {
	return fault.Wrap(fault.Undetermined, cause, "it is not known whether the write has happened")
}

// outran is the error of a batch whose commit would not be before its bound.
func outran() error {
	return fault.New(fault.Conflict, "the write took too long: try again")
}

// lost reports whether a transaction failed because another one removed its locks or met them, and not because of what
// it asks for: as it is, it may pass the next time.
func lost(err error) bool {
	_, deadlock := errors.AsType[*tikverr.ErrDeadlock](err)
	_, retryable := errors.AsType[*tikverr.ErrRetryable](err)
	return deadlock || retryable || tikverr.IsErrWriteConflict(err)
}
