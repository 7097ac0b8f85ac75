// Package fault names the ways in which an operation can fail, in words that a client can act on. Each API has one
// table from Kind to its own status codes; no other package knows a status code. The message is for the client, the
// cause for the log.
package fault

import (
	"errors"
	"fmt"
	"iter"
)

// A Kind says what a client can do about a failure.
type Kind uint8

// The kinds of failure. Internal is the zero value: an error that no package has classified.
const (
	Internal          Kind = iota // a bug or a failing disk: the client can do nothing about it
	Invalid                       // the request is malformed
	NotFound                      // the addressed resource does not exist
	OwnerNotFound                 // the database or container above the addressed resource does not exist
	Exists                        // the id or a unique key is taken
	Precondition                  // an ETag does not match
	NotModified                   // a conditional read found nothing newer
	PartitionMismatch             // the given partition key is not the document's, or components are missing
	PatchCondition                // the condition of a patch is not met
	TooLarge                      // a document, a request or a transaction is over its limit
	Conflict                      // another write came first; the caller may try again
	Unauthorized                  // the credentials are absent or wrong
	Forbidden                     // the credentials do not allow this, or the resource cannot be changed in this way
	MethodNotAllowed              // the resource exists, but not with this method
	Unsupported                   // a feature that mayfly does not have, named in the message
	Timeout                       // the request took longer than it may
	Unavailable                   // the database is stopping, or its disk cannot be used
	Corrupt                       // stored bytes are damaged
	OutOfSpace                    // the disk has no space for a write; reads and deletes still work
	Busy                          // the server has too much to do; the caller may send the same request again later
	Undetermined                  // the write may or may not have happened; the caller reads before it tries again
	kinds
)

var names = [kinds]string{
	"internal", "invalid", "not found", "owner not found", "exists", "precondition", "not modified",
	"partition mismatch", "patch condition", "too large", "conflict", "unauthorized", "forbidden",
	"method not allowed", "unsupported", "timeout", "unavailable", "corrupt", "out of space", "busy", "undetermined",
}

func (k Kind) String() string { return names[k] }

// Kinds yields every kind, so that a test of an API's table cannot forget one.
func Kinds() iter.Seq[Kind] {
	return func(yield func(Kind) bool) {
		for k := Internal; k < kinds; k++ {
			if !yield(k) {
				return
			}
		}
	}
}

// An Error is a failure of one kind. Message may be shown to the client;
// Cause may not, and is nil when there is none.
type Error struct {
	Kind    Kind
	Message string
	Cause   error
}

// Error is the message, then the cause: the form for a log.
func (e *Error) Error() string {
	if e.Cause != nil {
		return e.Message + ": " + e.Cause.Error()
	}
	return e.Message
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// New returns an error of a kind with a message for the client.
func New(kind Kind, format string, args ...any) error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// Wrap returns an error of a kind whose cause goes to the log only.
func Wrap(kind Kind, cause error, format string, args ...any) error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...), Cause: cause}
}

// KindOf returns the kind of err, Internal if no error in its chain has one.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Internal
}

// Message returns the text of err that a client may see, "" for an error that no package has classified.
func Message(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Message
	}
	return ""
}
