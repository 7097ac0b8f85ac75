package expression

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

func exp(s *Scope, v doc.Value) (doc.Value, error) {
	switch {
	case v.Type == bsoncore.TypeDecimal128:
		return s.computed(expDecimal(asDecimal(v))), nil
	case doc.IsNumberBSON(v):
		return s.double(math.Exp(asDouble(v))), nil
	}
	return notNumeric("$exp", v)
}

func sqrt(s *Scope, v doc.Value) (doc.Value, error) {
	switch {
	case !doc.IsNumberBSON(v):
		return notNumeric("$sqrt", v)
	case below(v, 0):
		return doc.Value{}, code.New(28714, "$sqrt's argument must be greater than or equal to 0")
	case v.Type == bsoncore.TypeDecimal128:
		return s.computed(sqrtDecimal(asDecimal(v))), nil
	}
	return s.double(math.Sqrt(asDouble(v))), nil
}

// below reports whether a number is less than n; NaN is not.
func below(v doc.Value, n int64) bool {
	if v.Type == bsoncore.TypeDecimal128 {
		return !isNaN(v) && compareDecimals(asDecimal(v), doc.DecimalOf(n)) < 0
	}
	return asDouble(v) < float64(n)
}

// positive reports whether a number has a logarithm. NaN's is NaN.
func positive(v doc.Value) bool { return !below(v, 0) && !isZero(v) }

func ln(s *Scope, v doc.Value) (doc.Value, error) {
	switch {
	case !doc.IsNumberBSON(v):
		return notNumeric("$ln", v)
	case !positive(v):
		return doc.Value{}, code.New(28766, "$ln's argument must be a positive number, but is %s", code.Show(v))
	case v.Type == bsoncore.TypeDecimal128:
		return s.computed(lnDecimal(asDecimal(v))), nil
	}
	return s.double(math.Log(asDouble(v))), nil
}

func log10(s *Scope, v doc.Value) (doc.Value, error) {
	switch {
	case !doc.IsNumberBSON(v):
		return notNumeric("$log10", v)
	case !positive(v):
		return doc.Value{}, code.New(28761, "$log10's argument must be a positive number, but is %s", code.Show(v))
	case v.Type == bsoncore.TypeDecimal128:
		return s.computed(logDecimal(asDecimal(v), doc.DecimalOf(10))), nil
	}
	return s.double(math.Log10(asDouble(v))), nil
}

// log is the logarithm of the first number to the base of the second.
func log(s *Scope, v, base doc.Value) (doc.Value, error) {
	switch {
	case nullish(v) || nullish(base):
		return null, nil
	case !doc.IsNumberBSON(v):
		return doc.Value{}, code.New(28756, "$log's argument must be numeric, not %s", code.TypeName(v))
	case !doc.IsNumberBSON(base):
		return doc.Value{}, code.New(28757, "$log's base must be numeric, not %s", code.TypeName(base))
	case !positive(v):
		return doc.Value{}, code.New(28758, "$log's argument must be a positive number, but is %s", code.Show(v))
	case !positive(base) || doc.EqualBSON(base, wholeOne):
		return doc.Value{}, code.New(28759, "$log's base must be a positive number not equal to 1, but is %s",
			code.Show(base))
	case wider(v.Type, base.Type) == bsoncore.TypeDecimal128:
		return s.computed(logDecimal(asDecimal(v), asDecimal(base))), nil
	}
	return s.double(math.Log(asDouble(v)) / math.Log(asDouble(base))), nil
}

var wholeOne = doc.Int(1)

func pow(s *Scope, base, exponent doc.Value) (doc.Value, error) {
	switch {
	case nullish(base) || nullish(exponent):
		return null, nil
	case !doc.IsNumberBSON(base):
		return doc.Value{}, code.New(28762, "$pow's base must be numeric, not %s", code.TypeName(base))
	case !doc.IsNumberBSON(exponent):
		return doc.Value{}, code.New(28763, "$pow's exponent must be numeric, not %s", code.TypeName(exponent))
	case isZero(base) && below(exponent, 0):
		return doc.Value{}, code.New(28764, "$pow cannot take a base of 0 and a negative exponent")
	}
	switch wider(base.Type, exponent.Type) {
	case bsoncore.TypeDecimal128:
		return s.computed(powDecimal(asDecimal(base), asDecimal(exponent))), nil
	case bsoncore.TypeDouble:
		return s.double(math.Pow(asDouble(base), asDouble(exponent))), nil
	}
	if i, ok := powInts(asInt(base), asInt(exponent)); ok {
		return s.sized(i, base.Type, exponent.Type), nil
	}
	return s.double(math.Pow(asDouble(base), asDouble(exponent))), nil
}

// powInts is not ok if the result does not fit into an int64.
func powInts(base, exponent int64) (product int64, ok bool) {
	switch {
	case base == 1 || exponent == 0:
		return 1, true
	case base == -1:
		return 1 - 2*(exponent&1), true
	case base == 0:
		return 0, true
	case exponent < 0 || exponent > 63:
		return 0, false
	}
	product, ok = 1, true
	for range exponent {
		if product, ok = multiplyInts(product, base); !ok {
			return 0, false
		}
	}
	return product, true
}
