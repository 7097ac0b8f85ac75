package command

import (
	"slices"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// Labels by which drivers know what to do about an error.
const (
	transientLabel = "TransientTransactionError"
	retryLabel     = "RetryableWriteError"
	untouchedLabel = "NoWritesPerformed"
	resumableLabel = "ResumableChangeStreamError"
)

// retryableCodes are the errors after which a write may be sent again.
// https://github.com/mongodb/specifications/blob/master/source/retryable-writes/retryable-writes.md#determining-retryable-errors
var retryableCodes = map[code.Code]bool{
	code.HostUnreachable: true, code.HostNotFound: true, code.NetworkTimeout: true, code.ShutdownInProgress: true, code.PrimarySteppedDown: true,
	code.ExceededTimeLimit: true, code.SocketException: true, code.NotWritablePrimary: true, code.InterruptedAtShutdown: true,
	code.InterruptedDueToReplStateChange: true, code.NotPrimaryNoSecondaryOk: true, code.NotPrimaryOrSecondary: true,
}

// resumableCodes are those, beside the retryable ones, after which a change stream may be resumed.
// https://github.com/mongodb/specifications/blob/master/source/change-streams/change-streams.md#resumable-error
var resumableCodes = map[code.Code]bool{63: true, 133: true, 150: true, 234: true, 13388: true}

// label adds the error labels that drivers act on.
func (r *request) label(err error) *code.Error {
	e := codeOf(err)
	if e.Code == code.Interrupted && r.s.running.Err() != nil {
		e = code.New(code.InterruptedAtShutdown, "interrupted at shutdown")
	}
	labels := r.labels(e.Code, false)
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

// labels are those of an error, or of an error of the write concern.
func (r *request) labels(c code.Code, concern bool) (list []string) {
	if r.s.o.ReplSet == "" {
		return nil
	}
	transacts := r.hasTxn && r.autocommit.Type != 0
	ends := transacts && r.endsTransaction()
	if transacts && r.transient(c, ends, concern) {
		list = append(list, transientLabel)
	}
	writes := r.retries() && r.command.write
	if (writes || ends) && retryableCodes[c] {
		list = append(list, retryLabel)
		if writes && !concern && !r.wrote {
			list = append(list, untouchedLabel)
		}
	}
	if (retryableCodes[c] || resumableCodes[c]) && r.follows() {
		list = append(list, resumableLabel)
	}
	return list
}

// transient reports whether the whole transaction may be tried again.
func (r *request) transient(c code.Code, ends, concern bool) bool {
	switch c {
	case code.WriteConflict, code.LockTimeout, code.SnapshotUnavailable:
		return true
	case code.NoSuchTransaction:
		return !(ends && concern)
	}
	return !ends && retryableCodes[c]
}

// follows reports whether the command opens or reads a change stream.
func (r *request) follows() bool {
	switch r.name {
	case "getMore":
		id, _ := doc.AsInt64Exact(r.arg)
		x := r.s.cursors.find(id)
		return x != nil && x.token != nil
	case "aggregate":
		for first := range doc.Elements(r.get("pipeline")) {
			d, _ := doc.AsDoc(first)
			return doc.Lookup(d, "$changeStream").Type != 0
		}
	}
	return false
}
