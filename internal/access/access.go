// Package access says which documents to visit, in which order and from where
// on. It is the whole conversation between a query language and the store: a
// language reduces its filter to an Access, the store answers with documents.
// It never reads anything itself.
package access

import "github.com/mayflydb/mayfly/internal/doc"

// An Access selects documents of one container. At most one of Partition and
// Span is set; with neither it is the whole container in order of creation.
type Access struct {
	// Partition selects the documents of one partition, or of all partitions
	// under a prefix of a hierarchical key.
	Partition []doc.Value
	// HasPartition tells an empty prefix from none.
	HasPartition bool

	// Span selects documents by effective partition key.
	Span *Span

	// After resumes behind a Position that the same selection gave before.
	// Nil begins at the start.
	After Position
}

// A Span is a half-open interval [Low, High) of effective partition keys.
// Empty bounds are open.
type Span struct{ Low, High []byte }

// A Position is where a walk stands: opaque bytes, valid for the same
// selection of the same container for ever, whatever is written, expires or is
// reclaimed meanwhile.
type Position []byte
