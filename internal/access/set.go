package access

import "github.com/mayflydb/mayfly/internal/doc"

// A Set is a set of documents that index entries name: a *Range, a *Tested, an
// Intersection or a Union.
type Set interface{ set() }

// An Intersection is the documents that are in every one of its sets; of no sets, it is
// all documents.
type Intersection []Set

// A Union is the documents that are in at least one of its sets; of no sets, it is empty.
type Union []Set

// A Range is the documents that have a value under a path (or values in a composite
// index) within bounds. Values are in the order of Compare; bounds that Clip changes are
// approximate, and so are arrays and objects, which are all equal.
type Range struct {
	// Path leads to the value. The path _ts alone is the stamp of the last write, whose
	// order is that of sequences.
	Path Path

	// Composite, when above 0, is one more than the ordinal of a composite index, and
	// there is no Path. The first columns have the values of Equal; the bounds are on the
	// column after those. Every document is in it: absent values are undefined.
	Composite int
	Equal     []doc.Value

	// Low and High bound the values; nil is open: to undefined below, to objects above.
	Low, High *Bound
}

// A Tested is the documents of a Range of strings for which Test is true. Its Path has no
// element steps.
type Tested struct {
	Range Range
	Test  Test
}

// A Test reports whether a string passes. If that cannot be told, it is not certain, and passes
// is true. The string is valid during the call. Calls follow one another.
type Test func(text doc.Value) (passes, certain bool)

func (*Range) set()       {}
func (*Tested) set()      {}
func (Intersection) set() {}
func (Union) set()        {}

// A Bound is an end of a Range or an Interval.
type Bound struct {
	Value doc.Value
	// Open leaves out Value itself.
	Open bool
	// Type moves the bound to the end of Value's type: a Low begins at the first value of
	// the type, a High ends behind the last. The content of Value does not matter then.
	Type bool
}
