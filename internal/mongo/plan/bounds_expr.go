package plan

import (
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
)

// expressed handles the comparisons of a path in an $expr: values of all types, in their order, a missing one before
// all others. A whole array is compared there, and its place in the order is none in an index, which has its elements.
// So there are bounds only if one of the comparisons accepts no array; then all hold for the one entry of a document.
// https://www.mongodb.com/docs/v7.0/reference/operator/query/expr/
func (c *condition) expressed(n *filter.Node) {
	c.missing = true
	arrays := true
	spans := append(c.only[:0], closed(doc.Value{Type: bsoncore.TypeMinKey}, doc.Value{Type: bsoncore.TypeMaxKey}))
	for _, x := range n.Children {
		down := x.Kind == filter.Less || x.Kind == filter.LessEqual
		c.missing = c.missing && down
		arrays = arrays && !excludes(x, doc.CanonicalArray)
		at := edge{value: x.Value, open: x.Kind == filter.Less || x.Kind == filter.Greater, given: true}
		half := spans[:0:0]
		if down {
			at.open = at.open && !isNull(x.Value) // a missing value has the entry of null
			half = append(half, span{low: edge{value: doc.Value{Type: bsoncore.TypeMinKey}}, high: at})
		} else {
			half = append(half, span{low: at, high: edge{value: doc.Value{Type: bsoncore.TypeMaxKey}}})
		}
		spans = intersect(spans, half)
	}
	if c.missing = c.missing || arrays; !arrays { // the array may be that of a path which leads to no values
		c.spans = spans
	}
}

// excludes reports whether a comparison accepts no values of a type.
func excludes(x *filter.Node, kind int) bool {
	if x.Kind == filter.Less || x.Kind == filter.LessEqual {
		return doc.CanonicalType(x.Value) < kind
	}
	return doc.CanonicalType(x.Value) > kind
}
