package function

import (
	"slices"

	"github.com/mayflydb/mayfly/internal/doc"
)

// A set is the distinct values of an array in order.
type set []doc.Value

// setOf collects the elements of arrays in reusable memory.
func setOf(c *Call, memory []doc.Value, arrays ...doc.Value) set {
	values := memory[:0]
	for _, array := range arrays {
		for v := range doc.Elements(array) {
			values = append(values, v)
		}
	}
	slices.SortFunc(values, c.compare)
	return slices.CompactFunc(values, c.equal)
}

// compareUnits is the cost of a comparison in addition to the bytes of its values.
const compareUnits = 4

// compare is doc.Compare until the time of the query is up.
func (c *Call) compare(a, b doc.Value) int {
	if c.spend(compareUnits) || c.spendBytes(len(a.Data)+len(b.Data)) {
		return 0
	}
	return doc.Compare(a, b)
}

// equal is doc.Equal until the time of the query is up.
func (c *Call) equal(a, b doc.Value) bool {
	return !c.spendBytes(min(len(a.Data), len(b.Data))) && doc.Equal(a, b)
}

func (s set) find(c *Call, v doc.Value) (at int, ok bool) {
	return slices.BinarySearchFunc(s, v, c.compare)
}

func (s set) has(c *Call, v doc.Value) bool {
	_, ok := s.find(c, v)
	return ok
}

// once is the array of those elements of arrays that s has and keep accepts, each once, in the order of the arrays.
func (s set) once(c *Call, r *scratch, keep func(doc.Value) bool, arrays ...doc.Value) doc.Value {
	r.taken = append(r.taken[:0], make([]bool, len(s))...)
	l := r.list()
	for _, array := range arrays {
		for v := range doc.Elements(array) {
			at, ok := s.find(c, v)
			if c.Err != nil {
				return undefined
			}
			if ok && !r.taken[at] && (keep == nil || keep(v)) {
				l.add(v)
				r.taken[at] = true
			}
		}
	}
	return r.array(c, l)
}

func arrays(args []doc.Value) bool { return doc.IsArray(args[0]) && doc.IsArray(args[1]) }

func setUnion(c *Call, args []doc.Value) doc.Value {
	if !arrays(args) {
		return undefined
	}
	r := scratchOf(c)
	all := setOf(c, r.values, args[0], args[1])
	r.values = all
	return all.once(c, r, nil, args[0], args[1])
}

// setIntersect has the order of the second array, as an example in the reference shows.
func setIntersect(c *Call, args []doc.Value) doc.Value {
	if !arrays(args) {
		return undefined
	}
	r := scratchOf(c)
	first := setOf(c, r.values, args[0])
	r.values = first
	return first.once(c, r, nil, args[1])
}

func setDifference(c *Call, args []doc.Value) doc.Value {
	if !arrays(args) {
		return undefined
	}
	r := scratchOf(c)
	first, second := setOf(c, r.values, args[0]), setOf(c, r.others, args[1])
	r.values, r.others = first, second
	return first.once(c, r, func(v doc.Value) bool { return !second.has(c, v) }, args[0])
}

func setEqual(c *Call, args []doc.Value) doc.Value {
	if !arrays(args) {
		return undefined
	}
	r := scratchOf(c)
	first, second := setOf(c, r.values, args[0]), setOf(c, r.others, args[1])
	r.values, r.others = first, second
	return truth(slices.EqualFunc(first, second, c.equal))
}
