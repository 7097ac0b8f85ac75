package update

import (
	"encoding/binary"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// A seen notes which children of a node occurred in a document.
type seen []uint64

func (s seen) has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }
func (s seen) add(i int)      { s[i/64] |= 1 << (i % 64) }

// object appends the result of n on a document. It copies the members that n does not concern in long runs of bytes.
// New members come last, in the order of n's children.
func (x *run) object(dst []byte, d doc.Doc, n *node) (out []byte, changed bool, err error) {
	n, err = x.resolve(n)
	if err != nil {
		return dst, false, err
	}
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	var room [2]uint64
	met := seen(room[:])
	if len(n.children) > 64*len(room) {
		met = make(seen, (len(n.children)+63)/64)
	}
	left := len(n.children)
	from, at := 4, 4 // the bytes between them are not copied yet
	for name, v := range doc.Members(d) {
		if left == 0 {
			break
		}
		begin := at
		at += 2 + len(name) + len(v.Data)
		i := n.find(name)
		if i < 0 || met.has(i) {
			continue
		}
		met.add(i)
		left--
		dst = append(dst, d[from:begin]...)
		var c bool
		if dst, c, err = x.member(dst, name, v, n.children[i].node, false); err != nil {
			return dst, false, err
		}
		changed = changed || c
		from = at
	}
	dst = append(dst, d[from:max(from, len(d)-1)]...)
	for i := range n.children {
		if left == 0 {
			break
		}
		if met.has(i) {
			continue
		}
		var c bool
		if dst, c, err = x.missing(dst, n.children[i].name, n.children[i].node); err != nil {
			return dst, false, err
		}
		changed = changed || c
	}
	return end(dst, start), changed, nil
}

// end closes the document or array that begins at start.
func end(dst []byte, start int) []byte {
	dst = append(dst, 0)
	binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start))
	return dst
}

// begin appends the head of a member whose type is not known yet.
func begin(dst []byte, name string) []byte {
	dst = append(dst, 0)
	dst = append(dst, name...)
	return append(dst, 0)
}

// member appends the result of n on an existing member or element.
func (x *run) member(
	dst []byte, name string, v doc.Value, n *node, inArray bool,
) (out []byte, changed bool, err error) {
	if err := x.spend(len(v.Data)); err != nil {
		return dst, false, err
	}
	x.path = append(x.path, name)
	start := len(dst)
	dst = begin(dst, name)
	if n.leaf != nil {
		dst, changed, err = x.act(dst, start, v, n.leaf, inArray)
	} else {
		dst[start] = byte(v.Type)
		dst, changed, err = x.inner(dst, v, n)
	}
	if err != nil {
		return dst, false, err
	}
	x.path = x.path[:len(x.path)-1]
	if !changed {
		dst = append(begin(dst[:start], name), v.Data...)
		dst[start] = byte(v.Type)
	}
	return dst, changed, x.checkSize(dst)
}

// inner appends the result of n, which is not a leaf, on v.
func (x *run) inner(dst []byte, v doc.Value, n *node) (out []byte, changed bool, err error) {
	switch {
	case n.each && v.Type != bsoncore.TypeArray:
		return dst, false, code.New(code.BadValue, "Cannot apply array updates to non-array element %s",
			x.elementText(v))
	case n.each:
		return x.elements(dst, v.Data, n)
	case v.Type == bsoncore.TypeEmbeddedDocument:
		return x.object(dst, v.Data, n)
	case v.Type == bsoncore.TypeArray:
		return x.array(dst, v, n)
	}
	n, err = x.resolve(n)
	if err != nil {
		return dst, false, err
	}
	for _, c := range n.children {
		if err := x.blocked(v, c.name, c.node, nil); err != nil {
			return dst, false, err
		}
	}
	return dst, false, nil
}

// elementText is the current element for messages.
func (x *run) elementText(v doc.Value) string { return elementText(x.path[len(x.path)-1], v) }

// active reports whether a leaf does anything in this run.
func (x *run) active(l *leaf) bool {
	if l.insertOnly && !x.in.Inserting {
		return false
	}
	return l.moves == nil || !doc.IsUndefined(x.values[l.moves.number])
}

// act appends the result of a leaf on v, after a head that begins at start.
func (x *run) act(dst []byte, start int, v doc.Value, l *leaf, inArray bool) (out []byte, changed bool, err error) {
	if !x.active(l) {
		return dst, false, nil
	}
	value := len(dst)
	dst, kind, o, err := l.change(x, dst, v)
	if err != nil || o == kept {
		return dst, false, err
	}
	if err := x.checkImmutable(l, o); err != nil {
		return dst, false, err
	}
	if o == removed {
		if !inArray {
			return dst[:start], true, nil
		}
		dst, kind = dst[:value], bsoncore.TypeNull // so that the elements behind it keep their indexes
	} else if err := x.checkWritten(l); err != nil {
		return dst, false, err
	}
	dst[start] = byte(kind)
	return dst, true, nil
}

