package pipeline

import (
	"math"
	"math/bits"
	"slices"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// A rounder rounds the boundaries of $bucketAuto to a series of preferred numbers, which repeats for each power of ten,
// or to powers of two if it has no series.
// https://en.wikipedia.org/wiki/Preferred_number
type rounder struct{ series []float64 }

var preferred = map[string][]float64{
	"1-2-5": {10, 20, 50},
	"R5":    {10, 16, 25, 40, 63},
	"R10":   {100, 125, 160, 200, 250, 315, 400, 500, 630, 800},
	"R20": {100, 112, 125, 140, 160, 180, 200, 224, 250, 280, 315, 355, 400, 450, 500, 560, 630, 710,
		800, 900},
	"R40": {100, 106, 112, 118, 125, 132, 140, 150, 160, 170, 180, 190, 200, 212, 224, 236, 250, 265,
		280, 300, 315, 335, 355, 375, 400, 425, 450, 475, 500, 530, 560, 600, 630, 670, 710, 750, 800, 850, 900, 950},
	"R80": {103, 109, 115, 122, 128, 136, 145, 155, 165, 175, 185, 195, 206, 218, 230, 243, 258, 272,
		290, 307, 325, 345, 365, 387, 412, 437, 462, 487, 515, 545, 575, 615, 650, 690, 730, 775, 825, 875, 925, 975},
	"E6":        {10, 15, 22, 33, 47, 68},
	"E12":       {10, 12, 15, 18, 22, 27, 33, 39, 47, 56, 68, 82},
	"E24":       {10, 11, 12, 13, 15, 16, 18, 20, 22, 24, 27, 30, 33, 36, 39, 43, 47, 51, 56, 62, 68, 75, 82, 91},
	"E48":       geometric(48),
	"E96":       geometric(96),
	"E192":      geometric(192),
	"POWERSOF2": nil,
}

// geometric is a series of n numbers with three digits (IEC 60063). The standard's rounding of one number differs from
// the formula.
func geometric(n int) []float64 {
	series := make([]float64, n)
	for i := range series {
		series[i] = math.Round(100 * math.Pow(10, float64(i)/float64(n)))
		if series[i] == 919 && n == 192 {
			series[i] = 920
		}
	}
	return series
}

func newRounder(name string) (*rounder, error) {
	series, ok := preferred[name]
	if !ok {
		return nil, code.New(40257, "Unknown rounding granularity '%s'", name)
	}
	if name == "R80" {
		series = slices.Concat(series, preferred["R40"])
		slices.Sort(series)
	}
	return &rounder{series}, nil
}

func (r *rounder) check(v doc.Value) error {
	f := float(v)
	switch {
	case !doc.IsNumberBSON(v):
		return code.New(40258,
			"$bucketAuto can specify a 'granularity' with numeric boundaries only, but found a value with type: %s",
			code.TypeName(v))
	case math.IsNaN(f):
		return code.New(40259, "$bucketAuto can specify a 'granularity' with numeric boundaries only, but found a NaN")
	case f < 0:
		return code.New(40260,
			"$bucketAuto can specify a 'granularity' with non-negative numbers only, but found a negative number")
	}
	return nil
}

// up is the smallest number of the series above v. Zero and infinity stay as they are.
func (r *rounder) up(v doc.Value) doc.Value {
	f := float(v)
	if f == 0 || math.IsInf(f, 0) {
		return v
	}
	if r.series == nil {
		return power(v, f, true)
	}
	scale := r.scale(f)
	for {
		for _, n := range r.series {
			if n*scale > f {
				return doc.Double(n * scale)
			}
		}
		scale *= 10
	}
}

// down is the greatest number of the series below v. Zero and infinity stay as they are.
func (r *rounder) down(v doc.Value) doc.Value {
	f := float(v)
	if f == 0 || math.IsInf(f, 0) {
		return v
	}
	if r.series == nil {
		return power(v, f, false)
	}
	scale := r.scale(f) * 10
	for scale > 0 {
		for _, n := range slices.Backward(r.series) {
			if n*scale < f {
				return doc.Double(n * scale)
			}
		}
		scale /= 10
	}
	return doc.Double(0)
}

// scale is a power of ten such that the scaled series begins at or below f.
func (r *rounder) scale(f float64) float64 {
	scale := 1.0
	for r.series[0]*scale > f && scale > 0 {
		scale /= 10
	}
	for r.series[0]*scale*10 <= f {
		scale *= 10
	}
	return scale
}

// power is the power of two above or below a positive number.
func power(v doc.Value, f float64, up bool) doc.Value {
	if v.Type == bsoncore.TypeInt32 || v.Type == bsoncore.TypeInt64 {
		n, _ := doc.AsInt(v)
		exponent := bits.Len64(uint64(n)) // 2^exponent is above n
		if !up {
			exponent = bits.Len64(uint64(n-1)) - 1
		}
		if exponent < 0 {
			return doc.Double(0.5)
		}
		if exponent < 63 {
			return integer(1 << exponent)
		}
		return doc.Double(math.Ldexp(1, exponent))
	}
	_, exponent := math.Frexp(f) // f is in [2^(exponent-1), 2^exponent)
	if !up {
		exponent--
		if math.Ldexp(1, exponent) == f {
			exponent--
		}
	}
	return doc.Double(math.Ldexp(1, exponent))
}
