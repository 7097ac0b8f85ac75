package plan

import (
	"slices"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
)

// maxAlternatives is the largest number of alternatives of a condition. With more it is treated as unknown: an IN of
// thousands of values is no faster than a scan.
const maxAlternatives = 4096

// maxTogether is the largest number of conjuncts. More would not narrow the access.
const maxTogether = 256

// A condition is what an index can check of an expression: every document for which the expression is true satisfies
// it.
type condition struct {
	kind  conditionKind
	leaf  access.Range // for within; without Composite
	test  *access.Tested
	parts []condition // for all and anyOf, which never contain their own kind

	// exact reports that no other document satisfies it.
	exact bool
}

type conditionKind uint8

const (
	everything conditionKind = iota // if it is not exact, nothing is known
	nothing
	within
	tested
	all
	anyOf
)

var unknown = condition{kind: everything}

func always() condition { return condition{kind: everything, exact: true} }
func never() condition  { return condition{kind: nothing, exact: true} }

// roughly is c without exactness: other documents may satisfy it too.
func (c condition) roughly() condition {
	c.exact = c.kind == nothing
	return c
}

// both is the conjunction of conditions.
func both(conditions ...condition) condition {
	out := condition{kind: all, exact: true}
	for _, c := range conditions {
		out.exact = out.exact && c.exact
		switch {
		case c.kind == nothing:
			return never()
		case c.kind == everything:
		case c.kind == all && len(out.parts) == 0:
			out.parts = slices.Clone(c.parts)
		case c.kind == all:
			for _, part := range c.parts {
				out.conjoin(part)
			}
		default:
			out.conjoin(c)
		}
	}
	switch {
	case slices.ContainsFunc(out.parts, func(c condition) bool { return c.kind == nothing }):
		return never()
	case len(out.parts) == 0:
		return condition{kind: everything, exact: out.exact}
	case len(out.parts) == 1:
		one := out.parts[0]
		one.exact = out.exact
		return one
	}
	return out
}

// conjoin adds a conjunct, unless there are too many.
func (c *condition) conjoin(part condition) {
	before := len(c.parts)
	if c.parts = conjoin(c.parts, part); len(c.parts) > maxTogether {
		c.parts, c.exact = c.parts[:before], false
	}
}

// conjoin adds a part, merged with a part on the same path. Ranges over array elements are not merged, because
// different elements may satisfy them.
func conjoin(parts []condition, c condition) []condition {
	if c.kind == within && !repeated(c.leaf.Path) {
		for i := range parts {
			if parts[i].kind == within && slices.Equal(parts[i].leaf.Path, c.leaf.Path) {
				parts[i] = intersect(parts[i], c)
				return parts
			}
		}
	}
	if c.kind == tested {
		for i := range parts {
			if parts[i].kind == tested && slices.Equal(parts[i].test.Range.Path, c.test.Range.Path) {
				parts[i].test = passing([]*access.Tested{parts[i].test, c.test}, false)
				return parts
			}
		}
	}
	return append(parts, c)
}

// uniteTests makes one test of those of strings at the same path, of which one has to pass: each test is a walk over
// all strings.
func uniteTests(parts []condition) []condition {
	var tests [][]*access.Tested // of each path
	rest, exact := parts[:0], true
	for _, c := range parts {
		if c.kind != tested {
			rest = append(rest, c)
			continue
		}
		exact = exact && c.exact // else documents are looked at in any case
		at := slices.IndexFunc(tests, func(same []*access.Tested) bool {
			return slices.Equal(same[0].Range.Path, c.test.Range.Path)
		})
		if at < 0 {
			at, tests = len(tests), append(tests, nil)
		}
		tests[at] = append(tests[at], c.test)
	}
	for _, same := range tests {
		one := same[0]
		if len(same) > 1 {
			one = passing(same, true)
		}
		rest = append(rest, condition{kind: tested, test: one, exact: exact})
	}
	return rest
}

// passing is the documents with a string that passes one of several tests, or all of them.
func passing(tests []*access.Tested, one bool) *access.Tested {
	return &access.Tested{Range: tests[0].Range, Test: func(text doc.Value) (passes, certain bool) {
		certain = true
		for _, t := range tests {
			passed, sure := t.Test(text)
			if sure && passed == one {
				return passed, true
			}
			certain = certain && sure
		}
		return !one || !certain, certain
	}}
}

// either is the disjunction of conditions.
func either(conditions ...condition) condition {
	out, open := condition{kind: anyOf, exact: true}, false
	for _, c := range conditions {
		switch c.kind {
		case nothing:
			continue
		case everything:
			if c.exact {
				return always()
			}
			open = true
		}
		out.exact = out.exact && c.exact
		if c.kind == anyOf {
			out.parts = append(out.parts, c.parts...)
		} else {
			out.parts = append(out.parts, c)
		}
		if len(out.parts) > maxAlternatives {
			return unknown
		}
	}
	out.parts = uniteTests(out.parts)
	switch {
	case open:
		return unknown
	case len(out.parts) == 0:
		return never()
	case len(out.parts) == 1:
		return out.parts[0]
	}
	return out
}

