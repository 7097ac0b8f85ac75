package plan

import (
	"slices"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
)

// An edge is an end of a span. Without a value the span is unbounded.
type edge struct {
	value doc.Value
	open  bool // the value itself is excluded
	given bool // by the query, not by the bracket of the type
}

func (e *edge) bound() *access.Bound {
	if e.value.Type == 0 {
		return nil
	}
	return &access.Bound{Value: e.value, Open: e.open}
}

// A span is the values between two edges; a point is one value.
type span struct {
	low, high edge
	point     bool
}

func pointSpan(v doc.Value) span {
	at := edge{value: v, given: true}
	return span{at, at, true}
}

// compareLow orders the lower ends of spans.
func compareLow(a, b edge) int {
	switch {
	case a.value.Type == 0 || b.value.Type == 0:
		return rank(b.value.Type == 0, a.value.Type == 0)
	}
	if c := doc.CompareBSON(a.value, b.value); c != 0 {
		return c
	}
	return rank(a.open, b.open)
}

// compareHigh orders the upper ends of spans.
func compareHigh(a, b edge) int {
	switch {
	case a.value.Type == 0 || b.value.Type == 0:
		return rank(a.value.Type == 0, b.value.Type == 0)
	}
	if c := doc.CompareBSON(a.value, b.value); c != 0 {
		return c
	}
	return rank(b.open, a.open)
}

func rank(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// isEmpty reports whether there is no value between two edges.
func isEmpty(low, high edge) bool {
	if low.value.Type == 0 || high.value.Type == 0 {
		return false
	}
	c := doc.CompareBSON(low.value, high.value)
	return c > 0 || c == 0 && (low.open || high.open)
}

// touches reports whether a span that begins at low overlaps or adjoins one that ends at high.
func touches(high, low edge) bool {
	if low.value.Type == 0 || high.value.Type == 0 {
		return true
	}
	c := doc.CompareBSON(low.value, high.value)
	return c < 0 || c == 0 && !(low.open && high.open)
}

// unite sorts spans in place and joins those that touch.
func unite(list []span) []span {
	slices.SortFunc(list, func(a, b span) int { return compareLow(a.low, b.low) })
	out := list[:0]
	for _, s := range list {
		last := len(out) - 1
		if last < 0 || !touches(out[last].high, s.low) {
			out = append(out, s)
		} else if compareHigh(s.high, out[last].high) > 0 {
			out[last].high, out[last].point = s.high, false
		}
	}
	return out
}

// intersect returns the values in both of two sorted lists.
func intersect(a, b []span) []span {
	out := []span{}
	for len(a) > 0 && len(b) > 0 {
		both := span{low: a[0].low, high: a[0].high, point: a[0].point || b[0].point}
		if compareLow(b[0].low, both.low) > 0 {
			both.low = b[0].low
		}
		if compareHigh(b[0].high, both.high) < 0 {
			both.high = b[0].high
		}
		if !isEmpty(both.low, both.high) {
			both.point = both.point ||
				both.low.value.Type != 0 && both.high.value.Type != 0 && doc.EqualBSON(both.low.value, both.high.value)
			out = append(out, both)
		}
		if compareHigh(a[0].high, b[0].high) < 0 {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return out
}

// narrow intersects two lists, or returns the shorter one if intersecting would take long.
func narrow(a, b []span) []span {
	switch {
	case intersects(a, b):
		return intersect(a, b)
	case len(a) <= len(b):
		return a
	}
	return b
}

// intersects reports whether narrow intersects two lists.
func intersects(a, b []span) bool { return len(a) <= maxProduct && len(b) <= maxProduct }

// hull is the smallest span that contains a sorted list.
func hull(list []span) []span {
	return []span{{low: list[0].low, high: list[len(list)-1].high}}
}

// distinct makes sure that spans do not overlap in an index either, whose entries keep only a part of large values.
func distinct(list []span) []span {
	if len(list) < 2 {
		return list
	}
	for i := range list {
		if isLarge(list[i].low.value) || isLarge(list[i].high.value) {
			return hull(list)
		}
	}
	return list
}

func allPoints(list []span) bool {
	for i := range list {
		if !list[i].point {
			return false
		}
	}
	return true
}
