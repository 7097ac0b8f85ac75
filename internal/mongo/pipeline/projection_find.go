package pipeline

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// chosen appends the elements of an array that {$slice: ...} or {$elemMatch: ...} selects.
// https://www.mongodb.com/docs/v7.0/reference/operator/projection/
func (w *projectionRun) chosen(dst []byte, n *node, v doc.Value) ([]byte, error) {
	if n.kind == first {
		return w.appendFirst(dst, n, v)
	}
	if !doc.IsArray(v) {
		return appendMember(dst, n.name, v), nil
	}
	from, to := n.bounds(v)
	return appendRange(appendHead(dst, v.Type, n.name), v, from, to), nil
}

// only appends the array with only the element that the query matched: the positional operator.
func (w *projectionRun) only(dst []byte, name string, array doc.Value) ([]byte, error) {
	switch {
	case !w.where.Found:
		return nil, code.New(51246, "positional operator '.$' couldn't find a matching element in the array")
	case count(array) <= w.where.Element:
		return nil, code.New(51247, "positional operator '.$' element mismatch")
	}
	return appendRange(appendHead(dst, array.Type, name), array, w.where.Element, w.where.Element+1), nil
}

// appendFirst appends the first accepted element, or drops the member if there is none.
func (w *projectionRun) appendFirst(dst []byte, n *node, v doc.Value) ([]byte, error) {
	if !doc.IsArray(v) {
		return dst, nil
	}
	alone, at := beginDoc(nil)
	alone = endDoc(doc.AppendElement(alone, n.name, v), at)
	ok, where, err := n.accepts.Locate(alone, w.scope)
	if err != nil || !ok || !where.Found {
		return dst, err
	}
	return appendRange(appendHead(dst, v.Type, n.name), v, where.Element, where.Element+1), nil
}

func count(array doc.Value) int {
	n := 0
	for range doc.Elements(array) {
		n++
	}
	return n
}

// bounds are the elements that a cut keeps: from, up to and not including to.
func (n *node) bounds(array doc.Value) (from, to int) {
	from = n.skip
	if n.fromEnd || n.skip < 0 {
		from = count(array)
		if n.fromEnd {
			from -= n.limit
		} else {
			from += n.skip
		}
		from = max(from, 0)
	}
	return from, from + n.limit
}

// appendRange appends the array of the elements from, up to and not including to.
func appendRange(dst []byte, array doc.Value, from, to int) []byte {
	dst, at := beginDoc(dst)
	i := 0
	for e := range doc.Elements(array) {
		if i >= to {
			break
		}
		if i >= from {
			dst = appendElement(dst, i-from, e)
		}
		i++
	}
	return endDoc(dst, at)
}

// parseCut parses the argument of {$slice: n} or {$slice: [skip, limit]}.
func parseCut(name string, arg doc.Value) (*node, error) {
	n := &node{name: name, kind: cut}
	if doc.IsNumberBSON(arg) {
		n.limit = whole32(arg)
		if n.limit < 0 {
			n.limit, n.fromEnd = -n.limit, true
		}
		return n, nil
	}
	if arg.Type != bsoncore.TypeArray {
		return nil, code.New(31273, "$slice only supports numbers and [skip, limit] arrays")
	}
	var pair []doc.Value
	for e := range doc.Elements(arg) {
		pair = append(pair, e)
	}
	switch {
	case len(pair) != 2:
		return nil, code.New(31272, "$slice array argument should be of form [skip, limit]")
	case !doc.IsNumberBSON(pair[0]):
		return nil, code.New(31257, "$slice expects the skip argument to be a number, got %s", code.TypeName(pair[0]))
	case !doc.IsNumberBSON(pair[1]):
		return nil, code.New(31258, "$slice expects the limit argument to be a number, got %s", code.TypeName(pair[1]))
	case whole32(pair[1]) <= 0:
		return nil, code.New(31259, "$slice limit must be positive, got %d", whole32(pair[1]))
	}
	n.skip, n.limit = whole32(pair[0]), whole32(pair[1])
	return n, nil
}

// whole32 is a number without its fraction, limited to 32 bits.
func whole32(v doc.Value) int {
	f := math.Trunc(float(v))
	switch {
	case math.IsNaN(f):
		return 0
	case f >= math.MaxInt32:
		return math.MaxInt32
	case f <= -math.MaxInt32:
		return -math.MaxInt32
	}
	return int(f)
}
