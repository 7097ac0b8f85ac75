package pipeline

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// A path is the names of a dotted path.
type path []string

func parsePath(text string) (path, error) { return expression.SplitPath(text) }

func (p path) String() string { return strings.Join(p, ".") }

// in returns the value at the path. It goes through objects only.
func (p path) in(d doc.Doc) doc.Value {
	v := doc.Object(d)
	for _, name := range p {
		if !isObject(v) {
			return doc.Value{}
		}
		v = doc.Lookup(v.Data, name)
	}
	return v
}

// values calls f with each value at the path. It goes through arrays on the way and into one at the end. If m fails, it
// stops early.
func (p path) values(m *work.Meter, v doc.Value, f func(doc.Value)) {
	for i, name := range p {
		switch v.Type {
		case bsoncore.TypeEmbeddedDocument:
			v, _ = m.Lookup(v.Data, name)
		case bsoncore.TypeArray:
			index := arrayIndex(name)
			n := 0
			for e := range doc.Elements(v) {
				if m.Spend(work.Element) != nil {
					return
				}
				if n == index {
					p[i+1:].values(m, e, f)
				}
				if isObject(e) {
					p[i:].values(m, e, f)
				}
				n++
			}
			return
		default:
			return
		}
	}
	if v.Type == 0 {
		return
	}
	if !doc.IsArray(v) {
		f(v)
		return
	}
	for e := range doc.Elements(v) {
		if m.Spend(work.Element) != nil {
			return
		}
		f(e)
	}
}

// arrayIndex is a name as an array index, or -1 if it is not one.
func arrayIndex(name string) int {
	if i, ok := doc.ElementIndex(name); ok {
		return i
	}
	return -1
}

// appendSet appends d with v at the path; a missing v removes what is there. A value on the way that is not an object
// becomes one.
func (p path) appendSet(dst []byte, d doc.Doc, v doc.Value) []byte {
	dst, at := beginDoc(dst)
	found := false
	for name, old := range doc.Members(d) {
		if found || name != p[0] {
			dst = doc.AppendElement(dst, name, old)
			continue
		}
		found = true
		dst = p.appendChanged(dst, old, v)
	}
	if !found && v.Type != 0 {
		dst = p.appendChanged(dst, doc.Value{}, v)
	}
	return endDoc(dst, at)
}

func (p path) appendChanged(dst []byte, old, v doc.Value) []byte {
	switch {
	case len(p) == 1:
		return appendMember(dst, p[0], v)
	case v.Type == 0 && !isObject(old):
		return appendMember(dst, p[0], old)
	}
	inner, _ := doc.AsDoc(old)
	return p[1:].appendSet(appendHead(dst, bsoncore.TypeEmbeddedDocument, p[0]), inner, v)
}
