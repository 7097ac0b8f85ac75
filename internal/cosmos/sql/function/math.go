package function

import (
	"math"
	"math/rand/v2"

	"github.com/mayflydb/mayfly/internal/doc"
)

// The family "Mathematical functions" of the reference. They use doubles, except for those called INT in
// math_integer.go. Arguments that are not numbers make the result undefined; results may be NaN or infinite as in
// IEEE 754: SQRT(-1), LOG(0).
var mathFunctions = append([]Function{
	{Name: "ABS", Family: familyMath, Min: 1, Max: 1, Run: ofNumber(math.Abs)},
	{Name: "ACOS", Family: familyMath, Min: 1, Max: 1, Run: ofNumber(math.Acos)},
	{Name: "ASIN", Family: familyMath, Min: 1, Max: 1, Run: ofNumber(math.Asin)},
	{Name: "ATAN", Family: familyMath, Min: 1, Max: 1, Run: ofNumber(math.Atan)},
	{Name: "ATN2", Family: familyMath, Min: 2, Max: 2, Run: ofNumbers(math.Atan2)},
	{Name: "CEILING", Family: familyMath, Min: 1, Max: 1, Run: ofNumber(math.Ceil)},
	{Name: "COS", Family: familyMath, Min: 1, Max: 1, Run: ofNumber(cosine)},
	{Name: "COT", Family: familyMath, Min: 1, Max: 1, Run: ofNumber(cotangent)},
	{Name: "DEGREES", Family: familyMath, Min: 1, Max: 1, Run: ofNumber(degrees)},
	{Name: "EXP", Family: familyMath, Min: 1, Max: 1, Run: ofNumber(math.Exp)},
	{Name: "FLOOR", Family: familyMath, Min: 1, Max: 1, Run: ofNumber(math.Floor)},
	{Name: "LOG", Family: familyMath, Min: 1, Max: 2, Run: logarithm},
	{Name: "LOG10", Family: familyMath, Min: 1, Max: 1, Run: ofNumber(log10)},
	{Name: "NUMBERBIN", Family: familyMath, Min: 1, Max: 2, Run: numberBin},
	{Name: "PI", Family: familyMath, Min: 0, Max: 0, Run: func(*Call, []doc.Value) doc.Value { return pi }},
	{Name: "POWER", Family: familyMath, Min: 2, Max: 2, Run: ofNumbers(math.Pow)},
	{Name: "RADIANS", Family: familyMath, Min: 1, Max: 1, Run: ofNumber(radians)},
	{Name: "RAND", Family: familyMath, Min: 0, Max: 0, Run: random, Volatile: true},
	{Name: "ROUND", Family: familyMath, Min: 1, Max: 2, Run: round},
	{Name: "SIGN", Family: familyMath, Min: 1, Max: 1, Run: ofNumber(sign)},
	{Name: "SIN", Family: familyMath, Min: 1, Max: 1, Run: ofNumber(sine)},
	{Name: "SQRT", Family: familyMath, Min: 1, Max: 1, Run: ofNumber(math.Sqrt)},
	{Name: "SQUARE", Family: familyMath, Min: 1, Max: 1, Run: ofNumber(func(x float64) float64 { return x * x })},
	{Name: "TAN", Family: familyMath, Min: 1, Max: 1, Run: ofNumber(tangent)},
	{Name: "TRUNC", Family: familyMath, Min: 1, Max: 1, Run: ofNumber(math.Trunc)},
}, integerFunctions...)

const familyMath = "Mathematical"

var pi = doc.Float(math.Pi)

// ofNumber returns a function of one number.
func ofNumber(f func(float64) float64) func(*Call, []doc.Value) doc.Value {
	return func(c *Call, args []doc.Value) doc.Value {
		x, ok := doc.AsFloat(args[0])
		if !ok {
			return undefined
		}
		return scratchOf(c).float(f(x))
	}
}

// ofNumbers returns a function of two numbers.
func ofNumbers(f func(x, y float64) float64) func(*Call, []doc.Value) doc.Value {
	return func(c *Call, args []doc.Value) doc.Value {
		x, y, ok := twoNumbers(args)
		if !ok {
			return undefined
		}
		return scratchOf(c).float(f(x, y))
	}
}

// twoNumbers are the first two arguments as numbers.
func twoNumbers(args []doc.Value) (x, y float64, ok bool) {
	x, okX := doc.AsFloat(args[0])
	y, okY := doc.AsFloat(args[1])
	return x, y, okX && okY
}

func degrees(x float64) float64 { return x * (180 / math.Pi) }
func radians(x float64) float64 { return x * (math.Pi / 180) }

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return x
}

// log10 is exact for powers of ten, and otherwise correct to nearly the last digit; math.Log10 is neither. Only the
// fraction of x goes through the logarithm, whose rounding error then hardly matters (as in fdlibm, e_log10.c).
func log10(x float64) float64 {
	const twoHigh, twoLow = 3.01029995663611771306e-01, 3.69423907715893078616e-13
	rest, exponent := math.Frexp(x)
	if rest < math.Sqrt2/2 {
		rest, exponent = rest*2, exponent-1
	}
	power := float64(exponent)
	low := power*twoLow + math.Log(rest)*(1/math.Ln10)
	y := low + power*twoHigh
	if whole := math.Round(y); math.Abs(whole) <= 308 && math.Pow10(int(whole)) == x {
		return whole
	}
	return y
}

func logarithm(c *Call, args []doc.Value) doc.Value {
	x, ok := doc.AsFloat(args[0])
	if !ok {
		return undefined
	}
	if len(args) == 1 {
		return scratchOf(c).float(math.Log(x))
	}
	base, ok := doc.AsFloat(args[1])
	if !ok {
		return undefined
	}
	switch base {
	case 2:
		return scratchOf(c).float(math.Log2(x))
	case 10:
		return scratchOf(c).float(log10(x))
	}
	return scratchOf(c).float(math.Log(x) / math.Log(base))
}

// numberBin rounds down to a multiple of the bin size, or up if the size is negative. A size of 0 makes the result
// undefined. The reference shows both.
func numberBin(c *Call, args []doc.Value) doc.Value {
	x, ok := doc.AsFloat(args[0])
	if !ok {
		return undefined
	}
	size := 1.0
	if len(args) == 2 {
		if size, ok = doc.AsFloat(args[1]); !ok {
			return undefined
		}
	}
	if size == 0 {
		return undefined
	}
	return scratchOf(c).float(math.Floor(x/size) * size)
}

func random(c *Call, _ []doc.Value) doc.Value { return scratchOf(c).float(rand.Float64()) }

// round rounds half away from zero. The optional second argument is the number of digits after the point, or before
// it if negative.
func round(c *Call, args []doc.Value) doc.Value {
	x, ok := doc.AsFloat(args[0])
	if !ok {
		return undefined
	}
	if len(args) == 1 {
		return scratchOf(c).float(math.Round(x))
	}
	digits, ok := doc.AsInt(args[1])
	if !ok {
		return undefined
	}
	return scratchOf(c).float(roundTo(x, digits))
}

// roundTo does not change a number without digits to lose: from 2^53 on, scaling would do harm.
func roundTo(x float64, digits int64) float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return x
	}
	if digits < 0 {
		if digits < -308 {
			return 0
		}
		unit := math.Pow10(int(-digits))
		return math.Round(x/unit) * unit
	}
	if digits > 308 {
		return x
	}
	unit := math.Pow10(int(digits))
	scaled := x * unit
	if math.Abs(scaled) >= 1<<53 {
		return x
	}
	return math.Round(scaled) / unit
}
