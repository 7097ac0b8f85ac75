package exec

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
)

// systemNames are the properties that the service adds to a document. They are not in its body.
var systemNames = []string{"_rid", "_self", "_etag", "_attachments", "_ts"}

const stampName = "_ts"

// documentMember is a member of the whole document.
func documentMember(name string) node {
	switch {
	case name == stampName:
		n := computed(func(f *frame) doc.Value {
			if f.d == nil {
				return doc.Value{}
			}
			return f.mem.int(f.d.Stamp)
		})
		n.stamp = true
		return n
	case slices.Contains(systemNames, name):
		return computed(func(f *frame) doc.Value { return doc.Lookup(f.systemMembers(), name) })
	}
	return bodyPath([]string{name})
}

// bodyPath is the value at a path in the body of the document.
func bodyPath(path []string) node {
	if len(path) > doc.MaxDepth { // documents cannot be nested deeper
		return constant(doc.Value{})
	}
	n := node{path: path}
	first := path[0]
	switch rest := path[1:]; len(rest) {
	case 0:
		n.get = func(f *frame) doc.Value {
			if f.large && !f.spend(len(f.d.Body)) {
				return doc.Value{}
			}
			return doc.Lookup(f.body(), first)
		}
	case 1:
		second := rest[0]
		n.get = func(f *frame) doc.Value {
			if f.large && !f.spend(len(f.d.Body)) {
				return doc.Value{}
			}
			return member(doc.Lookup(f.body(), first), second)
		}
	default:
		n.get = func(f *frame) doc.Value {
			if f.large && !f.spend(len(f.d.Body)) {
				return doc.Value{}
			}
			v := doc.Lookup(f.body(), first)
			for _, name := range rest {
				v = member(v, name)
			}
			return v
		}
	}
	return n
}

// member is v.name, or undefined.
func member(v doc.Value, name string) doc.Value {
	if v.Type != bsoncore.TypeEmbeddedDocument {
		return doc.Value{}
	}
	return doc.Lookup(v.Data, name)
}

// element is v[i], or undefined.
func element(v doc.Value, i int64) doc.Value {
	if i < 0 {
		return doc.Value{}
	}
	for e := range doc.Elements(v) {
		if i == 0 {
			return e
		}
		i--
	}
	return doc.Value{}
}

func (c *compiler) member(x *syntax.Member, s *scope) (node, error) {
	of, err := c.expr(x.Of, s)
	if err != nil {
		return node{}, err
	}
	return c.memberOf(of, x.Name), nil
}

func (c *compiler) memberOf(of node, name string) node {
	switch {
	case of.document:
		return documentMember(name)
	case of.path != nil:
		return bodyPath(append(slices.Clip(of.path), name))
	}
	get := of.eval()
	return c.fold(computed(func(f *frame) doc.Value {
		v := get(f)
		if !f.spend(len(v.Data)) {
			return doc.Value{}
		}
		return member(v, name)
	}), of)
}

func (c *compiler) index(x *syntax.Index, s *scope) (node, error) {
	of, err := c.expr(x.Of, s)
	if err != nil {
		return node{}, err
	}
	at, err := c.expr(x.Index, s)
	if err != nil {
		return node{}, err
	}
	return c.indexOf(of, at), nil
}

// indexOf is of[at]: a member if at is a string, an element if at is a whole number that is not negative, else
// undefined.
func (c *compiler) indexOf(of, at node) node {
	if at.constant {
		if name, ok := doc.AsString(at.value); ok {
			return c.memberOf(of, name)
		}
		if i, ok := doc.AsInt(at.value); ok {
			get := of.eval()
			return c.fold(computed(func(f *frame) doc.Value {
				v := get(f)
				if !f.spend(len(v.Data)) {
					return doc.Value{}
				}
				return element(v, i)
			}), of)
		}
		return constant(doc.Value{})
	}
	get, index := of.eval(), at.eval()
	return computed(func(f *frame) doc.Value {
		v, at := get(f), index(f)
		if !f.spend(len(v.Data)) {
			return doc.Value{}
		}
		if name, ok := doc.AsString(at); ok {
			return member(v, name)
		}
		if i, ok := doc.AsInt(at); ok {
			return element(v, i)
		}
		return doc.Value{}
	})
}
