package access

import (
	"context"
	"iter"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
)

// A Version identifies one version of one document: what an ETag stands for.
type Version struct {
	Sequence uint64
	Stamp    expiry.Stamp
}

// A Document is one living document. Body shares the memory of the store and is valid
// only during the call or the iteration step that handed it out.
type Document struct {
	Number  uint64 // of the document in its container, never reused, rising in order of creation
	Version        // of its last write
	TTL     expiry.TTL
	Body    doc.Doc

	// Deadline is the first second at which the document does not exist under the present
	// policy; 0 if it has none.
	Deadline expiry.Stamp

	// Memo, when not nil, says that the store keeps this version of the document in memory. Body is then valid as long
	// as it is used. Whoever replaces Body sets Memo to nil.
	Memo Memo

	// Position resumes a walk behind this document. Only walks set it; its bytes too are
	// valid only during the step.
	Position Position
}

// A Memo keeps the JSON of a document with a version that is often read: what queries return for the whole document.
// Text is nil until Keep has kept one. It must not be changed.
type Memo interface {
	Text() []byte
	Keep(text []byte)
}

// rangeBit is the lowest bit of a document's number that tells its range.
const rangeBit = 48

// Place is where the last write of the document stands among those of its container: by range, then by sequence. The
// sequence that a transaction shows for what it has written is above all those of a range; it comes behind them.
func (d *Document) Place() uint64 {
	sequence := d.Sequence & (1<<rangeBit - 1)
	if d.Sequence != sequence {
		sequence |= 1 << (rangeBit - 1)
	}
	return d.Number>>rangeBit<<rangeBit | sequence
}

// A Source is documents of one container, fixed at one moment and one instant.
type Source interface {
	// Scan walks the documents that a selects, in the order that a describes. A document
	// is valid until the next step.
	Scan(ctx context.Context, a Access) iter.Seq2[*Document, error]
	// Count counts them without handing them out. ok is false when index entries alone
	// cannot tell the exact number.
	Count(ctx context.Context, a Access) (n uint64, ok bool, err error)
	// Tabulate fills a table with values of the documents. ok is false when index entries alone cannot tell them, or
	// when it takes less time to read the documents.
	Tabulate(ctx context.Context, a Access, t *Table) (of Tabled, ok bool, err error)
}
