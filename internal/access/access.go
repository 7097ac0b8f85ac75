// Package access says which documents to visit, in which order, and where to
// resume. It is the whole conversation between a query language and the store: a
// language reduces its filter to an Access, and the store answers with Documents.
// It reads nothing itself.
package access

import (
	"errors"

	"github.com/mayflydb/mayfly/internal/doc"
)

// An Access is a walk over documents of one container.
type Access struct {
	// Of selects the documents and their order. Nil selects the whole container, in
	// order of creation.
	Of Selection

	// Stats, when not nil, counts what the walk looks at.
	Stats *Stats

	// Unordered says that the documents are read to the last and their order does not matter. They may then come in
	// another order than that of the selection, and without positions. After is nil.
	Unordered bool

	// All says that the documents are read to the last.
	All bool

	// Texts says that the JSON of each document is wanted, so that a Memo spares making it.
	Texts bool

	// Merged says that the documents of IndexScans come in one order: that of the columns of their indexes behind those
	// that are Fixed, which go in the same directions in all of them. Each scan has one interval.
	Merged bool

	// Reverse turns the order of creation round, that of the whole container, which has one range.
	Reverse bool

	// First, when above 0, says that the caller needs about so many documents of a Walk in a whole partition or with a
	// Set, and could read all of these and sort them instead. Scan may then fail with ErrLong, before the first
	// document or after any.
	First int

	// Skip, when not nil, are documents at the start of a Walk or of IndexScans that are not wanted, and that need not
	// be read. The caller accepts each document that is selected, so that entries tell how many come first.
	Skip *Skip

	// After resumes behind a Position that a walk over the same selection gave. Nil
	// starts at the beginning.
	After Position
}

// A Skip counts documents that are not wanted. Where a Scan knows that entries lead to living documents, it passes over
// them while Left is above 0, and subtracts them from Left. For documents that it gets, the caller does the same.
type Skip struct {
	Left          *int
	Passed, Bytes uint64 // documents that were passed over; their size is a mean
}

// ErrLong ends a walk with First that costs more than to read and sort all documents of its partition or Set.
var ErrLong = errors.New("access: the walk is longer than reading all that is selected")

// A Selection is one kind of access: a Scope (a Partition or a *Span), a *Lookup, a
// *Filter, a *Walk or *IndexScans. Each says in which order its documents come.
type Selection interface{ selection() }

// A Scope is a part of a container: a Partition or a *Span. A nil Scope is the whole
// container. As a Selection it is all documents of that part.
type Scope interface {
	Selection
	scope()
}

// A Partition is the values of a partition key: one partition, or all partitions under
// a prefix of a hierarchical key. Its documents come by partition, those of a partition
// in order of creation.
type Partition []doc.Value

// A Span is a half-open interval [Low, High) of effective partition keys. Empty bounds
// are open. Its documents come by partition, those of a partition in order of creation.
type Span struct{ Low, High []byte }

// A Lookup selects documents by id in one whole partition, in order of creation.
type Lookup struct {
	Partition Partition
	IDs       []string
}

// A Filter selects the documents of a Scope that index entries name, in order of
// creation. The walk may visit others when following Set would cost more than it saves,
// so a language still checks each document.
type Filter struct {
	Scope Scope
	Set   Set
}

// A Walk visits the documents of a Range in the order of their values, those with equal
// values in order of creation (on the path _ts: of Place). The Path of its Range has
// no element steps, so each document comes once.
type Walk struct {
	Scope Scope
	Range Range

	// Set, when not nil, narrows the walk as that of a Filter does.
	Set Set

	// Reverse turns both orders round. On a composite index the order is that of its
	// columns, each ascending or descending as the policy says.
	Reverse bool

	// Absent also visits the documents that have no value at Path: undefined is the
	// lowest value. Low is nil then.
	Absent bool
}

// IndexScans are scans of named indexes, one after the other. A document that several
// scans meet comes once. The order of one scan is that of its index, then of creation.
type IndexScans []IndexScan

func (Partition) selection()   {}
func (*Span) selection()       {}
func (*Lookup) selection()     {}
func (*Filter) selection()     {}
func (*Walk) selection()       {}
func (*IndexScans) selection() {}

func (Partition) scope() {}
func (*Span) scope()     {}

// ScopeOf is the part of the container that a selection is limited to, nil for the whole
// container.
func ScopeOf(s Selection) Scope {
	switch s := s.(type) {
	case Scope:
		return s
	case *Lookup:
		return s.Partition
	case *Filter:
		return s.Scope
	case *Walk:
		return s.Scope
	}
	return nil
}

// Stats counts what a walk looks at.
type Stats struct {
	Keys      uint64 // entries of named indexes
	Documents uint64 // records
}
