// Package plan chooses how to find the documents that a MongoDB query asks for: from a filter, a sort, a hint and the
// indexes of a container to an access.Access, and its description for explain. The access may select more documents
// than the filter accepts, never fewer, so the caller checks each document. It reads no documents and keeps no
// statistics. Rules give each index a score; where several fit, their entries are counted, as far as the one with the
// fewest has them.
package plan

import (
	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
)

// A Query is a query of one container.
type Query struct {
	// Namespace is "database.collection", for the messages of errors.
	Namespace string
	// Filter accepts documents; nil accepts all.
	Filter *filter.Filter
	// Text is Filter as the client wrote it, for Explain.
	Text doc.Doc
	// Sort lists the dotted paths to sort by; none means any order. The caller handles $natural.
	Sort []access.NamedColumn
	// Limit is how many documents are wanted, skipped ones included; 0 is all. That of Like stays.
	Limit int64
	// Hint is the name of an index or its key pattern, missing or an empty object for none. {$natural: 1} and
	// {$natural: -1} forbid indexes.
	Hint doc.Value
	// Like is a plan of the same query whose walk is to go on, nil if there is none. The new plan has the same indexes,
	// if they are still there: a position in one is a position in the other.
	Like *Plan
}

// A Plan says how to find the documents of a Query. It is immutable.
type Plan struct {
	// Access selects the documents: by IndexScans, or the whole container in order of creation. If following it
	// fails with fault.Conflict, an index has changed: choose again.
	Access access.Access
	// Sorted reports that the documents come in the order of the Query's Sort, or that it has none.
	Sorted bool

	// SortAvoidable reports that a plan by rules alone, without counts, has the order of the Sort, and this one has
	// not.
	SortAvoidable bool
	// Shortcut, if not nil, walks in the order of the first SortedBy paths of the Sort. It may come to the first
	// documents sooner than sorting those of Access.
	Shortcut *Plan
	SortedBy int // of a Shortcut

	query    Query
	indexes  []access.NamedIndex
	legs     []leg             // one for each of the scans
	scans    access.IndexScans // what Access is of, if there are any
	nothing  bool              // no document can be accepted
	identity bool              // the filter is {_id: value}
	rooted   bool              // the filter is an $or and nothing else
	together bool              // the scans are those of one candidate
	winners  []winner          // of all choices between indexes, in their order

	leg    [1]leg // where most Plans have their legs, scans and winners
	scan   [1]access.IndexScan
	winner [1]winner
}

// A leg is the scan of one index.
type leg struct {
	candidate
	index *access.NamedIndex
}

// Choose makes a plan. With count nil it goes by rules alone. Errors are *code.Error: BadValue for a hint that names no
// index, IndexNotFound for a key pattern that two indexes have, FailedToParse for a hint that is neither a string nor
// an object, and NoQueryExecutionPlans (291) for the hint of an index that does not have all documents of the query.
// https://www.mongodb.com/docs/v7.0/core/query-plans/
func Choose(q Query, indexes []access.NamedIndex, count CountEntries) (*Plan, error) {
	made := &Plan{query: q, indexes: indexes, Sorted: len(q.Sort) == 0}
	made.query.Like = nil
	p := planner{query: &made.query, indexes: indexes, hinted: -1, budget: maxWork, count: count,
		like: q.Like, winners: made.winner[:0]}
	if q.Like != nil {
		made.query.Limit = q.Like.query.Limit
	}
	scan, err := p.readHint()
	if err != nil {
		return nil, err
	}
	if scan {
		return made, nil
	}
	all := conjunction{list: make([]*condition, 0, 4)}
	if q.Filter != nil {
		all.add(q.Filter.Tree(), nil)
	}
	if all.nothing && p.hasIdentity() {
		made.nothing, made.Sorted = true, true
		made.scans = append(made.scan[:0], access.IndexScan{Index: access.Identity, Intervals: []access.Interval{}})
		made.Access.Of = &made.scans
		return made, nil
	}
	return p.choose(made, &all)
}

// Scans are the index scans that Access is of, none when it is of the whole container.
func (p *Plan) Scans() access.IndexScans {
	if scans, ok := p.Access.Of.(*access.IndexScans); ok {
		return *scans
	}
	return nil
}

// Point returns the _id that a filter asks for, alone or with other conditions. It is not ok if there is none, or if
// several documents may match the value.
func Point(f *filter.Filter) (id doc.Value, ok bool) {
	if f == nil {
		return id, false
	}
	return pointIn(f.Tree())
}

func pointIn(n *filter.Node) (id doc.Value, ok bool) {
	switch n.Kind {
	case filter.Equal:
		return n.Value, n.Path == "_id" && isPoint(n.Value)
	case filter.And:
		for _, child := range n.Children {
			if id, ok = pointIn(child); ok {
				return id, ok
			}
		}
	}
	return doc.Value{}, false
}

// isPoint reports whether a query for v finds only documents whose value equals v. A query for null, for example, finds
// missing values too.
func isPoint(v doc.Value) bool {
	switch doc.CanonicalType(v) {
	case doc.CanonicalUndefined, doc.CanonicalNull, doc.CanonicalArray, doc.CanonicalRegex:
		return false
	}
	return true
}
