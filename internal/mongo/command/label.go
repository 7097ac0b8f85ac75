package command

import (
	"slices"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/mongo/code"
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

// busy reports whether the server had no memory or no processor time for the request.
func busy(err error) bool {
	e := code.Of(err)
	return e != nil && fault.KindOf(e.Cause) == fault.Busy || fault.KindOf(err) == fault.Busy
}

// busyLabels adds the labels of a request that was refused because others use the memory. Drivers of 2026 and later
// know them: they wait, and send any command again. Older drivers send a read again because of its code, and a write
// because of its retryLabel. A request that has done a part of its work must not be sent again, and a transaction that
// such an error has ended is tried again as a whole.
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

// unread is the error for a frame that could not be read for lack of memory. Its command is unknown.
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

// labels gives the labels of an error, or with concern of a write concern error.
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

// follows reports whether the command opens or reads a change stream. A getMore that has failed before it found its
// cursor does not.
func (r *request) follows() bool {
	if r.name == "aggregate" {
		for first := range doc.Elements(r.get("pipeline")) {
			d, _ := doc.AsDoc(first)
			return doc.Lookup(d, "$changeStream").Type != 0
		}
	}
	return r.following
}
