// Package exec answers queries: it computes expressions over raw BSON, and turns
// a plan and a source of documents into rows, page by page. An operator is a
// function over a lazy sequence. It keeps nothing between pages.
package exec

import (
	"context"
	"time"

	"github.com/mayflydb/mayfly/internal/access"
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

// An Environment is what a query is prepared with.
type Environment struct {
	Schema access.Schema
	Base   access.Scope // see plan.Environment
	// Parameters by name, the @ included. One that is not there is undefined.
	Parameters map[string]doc.Value
	// Now is the instant of the request, for the functions that give the time.
	Now time.Time
	// Function finds a user-defined function; nil: there are none.
	Function func(name string) (func(args []doc.Value) (doc.Value, error), error)
	// Distance names the distance function of the container's vector policy for a
	// path, "" if it has none; nil: there is no policy.
	Distance func(access.Path) string
	// NoIndex: see plan.Environment.
	NoIndex bool
	// Stop, when not nil, is asked about once in a millisecond by Prepare and by Match, which fail with its error.
	Stop func() error
}

// A Query is a prepared query. It is used by one goroutine.
type Query struct {
	plan      *plan.Plan
	schema    access.Schema
	compiler  *compiler
	sel       *selection
	inner     *inside // the query that this one is derived from
	documents bool    // it is about documents, and not FROM nothing
	mode      mode
	order     plan.Order
	rank      *ranking
	token     *token
}

// Prepare checks and plans a query. token is the Page.Next of the page before,
// nil for the first. Errors are *syntax.Error or have a fault.Kind; a token that
// is not of this query is fault.Invalid.
func Prepare(q *syntax.Query, env Environment, token []byte) (*Query, error) {
	return prepare(q, env, token)
}

// Constants gives a function that computes expressions which depend on no
// document: literals, parameters, and functions of these whose results do not
// vary. ok is false for all others. Planning for clients needs it.
func Constants(env Environment) func(syntax.Expr) (v doc.Value, ok bool) {
	return newCompiler(env).constant
}

// Plan is how the query is answered.
func (q *Query) Plan() *plan.Plan { return q.plan }

// Match reports whether the query's WHERE holds for d, as the condition of a
// patch asks. system are the members that Source.System gives for it.
func (q *Query) Match(ctx context.Context, d *access.Document, system doc.Doc) (bool, error) {
	return q.match(ctx, d, system)
}

// A Limit bounds a page. Zero fields are no limits, except that of Memory,
// which has a default.
type Limit struct {
	Rows   int                  // at most
	Bytes  int                  // a page ends with the row that passes them
	Memory int                  // of what sorts, groups and distinct rows keep; beyond it fault.TooLarge
	Hold   func(n int) error    // asked before the query keeps n more bytes of rows or of the page, nil for no such limit
	Stop   func() error         // asked about once in a millisecond: its error ends the page, see ErrLate
	Clock  func() time.Duration // since the request began, for Metrics; nil measures nothing
}

// ErrLate is what Stop gives when the time of a query is up: a page that has made progress ends early, and
// all else fails with it, as it does with every other error of Stop.
var ErrLate = fault.New(fault.Timeout, "The query took longer than a request may. Select fewer documents, or add an index.")

// A Page is what Run has made.
type Page struct {
	Rows    int
	Next    []byte // the token of the next page; nil after the last
	Metrics Metrics
}

// Metrics tell what a page has cost.
type Metrics struct {
	Documents, DocumentBytes uint64        // retrieved
	Rows, RowBytes           uint64        // given out
	IndexHits                uint64        // documents retrieved that the filter then took
	Lookup, Load             time.Duration // in the source: until the first document, and after it
	Execute                  time.Duration // everything else
	Write                    time.Duration // of rows as JSON
}

// Run appends the rows of one page to dst as JSON values, a comma between them,
// numbers in doc.Query style.
func (q *Query) Run(ctx context.Context, source Source, limit Limit, dst []byte) ([]byte, Page, error) {
	return q.run(ctx, source, limit, dst)
}
