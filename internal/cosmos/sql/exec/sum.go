package exec

import (
	"math"

	"github.com/mayflydb/mayfly/internal/doc"
)

// An exactSum adds numbers without rounding and rounds the total once, so that the order of rows does not matter. The
// parts are Shewchuk's ("Adaptive Precision Floating-Point Arithmetic", 1997): doubles that do not overlap.
type exactSum struct {
	whole   int64 // sum of whole numbers while it is small
	parts   []float64
	special float64 // infinities and NaN
}

const manyBits = 1 << 61

// add adds a number. It reports whether v is one.
func (s *exactSum) add(v doc.Value) bool {
	f, ok := number(v)
	if !ok {
		return false
	}
	if i := int64(f); float64(i) != f || f <= -1<<53 || f >= 1<<53 {
		s.push(f)
	} else if s.whole += i; s.whole > manyBits || s.whole < -manyBits { // v is i: no other number rounds to f
		s.spill()
	}
	return true
}

// spill moves whole to the parts, in two halves that doubles can represent.
func (s *exactSum) spill() {
	low := s.whole & (1<<31 - 1)
	high := s.whole - low
	s.whole = 0
	s.push(float64(high))
	s.push(float64(low))
}

func (s *exactSum) push(x float64) {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		s.special += x
		return
	}
	kept := 0
	for _, y := range s.parts {
		if math.Abs(x) < math.Abs(y) {
			x, y = y, x
		}
		high := x + y
		if math.IsInf(high, 0) {
			s.special += high
			return
		}
		if low := y - (high - x); low != 0 {
			s.parts[kept] = low
			kept++
		}
		x = high
	}
	s.parts = append(s.parts[:kept], x)
}

// result is the total, rounded to the nearest double.
func (s *exactSum) result() float64 {
	if s.special != 0 || math.IsNaN(s.special) {
		return s.special
	}
	if len(s.parts) == 0 && -1<<53 <= s.whole && s.whole <= 1<<53 {
		return float64(s.whole)
	}
	s.spill()
	return roundParts(s.parts)
}

// roundParts adds parts that do not overlap, the largest last. The remaining smaller parts decide ties.
func roundParts(parts []float64) float64 {
	n := len(parts)
	if n == 0 {
		return 0
	}
	n--
	high, low := parts[n], 0.0
	for n > 0 {
		n--
		x, y := high, parts[n]
		high = x + y
		if low = y - (high - x); low != 0 {
			break
		}
	}
	if n > 0 && (low < 0 && parts[n-1] < 0 || low > 0 && parts[n-1] > 0) {
		y := low * 2
		x := high + y
		if y == x-high {
			high = x
		}
	}
	return high
}
