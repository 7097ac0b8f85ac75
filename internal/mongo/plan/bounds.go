package plan

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
)

// bounds finds the index entries that a condition asks for, and notes them in the condition.
// https://www.mongodb.com/docs/v7.0/core/multikey-index-bounds/
func (c *condition) bounds() *condition {
	if c.read {
		return c
	}
	c.read = true
	switch n := c.node; n.Kind {
	case filter.Equal:
		c.spans, c.exact = appendEqual(c.only[:0], n.Value), isPoint(n.Value) && !isLarge(n.Value)
		c.missing = isNull(n.Value)
		if len(c.spans) > 1 {
			c.spans = unite(c.spans)
		}
	case filter.Less, filter.LessEqual, filter.Greater, filter.GreaterEqual:
		c.compared(n)
	case filter.In:
		c.in(n)
	case filter.Regex:
		c.spans = unite(appendPattern(nil, n.Patterns[0]))
	case filter.Missing:
		c.spans, c.missing = append(c.only[:0], pointSpan(doc.Null())), true
	case filter.Expr:
		c.expressed(n)
	}
	if c.missing && hasNumber(c.path) {
		// The number may also be the name of a member, and entries of array elements do not have it.
		c.spans = nil
	}
	c.spans = distinct(c.spans)
	return c
}

func isNull(v doc.Value) bool {
	return v.Type == bsoncore.TypeNull || v.Type == bsoncore.TypeUndefined
}

var undefined = doc.Value{Type: bsoncore.TypeUndefined}

// appendEqual appends the entries of documents with a value. Undefined and missing values have the entry of null. An
// array has an entry for each of its elements, unless it is an element itself.
func appendEqual(dst []span, v doc.Value) []span {
	switch {
	case isNull(v):
		return append(dst, pointSpan(undefined), pointSpan(doc.Null()))
	case doc.IsArray(v):
		first := undefined
		for first = range doc.Elements(v) {
			break
		}
		return append(dst, pointSpan(first), pointSpan(v))
	}
	return append(dst, pointSpan(v))
}

func (c *condition) in(n *filter.Node) {
	c.exact = len(n.Patterns) == 0
	c.spans = make([]span, 0, min(len(n.Values), maxPoints)+2*len(n.Patterns))
	for _, v := range n.Values {
		if c.spans = appendEqual(c.spans, v); len(c.spans) > maxPoints {
			c.spans, c.exact = hull(unite(c.spans)), false
		}
		c.exact = c.exact && isPoint(v) && !isLarge(v)
		c.missing = c.missing || isNull(v)
	}
	for _, p := range n.Patterns {
		c.spans = appendPattern(c.spans, p)
	}
	c.spans = unite(c.spans)
}

// maxPoints is the number of values of an $in up to which each is looked up by itself.
const maxPoints = 100_000

// appendPattern appends the strings with the pattern's prefix, and all regular expressions, because a stored one may
// equal the pattern.
func appendPattern(dst []span, p filter.Pattern) []span {
	text := brackets[doc.CanonicalString]
	if p.Prefix != "" {
		text.low = edge{value: doc.String(p.Prefix), given: true}
		if next := successor(p.Prefix); next != "" {
			text.high = edge{value: doc.String(next), open: true, given: true}
		}
	}
	same := brackets[doc.CanonicalRegex]
	same.low.given, same.high.given = true, true // they are few
	return append(dst, text, same)
}

// successor is the least string above all that begin with prefix, or "".
func successor(prefix string) string {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] < 0xFF {
			return prefix[:i] + string([]byte{prefix[i] + 1})
		}
	}
	return ""
}

// compared handles {$gt: value} and similar conditions, which accept values of value's type. Comparisons with other
// types, or with whole arrays, have no bounds.
func (c *condition) compared(n *filter.Node) {
	if isNull(n.Value) {
		c.spans, c.missing = appendEqual(c.only[:0], n.Value), true
		return
	}
	bracket, ok := brackets[doc.CanonicalType(n.Value)]
	if !ok {
		kind := doc.CanonicalType(n.Value)
		c.missing = kind == doc.CanonicalMinKey || kind == doc.CanonicalMaxKey
		return
	}
	c.exact = !isLarge(n.Value)
	if isNaN(n.Value) {
		c.spans = append(c.only[:0], pointSpan(n.Value))
		c.exact = n.Kind == filter.LessEqual || n.Kind == filter.GreaterEqual
		return
	}
	at := edge{value: n.Value, open: n.Kind == filter.Less || n.Kind == filter.Greater, given: true}
	if n.Kind == filter.Less || n.Kind == filter.LessEqual {
		bracket.high = at
	} else {
		bracket.low = at
	}
	if c.spans = c.only[:0]; !isEmpty(bracket.low, bracket.high) {
		c.spans = append(c.spans, bracket)
	}
}

func isNaN(v doc.Value) bool {
	return doc.CanonicalType(v) == doc.CanonicalNumber && doc.EqualBSON(v, notANumber)
}

var notANumber = doc.Double(math.NaN())

// brackets has the range of values of each type whose comparisons can use an index. NaN is outside: no comparison with
// a number accepts it.
var brackets = map[int]span{
	doc.CanonicalNumber: closed(doc.Double(math.Inf(-1)), doc.Double(math.Inf(1))),
	doc.CanonicalString: below(doc.String(""), doc.Object(doc.Empty)),
	doc.CanonicalObject: below(doc.Object(doc.Empty), doc.Array(doc.Empty)),
	doc.CanonicalBinary: below(doc.Value{Type: bsoncore.TypeBinary, Data: bsoncore.AppendBinary(nil, 0, nil)},
		doc.ObjectID([12]byte{})),
	doc.CanonicalObjectID:  closed(doc.ObjectID([12]byte{}), doc.ObjectID(lastObjectID)),
	doc.CanonicalBool:      closed(doc.Bool(false), doc.Bool(true)),
	doc.CanonicalDate:      closed(doc.Date(math.MinInt64), doc.Date(math.MaxInt64)),
	doc.CanonicalTimestamp: closed(doc.Timestamp(0, 0), doc.Timestamp(math.MaxUint32, math.MaxUint32)),
	doc.CanonicalRegex: below(doc.Value{Type: bsoncore.TypeRegex, Data: []byte{0, 0}},
		doc.Value{Type: bsoncore.TypeDBPointer, Data: bsoncore.AppendDBPointer(nil, "", [12]byte{})}),
}

var (
	lastObjectID = [12]byte{255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255}
)

func closed(low, high doc.Value) span { return span{low: edge{value: low}, high: edge{value: high}} }

func below(low, high doc.Value) span {
	return span{low: edge{value: low}, high: edge{value: high, open: true}}
}
