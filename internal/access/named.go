package access

import "github.com/mayflydb/mayfly/internal/doc"

// An IndexScan walks intervals of a named index. Values are in the order of
// doc.CompareBSON; absent ones count as null. A document with several entries comes once,
// where the walk meets it first.
type IndexScan struct {
	// Index is the number of the index; Identity is the index on _id.
	Index uint32
	// Intervals are disjoint and in the order of the index: from the least value of the
	// first column up, or from the greatest down when the column descends. Nil is the whole
	// index.
	Intervals []Interval
	// Checks are of columns behind those of the intervals, each of another one, in the order of the columns. An entry
	// that does not pass all of them leads to no document of the scan.
	Checks []Check
	// Fixed is how many of the first columns, each of one value, do not count in the order of merged scans.
	Fixed int
	// Reverse turns the order round.
	Reverse bool
	// Single says that the intervals are right only while no document has several entries.
	// If one has, the walk fails with fault.Conflict, and the language plans again.
	Single bool
	// Once says that no document has several entries within the intervals, though some may have several in the index.
	Once bool
}

// Identity is the number of the index on _id, which each container of the MongoDB dialect has.
const Identity uint32 = 0

// An Interval is the entries whose first columns have the values of Equal, and whose next
// column is within the bounds; nil is open. Low and High are the lesser and the greater
// value whichever way the column goes. Bound.Type is not used.
type Interval struct {
	Equal     []doc.Value
	Low, High *Bound
}

// A Check is what the entries of a scan have in one column: a value within one of the intervals, which are about this
// column alone and have no Equal. They are disjoint and in the order of the index.
type Check struct {
	Column int
	Within []Interval
}

// A NamedIndex is what a language may know about a named index to choose an Access.
type NamedIndex struct {
	Index      uint32
	Name       string
	Columns    []NamedColumn
	Unique     bool
	Sparse     bool
	Wildcard   bool // one column; its path is where the wildcard begins, "" for the root
	Multikey   bool // some document has several entries
	Hidden     bool
	Partial    doc.Doc // filter of its documents, nil for all
	Projection doc.Doc // of a wildcard index, nil for all paths
}

// A NamedColumn is one dotted path of a NamedIndex.
type NamedColumn struct {
	Path       string
	Descending bool
}

// A ByValue asks for the documents of a scan by the values of the first columns of its index.
type ByValue struct {
	Scan    IndexScan // forward
	Columns int       // that make up a value
	Count   bool      // how many documents each value has
	Nulls   bool      // all documents whose last column is null or missing, one by one
	Stats   *Stats    // counts what the walk looks at; may be nil
}
