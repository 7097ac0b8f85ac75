// Package fault names the ways an operation can fail, in words that a client
// can act on. Each door has one table from Kind to its own dialect; no other
// room invents status codes. The message is for the client, the cause for the log.
package fault

import (
	"errors"
	"fmt"
	"iter"
)

// A Kind says what a client can do about a failure.
type Kind uint8

// The kinds of failure. Internal is the zero value: an error that no room
// has classified.
const (
	Internal          Kind = iota // a defect or a failing disk: nothing the client can mend
	Invalid                       // the request is malformed
	NotFound                      // the addressed resource does not exist
	OwnerNotFound                 // the database or container above the addressed resource does not exist
	Exists                        // the id or a unique key is taken
	Precondition                  // an ETag does not match
	NotModified                   // a conditional read found nothing newer
	PartitionMismatch             // the partition key given and the one in the document differ, or components are missing
	PatchCondition                // the condition of a patch is not met
	TooLarge                      // a document, a request or a transaction is over its limit
	Conflict                      // another write came first; the caller may try again
	Unauthorized                  // the credentials are absent or wrong
	Forbidden                     // the credentials do not allow this, or the resource may not be changed so
	MethodNotAllowed              // the resource exists, the verb does not
	Unsupported                   // a feature that mayfly does not have, named in the message
	Timeout                       // the request's time is up
	Unavailable                   // the database is stopping, or its disk cannot be used
	Corrupt                       // stored bytes are not what they should be
	OutOfSpace                    // the disk has no room for a write; reads and deletes go on
	Busy                          // too much goes on for this request; the caller may try it again, unchanged, a little later
	kinds
)

var names = [kinds]string{
	"internal", "invalid", "not found", "owner not found", "exists", "precondition", "not modified",
	"partition mismatch", "patch condition", "too large", "conflict", "unauthorized", "forbidden",
	"method not allowed", "unsupported", "timeout", "unavailable", "corrupt", "out of space", "busy",
}

func (k Kind) String() string { return names[k] }

// Kinds yields every kind, so that a test of a door's table cannot forget one.
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

// Error gives the message, then the cause: the form for a log.
func (e *Error) Error() string {
	if e.Cause != nil {
		return e.Message + ": " + e.Cause.Error()
	}
	return e.Message
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// New makes an error of a kind with a message for the client.
func New(kind Kind, format string, args ...any) error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// Wrap makes an error of a kind whose cause goes to the log only.
func Wrap(kind Kind, cause error, format string, args ...any) error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...), Cause: cause}
}

// KindOf finds the kind of err, Internal when nothing in its chain has one.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Internal
}

// Message gives the text of err that a client may see, or "" for an
// unclassified error.
func Message(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Message
	}
	return ""
}
