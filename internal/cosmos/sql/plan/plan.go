// Package plan decides how a query is answered: it checks names and clauses, chooses by visible rules which documents
// to read, and determines the remaining steps. It also makes the query plan that the service gives to clients which
// merge partitions themselves. It never reads a document.
package plan

import (
	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
)

// An Environment is the context in which a query is planned.
type Environment struct {
	Schema access.Schema

	// Base is the part of the container that the request names in addition to the
	// query, nil for all of it.
	Base access.Scope

	// Constant computes an expression that does not depend on a document: literals, parameters and deterministic
	// functions of these. ok is false for all others.
	Constant func(syntax.Expr) (v doc.Value, ok bool)

	// Test makes a function that reports whether e, which depends on the Name TextName alone, is true (or with want
	// false, is false) for a string of that name, and whether that is certain. It is nil if e cannot be tested so.
	Test func(e syntax.Expr, want bool) access.Test

	// NoIndex plans a scan of Base instead of using indexes, in creation order or sorted. The rows are the same, and
	// in the same order if the query has one.
	NoIndex bool

	// Resume, if not nil, is the order of the previous page, so that its position is valid for this one.
	Resume *Order
}

// TextName is the name of the string that a test is about, see Environment.Test.
const TextName = "text"

// A Plan describes how a query is answered.
type Plan struct {
	Query *syntax.Query // as parsed; the tree is shared and not modified

	// Access selects the documents to read. Query.Where is checked on each of them, unless Exact and the walk over
	// Access visits no others.
	Access access.Access
	// Exact reports that Access selects exactly the documents that satisfy Query.Where.
	Exact bool

	// Order is the order of the rows.
	Order Order
	// Sort reports that rows are sorted in memory, because Access does not have Order.
	Sort bool

	// Shortcut, if not nil, is a walk in Order over the documents that Access selects. It may find the first rows
	// without sorting all, see access.Access.First.
	Shortcut *access.Walk

	// Nothing reports that no document needs to be read. A query without FROM still returns its row, and an aggregate
	// its value over no rows.
	Nothing bool

	// Count reports that the query needs only the number of documents that Access selects: one COUNT over documents,
	// Exact, no join, group or distinct.
	Count bool

	// Indexes are the used and the missing indexes, for the index-utilization header.
	Indexes Utilization

	// Rules are the names of the rules that were applied, in order, for EXPLAIN.
	Rules []string
}

// An Order is an order of rows before GROUP BY, DISTINCT and projection.
type Order struct {
	Kind OrderKind
	// Keys, for ByValue, are expressions over documents (or over rows, after a join). If an ordered scan has an order
	// that the query did not ask for, Keys has its path as an expression: members of the Name root, which is the
	// document.
	Keys []syntax.SortKey
	// Ties reverses the order of rows with equal keys: by descending number.
	Ties bool
	// Stamps orders rows with equal keys by sequence instead of number: the only key is _ts.
	Stamps bool
	// Implied reports that the query did not ask for the order.
	Implied bool
}

// An OrderKind is what rows are ordered by.
type OrderKind uint8

// The kinds of order.
const (
	ByCreation  OrderKind = iota // number
	ByPartition                  // partition, then number: the store's own position
	ByValue                      // Keys, then number
	ByRank                       // ORDER BY RANK: score, then number
)

// A Utilization is the content of the index-utilization header.
type Utilization struct {
	UsedSingle      []string   // paths such as /a/?
	UsedComposite   [][]string // paths such as "/a ASC"
	WantedSingle    []string
	WantedComposite [][]string
}
