package access

import "github.com/mayflydb/mayfly/internal/doc"

// A Set is a set of documents that index entries name. Exactly one field is
// set. A walk over documents may widen a Set when following it would cost more
// than it saves, so a language still checks each document against its filter.
type Set struct {
	Range *Range
	All   []Set // documents that are in every one
	Any   []Set // documents that are in at least one
}

// A Range is the documents that have a value under a path (or values in a
// composite index) within bounds. A value is in order as Compare has it; bounds
// that Clip changes are approximate, and so are arrays and objects, which are
// all equal.
type Range struct {
	// Path leads to the value. The path _ts alone means the stamp of the last
	// write, whose order is that of sequences.
	Path Path

	// Composite, when above 0, is one more than the ordinal of a composite index,
	// and there is no Path. The first columns have the values of Equal; the bounds
	// are on the column after those. Every document is in it: absent values are
	// undefined.
	Composite int
	Equal     []doc.Value

	// Low and High bound the values; nil is open: to undefined below, to objects above.
	Low, High *Bound
}

// A Bound is an end of a Range.
type Bound struct {
	Value doc.Value
	// Open leaves out Value itself.
	Open bool
	// Type moves the bound to the end of Value's type: a Low begins at the first
	// value of the type, a High ends behind the last. Value's own content means nothing then.
	Type bool
}

// A Walk visits the documents of a Range in the order of their values, those
// with equal values in order of creation (on the path _ts: of sequence). The
// Path of its Range has no element steps, so each document comes once.
type Walk struct {
	Range
	// Reverse turns both orders round. On a composite index the order is that
	// of its columns, each ascending or descending as the policy says.
	Reverse bool
	// Absent visits the documents that have no value at Path too: they are
	// undefined, the lowest value. Low is nil then.
	Absent bool
}

// A Path leads from a document to values in it.
type Path []Step

// A Step goes to the member called Name, or to each element of an array.
type Step struct {
	Name    string
	Element bool
}

// A Schema is what a language may know of a container to choose an Access.
type Schema struct {
	// Partition lists the paths of the partition key.
	Partition []Path
	// Hierarchical tells a key of several levels, whose prefixes select too.
	Hierarchical bool
	// Indexed reports whether every value at a path has an index entry.
	Indexed func(Path) bool
	// Composite lists the composite indexes, each with its columns in order.
	Composite [][]Column
}

// A Column is one path of a composite index.
type Column struct {
	Path       Path
	Descending bool
}
