// Package exec answers queries: it computes expressions over raw BSON, and turns
// a plan and a source of documents into rows, page by page. An operator is a
// function over a lazy sequence. It keeps nothing between pages.
package exec

import (
	"context"
	"time"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/function"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/plan"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// A Source is the documents that a query is about.
type Source interface {
	access.Source
	// System appends to dst the members that the service adds to a document
	// (_rid, _self, _etag, _attachments, _ts, in this order): a whole BSON document.
	System(dst []byte, d *access.Document) doc.Doc
}

// An Environment is the context in which a query is prepared.
type Environment struct {
	Schema access.Schema
	Base   access.Scope // see plan.Environment
	// Parameters by name, the @ included. One that is not there is undefined.
	Parameters map[string]doc.Value
	// Now is the time of the request, for the functions that return the time.
	Now time.Time
	// Function finds a user-defined function. If it is nil, there are none.
	Function func(name string) (func(args []doc.Value) (doc.Value, error), error)
	// Distance returns the distance function of the container's vector policy for a path, or "". If it is nil, there
	// is no policy.
	Distance func(access.Path) string
	// NoIndex is documented at plan.Environment.
	NoIndex bool
	// Stop, if not nil, is called about once per millisecond by Prepare and by Match, which fail with its error.
	Stop func() error
}

// A Query is a prepared query. It is not safe for concurrent use.
type Query struct {
	plan      *plan.Plan
	schema    access.Schema
	compiler  *compiler
	sel       *selection
	inner     *inside // the query that this one is derived from
	documents bool    // it reads documents: it has a FROM
	mode      mode
	order     plan.Order
	rank      *ranking
	table     *table // nil if documents must be read
	token     *token
}

// Prepare checks and plans a query. token is the Page.Next of the previous page, nil for the first. Errors are
// *syntax.Error or have a fault.Kind; a token of another query is fault.Invalid.
func Prepare(q *syntax.Query, env Environment, token []byte) (*Query, error) {
	return prepare(q, env, token)
}

// Constants returns a function that computes expressions which depend on no document: literals, parameters, and
// deterministic functions of these. ok is false for all others. Query plans for clients need it.
func Constants(env Environment) func(syntax.Expr) (v doc.Value, ok bool) {
	return newCompiler(env).constant
}

// Release lets go of what the query has of its request, and reports whether it may run again, for another request with
// the same tree, schema, base and parameters. Queries that call functions may not: these may depend on the time, and
// keep memory.
func (q *Query) Release() (again bool) {
	c := q.compiler
	c.function, *c.meter = nil, function.Meter{}
	return len(c.calls) == 0 && !c.user
}

// Plan is the plan of the query.
func (q *Query) Plan() *plan.Plan { return q.plan }

// Match reports whether the query's WHERE holds for d, as the condition of a
// patch asks. system are the members that Source.System gives for it.
func (q *Query) Match(ctx context.Context, d *access.Document, system doc.Doc) (bool, error) {
	return q.match(ctx, d, system)
}

// A Limit limits a page. A zero field means no limit, except that Memory has a default.
type Limit struct {
	Rows   int                  // the most rows of the page
	Bytes  int                  // the page ends with the row that exceeds it
	Memory int                  // bytes kept for sorting, groups and DISTINCT; fault.TooLarge beyond
	Hold   func(n int) error    // reserves n more bytes for rows or the page; may be nil
	Stop   func() error         // called about once per millisecond; its error ends the page, see ErrLate
	Clock  func() time.Duration // time since the request began, for Metrics; may be nil
}

// ErrLate is the error that Stop returns when the time of a query is up. A page that has made progress then ends
// early. Otherwise the query fails, as it does after every other error of Stop.
var ErrLate = fault.New(fault.Timeout,
	"The query took longer than a request may. Select fewer documents, or add an index.")

// A Page is the result of Run.
type Page struct {
	Rows    int
	Next    []byte // the token of the next page, nil after the last page
	Metrics Metrics
}

// Metrics are the cost of a page.
type Metrics struct {
	Documents, DocumentBytes uint64        // retrieved
	Rows, RowBytes           uint64        // returned
	IndexHits                uint64        // retrieved documents that passed the filter
	Lookup, Load             time.Duration // spent in the source until the first document, and after it
	Execute                  time.Duration // everything else
	Write                    time.Duration // writing rows as JSON
}

// Run appends the rows of one page to dst as JSON values, separated by commas, with numbers in doc.Query style.
func (q *Query) Run(ctx context.Context, source Source, limit Limit, dst []byte) ([]byte, Page, error) {
	return q.run(ctx, source, limit, dst)
}
