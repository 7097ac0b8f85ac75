package filter

import (
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// A condition is a compiled part of a query, as two tests.
type condition struct {
	root test // for the document or element at which paths begin
	one  test // for a single value, without looking into arrays: {$gt: 5} in an $elemMatch
	node *Node
}

// A check is a test of the value alone. It spends work that grows with the value.
type check func(v doc.Value, m *work.Meter) bool

func (c check) test() test {
	return func(v doc.Value, s *expression.Scope, _ *Where) (bool, error) {
		m := s.Work()
		ok := c(v, m)
		return ok, m.Spend(work.Operator)
	}
}

// onPath is a condition that holds if one of the values at a path passes.
func onPath(p *Path, leaf Leaf, one test, node *Node) condition {
	return (&field{walk: walk{path: p, leaf: leaf}, one: one, cost: work.Element}).condition(node)
}

// onValues is onPath for a check.
func onValues(p *Path, leaf Leaf, c check, node *Node) condition {
	f := &field{walk: walk{path: p, leaf: leaf}, one: c.test(), check: c, cost: work.Element + work.Operator}
	return f.condition(node)
}

// A field tests the values at a path.
type field struct {
	walk  walk
	one   test
	check check // one, if it is a check
	cost  int   // of a step to the value and of check
}

func (f *field) condition(node *Node) condition {
	node.Path = f.walk.path.text
	return condition{root: f.test, one: f.one, node: node}
}

// test is the common case, a check of a field of the document itself. It is called for every document of a scan, so it
// spends only once, and calls nothing that it does not need.
func (f *field) test(root doc.Value, s *expression.Scope, w *Where) (ok bool, err error) {
	names := f.walk.path.names
	if len(names) == 1 && root.Type == bsoncore.TypeEmbeddedDocument {
		m := s.Work()
		v, walked := doc.LookupWalked(root.Data, names[0])
		if err := m.Spend(f.cost + work.Scanned(walked)); err != nil {
			return false, err
		}
		switch {
		case v.Type == bsoncore.TypeArray:
		case f.check != nil:
			return f.check(v, m), m.Err()
		default:
			return f.one(v, s, nil)
		}
	}
	return f.walked(root, s, w)
}

// walked tests the values at a path of any kind.
func (f *field) walked(root doc.Value, s *expression.Scope, w *Where) (ok bool, err error) {
	if w != nil && w.Found {
		w = nil
	}
	m := s.Work()
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

// all is the conjunction of a list.
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

// join adds a condition to an And. It merges a nested And.
func (n *Node) join(part *Node) {
	switch part.Kind {
	case Always:
	case And:
		n.Children = append(n.Children, part.Children...)
	default:
		n.Children = append(n.Children, part)
	}
}

// every is the test that passes if all of list pass.
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

// some is the test that passes if one of list passes. It undoes what failed tests before it have noted in w.
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

// no is the test that passes if t does not. It notes no element.
func no(t test) test {
	return func(v doc.Value, s *expression.Scope, _ *Where) (bool, error) {
		ok, err := t(v, s, nil)
		return !ok && err == nil, err
	}
}

// negated is the negation of a condition.
func negated(c condition, node *Node) condition {
	return condition{root: no(c.root), one: no(c.one), node: node}
}

// constant is a condition that always or never holds.
func constant(holds bool) condition {
	t := check(func(doc.Value, *work.Meter) bool { return holds }).test()
	if holds {
		return condition{root: t, one: t, node: &Node{Kind: Always}}
	}
	return condition{root: t, one: t, node: &Node{Kind: Other}}
}
