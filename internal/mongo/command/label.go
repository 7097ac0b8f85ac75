package command

import (
	"slices"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// Labels by which drivers know what to do about an error.
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
	code.HostUnreachable: true, code.HostNotFound: true, code.NetworkTimeout: true, code.ShutdownInProgress: true, code.PrimarySteppedDown: true,
	code.ExceededTimeLimit: true, code.SocketException: true, code.NotWritablePrimary: true, code.InterruptedAtShutdown: true,
	code.InterruptedDueToReplStateChange: true, code.NotPrimaryNoSecondaryOk: true, code.NotPrimaryOrSecondary: true,
	134: true, // ReadConcernMajorityNotAvailableYet
	358: true, // InternalTransactionNotSupported
}

// resumableCodes are those, beside the retryable ones, after which a change stream may be resumed.
var resumableCodes = map[code.Code]bool{
	133: true, 150: true, 234: true, 13388: true, // FailedToSatisfyReadPreference, StaleEpoch, RetryChangeStream, StaleConfig
}

// transientCodes are those after which a transaction may begin anew, its end too.
var transientCodes = map[code.Code]bool{
	code.WriteConflict: true, code.LockTimeout: true, code.SnapshotUnavailable: true,
	150: true, 239: true, 249: true, 250: true, // StaleEpoch, SnapshotTooOld, StaleDbVersion, StaleChunkHistory
	267: true, 272: true, 343: true, 13388: true, // PreparedTransactionInProgress, MigrationConflict, ShardCannotRefreshDueToLocksHeld, StaleConfig
}

// label adds the error labels that drivers act on.
func (r *request) label(err error) *code.Error {
	e := codeOf(err)
	if e.Code == code.Interrupted && r.s.running.Err() != nil {
		e = code.New(code.InterruptedAtShutdown, "interrupted at shutdown")
	}
	labels := r.labels(e.Code, false)
	if busy(e) {
		labels = r.busyLabels(labels)
	}
	if r.forced != nil && r.forced.labelled {
		labels = r.forced.labels
	}
	if len(labels) == 0 {
		return e
	}
	labelled := *e
	labelled.Labels = append(slices.Clone(e.Labels), labels...)
	return &labelled
}

// busy reports whether an error says that the server has no memory or no time left for the request.
func busy(err error) bool {
	e := code.Of(err)
	return e != nil && fault.KindOf(e.Cause) == fault.Busy || fault.KindOf(err) == fault.Busy
}

// busyLabels adds those of a request that was refused because others leave no memory. Drivers that know the
// labels, of 2026 and later, wait and send any command again. The code is one after which older ones send a read again,
// which they decide by codes, and a write that is labelled so. What was done in part is not to be sent again, and a
// transaction that such an error has ended begins anew.
// mongodb/specifications: source/client-backpressure/client-backpressure.md, source/retryable-reads/retryable-reads.md
func (r *request) busyLabels(labels []string) []string {
	switch {
	case r.wrote || r.spoilt:
		return []string{overloadedLabel}
	case slices.Contains(labels, transientLabel):
		return append(labels, overloadedLabel)
	}
	return append(labels, overloadedLabel, againLabel)
}

// unread is the error of a frame that there was no memory to read. Nothing is known of the command.
func (s *Server) unread(why error) error {
	if fault.KindOf(why) != fault.Busy {
		return memoryErr(why)
	}
	e := *translate(why)
	if s.o.ReplSet != "" {
		e.Labels = append(e.Labels, retryLabel, untouchedLabel)
	}
	e.Labels = append(e.Labels, overloadedLabel, againLabel)
	return &e
}

// labels are those of an error, or of an error of the write concern.
func (r *request) labels(c code.Code, concern bool) (list []string) {
	if r.s.o.ReplSet == "" {
		return nil
	}
	transacts := r.hasTxn && r.autocommit.Type != 0
	ends := transacts && r.endsTransaction()
	switch writes := r.retries() && r.command.write; {
	case transacts && transient(c, ends, concern):
		return []string{transientLabel}
	case (writes || ends) && retryableCodes[c]:
		list = []string{retryLabel}
		if writes && !concern && !r.wrote {
			list = append(list, untouchedLabel)
		}
	case (retryableCodes[c] || resumableCodes[c]) && r.follows():
		list = []string{resumableLabel}
	}
	if c == code.ChangeStreamFatalError || c == code.ChangeStreamHistoryLost {
		list = append(list, endedLabel)
	}
	return list
}

// transient reports whether the whole transaction may be tried again. One that may have been committed may not.
func transient(c code.Code, ends, concern bool) bool {
	switch {
	case transientCodes[c]:
		return true
	case c == code.NoSuchTransaction:
		return !(ends && concern)
	}
	return !ends && retryableCodes[c] && c != 358
}

// follows reports whether the command opens or reads a change stream. A getMore that has failed before it had
// its cursor reads none.
func (r *request) follows() bool {
	if r.name == "aggregate" {
		for first := range doc.Elements(r.get("pipeline")) {
			d, _ := doc.AsDoc(first)
			return doc.Lookup(d, "$changeStream").Type != 0
		}
	}
	return r.following
}
