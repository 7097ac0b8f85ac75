// Package filter has MongoDB's query language: {a: {$gt: 1}, $or: [...]}, compiled once and matched against raw BSON.
// An operator's parsing, checks and work sit in one file. It describes a query to a planner as a tree, and chooses no
// index.
// https://www.mongodb.com/docs/v7.0/reference/operator/query/
package filter

import (
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// A Filter is a compiled query. It is immutable and safe for concurrent use with a Scope for each goroutine.
type Filter struct {
	test   test
	node   *Node
	scoped bool // it has an $expr or a $sampleRate
}

// A test reports whether a value is accepted: a whole document, or a value at a path, which may be missing. If w is not
// nil, the test notes in it which array element satisfied the first condition on an array.
type test func(v doc.Value, s *expression.Scope, w *Where) (bool, error)

// A Where is the meaning of the positional operator `$`: the index of the array element that a match found. The array
// is the outermost one on the path of the first condition on an array, or the one of an $elemMatch.
type Where struct {
	Path    string // of the array, "" if no condition went through one
	Element int
	Found   bool
}

// Options of Compile.
type Options struct {
	// Names are the variables that $expr may use; nil for the predefined ones.
	Names *expression.Names

	// Meter counts the cost of compiling; nil for the meter of Names.
	Meter *work.Meter
}

// Compile compiles a query. Errors are *code.Error: unknown operators are BadValue "unknown operator: $x" or "unknown
// top level operator: $x. ...".
func Compile(query doc.Doc, o Options) (*Filter, error) { return compile(query, o) }

// Match reports whether the filter accepts a document. s may be nil unless NeedsScope; the caller has Reset it to the
// document.
func (f *Filter) Match(d doc.Doc, s *expression.Scope) (bool, error) {
	return f.test(doc.Object(d), s, nil)
}

// Locate is Match and also returns the meaning of `$`.
func (f *Filter) Locate(d doc.Doc, s *expression.Scope) (ok bool, w Where, err error) {
	ok, err = f.test(doc.Object(d), s, &w)
	if !ok {
		return false, Where{}, err
	}
	return true, w, nil
}

// NeedsScope reports whether the query has an $expr or a $sampleRate.
func (f *Filter) NeedsScope() bool { return f.scoped }

// Tree is the query as a tree, for planners and upserts.
func (f *Filter) Tree() *Node { return f.node }

// A Kind says what a Node asks.
type Kind uint8

// The kinds of nodes. Equal to Regex are about Path, a dotted path with MongoDB's rules for arrays: they hold if one of
// its values, including elements of arrays and whole arrays, is as the kind says. NotEqual, NotIn, Missing and Not hold
// if none is.
const (
	Always       Kind = iota // accepts everything: an empty query
	And                      // every one of Children
	Or                       // one of Children
	Nor                      // none of Children
	Not                      // Children[0] does not hold for Path
	Equal                    // == Value
	NotEqual                 // $ne Value
	Less                     // $lt Value
	LessEqual                // $lte Value
	Greater                  // $gt Value
	GreaterEqual             // $gte Value
	In                       // one of Values, or matches one of Patterns
	NotIn                    // none of Values
	Exists                   // has a value
	Missing                  // {$exists: false}
	Type                     // one of Types
	Regex                    // Patterns[0]
	// an element of the array at Path satisfies Children[0]; its paths are relative, "" is the element
	ElemMatch
	All  // all of Values, like an And of Equal
	Size // $size
	// $expr: each of Children holds, as far as they tell: Equal to In of a field, compared as expressions do, and Or of
	// Expr nodes. Values are no arrays, and not below null.
	Expr
	Other // anything else: no index helps
)

// A Node is a part of a query's tree. A Node must not be changed.
type Node struct {
	Kind     Kind
	Path     string
	Value    doc.Value
	Values   []doc.Value
	Patterns []Pattern
	Types    []bsoncore.Type
	Children []*Node

	operand *expression.Expression // in an Expr, what gives Value or Values; nil when they are known
}

// A Pattern is a regular expression. Prefix is what every matching string begins with, "" if that is not known. A
// stored regular expression with the same text and options matches too, whatever it begins with.
type Pattern struct {
	Prefix string
	Exact  bool // every string that begins with Prefix matches
}
