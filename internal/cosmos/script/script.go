// Package script runs stored procedures, triggers and user-defined functions: JavaScript with the server-side API of
// Cosmos DB, with limits of time, memory and stack. A script can reach its Collection and nothing else: no files, no
// network, no Go values, no code created from text. The package depends neither on the store nor on a protocol.
//
// The API is documented at https://azure.github.io/azure-cosmosdb-js-server. DESIGN.md explains what is limited and
// what is not.
package script

import (
	"fmt"
	"time"

	"github.com/mayflydb/mayfly/internal/fault"
)

// Limits that callers cannot change.
const (
	MaxLog    = 256 << 10 // bytes of console.log output
	MaxResult = 4 << 20   // characters of a response body, as JSON

	maxStack   = 4_000     // nested calls
	maxString  = 5 << 20   // characters of a string created by one operator or built-in function
	maxText    = 32 << 20  // bytes of a parsed JSON text
	maxLength  = 5_000_000 // elements of an array that one built-in function iterates over
	maxApply   = 100_000   // arguments of one call
	maxNesting = 500       // nested objects and arrays in JSON; nested brackets in source
)

// maxGrowth is how many bytes the heap may grow while a script runs, not counting other requests. It is a variable so
// that tests can change it.
var maxGrowth int64 = 256 << 20

// A Collection is the partition that a script works on. Documents are JSON objects; those that the collection returns
// have their system properties. Links are links of documents, by name or by RID, and begin with SelfLink or AltLink.
// Tags are ETags as in the _etag of a document; "" is no condition. Its methods are called one at a time, but from
// another goroutine than that of RunProcedure or RunTrigger.
type Collection interface {
	SelfLink() string // dbs/<rid>/colls/<rid>/
	AltLink() string  // dbs/<name>/colls/<name>

	// Query returns one page of a query, which is a JSON string or an object {query, parameters}.
	Query(query []byte, pageSize int, continuation string) (Page, error)
	// Read fails with fault.NotModified if the document has the tag unless.
	Read(link, unless string) ([]byte, error)
	Create(body []byte) ([]byte, error)
	Upsert(body []byte, match string) ([]byte, error)
	Replace(link string, body []byte, match string) ([]byte, error)
	Delete(link, match string) error
}

// A Page is one page of a query.
type Page struct {
	Rows         []byte // a JSON array
	Continuation string // "" on the last page
}

// A Host is the environment of a script.
type Host struct {
	Collection Collection

	// Late reports that the script should finish: the collection accepts no more operations, which scripts see as the
	// return value false. It may be nil.
	Late func() bool

	// Now is the time that the script sees. If it is nil, that is the machine's time.
	Now func() time.Time

	// Status returns the HTTP status and the message that a script sees of an error of its Collection. If ok is
	// false, the error ends the script, and RunProcedure or RunTrigger returns it.
	Status func(err error) (status int, message string, ok bool)

	// OthersMemory returns how many bytes all other requests hold, because their growth is not the script's. It may
	// be nil.
	OthersMemory func() int64
	// Reserve reports whether the script may hold n bytes in total; false ends it. If it is nil, there is no limit.
	// OthersMemory and Reserve must be safe for concurrent use.
	Reserve func(n int64) bool

	// Header returns a header of the request, or "" if it is absent or hidden from scripts.
	Header func(name string) string

	// Logging enables console.log.
	Logging bool

	// Quota and Usage are the service's texts about the container's size, or "" if unknown.
	Quota, Usage string
}

// A Request is the operation that a trigger runs with.
type Request struct {
	Operation string // Create, Replace, Upsert or Delete
	Body      []byte // JSON; a pre-trigger may change it
}

// An Exception is an uncaught exception of a script, or an error in its source. Its kind is fault.Invalid.
type Exception struct {
	// Number is the exception's member of that name, as set by new Error(number, message) and in the errors of the
	// collection; 0 if there is none. The service reports it as the substatus of its 400.
	Number  int
	Message string // the whole text, in the service's form
}

// Error is Message.
func (e *Exception) Error() string { return e.Message }

// Unwrap gives the exception its kind.
func (e *Exception) Unwrap() error { return fault.New(fault.Invalid, "%s", e.Message) }

// thrown creates an exception with the service's text.
func thrown(doing, what, stack string, number int) *Exception {
	return &Exception{
		Number: number,
		Message: fmt.Sprintf("Encountered exception while %s Javascript. Exception = %s\r\nStack trace: %s%s", doing,
			what, what, stack),
	}
}

var (
	errTime = fault.New(fault.Timeout,
		"The script has used up its time. Let it do less at a time, and continue in another request.")
	errMemory        = fault.New(fault.TooLarge, "The script uses too much memory. Let it keep less at a time.")
	errShortOfMemory = fault.New(fault.Busy,
		"The server is short of memory, so the script was ended. Try again, or let it keep less at a time.")
	errResult = fault.New(fault.TooLarge,
		"The result of the script is larger than %d MiB. Give it out in parts.", MaxResult>>20)
	errAbandoned = fault.New(fault.Unavailable, "Scripts of earlier requests do not stop. Look for regular "+
		"expressions and sorts that take very long in them.")
	errArgument = fault.New(fault.Invalid, "The parameters of a stored procedure are a JSON array.")
)
