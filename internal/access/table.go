package access

import "github.com/mayflydb/mayfly/internal/doc"

// A Table asks for the values that documents have at a few paths, without the documents. A Source calls its functions
// in any order of documents and columns. If it fails, or cannot tell all values, it may have called them before.
type Table struct {
	// By is the path whose value tells the group of a document; nil puts all documents into one.
	By Path
	// Columns are the paths of the values.
	Columns []Path

	// Ends says that only the least and the greatest value of each column matter, and with Counts also how many
	// documents there are, and how many have one. There is no By then. A Source may leave out other values if it calls
	// Defined instead, and Count without Counts.
	Ends, Counts bool
	// Defined adds documents that have a value in a column, apart from those whose values were added.
	Defined func(group, column int, documents uint64)

	// Values says that only the values of By matter, and which documents have them does not. There are no Columns then,
	// and a Source may leave out Count. Lacking says that documents without a value matter as well.
	Values, Lacking bool

	// Group returns a number for a value of By, undefined for documents without one. It is called once or more for
	// each value that a document has, without By for an undefined value. Documents of a negative number are left out.
	Group func(v doc.Value) (group int, err error)
	// Count adds documents to a group.
	Count func(group int, documents uint64)
	// Add adds the value of a document of a group in a column. Not whole, v is of the same type, and if it is a number
	// it is the double next to the value. If ok is false, that does not suffice, and the Source gives up.
	Add func(group, column int, v doc.Value, whole bool) (ok bool)

	// Work counts index entries that were read. Hold reserves bytes of memory.
	Work func(entries int) error
	Hold func(bytes int) error
}

// Tabled is what a Table is about.
type Tabled struct {
	Documents uint64
	Bytes     uint64 // of their bodies: their number, times the mean of the container
}
