package plan

import (
	"slices"
	"strings"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
)

// fitWildcard bounds the values of one path. A wildcard index has entries only for values that are not objects, so it
// cannot serve conditions that accept objects, arrays or missing values.
// https://www.mongodb.com/docs/v7.0/core/indexes/index-types/index-wildcard/reference/restrictions/
func (c *candidate) fitWildcard(ix *access.NamedIndex, all *conjunction) {
	best := -1
	var spans []span
	for _, x := range all.list {
		if !takes(ix, x.path) {
			continue
		}
		// A document has an entry for each path below. Only the scan of a multikey index drops the repetitions.
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

// holdsWith reports whether one entry satisfies both conditions, so that their bounds may be intersected.
func (c *condition) holdsWith(ix *access.NamedIndex, other *condition) bool {
	if ix.Multikey {
		return other.ofElement() && c.isBeside(other) && c.bindWildcard()
	}
	return c.path == other.path && c.bindWildcard()
}

func wildcardSpans(ix *access.NamedIndex, c *condition, all *conjunction) []span {
	spans := c.spans
	for _, x := range all.list {
		if x != c && x.holdsWith(ix, c) {
			spans = narrow(spans, x.spans)
		}
	}
	return distinct(spans)
}

// bindWildcard reports whether all values that satisfy the condition have entries within its bounds.
func (c *condition) bindWildcard() bool {
	if c.bounds().spans == nil || c.missing || c.node.Kind == filter.Missing {
		return false
	}
	switch c.node.Kind {
	case filter.Expr:
		return slices.ContainsFunc(c.node.Children, func(x *filter.Node) bool {
			return excludes(x, doc.CanonicalObject) && excludes(x, doc.CanonicalArray)
		})
	case filter.In:
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
func takes(ix *access.NamedIndex, path string) bool {
	root := ix.Columns[0].Path
	if root != "" && path != root && !isBelow(path, root) {
		return false
	}
	if hasNumber(path) || firstName(path) == "" || len(path) > MaxExact {
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

// takesBelow reports whether an index has all values below the path too.
func takesBelow(ix *access.NamedIndex, path string) bool {
	listed, exclude := projected(ix)
	for _, name := range listed {
		if exclude && isBelow(name, path) {
			return false
		}
	}
	return true
}

// isBelow reports whether path is below other.
func isBelow(path, other string) bool {
	return len(path) > len(other) && path[len(other)] == '.' && strings.HasPrefix(path, other)
}

// projected lists the paths of a wildcardProjection and reports whether they are excluded. Excluding _id does not make
// it an exclusion.
func projected(ix *access.NamedIndex) (paths []string, exclude bool) {
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

// wildcardBelow is the entries of a path and of all paths below it.
func wildcardBelow(path string) []access.Interval {
	return []access.Interval{
		{Equal: []doc.Value{doc.String(path)}},
		{Low: &access.Bound{Value: doc.String(path + ".")},
			High: &access.Bound{Value: doc.String(path + "/"), Open: true}},
	}
}

// orderWildcard is order for a wildcard index. It holds only if the sort path is bounded, since documents without a
// value there have no entry.
func (c *candidate) orderWildcard(ix *access.NamedIndex, sort []access.NamedColumn) {
	if ix.Multikey || len(c.bounds) == 0 || len(sort) != 1 || sort[0].Path != c.path {
		return
	}
	c.sorted, c.reverse, c.single = true, sort[0].Descending, true
}
