// Package plan decides how a query is answered: it checks what names and clauses
// mean, chooses by visible rules which documents to visit, and says what is left
// to do with them. It also makes the plan that the service hands to clients which
// merge partitions themselves. It reads no document.
package plan

import (
	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
)

// An Environment is what a query may be planned with.
type Environment struct {
	Schema access.Schema

	// Base is the part of the container that the request names in addition to the
	// query, nil for all of it.
	Base access.Scope

	// Constant computes an expression that depends on no document: literals,
	// parameters and deterministic functions of these. ok is false for all others.
	Constant func(syntax.Expr) (v doc.Value, ok bool)

	// NoIndex plans a scan of Base whatever indexes there are, in creation order
	// or sorted. Its rows are the same, in the same order where the query has one.
	NoIndex bool

	// Resume, when not nil, is the order in which the page before came, so that
	// its position means something to this one.
	Resume *Order
}

// A Plan is how a query is answered.
type Plan struct {
	Query *syntax.Query // as parsed; its tree is shared and stays as it is

	// Access says which documents to visit. Whatever it is, Query.Where is still
	// checked on each, unless Exact.
	Access access.Access
	// Exact reports that Access, followed to the letter, selects what Query.Where does.
	Exact bool

	// Order is the order in which rows come.
	Order Order
	// Sort reports that Access does not give Order, so rows are sorted in memory.
	Sort bool

	// Nothing reports that no document can matter: there is none to visit. A query
	// without FROM still gives its row, and an aggregate its value over none.
	Nothing bool

	// Count reports that the query asks for nothing but how many documents
	// Access selects: one COUNT over documents, Exact, no join, group or distinct.
	Count bool

	// Indexes tell which indexes were used, and which would have helped, for
	// the index-utilization header.
	Indexes Utilization

	// Rules name what was applied, in order, for EXPLAIN.
	Rules []string
}

// An Order is an order of rows before GROUP BY, DISTINCT and projection.
type Order struct {
	Kind OrderKind
	// Keys of ByValue: expressions of documents (or of rows, after a join).
	// When a walk gives an order that the query did not ask for, Keys has
	// its path as an expression: members of the Name root, which is the document.
	Keys []syntax.SortKey
	// Ties turns the order of rows with equal keys round: by falling number.
	Ties bool
	// Stamps breaks ties by sequence, not number: the only key is _ts.
	Stamps bool
	// Implied reports that the query did not ask for the order.
	Implied bool
}

// An OrderKind says what rows are ordered by.
type OrderKind uint8

// The kinds of order.
const (
	ByCreation  OrderKind = iota // number
	ByPartition                  // partition, then number: the store's own position
	ByValue                      // Keys, then number
	ByRank                       // ORDER BY RANK: score, then number
)

// A Utilization is what the index-utilization header tells.
type Utilization struct {
	UsedSingle      []string   // paths such as /a/?
	UsedComposite   [][]string // paths such as "/a ASC"
	WantedSingle    []string
	WantedComposite [][]string
}
