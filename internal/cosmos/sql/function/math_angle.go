package function

import "math"

// Package math is inaccurate near multiples of a right angle: its Tan(π/2) is off by eleven units in the last place,
// and does not give what the reference shows. So angles are reduced here to an eighth of a turn around zero, as two
// doubles, and package math does the rest.

// Half of π in parts of 33 bits, which can be multiplied by a number of quarter turns below 2^20 without rounding
// (fdlibm, e_rem_pio2.c).
const (
	quarter1 = 1.57079632673412561417e+00
	quarter2 = 6.07710050630396597660e-11
	quarter3 = 2.02226624871116645580e-21
	quarter4 = 8.47842766036889956997e-32
)

const mostQuarters = 1 << 20

// An angle is high + low + quarters·π/2.
type angle struct {
	high, low float64
	quarters  int
}

// reduce fails for angles that are too large, infinite or NaN.
func reduce(x float64) (angle, bool) {
	k := math.Round(x * (2 / math.Pi))
	if !(math.Abs(k) < mostQuarters) {
		return angle{}, false
	}
	a := x - float64(k*quarter1)
	b := float64(k * quarter2)
	high := a - b
	part := high - a
	low := (a - (high - part)) - (b + part)
	low -= k*quarter3 + k*quarter4
	sum := high + low
	return angle{sum, high - sum + low, int(k) & 3}, true
}

func (a angle) sin() float64 { return math.Sin(a.high) + a.low*math.Cos(a.high) }
func (a angle) cos() float64 { return math.Cos(a.high) - a.low*math.Sin(a.high) }

func (a angle) tan() float64 {
	t := math.Tan(a.high)
	return t + a.low*(1+t*t)
}

func sine(x float64) float64 {
	a, ok := reduce(x)
	if !ok {
		return math.Sin(x)
	}
	switch a.quarters {
	case 1:
		return a.cos()
	case 2:
		return -a.sin()
	case 3:
		return -a.cos()
	}
	return a.sin()
}

func cosine(x float64) float64 {
	a, ok := reduce(x)
	if !ok {
		return math.Cos(x)
	}
	switch a.quarters {
	case 1:
		return -a.sin()
	case 2:
		return -a.cos()
	case 3:
		return a.sin()
	}
	return a.cos()
}

func tangent(x float64) float64 {
	a, ok := reduce(x)
	if !ok {
		return math.Tan(x)
	}
	if a.quarters%2 == 1 {
		return -1 / a.tan()
	}
	return a.tan()
}

func cotangent(x float64) float64 { return 1 / tangent(x) }
