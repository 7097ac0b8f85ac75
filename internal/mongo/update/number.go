package update

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

var zero = doc.Int32(0)

func isWhole(v doc.Value) bool { return v.Type == bsoncore.TypeInt32 || v.Type == bsoncore.TypeInt64 }

// longName is the name of a number's type in messages.
func longName(v doc.Value) string {
	switch v.Type {
	case bsoncore.TypeInt32:
		return "NumberInt"
	case bsoncore.TypeInt64:
		return "NumberLong"
	case bsoncore.TypeDouble:
		return "NumberDouble"
	}
	return "NumberDecimal"
}

// wholeNumber is i in the type of arithmetic on two integers: int if both are and i fits, else long.
func wholeNumber(a, b doc.Value, i int64) doc.Value {
	if a.Type == bsoncore.TypeInt32 && b.Type == bsoncore.TypeInt32 && i == int64(int32(i)) {
		return doc.Int32(int32(i))
	}
	return doc.Int(i)
}

// add is a + b in the wider of their types. It is not ok if a sum of integers does not fit into 64 bits.
func add(a, b doc.Value) (v doc.Value, ok bool) {
	switch {
	case isWhole(a) && isWhole(b):
		i, _ := doc.AsInt(a)
		j, _ := doc.AsInt(b)
		sum := i + j
		return wholeNumber(a, b, sum), (sum > i) == (j > 0)
	case a.Type == bsoncore.TypeDecimal128 || b.Type == bsoncore.TypeDecimal128:
		return addDecimals(asDecimal(a), asDecimal(b)).Value(), true
	}
	return doc.Double(asDouble(a) + asDouble(b)), true
}

// multiply is a * b in the wider of their types. It is not ok if a product of integers does not fit into 64 bits.
func multiply(a, b doc.Value) (v doc.Value, ok bool) {
	switch {
	case isWhole(a) && isWhole(b):
		i, _ := doc.AsInt(a)
		j, _ := doc.AsInt(b)
		product, ok := multiplyWhole(i, j)
		return wholeNumber(a, b, product), ok
	case a.Type == bsoncore.TypeDecimal128 || b.Type == bsoncore.TypeDecimal128:
		return multiplyDecimals(asDecimal(a), asDecimal(b)).Value(), true
	}
	return doc.Double(asDouble(a) * asDouble(b)), true
}

func multiplyWhole(i, j int64) (int64, bool) {
	negative := (i < 0) != (j < 0)
	hi, lo := bits.Mul64(magnitude(i), magnitude(j))
	switch {
	case hi != 0 || lo > 1<<63 || lo == 1<<63 && !negative:
		return 0, false
	case negative:
		return -int64(lo), true
	}
	return int64(lo), true
}

func magnitude(i int64) uint64 {
	if i < 0 {
		return -uint64(i)
	}
	return uint64(i)
}

// asDouble is a number as a double, but for Decimal128.
func asDouble(v doc.Value) float64 {
	f, _ := doc.AsFloat(v)
	return f
}

// asDecimal is any number as a decimal. A double is rounded to 15 digits, as in MongoDB's arithmetic.
func asDecimal(v doc.Value) doc.Decimal {
	if d, ok := doc.AsDecimal(v); ok {
		return d
	}
	if i, ok := doc.AsInt(v); ok && isWhole(v) {
		return doc.DecimalOf(i)
	}
	d, _ := doc.ParseDecimal(strconv.FormatFloat(asDouble(v), 'g', 15, 64))
	return d
}

// addDecimals is exact before it rounds to 34 digits.
func addDecimals(a, b doc.Decimal) doc.Decimal {
	switch {
	case a.Form == doc.DecimalNaN || b.Form == doc.DecimalNaN,
		a.Form == doc.DecimalInfinite && b.Form == doc.DecimalInfinite && a.Negative != b.Negative:
		return doc.Decimal{Form: doc.DecimalNaN}
	case a.Form == doc.DecimalInfinite:
		return a
	case b.Form == doc.DecimalInfinite:
		return b
	}
	exponent := min(a.Exponent, b.Exponent)
	return doc.NewDecimal(new(big.Int).Add(scaled(a, exponent), scaled(b, exponent)), exponent)
}

// scaled is d divided by ten to the power of exponent, an integer.
func scaled(d doc.Decimal, exponent int) *big.Int {
	c := d.Coefficient()
	if c.Sign() == 0 {
		return c
	}
	return c.Mul(c, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(d.Exponent-exponent)), nil))
}

func multiplyDecimals(a, b doc.Decimal) doc.Decimal {
	infinite := a.Form == doc.DecimalInfinite || b.Form == doc.DecimalInfinite
	switch {
	case a.Form == doc.DecimalNaN || b.Form == doc.DecimalNaN, infinite && (a.IsZero() || b.IsZero()):
		return doc.Decimal{Form: doc.DecimalNaN}
	case infinite:
		return doc.Decimal{Form: doc.DecimalInfinite, Negative: a.Negative != b.Negative}
	}
	d := doc.NewDecimal(new(big.Int).Mul(a.Coefficient(), b.Coefficient()), a.Exponent+b.Exponent)
	d.Negative = a.Negative != b.Negative
	return d
}

// integer parses an integer of any numeric type, for arguments of operators. named is the member for messages.
func integer(named func() string, v doc.Value) (int64, error) {
	if !doc.IsNumberBSON(v) {
		return 0, code.New(code.FailedToParse, "Expected a number in: %s", named())
	}
	if i, ok := doc.AsInt64Exact(v); ok {
		return i, nil
	}
	f := asDouble(v)
	if d, ok := doc.AsDecimal(v); ok {
		f = d.Float64()
	}
	switch {
	case math.IsNaN(f):
		return 0, code.New(code.FailedToParse, "Expected an integer, but found NaN in: %s", named())
	case f == math.Trunc(f):
		return 0, code.New(code.FailedToParse, "Cannot represent as a 64-bit integer: %s", named())
	}
	return 0, code.New(code.FailedToParse, "Expected an integer: %s", named())
}
