package doc

import (
	"bytes"
	"cmp"
)

// stepBytes is about how many bytes CompareSteps compares between two calls of walked.
const stepBytes = 4 << 10

// CompareSteps is CompareBSON for values that may be large. Every few kilobytes it calls walked with the number of
// bytes that it has compared since the last call. If walked fails, it stops and returns the error.
func CompareSteps(a, b Value, walked func(n int) error) (order int, err error) {
	if a.Type == b.Type && bytes.Equal(a.Data, b.Data) {
		return 0, walked(len(a.Data) / 8)
	}
	s := steps{walked: walked}
	order = s.compare(a, b, MaxCompareDepth)
	if s.err == nil {
		s.err = walked(s.n)
	}
	return order, s.err
}

// steps counts the bytes that a comparison reads.
type steps struct {
	walked func(n int) error
	n      int // since the last call
	err    error
}

func (s *steps) compare(a, b Value, levels int) int {
	if min(len(a.Data), len(b.Data)) < stepBytes {
		s.n += min(len(a.Data), len(b.Data))
		return compareBSON(a, b, levels)
	}
	kind := canonicalTypes[a.Type]
	if kind != canonicalTypes[b.Type] || kind != CanonicalObject && kind != CanonicalArray || levels == 0 {
		s.n += min(len(a.Data), len(b.Data)) / 8 // bytes that are compared many at a time
		return compareBSON(a, b, levels)
	}
	return s.bodies(body(a.Data), body(b.Data), kind == CanonicalObject, levels-1)
}

// bodies is compareBodies with calls of walked.
func (s *steps) bodies(a, b []byte, named bool, levels int) int {
	for {
		m, more := next(a)
		n, other := next(b)
		if !more || !other {
			return compareBools(more, other)
		}
		if named {
			types := cmp.Compare(canonicalTypes[m.kind], canonicalTypes[n.kind])
			if c := cmp.Or(types, bytes.Compare(m.name, n.name)); c != 0 {
				return c
			}
		}
		s.n += m.size - len(m.data)
		if c := s.compare(m.value(), n.value(), levels); c != 0 || s.err != nil {
			return c
		}
		if s.n >= stepBytes {
			if s.err = s.walked(s.n); s.err != nil {
				return 0
			}
			s.n = 0
		}
		a, b = a[m.size:], b[n.size:]
	}
}