func (x *run) checkImmutable(l *leaf, o outcome) error {
	switch {
	case x.path[0] != idName || doc.IsUndefined(x.id):
		return nil
	case l.moves != nil && o == removed:
		return code.New(code.ImmutableField,
			"Unsetting the path '%s' using $rename would modify the immutable field '_id'", x.dotted())
	}
	return code.New(code.ImmutableField, "Performing an update on the path '%s' would modify the immutable field '_id'",
		x.dotted())
}

func (x *run) checkWritten(l *leaf) error {
	depth := l.depth
	if l.moves != nil {
		if err := x.spend(len(x.values[l.moves.number].Data)); err != nil {
			return err
		}
		depth = depthOf(x.values[l.moves.number])
	}
	if len(x.path)+depth > MaxDepth {
		return tooDeep()
	}
	if len(x.path) == 1 && strings.HasPrefix(x.path[0], "$") {
		x.dollars = true
	}
	return nil
}

// missing appends the result of n for a missing name: nothing, unless a leaf below creates a value.
func (x *run) missing(dst []byte, name string, n *node) (out []byte, changed bool, err error) {
	if err := x.spend(0); err != nil {
		return dst, false, err
	}
	x.path = append(x.path, name)
	start := len(dst)
	switch {
	case n.each:
		return dst, false, x.mustExist(nil)
	case n.leaf != nil:
		if n.leaf.creates {
			dst, changed, err = x.act(begin(dst, name), start, doc.Value{}, n.leaf, false)
		}
	default:
		dst, changed, err = x.within(begin(dst, name), start, n)
	}
	if err != nil {
		return dst, false, err
	}
	x.path = x.path[:len(x.path)-1]
	if !changed {
		return dst[:start], false, nil
	}
	if len(x.path) == 0 && strings.HasPrefix(name, "$") {
		x.dollars = true
	}
	return dst, true, x.checkSize(dst)
}

// within appends the new object that n's children make, after a head that begins at start.
func (x *run) within(dst []byte, start int, n *node) (out []byte, changed bool, err error) {
	n, err = x.resolve(n)
	if err != nil {
		return dst, false, err
	}
	dst[start] = byte(bsoncore.TypeEmbeddedDocument)
	value := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	for _, c := range n.children {
		var made bool
		if dst, made, err = x.missing(dst, c.name, c.node); err != nil {
			return dst, false, err
		}
		changed = changed || made
	}
	return end(dst, value), changed, nil
}

// mustExist is the error for an array update without an array at the current path and rest.
func (x *run) mustExist(rest []string) error {
	x.path = append(x.path, rest...)
	return code.New(code.BadValue, "The path '%s' must exist in the document in order to apply array updates.",
		x.dotted())
}

// blocked returns the error of the leaves of n if the value v is in the way of their path: v is not an object, nor an
// array with part as an index. between are the names behind part.
func (x *run) blocked(v doc.Value, part string, n *node, between []string) error {
	if err := x.spend(0); err != nil {
		return err
	}
	switch {
	case n.each:
		return x.mustExist(append([]string{part}, between...))
	case n.leaf == nil:
		n, err := x.resolve(n)
		if err != nil {
			return err
		}
		for _, c := range n.children {
			if err := x.blocked(v, part, c.node, extend(between, c.name)); err != nil {
				return err
			}
		}
		return nil
	case !x.active(n.leaf) || n.leaf.lenient:
		return nil
	case n.leaf.creates:
		return code.New(code.PathNotViable, "Cannot create field '%s' in element {%s}", part, x.elementText(v))
	}
	text := x.elementText(v)
	x.path = append(append(x.path, part), between...)
	return code.New(code.PathNotViable, "Cannot use the part (%s) of (%s) to traverse the element ({%s})", part,
		x.dotted(), text)
}

// resolve is n with its child $ renamed to the index that the query matched.
func (x *run) resolve(n *node) (*node, error) {
	if n.positional == nil {
		return n, nil
	}
	if x.matched == "" {
		return nil, code.New(code.BadValue, "The positional operator did not find the match needed from the query.")
	}
	if err := x.in.Meter.Spend(childCost * len(n.children)); err != nil {
		return nil, err
	}
	out := &node{}
	here := child{name: x.matched, node: n.positional}
	for _, c := range n.children {
		if c.name != x.matched {
			out.add(c)
			continue
		}
		var err error
		if here.node, err = merge(n.positional, c.node, extend(x.path, c.name), x.in.Meter); err != nil {
			return nil, err
		}
	}
	out.add(here)
	out.order(x.in.Meter)
	return out, x.in.Meter.Err()
}
