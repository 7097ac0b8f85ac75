package call

import (
	"slices"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// Labels tell drivers what to do about an error.
// mongodb/mongo: src/mongo/db/error_labels.cpp, and src/mongo/base/error_codes.yml for the categories of codes
const (
	transientLabel = "TransientTransactionError"
	retryLabel     = "RetryableWriteError"
	untouchedLabel = "NoWritesPerformed"
	resumableLabel = "ResumableChangeStreamError"
	endedLabel     = "NonResumableChangeStreamError"

	overloadedLabel = "SystemOverloadedError"
	againLabel      = "RetryableError"
)

// retryableCodes are the errors after which a write may be sent again: the category RetriableError.
var retryableCodes = map[code.Code]bool{
	code.HostUnreachable: true, code.HostNotFound: true, code.NetworkTimeout: true, code.ShutdownInProgress: true,
	code.PrimarySteppedDown: true, code.ExceededTimeLimit: true, code.SocketException: true,
	code.NotWritablePrimary: true, code.InterruptedAtShutdown: true,
	code.InterruptedDueToReplStateChange: true, code.NotPrimaryNoSecondaryOk: true, code.NotPrimaryOrSecondary: true,
	134: true, // ReadConcernMajorityNotAvailableYet
	358: true, // InternalTransactionNotSupported
}

// resumableCodes are the errors, in addition to retryableCodes, after which a change stream may be resumed.
var resumableCodes = map[code.Code]bool{
	133:   true, // FailedToSatisfyReadPreference
	150:   true, // StaleEpoch
	234:   true, // RetryChangeStream
	13388: true, // StaleConfig
}

// transientCodes are the errors after which a transaction may be tried again, even if its commit has failed.
var transientCodes = map[code.Code]bool{
	code.WriteConflict: true, code.LockTimeout: true, code.SnapshotUnavailable: true,
	150:   true, // StaleEpoch
	239:   true, // SnapshotTooOld
	249:   true, // StaleDbVersion
	250:   true, // StaleChunkHistory
	267:   true, // PreparedTransactionInProgress
	272:   true, // MigrationConflict
	343:   true, // ShardCannotRefreshDueToLocksHeld
	13388: true, // StaleConfig
}

// LabelError adds the error labels that drivers act on.
func LabelError(r *Request, err error) *code.Error {
	e := session.CodeOf(err)
	if e.Code == code.Interrupted && r.Node.Running.Err() != nil {
		e = code.New(code.InterruptedAtShutdown, "interrupted at shutdown")
	}
	labels := labelsOf(r, e.Code, false)
	switch {
	case session.Busy(e):
		labels = busyLabels(r, labels)
	case session.Undetermined(e):
		labels = unknownLabels(r)
	}
	if r.Forced != nil && r.Forced.Labelled {
		labels = r.Forced.Labels
	}
	if len(labels) == 0 {
		return e
	}
	labelled := *e
	labelled.Labels = append(slices.Clone(e.Labels), labels...)
	return &labelled
}

// busyLabels adds those of a request that was refused because others leave no memory. Drivers that know the
// labels, of 2026 and later, wait and send any command again. The code is one after which older ones send a read again,
// which they decide by codes, and a write that is labelled so. What was done in part is not to be sent again, and a
// transaction that such an error has ended begins anew.
// mongodb/specifications: source/client-backpressure/client-backpressure.md, source/retryable-reads/retryable-reads.md
func busyLabels(r *Request, labels []string) []string {
	switch {
	case r.Wrote || r.Spoilt:
		return []string{overloadedLabel}
	case slices.Contains(labels, transientLabel):
		return append(labels, overloadedLabel)
	}
	return append(labels, overloadedLabel, againLabel)
}

// unknownLabels are those of a write or a commit that may have happened. Its client may send it again under the same
// number, and then gets the same answer: see JoinRetry. Of a commit, drivers tell UnknownTransactionCommitResult.
// mongodb/specifications: source/retryable-writes/retryable-writes.md, source/transactions/transactions.md
func unknownLabels(r *Request) []string {
	if r.Node.Replicates && (Confirms(r) || r.Retryable() && r.Traits.Retryable) {
		return []string{retryLabel}
	}
	return nil
}

// Confirms reports whether the request is the commit of a transaction.
func Confirms(r *Request) bool { return r.Name == "commitTransaction" && r.Autocommit.Type != 0 }

// Unread is the error for a frame that could not be read for lack of memory. Its command is unknown.
func Unread(n *session.Node, why error) error {
	if fault.KindOf(why) != fault.Busy {
		return session.MemoryError(why)
	}
	e := *session.Translate(why)
	if n.Replicates {
		e.Labels = append(e.Labels, retryLabel, untouchedLabel)
	}
	e.Labels = append(e.Labels, overloadedLabel, againLabel)
	return &e
}

// labelsOf gives the labels of an error, or with concern of a write concern error.
func labelsOf(r *Request, c code.Code, concern bool) (list []string) {
	if !r.Node.Replicates {
		return nil
	}
	transacts := r.HasTxn && r.Autocommit.Type != 0
	ends := transacts && r.EndsTransaction()
	switch writes := r.Retryable() && r.Traits.Retryable; {
	case transacts && transient(c, ends, concern):
		return []string{transientLabel}
	case (writes || ends) && retryableCodes[c]:
		list = []string{retryLabel}
		if writes && !concern && !r.Wrote {
			list = append(list, untouchedLabel)
		}
	case (retryableCodes[c] || resumableCodes[c]) && followsChanges(r):
		list = []string{resumableLabel}
	}
	if c == code.ChangeStreamFatalError || c == code.ChangeStreamHistoryLost {
		list = append(list, endedLabel)
	}
	return list
}

// transient reports whether the whole transaction may be tried again. It may not if it may have been committed.
func transient(c code.Code, ends, concern bool) bool {
	switch {
	case transientCodes[c]:
		return true
	case c == code.NoSuchTransaction:
		return !(ends && concern)
	}
	return !ends && retryableCodes[c] && c != 358
}

// followsChanges reports whether the command opens or reads a change stream. A getMore that has failed before it found
// its cursor does not.
func followsChanges(r *Request) bool {
	if r.Name == "aggregate" {
		for first := range doc.Elements(r.Get("pipeline")) {
			d, _ := doc.AsDoc(first)
			return doc.Lookup(d, "$changeStream").Type != 0
		}
	}
	return r.Following
}

// WriteLabels adds the labels of an error to an answer.
func WriteLabels(a *doc.Writer, labels []string) {
	if len(labels) == 0 {
		return
	}
	a.Array("errorLabels")
	for _, label := range labels {
		a.String(a.Index(), label)
	}
	a.Close()
}
