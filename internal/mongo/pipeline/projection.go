package pipeline

import (
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// A Projection says which members of a document to keep, to drop and to compute. It is compiled, immutable and safe for
// concurrent use.
type Projection struct {
	root       *node
	inclusion  bool
	scoped     bool
	positional bool
}

// ProjectionOptions are the options of CompileProjection.
type ProjectionOptions struct {
	// Names are the variables of its expressions; nil for none.
	Names *expression.Names
	// Find allows the operators of find: $slice, $elemMatch and the positional operator.
	Find bool
	// Filter is the query that the positional operator refers to.
	Filter *filter.Filter
}

// NeedsScope reports whether Apply needs a scope, Reset to the document.
func (p *Projection) NeedsScope() bool { return p.scoped }

// NeedsWhere reports whether Apply needs the place where the query matched.
func (p *Projection) NeedsWhere() bool { return p.positional }

// A kind says what to do with a member.
type kind uint8

const (
	keep kind = iota
	drop
	inside  // its members, or the members of its elements, have kinds of their own
	compute // the value of an expression
	cut     // keep the elements of an array that {$slice: ...} selects
	first   // keep the first element of an array that {$elemMatch: ...} accepts
)

// A node says what to do with one member.
type node struct {
	name     string
	kind     kind
	children []*node
	index    map[string]*node // the children by name, if there are many
	computes bool             // it or a node below it is computed
	// on the path of a positional operator: of the first array on it, keep the element that the query matched
	found bool

	value       *expression.Expression
	skip, limit int  // of cut
	fromEnd     bool // of cut: the last limit ones
	accepts     *filter.Filter
}

const manyChildren = 8

func (n *node) child(name string) *node {
	if n.index != nil {
		return n.index[name]
	}
	for _, c := range n.children {
		if c.name == name {
			return c
		}
	}
	return nil
}

func (n *node) adopt(c *node) {
	n.children = append(n.children, c)
	if n.index != nil {
		n.index[c.name] = c
	} else if len(n.children) > manyChildren {
		n.index = map[string]*node{}
		for _, c := range n.children {
			n.index[c.name] = c
		}
	}
}

// settle sets computes in all nodes.
func (n *node) settle() bool {
	n.computes = n.kind == compute || n.kind == first
	for _, c := range n.children {
		n.computes = c.settle() || n.computes
	}
	return n.computes
}

// Apply appends the projection of d to dst and returns the new document. The scope, Reset to d, may be nil unless
// NeedsScope; where matters only if NeedsWhere.
func (p *Projection) Apply(dst []byte, d doc.Doc, where filter.Where, s *expression.Scope) (doc.Doc, error) {
	w := projectionRun{where: where, scope: s, seeks: p.positional}
	var out []byte
	var err error
	if p.inclusion {
		out, err = w.include(dst, p.root, d)
	} else {
		out, err = w.exclude(dst, p.root, d)
	}
	if err != nil {
		return nil, err
	}
	return out[len(dst):], nil
}

// A projectionRun is one use of a projection.
type projectionRun struct {
	where filter.Where
	scope *expression.Scope
	seeks bool // no array so far on the path of the positional operator
}

// include appends the members of d that n names, in the order of d, then the computed ones, in the order of the
// projection.
func (w *projectionRun) include(dst []byte, n *node, d doc.Doc) ([]byte, error) {
	dst, at := beginDoc(dst)
	var err error
	for name, v := range doc.Members(d) {
		if err = w.scope.Work().Spend(work.Element); err != nil {
			return nil, err
		}
		c := n.child(name)
		if c == nil {
			continue
		}
		switch c.kind {
		case keep:
			if c.found && w.seeks && doc.IsArray(v) {
				dst, err = w.only(dst, name, v)
				break
			}
			dst = doc.AppendElement(dst, name, v)
		case inside:
			dst, err = w.includeInside(dst, c, v)
		case cut:
			dst, err = w.chosen(dst, c, v)
		}
		if err != nil {
			return nil, err
		}
	}
	if n.computes {
		if dst, err = w.computed(dst, n, d); err != nil {
			return nil, err
		}
	}
	return endDoc(dst, at), nil
}

// computed appends the computed members that include did not find in d.
func (w *projectionRun) computed(dst []byte, n *node, d doc.Doc) ([]byte, error) {
	m := w.scope.Work()
	has := n.membersOf(m, d)
	for _, c := range n.children {
		err := m.Spend(work.Element)
		if err != nil {
			return nil, err
		}
		switch {
		case c.kind == compute:
			var v doc.Value
			if v, err = c.value.Evaluate(w.scope); err == nil {
				dst = appendMember(dst, c.name, v)
			}
		case c.kind == first:
			dst, err = w.chosen(dst, c, has.get(c.name))
		case c.kind == inside && c.computes:
			if v := has.get(c.name); !isObject(v) && !doc.IsArray(v) {
				dst, err = w.include(appendHead(dst, bsoncore.TypeEmbeddedDocument, c.name), c, doc.Empty)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return dst, nil
}

func (w *projectionRun) includeInside(dst []byte, n *node, v doc.Value) ([]byte, error) {
	switch v.Type {
	case bsoncore.TypeEmbeddedDocument:
		return w.include(appendHead(dst, v.Type, n.name), n, v.Data)
	case bsoncore.TypeArray:
		if n.found && w.seeks {
			w.seeks = false
			elements, err := w.includeElements(nil, n, v)
			if err != nil {
				return nil, err
			}
			return w.only(dst, n.name, doc.Value{Type: v.Type, Data: elements})
		}
		return w.includeElements(appendHead(dst, v.Type, n.name), n, v)
	}
	return dst, nil
}

// includeElements projects each object of an array and of arrays in it. Other elements are dropped, or become objects
// if there is something to compute.
func (w *projectionRun) includeElements(dst []byte, n *node, array doc.Value) ([]byte, error) {
	dst, at := beginDoc(dst)
	i := 0
	for e := range doc.Elements(array) {
		err := w.scope.Work().Spend(work.Element)
		switch {
		case err != nil:
		case doc.IsArray(e):
			dst, err = w.includeElements(appendIndex(dst, e.Type, i), n, e)
		case isObject(e):
			dst, err = w.include(appendIndex(dst, e.Type, i), n, e.Data)
		case n.computes:
			dst, err = w.include(appendIndex(dst, bsoncore.TypeEmbeddedDocument, i), n, doc.Empty)
		default:
			continue
		}
		if err != nil {
			return nil, err
		}
		i++
	}
	return endDoc(dst, at), nil
}

// exclude appends d without the members that n drops.
func (w *projectionRun) exclude(dst []byte, n *node, d doc.Doc) ([]byte, error) {
	dst, at := beginDoc(dst)
	for name, v := range doc.Members(d) {
		c := n.child(name)
		switch {
		case c == nil || c.kind == keep:
			dst = doc.AppendElement(dst, name, v)
			continue
		case c.kind == drop:
			continue
		}
		var err error
		if c.kind == inside {
			dst, err = w.excludeInside(appendHead(dst, v.Type, name), c, v)
		} else {
			dst, err = w.chosen(dst, c, v)
		}
		if err != nil {
			return nil, err
		}
	}
	return endDoc(dst, at), nil
}

// excludeInside appends a value without its name.
func (w *projectionRun) excludeInside(dst []byte, n *node, v doc.Value) ([]byte, error) {
	switch v.Type {
	case bsoncore.TypeEmbeddedDocument:
		return w.exclude(dst, n, v.Data)
	case bsoncore.TypeArray:
		dst, at := beginDoc(dst)
		i := 0
		for e := range doc.Elements(v) {
			var err error
			if dst, err = w.excludeInside(appendIndex(dst, e.Type, i), n, e); err != nil {
				return nil, err
			}
			i++
		}
		return endDoc(dst, at), nil
	}
	return append(dst, v.Data...), nil
}
