package filter

import (
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// Limits on a path. A number may be an index or a name, so each number doubles the ways through nested arrays.
const (
	maxPathNames   = 200
	maxPathNumbers = 24
)

// A Path is a compiled dotted path with MongoDB's rules for arrays. It is immutable. In an array, a number is an index
// and also a name in the array's objects; other names are only looked up in the objects. An array inside of an array is
// entered by index only.
// https://www.mongodb.com/docs/v7.0/core/document/#dot-notation
type Path struct {
	text  string
	names []string
	index []int // each name as an index, -1 if it is not one
}

// A Leaf says what Walk visits if the path ends at an array.
type Leaf uint8

// The values of Leaf.
const (
	Whole    Leaf = iota // the array
	Elements             // its elements
	Both                 // its elements and then the array, as for most operators
)

// ParsePath parses a dotted path. Names may be empty and may begin with '$'. It fails with a *code.Error if there are
// more than 200 names, or if more than 24 of them are numbers.
func ParsePath(dotted string) (*Path, error) {
	if strings.Count(dotted, ".") >= maxPathNames {
		return nil, code.New(code.Overflow, "FieldPath is too long")
	}
	p := &Path{text: dotted, names: strings.Split(dotted, ".")}
	p.index = make([]int, len(p.names))
	numbers := 0
	for i, name := range p.names {
		if p.index[i] = indexOf(name); p.index[i] >= 0 {
			numbers++
		}
	}
	if numbers > maxPathNumbers {
		return nil, code.New(code.Overflow, "FieldPath has too many numbers")
	}
	return p, nil
}

// indexOf is a name as an array index, or -1 if it is not one.
func indexOf(name string) int {
	if name == "" || len(name) > 9 || name[0] == '0' && len(name) > 1 {
		return -1
	}
	for _, c := range []byte(name) {
		if c < '0' || c > '9' {
			return -1
		}
	}
	n, _ := strconv.Atoi(name)
	return n
}

// Walk calls visit with each value at the path in d, in order, until visit returns true. For each object that lacks the
// next name of the path it visits the zero Value; elements of an array that are not objects are skipped. element is the
// index in the outermost array that was entered without an index in the path, or -1. Walk reports whether visit stopped
// it. m, which may be nil, counts the work and may end the walk early.
func (p *Path) Walk(d doc.Doc, leaf Leaf, m *work.Meter, visit func(v doc.Value, element int) (stop bool)) bool {
	w := walk{path: p, leaf: leaf, meter: m}
	return w.from(doc.Object(d), func(v doc.Value, at place) bool {
		if !at.found {
			return visit(v, -1)
		}
		return visit(v, at.element)
	})
}

// A place is an element of the array at the first names of the path.
type place struct {
	found   bool
	names   int
	element int
}

// or is the outer one of two places.
func (p place) or(names, element int) place {
	if p.found {
		return p
	}
	return place{found: true, names: names, element: element}
}

type visitor func(v doc.Value, at place) (stop bool)

// A walk is one walk along a path.
type walk struct {
	path  *Path
	leaf  Leaf
	meter *work.Meter // may end the walk early; nil counts nothing
}

// from starts at a value: a document, or an element of an array.
func (w walk) from(v doc.Value, visit visitor) bool {
	switch {
	case len(w.path.names) == 0:
		return w.end(v, place{}, visit)
	case v.Type == bsoncore.TypeEmbeddedDocument:
		return w.object(v.Data, 0, place{}, visit)
	case v.Type == bsoncore.TypeArray:
		return w.array(v, 0, place{}, visit)
	}
	return visit(doc.Value{}, place{})
}

// object looks up the names from i on, through objects.
func (w walk) object(d doc.Doc, i int, at place, visit visitor) bool {
	for {
		v, err := w.meter.Lookup(d, w.path.names[i])
		i++
		switch {
		case err != nil:
			return true
		case i == len(w.path.names):
			return w.end(v, at, visit)
		case v.Type == bsoncore.TypeArray:
			return w.array(v, i, at, visit)
		case v.Type != bsoncore.TypeEmbeddedDocument:
			return visit(doc.Value{}, at)
		}
		d = v.Data
	}
}

// array looks into the elements of the array at the names before i.
func (w walk) array(v doc.Value, i int, at place, visit visitor) bool {
	n := -1
	for e := range doc.Elements(v) {
		n++
		if w.meter.Spend(work.Element) != nil {
			return true
		}
		if e.Type == bsoncore.TypeEmbeddedDocument && w.object(e.Data, i, at.or(i, n), visit) {
			return true
		}
		if n == w.path.index[i] && w.indexed(e, i+1, at, visit) {
			return true
		}
	}
	return false
}

// indexed continues in an element that the path names by its index. An array at the end of the path is visited as a
// whole.
func (w walk) indexed(e doc.Value, i int, at place, visit visitor) bool {
	switch {
	case i == len(w.path.names):
		return visit(e, at)
	case e.Type == bsoncore.TypeEmbeddedDocument:
		return w.object(e.Data, i, at, visit)
	case e.Type == bsoncore.TypeArray:
		return w.array(e, i, at, visit)
	}
	return false
}

// end visits a value at the end of the path.
func (w walk) end(v doc.Value, at place, visit visitor) bool {
	if v.Type != bsoncore.TypeArray || w.leaf == Whole {
		return visit(v, at)
	}
	n := -1
	for e := range doc.Elements(v) {
		n++
		if w.meter.Spend(work.Element) != nil || visit(e, at.or(len(w.path.names), n)) {
			return true
		}
	}
	return w.leaf == Both && visit(v, at)
}

// upTo is the path of the first n names.
func (p *Path) upTo(n int) string {
	if n >= len(p.names) {
		return p.text
	}
	return strings.Join(p.names[:n], ".")
}
