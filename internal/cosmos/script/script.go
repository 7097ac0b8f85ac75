// Package script runs stored procedures, triggers and user-defined functions:
// JavaScript with the server-side API of Cosmos DB, under limits of time, memory
// and stack. A script reaches its Collection and nothing else: no files, no
// network, no Go values, no code made of text. It knows no store and no protocol.
//
// The API is that of https://azure.github.io/azure-cosmosdb-js-server. See
// DESIGN.md for what is bounded and what is not.
package script

import (
	"fmt"
	"time"

	"github.com/mayflydb/mayfly/internal/fault"
)

// Limits that no caller changes.
const (
	MaxLog    = 256 << 10 // bytes of what console.log keeps
	MaxResult = 4 << 20   // characters of the body of an answer, as JSON

	maxStack   = 4_000     // calls inside of calls
	maxString  = 5 << 20   // characters of a string that one operator or built-in function makes
	maxText    = 32 << 20  // bytes of a JSON text that is read
	maxLength  = 5_000_000 // elements of an array that one built-in function walks
	maxApply   = 100_000   // arguments of one call
	maxNesting = 500       // objects and arrays inside each other, in JSON; brackets, in source
)

// maxGrowth is how many bytes the heap may grow while a script runs, what other requests take left out. It is a
// variable for its test.
var maxGrowth int64 = 256 << 20

// A Collection is the partition that a script works on. Documents are JSON
// objects, with their system members where the collection hands them out. Links are
// those of documents, by name or by RID, and begin with SelfLink or AltLink. Tags are
// ETags as documents show them in _etag; "" is no condition. Its methods are
// called one at a time, by another goroutine than that of the caller of Run.
type Collection interface {
	SelfLink() string // dbs/<rid>/colls/<rid>/
	AltLink() string  // dbs/<name>/colls/<name>

	// Query answers one page of a query, which is a JSON string or an object
	// {query, parameters}.
	Query(query []byte, pageSize int, continuation string) (Page, error)
	// Read fails with fault.NotModified when the document has the tag unless.
	Read(link, unless string) ([]byte, error)
	Create(body []byte) ([]byte, error)
	Upsert(body []byte, match string) ([]byte, error)
	Replace(link string, body []byte, match string) ([]byte, error)
	Delete(link, match string) error
}

// A Page is what a query gives at a time.
type Page struct {
	Rows         []byte // a JSON array
	Continuation string // "" on the last page
}

// A Host is what a script runs in.
type Host struct {
	Collection Collection

	// Late reports that the script should come to an end: the collection accepts no
	// more operations, which scripts see as the answer false. Nil: never.
	Late func() bool

	// Now is the time that the script sees; nil is the machine's.
	Now func() time.Time

	// Status is the HTTP status that a script sees of an error of its Collection,
	// and the message. ok is false for errors that are none of the script's business:
	// they end it, and are what Run returns.
	Status func(err error) (status int, message string, ok bool)

	// Others tells how many bytes of memory all other requests hold, whose growth is not that of the script. Nil: none.
	Others func() int64
	// Room reports whether the script may hold n bytes, all in all; false ends it. Nil: any number. Another
	// goroutine calls both, at any time.
	Room func(n int64) bool

	// Header gives a header of the request, "" if it is absent or nothing for scripts.
	Header func(name string) string

	// Logging keeps what console.log writes.
	Logging bool

	// Quota and Usage are the texts that the service tells of the container's size,
	// "" where it is not known.
	Quota, Usage string
}

// A Request is the operation that a trigger belongs to.
type Request struct {
	Operation string // Create, Replace, Upsert or Delete
	Body      []byte // JSON; a pre-trigger may change it
}

// An Exception is what a script has thrown and nobody caught, or what is wrong
// with its source. It is a fault.Invalid.
type Exception struct {
	// Number is the member of that name, as new Error(number, message) sets it and as
	// the errors of the collection have it; 0 if there is none. The service
	// tells it as the substatus of its 400.
	Number  int
	Message string // whole, as the service words it
}

// Error is Message.
func (e *Exception) Error() string { return e.Message }

// Unwrap gives it its kind.
func (e *Exception) Unwrap() error { return fault.New(fault.Invalid, "%s", e.Message) }

// thrown words what was thrown as the service does.
func thrown(doing, what, stack string, number int) *Exception {
	return &Exception{
		Number:  number,
		Message: fmt.Sprintf("Encountered exception while %s Javascript. Exception = %s\r\nStack trace: %s%s", doing, what, what, stack),
	}
}

var (
	errTime     = fault.New(fault.Timeout, "The script has used up its time. Let it do less at a time, and go on where it stopped in another request.")
	errMemory   = fault.New(fault.TooLarge, "The script uses too much memory. Let it keep less at a time.")
	errNoRoom   = fault.New(fault.Busy, "The server is short of memory, so the script was ended. Try again, or let it keep less at a time.")
	errResult   = fault.New(fault.TooLarge, "The result of the script is larger than %d MiB. Give it out in parts.", MaxResult>>20)
	errHanging  = fault.New(fault.Unavailable, "Scripts of earlier requests do not stop. Look for regular expressions and sorts that take very long in them.")
	errArgument = fault.New(fault.Invalid, "The parameters of a stored procedure are a JSON array.")
)
