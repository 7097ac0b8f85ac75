package plan

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
)

// implies reports whether a partial index has each document that the conditions accept. It may answer false where that
// would be hard to prove.
// https://www.mongodb.com/docs/v7.0/core/index-partial/
func implies(all *conjunction, partial doc.Doc) bool {
	f, err := filter.Compile(partial, filter.Options{})
	return err == nil && all.implies(f.Tree())
}

func (a *conjunction) implies(n *filter.Node) bool {
	switch n.Kind {
	case filter.Always:
		return true
	case filter.And:
		for _, child := range n.Children {
			if !a.implies(child) {
				return false
			}
		}
		return true
	case filter.Or:
		for _, child := range n.Children {
			if a.implies(child) {
				return true
			}
		}
		return false
	}
	for _, c := range a.list {
		if c.within == nil && c.path == n.Path && c.impliesOne(n) {
			return true
		}
	}
	return false
}

// impliesOne compares two conditions on the same path.
func (c *condition) impliesOne(n *filter.Node) bool {
	switch n.Kind {
	case filter.Exists:
		return c.givesValue()
	case filter.Missing:
		return c.node.Kind == filter.Missing
	case filter.Equal, filter.In, filter.Less, filter.LessEqual, filter.Greater, filter.GreaterEqual:
		return c.isWithin(n)
	}
	return false
}

// givesValue reports whether the condition accepts only documents with a value at its path.
func (c *condition) givesValue() bool {
	switch c.node.Kind {
	case filter.Missing:
		return false
	case filter.Exists:
		return true
	}
	return !c.bounds().missing
}

// isWithin reports whether n accepts each value that c accepts.
func (c *condition) isWithin(n *filter.Node) bool {
	switch c.node.Kind {
	case filter.Equal:
		return accepts(n, c.node.Value)
	case filter.In:
		for _, v := range c.node.Values {
			if !accepts(n, v) {
				return false
			}
		}
		return len(c.node.Patterns) == 0
	case filter.Less, filter.LessEqual, filter.Greater, filter.GreaterEqual:
		return c.node.Kind == n.Kind && doc.EqualBSON(c.node.Value, n.Value) || isRange(n) && c.isNarrower(n)
	}
	return false
}

// accepts reports whether n accepts a value and all that are equal to it.
func accepts(n *filter.Node, v doc.Value) bool {
	switch n.Kind {
	case filter.Equal:
		return doc.EqualBSON(n.Value, v)
	case filter.In:
		for _, w := range n.Values {
			if doc.EqualBSON(v, w) {
				return true
			}
		}
		return false
	}
	return compares(n.Value) && compares(v) && doc.CanonicalType(v) == doc.CanonicalType(n.Value) && onSide(n, v)
}

// onSide reports whether a value is on the side of n's value that n accepts.
func onSide(n *filter.Node, v doc.Value) bool {
	sign := doc.CompareBSON(v, n.Value)
	switch n.Kind {
	case filter.Less:
		return sign < 0
	case filter.LessEqual:
		return sign <= 0
	case filter.Greater:
		return sign > 0
	}
	return sign >= 0
}

// compares reports whether the order of values alone decides comparisons with a value.
func compares(v doc.Value) bool {
	_, ok := brackets[doc.CanonicalType(v)]
	return ok && !isNaN(v)
}

func isRange(n *filter.Node) bool {
	switch n.Kind {
	case filter.Less, filter.LessEqual, filter.Greater, filter.GreaterEqual:
		return true
	}
	return false
}

// isNarrower reports whether c is a range in the same direction as n that does not begin before it.
func (c *condition) isNarrower(n *filter.Node) bool {
	down := c.node.Kind == filter.Less || c.node.Kind == filter.LessEqual
	if down != (n.Kind == filter.Less || n.Kind == filter.LessEqual) {
		return false
	}
	if accepts(n, c.node.Value) {
		return true
	}
	strict := c.node.Kind == filter.Less || c.node.Kind == filter.Greater
	return strict && compares(n.Value) && doc.EqualBSON(c.node.Value, n.Value)
}
