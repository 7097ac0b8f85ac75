package filter

import (
	"math"
	"slices"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// size is {$size: 2}.
// https://www.mongodb.com/docs/v7.0/reference/operator/query/size/
func size(_ *compiler, name string, arg doc.Value, at spot) (condition, error) {
	n, err := countNumber(name, arg)
	if err == nil && n > math.MaxInt32 {
		err = code.New(code.BadValue, "Cannot represent %s: %s in an int", name, code.Show(arg))
	}
	if err != nil {
		return condition{}, code.New(code.BadValue, "Failed to parse $size. %s", err)
	}
	as := check(func(v doc.Value, m *work.Meter) bool { return v.Type == bsoncore.TypeArray && length(v, m) == n })
	return onValues(at.path, Whole, as, &Node{Kind: Size}), nil
}

// length counts elements. It ends early if the work has to stop.
func length(v doc.Value, m *work.Meter) (n int64) {
	for range doc.Elements(v) {
		if n++; m.Spend(work.Element) != nil {
			break
		}
	}
	return n
}

// elemMatch is {$elemMatch: {b: 1}}, for elements that are objects or arrays, and {$elemMatch: {$gt: 1}}, for any
// elements.
// https://www.mongodb.com/docs/v7.0/reference/operator/query/elemMatch/
func elemMatch(c *compiler, _ string, arg doc.Value, at spot) (condition, error) {
	one, node, err := c.element(arg, at)
	if err != nil {
		return condition{}, err
	}
	path := at.path
	found := func(v doc.Value, s *expression.Scope, w *Where) (bool, error) {
		if v.Type != bsoncore.TypeArray {
			return false, nil
		}
		n := -1
		for e := range doc.Elements(v) {
			n++
			if err := s.Work().Spend(work.Operator); err != nil {
				return false, err
			}
			ok, err := one(e, s, nil)
			if err != nil {
				return false, err
			}
			if ok {
				if w != nil && !w.Found {
					*w = Where{Path: path.text, Element: n, Found: true}
				}
				return true, nil
			}
		}
		return false, nil
	}
	return onPath(path, Whole, found, &Node{Kind: ElemMatch, Children: []*Node{node}}), nil
}

// element compiles what $elemMatch asks of one element.
func (c *compiler) element(arg doc.Value, at spot) (test, *Node, error) {
	if arg.Type != bsoncore.TypeEmbeddedDocument {
		return nil, nil, code.New(code.BadValue, "$elemMatch needs an Object")
	}
	at = at.deeper()
	at.inElement = true
	if name, _ := first(arg.Data); isOperators(arg, true) && c.onDocument[name] == nil {
		at.path = &Path{}
		found, err := c.operators(arg.Data, at)
		return found.one, found.node, err
	}
	found, err := c.query(arg.Data, at)
	if err != nil {
		return nil, nil, err
	}
	if found.node.names("") {
		found.node = &Node{Kind: Other} // a planner would take the path for the element itself
	}
	return ofDocument(found.root, true), found.node, nil
}

// names reports whether a node or one below is about a path.
func (n *Node) names(path string) bool {
	if n.Kind >= Not && n.Path == path && n.Kind != Expr && n.Kind != Other {
		return true
	}
	return slices.ContainsFunc(n.Children, func(c *Node) bool { return n.Kind != ElemMatch && c.names(path) })
}

// ofDocument applies t to objects and, if arrays is set, to arrays, as objects whose names are "0", "1" and so on.
func ofDocument(t test, arrays bool) test {
	return func(v doc.Value, s *expression.Scope, w *Where) (bool, error) {
		switch {
		case v.Type == bsoncore.TypeArray && arrays:
			v.Type = bsoncore.TypeEmbeddedDocument
		case v.Type != bsoncore.TypeEmbeddedDocument:
			return false, nil
		}
		return t(v, s, w)
	}
}

// allOf is {$all: [value, /regex/]} and {$all: [{$elemMatch: ...}, ...]}. {$all: []} accepts nothing.
// https://www.mongodb.com/docs/v7.0/reference/operator/query/all/
func allOf(c *compiler, name string, arg doc.Value, at spot) (condition, error) {
	if arg.Type != bsoncore.TypeArray {
		return condition{}, code.New(code.BadValue, "$all needs an array")
	}
	var list []condition
	var values []doc.Value
	for e := range doc.Elements(arg) {
		if err := c.count(); err != nil {
			return condition{}, err
		}
		found, err := c.oneOfAll(e, arg, at)
		if err != nil {
			return condition{}, err
		}
		list = append(list, found)
		if found.node.Kind == Equal {
			values = append(values, e)
		}
	}
	if len(list) == 0 {
		return constant(false), nil
	}
	found := all(list)
	if len(values) == len(list) {
		found.node = &Node{Kind: All, Path: at.path.text, Values: values}
	}
	return found, nil
}

// oneOfAll compiles an element of $all. If the first is an $elemMatch, all have to be.
func (c *compiler) oneOfAll(e, arg doc.Value, at spot) (condition, error) {
	_, lead := first(arg.Data)
	leads, _ := firstOf(lead)
	name, inner := firstOf(e)
	switch {
	case leads == "$elemMatch" && name != "$elemMatch":
		return condition{}, code.New(code.BadValue, "$all/$elemMatch has to be consistent")
	case leads == "$elemMatch":
		return elemMatch(c, name, inner, at)
	case e.Type == bsoncore.TypeRegex:
		return regexValue(c, e, at)
	case c.onField[name] != nil:
		return condition{}, code.New(code.BadValue, "no $ expressions in $all")
	}
	return equal(c, "$eq", e, at)
}

// firstOf is the first member of an object, missing for other values.
func firstOf(v doc.Value) (string, doc.Value) {
	if v.Type != bsoncore.TypeEmbeddedDocument {
		return "", doc.Value{}
	}
	return first(v.Data)
}
