package filter

import (
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// A condition is a compiled part of a query, in the two ways that it can be asked.
type condition struct {
	root test // of the document, or the element, that paths begin at
	one  test // of a single value, which is not taken apart: how $elemMatch asks {$gt: 5}
	node *Node
}

// A check is a test that needs nothing beside the value. It counts work that grows with the value.
type check func(v doc.Value, m *work.Meter) bool

func (c check) test() test {
	return func(v doc.Value, s *expression.Scope, _ *Where) (bool, error) {
		m := s.Work()
		ok := c(v, m)
		return ok, m.Spend(work.Operator)
	}
}

// onPath is a condition that holds when one of the values that a path leads to passes.
func onPath(p *Path, leaf Leaf, one test, node *Node) condition {
	node.Path = p.text
	return condition{root: (&field{walk{path: p, leaf: leaf}, one}).test, one: one, node: node}
}

// A field tests the values that a path leads to.
type field struct {
	walk walk
	one  test
}

func (f *field) test(root doc.Value, s *expression.Scope, w *Where) (ok bool, err error) {
	names := f.walk.path.names
	m := s.Work()
	if len(names) == 1 && root.Type == bsoncore.TypeEmbeddedDocument {
		v, err := m.Lookup(root.Data, names[0])
		if err != nil {
			return false, err
		}
		if v.Type != bsoncore.TypeArray {
			return f.one(v, s, nil)
		}
	}
	if w != nil && w.Found {
		w = nil
	}
	along := f.walk
	along.meter = m
	along.from(root, func(v doc.Value, at place) bool {
		ok, err = f.one(v, s, w)
		if ok && w != nil && at.found {
			*w = Where{Path: f.walk.path.upTo(at.names), Element: at.element, Found: true}
		}
		return ok || err != nil
	})
	if err == nil {
		err = m.Err()
	}
	return ok && err == nil, err
}

// all is the condition that all of list hold.
func all(list []condition) condition {
	if len(list) == 1 {
		return list[0]
	}
	c := condition{node: &Node{Kind: And}}
	roots, ones := make([]test, len(list)), make([]test, len(list))
	for i, part := range list {
		roots[i], ones[i] = part.root, part.one
		c.node.join(part.node)
	}
	switch len(c.node.Children) {
	case 0:
		c.node.Kind = Always
	case 1:
		c.node = c.node.Children[0]
	}
	c.root, c.one = every(roots), every(ones)
	return c
}

// join adds a condition to an And, without another And in it.
func (n *Node) join(part *Node) {
	switch part.Kind {
	case Always:
	case And:
		n.Children = append(n.Children, part.Children...)
	default:
		n.Children = append(n.Children, part)
	}
}

// every is the test that all of list pass.
func every(list []test) test {
	return func(v doc.Value, s *expression.Scope, w *Where) (bool, error) {
		if err := s.Work().Spend(len(list)); err != nil {
			return false, err
		}
		for _, t := range list {
			if ok, err := t(v, s, w); !ok || err != nil {
				return false, err
			}
		}
		return true, nil
	}
}

// some is the test that one of list passes. What those before it have noted is undone.
func some(list []test) test {
	return func(v doc.Value, s *expression.Scope, w *Where) (bool, error) {
		if err := s.Work().Spend(len(list)); err != nil {
			return false, err
		}
		for _, t := range list {
			var before Where
			if w != nil {
				before = *w
			}
			if ok, err := t(v, s, w); ok || err != nil {
				return ok && err == nil, err
			}
			if w != nil {
				*w = before
			}
		}
		return false, nil
	}
}

// no is the test that t does not pass; it finds no element.
func no(t test) test {
	return func(v doc.Value, s *expression.Scope, _ *Where) (bool, error) {
		ok, err := t(v, s, nil)
		return !ok && err == nil, err
	}
}

// negated is the condition that c does not hold.
func negated(c condition, node *Node) condition {
	return condition{root: no(c.root), one: no(c.one), node: node}
}

// constant is a condition that always, or never, holds.
func constant(holds bool) condition {
	t := check(func(doc.Value, *work.Meter) bool { return holds }).test()
	if holds {
		return condition{root: t, one: t, node: &Node{Kind: Always}}
	}
	return condition{root: t, one: t, node: &Node{Kind: Other}}
}
