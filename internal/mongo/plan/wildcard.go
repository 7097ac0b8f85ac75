package plan

import (
	"strings"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
)

// fitWildcard bounds the values of one path. Its entries are those of values that are no
// objects, so conditions that objects, arrays or nothing satisfy are none for it.
// https://www.mongodb.com/docs/v7.0/core/indexes/index-types/index-wildcard/reference/restrictions/
func (c *candidate) fitWildcard(ix *access.Named, all *conjunction) {
	best := -1
	var spans []span
	for _, x := range all.list {
		if !takes(ix, x.path) {
			continue
		}
		// A walk hands a document out at several paths below, unless it knows of arrays.
		if x.node.Kind == filter.Exists && best < 0 && ix.Multikey && takesBelow(ix, x.path) {
			c.path, c.below = x.path, true
		}
		if !x.bindWildcard() {
			continue
		}
		if found := wildcardSpans(ix, x, all); weight(found) > best {
			spans, best = found, weight(found)
			c.path, c.below = x.path, false
			c.used = append(c.used[:0], x)
		}
	}
	if best < 0 {
		return
	}
	c.bounds = [][]span{spans}
	for _, x := range all.list {
		if x != c.used[0] && x.holdsWith(ix, c.used[0]) {
			c.used = append(c.used, x)
			c.single = c.single || !ix.Multikey
		}
	}
}

// holdsWith reports whether one entry satisfies both conditions.
func (c *condition) holdsWith(ix *access.Named, other *condition) bool {
	if ix.Multikey {
		return other.ofElement() && c.isBeside(other) && c.bindWildcard()
	}
	return c.path == other.path && c.bindWildcard()
}

func wildcardSpans(ix *access.Named, c *condition, all *conjunction) []span {
	spans := c.spans
	for _, x := range all.list {
		if x != c && x.holdsWith(ix, c) {
			spans = narrow(spans, x.spans)
		}
	}
	return distinct(spans)
}

// bindWildcard reports whether a condition has bounds that all values which satisfy it have entries in.
func (c *condition) bindWildcard() bool {
	if c.bounds().spans == nil || c.missing || c.node.Kind == filter.Missing {
		return false
	}
	if c.node.Kind == filter.In {
		for _, v := range c.node.Values {
			if !isLeaf(v) {
				return false
			}
		}
		return true
	}
	return isLeaf(c.node.Value)
}

func isLeaf(v doc.Value) bool {
	kind := doc.CanonicalType(v)
	return kind != doc.CanonicalObject && kind != doc.CanonicalArray
}

// takes reports whether an index has the values at a path.
func takes(ix *access.Named, path string) bool {
	root := ix.Columns[0].Path
	if root != "" && path != root && !isBelow(path, root) {
		return false
	}
	if hasNumber(path) || firstName(path) == "" || len(path) > maxExact {
		return false
	}
	listed, exclude := projected(ix)
	for _, name := range listed {
		if path == name || isBelow(path, name) {
			return !exclude
		}
	}
	return (exclude || len(listed) == 0) && path != "_id" && !isBelow(path, "_id")
}

// takesBelow reports whether it has all that is below the path too.
func takesBelow(ix *access.Named, path string) bool {
	listed, exclude := projected(ix)
	for _, name := range listed {
		if exclude && isBelow(name, path) {
			return false
		}
	}
	return true
}

// isBelow reports whether path goes on where another ends.
func isBelow(path, other string) bool {
	return len(path) > len(other) && path[len(other)] == '.' && strings.HasPrefix(path, other)
}

// projected lists the paths of a wildcardProjection, and whether they are left out. That _id is
// left out says nothing of others.
func projected(ix *access.Named) (paths []string, exclude bool) {
	for name, v := range doc.Members(ix.Projection) {
		on := true
		if b, ok := doc.AsBool(v); ok {
			on = b
		} else if f, ok := doc.AsFloat(v); ok {
			on = f != 0
		}
		exclude = exclude || !on && name != "_id"
		if on || name != "_id" {
			paths = append(paths, name)
		}
	}
	return paths, exclude
}

// wildcardBelow is the entries of a path and of those below it.
func wildcardBelow(path string) []access.Interval {
	return []access.Interval{
		{Equal: []doc.Value{doc.String(path)}},
		{Low: &access.Bound{Value: doc.String(path + ".")}, High: &access.Bound{Value: doc.String(path + "/"), Open: true}},
	}
}

// orderWildcard is order for an index that has the values of the path that is sorted by. A
// document that has none there is in no bounds.
func (c *candidate) orderWildcard(ix *access.Named, sort []access.NamedColumn) {
	if ix.Multikey || len(c.bounds) == 0 || len(sort) != 1 || sort[0].Path != c.path {
		return
	}
	c.sorted, c.reverse, c.single = true, sort[0].Descending, true
}
