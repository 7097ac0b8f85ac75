// Package filter has MongoDB's query language: {a: {$gt: 1}, $or: [...]}, compiled
// once and matched against raw BSON. An operator's parsing, checks and work sit in
// one file. It tells a planner what it asks of which path, and chooses no index.
// https://www.mongodb.com/docs/v7.0/reference/operator/query/
package filter

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// A Filter is a compiled query. It is immutable and safe for concurrent use with a
// Scope each.
type Filter struct {
	test   test
	node   *Node
	scoped bool // it has an $expr or a $sampleRate
}

// A test reports whether a value is accepted: a whole document, or what a path leads
// to, which may be missing. With w not nil it notes which element of an array made
// the first condition on an array true.
type test func(v doc.Value, s *expression.Scope, w *Where) (bool, error)

// A Where says what the positional operator `$` stands for: the index of the array
// element that a match has found. It is the outermost array that the first condition
// on an array went through, or the one that $elemMatch looked into.
type Where struct {
	Path    string // of the array, "" when no condition has gone through one
	Element int
	Found   bool
}

// Options of Compile.
type Options struct {
	// Names are the variables that $expr may use; nil for none beside the system's.
	Names *expression.Names

	// Meter counts what it costs to compile; nil for the one of Names.
	Meter *work.Meter
}

// Compile reads a query. Errors are *code.Error: unknown operators are BadValue
// "unknown operator: $x" or "unknown top level operator: $x. ...".
func Compile(query doc.Doc, o Options) (*Filter, error) { return compile(query, o) }

// Match reports whether a document is accepted. s may be nil unless NeedsScope; the
// caller has Reset it to the document.
func (f *Filter) Match(d doc.Doc, s *expression.Scope) (bool, error) {
	return f.test(doc.Object(d), s, nil)
}

// Locate is Match that also tells what `$` stands for.
func (f *Filter) Locate(d doc.Doc, s *expression.Scope) (ok bool, w Where, err error) {
	ok, err = f.test(doc.Object(d), s, &w)
	if !ok {
		return false, Where{}, err
	}
	return true, w, nil
}

// NeedsScope reports whether the query has an $expr or a $sampleRate.
func (f *Filter) NeedsScope() bool { return f.scoped }

// Tree is what the query asks, for planners and upserts.
func (f *Filter) Tree() *Node { return f.node }

// A Kind says what a Node asks.
type Kind uint8

// The kinds of nodes. Equal to Regex are about Path, a dotted path with MongoDB's rules
// for arrays: one value that it leads to, an array's elements and the array itself among
// them, is as the kind says. NotEqual, NotIn, Missing and Not say that there is none.
const (
	Always       Kind = iota // accepts everything: an empty query
	And                      // every one of Children
	Or                       // one of Children
	Nor                      // none of Children
	Not                      // Children[0] is false of Path
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
	Type                     // $type
	Regex                    // Patterns[0]
	ElemMatch                // one element of the array at Path satisfies Children[0], whose paths are relative ("" is the element itself)
	All                      // all of Values, as an And of Equal would ask it
	Size                     // $size
	Expr                     // $expr: Expression
	Other                    // anything else: no index helps
)

// A Node is a part of a query's tree. A Node must not be changed.
type Node struct {
	Kind     Kind
	Path     string
	Value    doc.Value
	Values   []doc.Value
	Patterns []Pattern
	Children []*Node
}

// A Pattern is a regular expression. Prefix is what every string that matches begins
// with, when the expression says so and is case-sensitive. A value that is a regular
// expression matches one of the same text and options, whatever it begins with.
type Pattern struct {
	Prefix string
	Exact  bool // every string that begins with Prefix matches
}
