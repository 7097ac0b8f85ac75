package store

import (
	"errors"
	"fmt"

	"github.com/pingcap/kvproto/pkg/kvrpcpb"
)

// A refusal is an answer to the client that is no fault of the store.
type refusal struct{ kvrpcpb.KeyError }

func (r *refusal) Error() string { return r.String() }

func refuse(e kvrpcpb.KeyError) error { return &refusal{e} }

func locked(l *lock) error {
	info := l.LockInfo
	return refuse(kvrpcpb.KeyError{Locked: &info})
}

func conflict(startTS uint64, v *version, key, primary []byte, reason kvrpcpb.WriteConflict_Reason) error {
	return refuse(kvrpcpb.KeyError{Conflict: &kvrpcpb.WriteConflict{
		StartTs: startTS, ConflictTs: v.startTS, ConflictCommitTs: v.commitTS,
		Key: key, Primary: primary, Reason: reason,
	}})
}

// again asks the client to start the transaction again, abort to give it up.
func again(format string, args ...any) error {
	return refuse(kvrpcpb.KeyError{Retryable: fmt.Sprintf(format, args...)})
}

func abort(format string, args ...any) error {
	return refuse(kvrpcpb.KeyError{Abort: fmt.Sprintf(format, args...)})
}

// keyError is the answer for err: the client's own, or that the store failed.
func keyError(err error) *kvrpcpb.KeyError {
	if err == nil {
		return nil
	}
	if r := (*refusal)(nil); errors.As(err, &r) {
		return &r.KeyError
	}
	return &kvrpcpb.KeyError{Abort: err.Error()}
}

func keyErrors(err error) []*kvrpcpb.KeyError {
	if err == nil {
		return nil
	}
	return []*kvrpcpb.KeyError{keyError(err)}
}
