package store

import "github.com/mayflydb/mayfly/internal/fault"

// What an operation fails with. The messages are for the log: each API has the text that its clients know. Errors that
// an API must tell apart within one kind are exported.
var (
	// ErrNotFound: there is no living document under the key.
	ErrNotFound = fault.New(fault.NotFound, "The document does not exist.")
	// ErrExists: there is one already.
	ErrExists = fault.New(fault.Exists, "A document with this id exists already.")
	// ErrPrecondition: the document has another version than IfMatch, or the one of IfNoneMatch.
	ErrPrecondition = fault.New(fault.Precondition, "The document has another version.")
	// ErrPartition: a body has another partition key than the Key of its Op.
	ErrPartition = fault.New(fault.PartitionMismatch, "The document has another partition key than the operation.")
	// ErrPosition: a position to go on from has a shape that the selection cannot have given.
	ErrPosition = fault.New(fault.Invalid, "The position is not one of this selection.")
	// ErrRangeGone: the range was split since the request has looked at the container. It is to begin again.
	ErrRangeGone = fault.New(fault.Conflict, "A range of the container was split. Send the request again.")

	errNotModified = fault.New(fault.NotModified, "The document has not changed.")
	errOtherID     = fault.New(fault.Invalid, "The id of the document and the id in the request are not the same.")
	errManyBytes   = fault.New(fault.TooLarge, "The operations of one transaction read and change "+
		"more than %d MiB of documents. Send fewer at a time.", maxTransactionBytes>>20)
)

// A NoID says that a body has no valid value in the member that identifies it: fault.Invalid.
type NoID struct {
	Member string // "id" or "_id"
}

func (e *NoID) Error() string { return "The document has no valid " + e.Member + "." }

// Unwrap gives the kind.
func (e *NoID) Unwrap() error { return errNoID }

var errNoID = fault.New(fault.Invalid, "The document has no valid id.")

// An AmbiguousPath says that a path of an index leads to an element of an array by its index, and to members of
// elements by their name: fault.Invalid.
type AmbiguousPath struct {
	Step string // the step of the path that is both
}

func (e *AmbiguousPath) Error() string {
	return "The step " + e.Step + " of an indexed path is the index of an element and the name of a member."
}

// Unwrap gives the kind.
func (e *AmbiguousPath) Unwrap() error { return errAmbiguousPath }

var errAmbiguousPath = fault.New(fault.Invalid, "An indexed path is ambiguous in the document.")
