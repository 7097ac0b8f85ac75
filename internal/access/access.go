// Package access says which documents to visit, in which order and from where
// on. It is the whole conversation between a query language and the store: a
// language reduces its filter to an Access, the store answers with documents.
// It never reads anything itself.
package access

import "github.com/mayflydb/mayfly/internal/doc"

// An Access selects documents of one container. At most one of Partition and
// Span is set; with neither it is the whole container. IDs, Set and Walk limit
// the selection further; at most one of them is set, except that a Walk may
// have a Set beside it.
//
// Order: with a Walk that of its values. Else creation, except that documents
// of a prefix of a hierarchical key, or of a Span, come by partition, then
// creation, when no IDs and no Set are given.
type Access struct {
	// Partition selects the documents of one partition, or of all partitions
	// under a prefix of a hierarchical key.
	Partition []doc.Value
	// HasPartition tells an empty prefix from none.
	HasPartition bool

	// Span selects documents by effective partition key.
	Span *Span

	// IDs selects documents by id in one whole partition.
	IDs []string

	// Set selects documents by what index entries say of them. Nil selects all.
	Set *Set

	// Walk visits documents in the order of index entries.
	Walk *Walk

	// Visits walk indexes that have names, one after the other; a document that several of
	// them meet comes once. Nothing but After may be set beside. With one Visit the order
	// is that of the index, then creation.
	Visits []Visit

	// Stats, when not nil, is told what the walk looks at.
	Stats *Stats

	// After resumes behind a Position that the same selection gave before.
	// Nil begins at the start.
	After Position
}

// Stats counts what a walk looks at.
type Stats struct {
	Keys      uint64 // entries of indexes that have names
	Documents uint64 // records
}

// A Span is a half-open interval [Low, High) of effective partition keys.
// Empty bounds are open.
type Span struct{ Low, High []byte }
