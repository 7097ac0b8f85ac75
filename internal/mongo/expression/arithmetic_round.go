package expression

import (
	"math"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// toWhole rounds to integers.
func toWhole(name string, of func(float64) float64, how rounding) func(*Scope, doc.Value) (doc.Value, error) {
	return func(s *Scope, v doc.Value) (doc.Value, error) {
		switch v.Type {
		case bsoncore.TypeDouble:
			return s.double(of(asDouble(v))), nil
		case bsoncore.TypeDecimal128:
			return s.decimal(quantize(asDecimal(v), 0, how)), nil
		case bsoncore.TypeInt32, bsoncore.TypeInt64:
			return v, nil
		}
		return notNumeric(name, v)
	}
}

// The range of places for $round and $trunc.
const minPlace, maxPlace = -20, 100

// toPlace rounds to as many digits after the point as the second argument says, or before the point if it is negative;
// by default to integers.
func toPlace(name string, how rounding) function {
	return func(s *Scope, args []doc.Value) (doc.Value, error) {
		v, place := args[0], int64(0)
		switch {
		case nullish(v):
			return null, nil
		case !doc.IsNumberBSON(v):
			return doc.Value{}, code.New(51081, "%s only supports numeric types, not %s", name, code.TypeName(v))
		}
		if len(args) > 1 {
			if nullish(args[1]) {
				return null, nil
			}
			if !doc.IsNumberBSON(args[1]) {
				return doc.Value{}, code.New(16004, "can't convert from BSON type %s to long", code.TypeName(args[1]))
			}
			n, ok := whole32(args[1])
			if !ok {
				return doc.Value{}, code.New(51082, "precision argument to  %s must be a integral value", name)
			}
			if n < minPlace || n > maxPlace {
				return doc.Value{}, code.New(51083,
					"cannot apply %s with precision value %d value must be in [-20, 100]", name, n)
			}
			place = int64(n)
		}
		return round(s, name, v, int(place), how)
	}
}

func round(s *Scope, name string, v doc.Value, place int, how rounding) (doc.Value, error) {
	switch v.Type {
	case bsoncore.TypeDecimal128:
		return s.decimal(quantize(asDecimal(v), place, how)), nil
	case bsoncore.TypeDouble:
		return s.double(roundDouble(asDouble(v), place, how)), nil
	}
	if place >= 0 {
		return v, nil
	}
	i, ok := roundDecimal(doc.DecimalOf(asInt(v)), place, how).Int64()
	if !ok {
		return doc.Value{}, code.New(51080,
			"invalid conversion from Decimal128 result in %s resulting from arguments: [%s, %d]", name, code.Show(v),
			place)
	}
	return s.sized(i, v.Type, 0), nil
}

// roundDouble rounds the exact value of a double, in 34 digits: 2.675 is a little less than that, so it rounds to 2.67.
func roundDouble(f float64, place int, how rounding) float64 {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0) || f == 0:
		return f
	case place == 0 && how == halfEven:
		return math.RoundToEven(f)
	case place == 0 && how == towardZero:
		return math.Trunc(f)
	}
	d, _ := doc.ParseDecimal(strconv.FormatFloat(f, 'e', decimalDigits-1, 64))
	return roundDecimal(d, place, how).Float64()
}

// quantize is roundDecimal, but also adds zeros if the digits suffice.
func quantize(d decimal, place int, how rounding) decimal {
	d = roundDecimal(d, place, how)
	if pad := d.Exponent + place; d.Form == doc.DecimalFinite && pad > 0 && pad <= decimalDigits {
		c := magnitude(d)
		if c.Mul(c, power(pad)); c.Cmp(power(decimalDigits)) < 0 {
			return rounded(c, -place, false, d.Negative)
		}
	}
	return d
}
