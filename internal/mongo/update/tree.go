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

// A node is what an update does at and below one place of a document. The paths of
// all operators are merged into one tree, which is walked beside the document.
type node struct {
	leaf       *leaf   // nil for an inner node
	each       bool    // the children are elements: their names are the identifiers of $[identifier]
	children   []child // sorted by compareNames
	byName     map[string]int
	positional *node // the child called $
}

// A child is a node with its name.
type child struct {
	*node
	name  string
	match *filter.Filter // of a child of a node for each element, nil for $[]
}

// A leaf is one operator on one path.
type leaf struct {
	change     change
	creates    bool    // it makes what its path lacks
	lenient    bool    // it leaves alone a path that cannot be made, where others fail
	insertOnly bool    // it does something when an upsert inserts, only
	depth      int     // levels below it of what it writes
	moves      *rename // it is one of the two ends of a $rename
}

// A change appends the bytes of what becomes of old to dst. old is undefined when the
// path is not there. What is appended counts when the outcome is written, only.
type change func(x *run, dst []byte, old doc.Value) (out []byte, kind bsoncore.Type, o outcome, err error)

// An outcome says what a change did.
type outcome uint8

const (
	kept    outcome = iota // the old value stays
	written                // the value appended takes its place
	removed                // it is gone
)

// fewChildren is how many names are compared one by one.
const fewChildren = 8

// find gives the place of a child, -1 if there is none.
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

// child gives the child of that name, nil if there is none.
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

// insert is add for a name that is just a name, even if it is $.
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

// sort puts the children of n and below into the order in which they are applied.
func (n *node) sort(m *work.Meter) {
	for _, c := range n.children {
		c.sort(m)
	}
	if n.positional != nil {
		n.positional.sort(m)
	}
	n.order(m)
}

// placing is what it costs to put a child in its place.
const placing = 20

// order is of no use when m has failed.
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

// compareNames is the order in which new fields are made: lexicographic, but by
// number where names begin with one.
// https://www.mongodb.com/docs/v7.0/reference/operator/update/#std-label-update-operators-processing-order
func compareNames(a, b string) int {
	m, n := leadingDigits(a), leadingDigits(b)
	if m == 0 || n == 0 {
		return strings.Compare(a, b)
	}
	return cmp.Or(cmp.Compare(m, n), strings.Compare(a, b))
}

// leadingDigits counts digits at the start, none when the first is a zero that pads.
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

// merge is what two nodes do together to one place. at is the path of the place.
func merge(a, b *node, at []string, m *work.Meter) (*node, error) {
	if err := m.Spend(placing * (1 + len(a.children) + len(b.children))); err != nil {
		return nil, err
	}
	if a.leaf != nil || b.leaf != nil || a.each != b.each {
		return nil, code.New(code.ConflictingUpdateOperators, "Update created a conflict at '%s'", strings.Join(at, "."))
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

// extend is a path with one more name, in memory of its own.
func extend(path []string, name string) []string { return append(slices.Clip(path), name) }
