package update

import (
	"cmp"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// A node is what an update does at and below one place of a document. The paths of all operators are merged into one
// tree, which is walked in step with the document.
type node struct {
	leaf       *leaf   // nil for an inner node
	each       bool    // the children are for elements: their names are the identifiers of $[identifier]
	children   []child // sorted by compareNames
	byName     map[string]int
	positional *node // the child called $
}

// A child is a node with its name.
type child struct {
	*node
	name  string
	match *filter.Filter // the array filter, if the parent has each set; nil for $[]
}

// A leaf is one operator on one path.
type leaf struct {
	change     change
	creates    bool    // it makes a missing path
	lenient    bool    // it ignores a path that cannot be made; others fail
	insertOnly bool    // it applies only if an upsert inserts
	depth      int     // levels in the value that it writes
	moves      *rename // one of the two ends of a $rename
}

// A change appends the new value of old to dst. old is undefined if the path does not exist. What it appends counts
// only if the outcome is written.
type change func(x *run, dst []byte, old doc.Value) (out []byte, kind bsoncore.Type, o outcome, err error)

// An outcome says what a change did.
type outcome uint8

const (
	kept    outcome = iota // the old value stays
	written                // the appended value replaces it
	removed                // the value is removed
)

// fewChildren is the number of children up to which a linear search is used.
const fewChildren = 8

// find returns the index of a child, or -1.
func (n *node) find(name string) int {
	if n.byName != nil {
		if i, ok := n.byName[name]; ok {
			return i
		}
		return -1
	}
	for i := range n.children {
		if n.children[i].name == name {
			return i
		}
	}
	return -1
}

// child returns the child with a name, or nil.
func (n *node) child(name string) *node {
	if name == positionalName {
		return n.positional
	}
	if i := n.find(name); i >= 0 {
		return n.children[i].node
	}
	return nil
}

func (n *node) add(c child) {
	if c.name == positionalName {
		n.positional = c.node
		return
	}
	n.insert(c)
}

// insert is add for a name that is a field name even if it is $.
func (n *node) insert(c child) {
	n.children = append(n.children, c)
	switch {
	case n.byName != nil:
		n.byName[c.name] = len(n.children) - 1
	case len(n.children) > fewChildren:
		n.index()
	}
}

func (n *node) index() {
	n.byName = make(map[string]int, len(n.children))
	for i, c := range n.children {
		n.byName[c.name] = i
	}
}

// sort sorts the children of n, and those below, in the order of application.
func (n *node) sort(m *work.Meter) {
	for _, c := range n.children {
		c.sort(m)
	}
	if n.positional != nil {
		n.positional.sort(m)
	}
	n.order(m)
}

// childCost is the cost of sorting or merging a child, in units of package work.
const childCost = 20

// order sorts the children. If m has failed, the order is meaningless.
func (n *node) order(m *work.Meter) {
	if len(n.children) < 2 {
		return
	}
	slices.SortFunc(n.children, func(a, b child) int {
		if m.Spend(work.Operator+work.Copied(min(len(a.name), len(b.name)))) != nil {
			return 0
		}
		return compareNames(a.name, b.name)
	})
	if n.byName != nil {
		n.index()
	}
}

// compareNames is the order in which new fields are made: lexicographic, but numeric for names that begin with a
// number.
// https://www.mongodb.com/docs/v7.0/reference/operator/update/#std-label-update-operators-processing-order
func compareNames(a, b string) int {
	m, n := leadingDigits(a), leadingDigits(b)
	if m == 0 || n == 0 {
		return strings.Compare(a, b)
	}
	return cmp.Or(cmp.Compare(m, n), strings.Compare(a, b))
}

// leadingDigits counts the digits at the start. It returns 0 if the first is a padding zero.
func leadingDigits(name string) int {
	n := 0
	for n < len(name) && name[n] >= '0' && name[n] <= '9' {
		n++
	}
	if len(name) > 1 && name[0] == '0' {
		return 0
	}
	return n
}

// merge joins two nodes for the same place. at is the path of the place.
func merge(a, b *node, at []string, m *work.Meter) (*node, error) {
	if err := m.Spend(childCost * (1 + len(a.children) + len(b.children))); err != nil {
		return nil, err
	}
	if a.leaf != nil || b.leaf != nil || a.each != b.each {
		return nil, code.New(code.ConflictingUpdateOperators, "Update created a conflict at '%s'",
			strings.Join(at, "."))
	}
	n := &node{each: a.each, positional: a.positional}
	var err error
	if n.positional == nil {
		n.positional = b.positional
	} else if b.positional != nil {
		if n.positional, err = merge(a.positional, b.positional, extend(at, positionalName), m); err != nil {
			return nil, err
		}
	}
	for _, c := range a.children {
		if other := b.child(c.name); other != nil {
			if c.node, err = merge(c.node, other, extend(at, c.label(a.each)), m); err != nil {
				return nil, err
			}
		}
		n.add(c)
	}
	for _, c := range b.children {
		if a.child(c.name) == nil {
			n.add(c)
		}
	}
	n.order(m)
	return n, m.Err()
}

// label is the child's part of a path.
func (c child) label(each bool) string {
	if each {
		return "$[" + c.name + "]"
	}
	return c.name
}

// extend is a copy of a path with one more name.
func extend(path []string, name string) []string { return append(slices.Clip(path), name) }
