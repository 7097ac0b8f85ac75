package store

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// A projection says which paths a wildcard index has, by MongoDB's wildcardProjection: those
// listed and below, or all but those.
type projection struct {
	paths   []string
	exclude bool
}

func newProjection(d doc.Doc) (p projection) {
	for name, v := range doc.Members(d) {
		on := true
		if b, ok := doc.AsBool(v); ok {
			on = b
		} else if f, ok := doc.AsFloat(v); ok {
			on = f != 0
		}
		p.exclude = p.exclude || !on && name != "_id"
		if on || name != "_id" {
			p.paths = append(p.paths, name)
		}
	}
	return p
}

// takes reports whether a path that has a value is indexed.
func (p *projection) takes(path string) bool {
	if len(p.paths) == 0 {
		return path != "_id" && !strings.HasPrefix(path, "_id.")
	}
	for _, listed := range p.paths {
		if path == listed || strings.HasPrefix(path, listed) && path[len(listed)] == '.' {
			return !p.exclude
		}
	}
	return p.exclude && path != "_id" && !strings.HasPrefix(path, "_id.")
}

// A wildcard makes the keys of one document in a wildcard index: the path and the value of each leaf.
type wildcard struct {
	n     *named
	use   func([]doc.Value)
	array bool
	depth int
}

// start goes to where the wildcard begins.
func (w *wildcard) start(body doc.Doc) error {
	path := w.n.paths[0]
	if len(path) == 0 {
		return w.members("", body)
	}
	return w.along("", path, doc.Object(body))
}

// along follows the fixed part of the path, through arrays too.
func (w *wildcard) along(at string, rest []string, v doc.Value) error {
	if len(rest) == 0 {
		return w.value(at, v, false)
	}
	if v.Type == bsoncore.TypeArray {
		w.array = true
		for element := range doc.Elements(v) {
			if d, ok := doc.AsDoc(element); ok {
				if err := w.along(at, rest, doc.Object(d)); err != nil {
					return err
				}
			}
		}
		return nil
	}
	d, ok := doc.AsDoc(v)
	if !ok {
		return nil
	}
	if inner := doc.Lookup(d, rest[0]); inner.Type != 0 {
		return w.along(join(at, rest[0]), rest[1:], inner)
	}
	return nil
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func (w *wildcard) members(path string, d doc.Doc) error {
	if w.depth++; w.depth > maxArrayDepth {
		return fault.New(fault.Invalid, "The document is nested too deeply for a wildcard index (limit %d).",
			maxArrayDepth)
	}
	defer func() { w.depth-- }()
	for name, v := range doc.Members(d) {
		if err := w.value(join(path, name), v, false); err != nil {
			return err
		}
	}
	return nil
}

// value adds the keys of what is at a path. Objects that are not empty have only those below
// them; an array has its elements, and one inside an array is a value.
func (w *wildcard) value(path string, v doc.Value, element bool) error {
	switch {
	case v.Type == bsoncore.TypeEmbeddedDocument && !doc.IsEmpty(v.Data):
		return w.members(path, doc.Doc(v.Data))
	case v.Type == bsoncore.TypeArray && !element:
		w.array = true
		none := true
		for e := range doc.Elements(v) {
			none = false
			if err := w.value(path, e, true); err != nil {
				return err
			}
		}
		if none {
			w.leaf(path, doc.Value{Type: bsoncore.TypeUndefined})
		}
		return nil
	}
	w.leaf(path, v)
	return nil
}

func (w *wildcard) leaf(path string, v doc.Value) {
	if w.n.narrowed.takes(path) {
		w.use([]doc.Value{doc.String(path), v})
	}
}
