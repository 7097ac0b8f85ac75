package filter

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
)

// comparisons are the operators of expressions that compare a field with a value. turned is the one that holds if the
// field is on the right.
var comparisons = map[string]struct{ kind, turned Kind }{
	"$eq":  {Equal, Equal},
	"$gt":  {Greater, Less},
	"$gte": {GreaterEqual, LessEqual},
	"$lt":  {Less, Greater},
	"$lte": {LessEqual, GreaterEqual},
}

// describe is what an expression that has to be true asks of fields, as an Expr: comparisons of a field with a value
// that is the same for all documents, alone, in an $and or in an $or. It leaves out everything else.
// mongodb/mongo: src/mongo/db/matcher/rewrite_expr.cpp
func (c *compiler) describe(v doc.Value, depth int) *Node {
	n := &Node{Kind: Expr}
	if v.Type != bsoncore.TypeEmbeddedDocument || depth > maxDepth {
		return n
	}
	name, arg := first(v.Data)
	if arg.Type != bsoncore.TypeArray {
		return n
	}
	args := slices.Collect(doc.Elements(arg))
	of, compares := comparisons[name]
	switch {
	case name == "$and":
		for _, a := range args {
			n.Children = append(n.Children, c.describe(a, depth+1).Children...)
		}
		return n
	case name == "$or":
		or := &Node{Kind: Or}
		for _, a := range args {
			or.Children = append(or.Children, c.describe(a, depth+1))
		}
		return n.with(or)
	case len(args) != 2:
		return n
	case name == "$in":
		return n.with(c.comparison(In, args[0], args[1]))
	case !compares:
		return n
	case isField(args[0]):
		return n.with(c.comparison(of.kind, args[0], args[1]))
	}
	return n.with(c.comparison(of.turned, args[1], args[0]))
}

func (n *Node) with(child *Node) *Node {
	if child != nil && (child.Kind != Or || len(child.Children) > 0) {
		n.Children = append(n.Children, child)
	}
	return n
}

func isField(v doc.Value) bool {
	text, ok := doc.AsString(v)
	return ok && len(text) > 1 && text[0] == '$' && (text[1] != '$' || len(text) > 10 && text[:10] == "$$CURRENT.")
}

// comparison describes a comparison of a field with another operand, nil if that is not the same for all documents.
func (c *compiler) comparison(kind Kind, field, with doc.Value) *Node {
	if !isField(field) || isField(with) {
		return nil
	}
	left, err := expression.Compile(field, c.names)
	if err != nil || left.FieldPath() == "" {
		return nil
	}
	right, err := expression.Compile(with, c.names)
	if err != nil || !right.Fixed() {
		return nil
	}
	n := &Node{Kind: kind, Path: left.FieldPath()}
	if v, ok := right.Constant(); ok {
		return n.compared(v)
	}
	n.operand = right
	return n
}

// compared is the node with the value that its field is compared with, nil if the value says nothing about where
// documents are in an index.
func (n *Node) compared(v doc.Value) *Node {
	made := &Node{Kind: n.Kind, Path: n.Path}
	if n.Kind == In {
		if v.Type != bsoncore.TypeArray {
			return nil
		}
		made.Values = []doc.Value{}
		for e := range doc.Elements(v) {
			if !isPlaced(e) {
				return nil
			}
			made.Values = append(made.Values, e)
		}
		return made
	}
	if made.Value = v; !isPlaced(v) {
		return nil
	}
	return made
}

// isPlaced reports whether a document whose field equals v has an entry with v in an index. Arrays have none, and what
// is below null may stand for a missing field.
func isPlaced(v doc.Value) bool { return !doc.IsArray(v) && doc.CanonicalType(v) >= doc.CanonicalNull }

// Knowing returns the filter with a tree that has the values of variables and of the time, as in {$expr: {$lt: ["$a",
// "$$now"]}}. s is as for Match.
func (f *Filter) Knowing(s *expression.Scope) *Filter {
	if f == nil || !f.scoped {
		return f
	}
	s.Reset(doc.Object(doc.Empty))
	return &Filter{test: f.test, node: f.node.knowing(s), scoped: true}
}

func (n *Node) knowing(s *expression.Scope) *Node {
	switch {
	case n.operand != nil:
		v, err := n.operand.Evaluate(s)
		if err != nil {
			return nil
		}
		return n.compared(doc.Clone(v))
	case n.Kind != And && n.Kind != Or && n.Kind != Expr:
		return n
	}
	made := &Node{Kind: n.Kind, Path: n.Path}
	for _, child := range n.Children {
		if known := child.knowing(s); known != nil {
			made.Children = append(made.Children, known)
		}
	}
	return made
}
