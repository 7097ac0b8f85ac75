package expression

import (
	"math"
	"math/big"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// The trigonometric operators of one number.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/#trigonometry-expression-operators
var (
	sine    = curve{name: "$sin", double: math.Sin, big: sinBig, domain: "(-inf,inf)"}
	cosine  = curve{name: "$cos", double: math.Cos, big: cosBig, domain: "(-inf,inf)"}
	tangent = curve{name: "$tan", double: math.Tan, big: tanBig, domain: "(-inf,inf)"}

	arcSine    = curve{name: "$asin", double: math.Asin, big: asinBig, domain: "[-1,1]"}
	arcCosine  = curve{name: "$acos", double: math.Acos, big: acosBig, domain: "[-1,1]"}
	arcTangent = curve{name: "$atan", double: math.Atan, big: atanBig}

	hyperbolicSine    = curve{name: "$sinh", double: math.Sinh, decimal: sinhDecimal}
	hyperbolicCosine  = curve{name: "$cosh", double: math.Cosh, decimal: coshDecimal}
	hyperbolicTangent = curve{name: "$tanh", double: math.Tanh, big: tanhBig}

	hyperbolicArcSine    = curve{name: "$asinh", double: math.Asinh, big: asinhBig}
	hyperbolicArcCosine  = curve{name: "$acosh", double: math.Acosh, big: acoshBig, domain: "[1,inf]"}
	hyperbolicArcTangent = curve{name: "$atanh", double: math.Atanh, big: atanhBig, domain: "[-1,1]"}

	degreesToRadians = curve{
		name: "$degreesToRadians", big: toRadians,
		double: func(f float64) float64 { return f * (math.Pi / 180) },
	}
	radiansToDegrees = curve{
		name: "$radiansToDegrees", big: toDegrees,
		double: func(f float64) float64 { return f * (180 / math.Pi) },
	}
)

// A curve is an operator of one number: a decimal gives a decimal, any other number a double.
type curve struct {
	name    string
	double  func(float64) float64
	big     func(*big.Float) *big.Float // for a finite decimal within the domain
	decimal func(decimal) decimal       // in place of big
	domain  string                      // "" for all numbers and infinities
}

func (c curve) operator() operator { return one(c.name, c.of) }

func (c curve) of(s *Scope, v doc.Value) (doc.Value, error) {
	if nullish(v) {
		return null, nil
	}
	if !doc.IsNumberBSON(v) {
		return doc.Value{}, code.New(28765, "%s only supports numeric types, not %s", c.name, code.TypeName(v))
	}
	if !c.inDomain(v) {
		return doc.Value{}, code.New(50989, "cannot apply %s to %s, value must be in %s", c.name, numberText(v),
			c.domain)
	}
	if v.Type != bsoncore.TypeDecimal128 {
		return s.double(c.double(asDouble(v))), nil
	}
	d := asDecimal(v)
	switch {
	case d.Form != doc.DecimalFinite:
		d = limit(c.double(d.Float64()))
	case c.decimal != nil:
		d = c.decimal(d)
	default:
		d = decimalOfWide(c.big(exactFloat(d)))
	}
	return s.computed(d), nil
}

// limit is the limit of a curve at infinity: 1 or a multiple of pi/4.
func limit(f float64) decimal {
	switch {
	case f-f != 0:
		return decimalOfDouble(f)
	case f == math.Trunc(f):
		return doc.DecimalOf(int64(f))
	}
	quarters := floatOf(int64(math.Round(f * 4 / math.Pi)))
	return decimalOfBig(half(half(quarters.Mul(quarters, pi()))), 0)
}

// decimalOfWide is decimalOfBig for a number that may be infinite or beyond the largest decimal.
func decimalOfWide(f *big.Float) decimal {
	const shift = 60
	switch {
	case f.IsInf():
		return infinity(f.Signbit())
	case f.MantExp(nil) > widest-200:
		return decimalOfBig(newFloat().Quo(f, newFloat().SetInt(power(shift))), shift)
	}
	return decimalOfBig(f, 0)
}

// numberText is a number as the errors of inDomain show it.
func numberText(v doc.Value) string {
	f := asDouble(v)
	switch {
	case v.Type == bsoncore.TypeDecimal128:
		return asDecimal(v).String()
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	return string(appendDoubleText(nil, f))
}

// inDomain reports whether a number is in the domain. NaN is in every domain.
func (c curve) inDomain(v doc.Value) bool {
	if c.domain == "" || isNaN(v) {
		return true
	}
	switch c.domain {
	case "[-1,1]":
		return doc.CompareBSON(v, minusOne) >= 0 && doc.CompareBSON(v, plusOne) <= 0
	case "[1,inf]":
		return doc.CompareBSON(v, plusOne) >= 0
	}
	d, ok := doc.AsDecimal(v)
	return !ok && !math.IsInf(asDouble(v), 0) || ok && d.Form == doc.DecimalFinite
}

var minusOne, plusOne = doc.Int32(-1), doc.Int32(1)

func atan2(s *Scope, y, x doc.Value) (doc.Value, error) {
	if nullish(y) {
		return null, nil
	}
	if !doc.IsNumberBSON(y) {
		return doc.Value{}, code.New(51044, "$atan2 only supports numeric types, not %s", code.TypeName(y))
	}
	if nullish(x) {
		return null, nil
	}
	if !doc.IsNumberBSON(x) {
		return doc.Value{}, code.New(51045, "$atan2 only supports numeric types, not %s", code.TypeName(x))
	}
	if y.Type != bsoncore.TypeDecimal128 && x.Type != bsoncore.TypeDecimal128 {
		return s.double(math.Atan2(asDouble(y), asDouble(x))), nil
	}
	a, b := asDecimal(y), asDecimal(x)
	if a.Form != doc.DecimalFinite || b.Form != doc.DecimalFinite || a.IsZero() || b.IsZero() {
		return s.computed(limit(math.Atan2(clamp(a), clamp(b)))), nil
	}
	angle := atanBig(newFloat().Quo(bigOf(a), bigOf(b)))
	switch {
	case b.Negative && a.Negative:
		angle.Sub(angle, pi())
	case b.Negative:
		angle.Add(angle, pi())
	}
	return s.computed(decimalOfBig(angle, 0)), nil
}
