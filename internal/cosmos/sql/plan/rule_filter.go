package plan

import (
	"slices"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
)

// indexFilter uses single-path indexes for the filter. It includes ranges along with single values, because the store
// decides which to read.
func (b *builder) indexFilter() bool {
	if b.chosen() || b.resumes(ByPartition) {
		return false
	}
	usable := b.narrowing()
	if len(usable) == 0 {
		return false
	}
	c := b.take(usable)
	b.plan.Access.Of = &access.Filter{Scope: b.in(), Set: c.set()}
	return true
}

// take uses parts up for the set of an access.
func (b *builder) take(used []condition) condition {
	c := both(used...)
	b.use(func(c *condition) bool {
		return slices.ContainsFunc(used, func(u condition) bool { return sameCondition(&u, c) })
	})
	b.usedSingle(c)
	return c
}

// usable are the parts as far as indexes can check them.
func (b *builder) usable() []condition {
	var list []condition
	for _, c := range b.parts {
		if c = b.served(c); c.kind != everything {
			list = append(list, c)
		}
	}
	return list
}

// narrowing are the usable parts, but for tests of strings in a part of the container that is no partition: all strings
// are tested, whatever the part.
func (b *builder) narrowing() []condition {
	if partition, one := b.partition(); b.in() != nil && (!one || len(partition) < len(b.env.Schema.Partition)) {
		usable, _ := b.untested()
		return usable
	}
	return b.usable()
}

// untested are the usable parts that need no test of strings, and the others.
func (b *builder) untested() (usable, tests []condition) {
	for _, c := range b.usable() {
		if c.needsTest() {
			tests = append(tests, c)
		} else {
			usable = append(usable, c)
		}
	}
	return usable, tests
}

// served is the part of a condition that a set of index ranges can check. Stamps are only in the change feed, which a
// set cannot use. It returns c itself if that is all of it.
func (b *builder) served(c condition) condition {
	switch c.kind {
	case within:
		if !isStamp(c.leaf.Path) && b.indexed(c.leaf.Path) {
			return c
		}
	case tested:
		if b.indexed(c.test.Range.Path) {
			return c
		}
	case all, anyOf:
		parts, changed := make([]condition, len(c.parts)), false
		for i, part := range c.parts {
			parts[i] = b.served(part)
			changed = changed || !sameCondition(&parts[i], &part)
		}
		switch {
		case !changed:
			return c
		case c.kind == all:
			return both(parts...)
		}
		return either(parts...)
	}
	return unknown
}

// sameCondition reports that two parts of one filter are the same.
func sameCondition(a, b *condition) bool {
	if a.kind != b.kind {
		return false
	}
	switch a.kind {
	case everything, nothing:
		return a.exact == b.exact
	case within:
		return slices.Equal(a.leaf.Path, b.leaf.Path) && a.leaf.Low == b.leaf.Low && a.leaf.High == b.leaf.High
	case tested:
		return a.test == b.test
	}
	return len(a.parts) == len(b.parts) && &a.parts[0] == &b.parts[0]
}

// rangeWalk reads a range in the order of its values if it is the only condition that indexes can check, but for tests
// of strings, unless indexes then tell a count. The rows need no order, and no other access is cheaper. For the stamp
// it walks the change feed, unless other indexes can be used.
func (b *builder) rangeWalk() bool {
	if b.chosen() || b.ordered() || b.in() != nil || b.env.Resume != nil {
		return false
	}
	usable, tests := b.untested()
	if len(tests) > 0 && b.exact && b.countable() && len(usable)+len(tests) == len(b.parts) {
		return false
	}
	if len(usable) == 0 {
		for _, c := range b.parts {
			if c.kind == within && isStamp(c.leaf.Path) {
				usable = append(usable, c)
			}
		}
	}
	if len(usable) != 1 || usable[0].kind != within || usable[0].selective() || repeated(usable[0].leaf.Path) {
		return false
	}
	path := usable[0].leaf.Path
	b.walk(path, false)
	b.plan.Order = Order{Kind: ByValue, Keys: []syntax.SortKey{{Expr: expression(path)}}, Stamps: isStamp(path),
		Implied: true}
	return true
}

// rootName is the name of the document in the key of an implied order.
const rootName = "root"

// expression converts a path to an expression.
func expression(path access.Path) syntax.Expr {
	var e syntax.Expr = &syntax.Name{Name: rootName}
	for _, step := range path {
		e = &syntax.Member{Of: e, Name: step.Name, Quoted: !syntax.Plain(step.Name)}
	}
	return e
}

// pathOf converts the result of expression back to a path. ok is false for other expressions.
func pathOf(e syntax.Expr) (path access.Path, ok bool) {
	for {
		switch x := e.(type) {
		case *syntax.Member:
			path, e = append(access.Path{{Name: x.Name}}, path...), x.Of
		case *syntax.Name:
			return path, len(path) > 0
		default:
			return nil, false
		}
	}
}