// intersect is the intersection of two ranges on the same path.
func intersect(a, b condition) condition {
	out := condition{kind: within, leaf: access.Range{Path: a.leaf.Path, Low: a.leaf.Low, High: a.leaf.High},
		exact: a.exact && b.exact}
	if compareEdges(lowEdge(b.leaf.Low), lowEdge(a.leaf.Low)) > 0 {
		out.leaf.Low = b.leaf.Low
	}
	if compareEdges(highEdge(b.leaf.High), highEdge(a.leaf.High)) < 0 {
		out.leaf.High = b.leaf.High
	}
	if compareEdges(lowEdge(out.leaf.Low), highEdge(out.leaf.High)) >= 0 {
		return never()
	}
	return out
}

// An edge is a position between values: before (side -1) or after (side +1) a value, or before or after all values of
// a type, or all types.
type edge struct {
	world int // -1 and +1 before and after everything
	rank  doc.Rank
	kind  int // -1 and +1 before and after the whole type
	value doc.Value
	side  int
}

func lowEdge(b *access.Bound) edge {
	switch {
	case b == nil:
		return edge{world: -1}
	case b.Type:
		return edge{rank: doc.RankOf(b.Value), kind: -1}
	case b.Open:
		return edge{rank: doc.RankOf(b.Value), value: b.Value, side: 1}
	}
	return edge{rank: doc.RankOf(b.Value), value: b.Value, side: -1}
}

func highEdge(b *access.Bound) edge {
	switch {
	case b == nil:
		return edge{world: 1}
	case b.Type:
		return edge{rank: doc.RankOf(b.Value), kind: 1}
	case b.Open:
		return edge{rank: doc.RankOf(b.Value), value: b.Value, side: -1}
	}
	return edge{rank: doc.RankOf(b.Value), value: b.Value, side: 1}
}

func compareEdges(a, b edge) int {
	switch {
	case a.world != b.world:
		return a.world - b.world
	case a.rank != b.rank:
		return int(a.rank) - int(b.rank)
	case a.kind != b.kind:
		return a.kind - b.kind
	case a.kind != 0:
		return 0
	}
	if order := access.Compare(a.value, b.value); order != 0 {
		return order
	}
	return a.side - b.side
}

// size is the number of conditions in c.
func (c *condition) size() int {
	n := len(c.parts)
	for i := range c.parts {
		n += c.parts[i].size()
	}
	return n
}

// hull is the smallest range on a path that contains a condition, or everything. Clients that merge partitions
// continue after a row with a union of ranges.
func hull(c condition, path access.Path) condition {
	around := unknown
	switch c.kind {
	case within:
		if slices.Equal(c.leaf.Path, path) {
			return c
		}
	case all:
		for _, part := range c.parts {
			switch inner := hull(part, path); {
			case inner.kind != within:
			case around.kind != within:
				around = inner
			default:
				if met := intersect(around, inner); met.kind == within {
					around = met
				}
			}
		}
	case anyOf:
		for i, part := range c.parts {
			inner := hull(part, path)
			if inner.kind != within {
				return unknown
			}
			if i == 0 {
				around = inner
			}
			around = cover(around, inner)
		}
	}
	return around
}

// cover is the smallest range that contains two ranges on the same path.
func cover(a, b condition) condition {
	out := condition{kind: within, leaf: access.Range{Path: a.leaf.Path, Low: a.leaf.Low, High: a.leaf.High}}
	if compareEdges(lowEdge(b.leaf.Low), lowEdge(a.leaf.Low)) < 0 {
		out.leaf.Low = b.leaf.Low
	}
	if compareEdges(highEdge(b.leaf.High), highEdge(a.leaf.High)) > 0 {
		out.leaf.High = b.leaf.High
	}
	return out
}

// point is the only value in a range.
func (c *condition) point() (doc.Value, bool) {
	r := &c.leaf
	if c.kind != within || r.Low == nil || r.High == nil || r.Low.Open || r.High.Open || r.Low.Type || r.High.Type ||
		!doc.Equal(r.Low.Value, r.High.Value) {
		return doc.Value{}, false
	}
	return r.Low.Value, true
}

// selective reports that the condition consists of single values, so that probably few documents satisfy it.
func (c *condition) selective() bool {
	switch c.kind {
	case within:
		_, ok := c.point()
		return ok
	case all:
		return slices.ContainsFunc(c.parts, func(c condition) bool { return c.selective() })
	case anyOf:
		return !slices.ContainsFunc(c.parts, func(c condition) bool { return !c.selective() })
	}
	return false
}

// needsTest reports that no part of the condition is told without a test of strings.
func (c *condition) needsTest() bool {
	switch c.kind {
	case tested:
		return true
	case anyOf:
		return slices.ContainsFunc(c.parts, func(c condition) bool { return c.needsTest() })
	case all:
		return !slices.ContainsFunc(c.parts, func(c condition) bool { return !c.needsTest() })
	}
	return false
}

// set converts the condition for the store.
func (c *condition) set() access.Set {
	switch c.kind {
	case all:
		return access.Intersection(sets(c.parts))
	case anyOf:
		return access.Union(sets(c.parts))
	case tested:
		return c.test
	}
	return &c.leaf
}

func sets(parts []condition) []access.Set {
	list := make([]access.Set, len(parts))
	for i := range parts {
		list[i] = parts[i].set()
	}
	return list
}
