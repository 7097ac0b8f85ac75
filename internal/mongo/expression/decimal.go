package expression

import (
	"math"
	"math/big"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

// A decimal is a decoded Decimal128. As IEEE 754-2008 requires, arithmetic rounds half to even at 34 digits and keeps
// trailing zeros.
type decimal = doc.Decimal

// Costs of computing with decimals, in units of package work.
const (
	decimalCost  = 100
	functionCost = 10_000 // of a function such as sin
)

const (
	decimalDigits = 34
	minExponent   = -6176
)

var (
	ten        = big.NewInt(10)
	decimalNaN = decimal{Form: doc.DecimalNaN}
)

// power is ten to n.
func power(n int) *big.Int { return new(big.Int).Exp(ten, big.NewInt(int64(n)), nil) }

func infinity(negative bool) decimal {
	return decimal{Form: doc.DecimalInfinite, Negative: negative}
}

// asDecimal is a number as a decimal. A double is rounded to 15 digits, as in MongoDB's arithmetic.
func asDecimal(v doc.Value) decimal {
	switch v.Type {
	case bsoncore.TypeDecimal128:
		d, _ := doc.AsDecimal(v)
		return d
	case bsoncore.TypeDouble:
		return decimalOfDouble(asDouble(v))
	}
	return doc.DecimalOf(asInt(v))
}

// decimalOfDouble rounds to 15 significant digits.
func decimalOfDouble(f float64) decimal {
	switch {
	case math.IsNaN(f):
		return decimalNaN
	case math.IsInf(f, 0):
		return infinity(f < 0)
	case f == 0:
		return decimal{Negative: math.Signbit(f)}
	}
	d, _ := doc.ParseDecimal(strconv.FormatFloat(f, 'e', 14, 64))
	return d
}

// decimal makes a Decimal128.
func (s *Scope) decimal(d decimal) doc.Value {
	_ = s.spend(decimalCost) // an error shows at the next call
	high, low := d.Hi|uint64(d.Exponent-minExponent)<<49, d.Lo
	switch d.Form {
	case doc.DecimalNaN:
		high, low = 0x1f<<58, 0
	case doc.DecimalInfinite:
		high, low = 0x1e<<58, 0
	}
	if d.Negative {
		high |= 1 << 63
	}
	return s.decimal128(high, low)
}

// computed is decimal for the result of a function such as sin.
func (s *Scope) computed(d decimal) doc.Value {
	_ = s.spend(functionCost)
	return s.decimal(d)
}

// signOf is -1, 0 or 1; 0 for NaN.
func signOf(d decimal) int {
	switch {
	case d.Form == doc.DecimalNaN || d.IsZero():
		return 0
	case d.Negative:
		return -1
	}
	return 1
}

// rounded makes a decimal from a coefficient. inexact says that the true value is a little further from 0. negative is
// the sign, also if the coefficient is 0.
func rounded(coefficient *big.Int, exponent int, inexact, negative bool) decimal {
	if inexact {
		coefficient = new(big.Int).Mul(coefficient, ten)
		coefficient.Add(coefficient, big.NewInt(1))
		exponent--
	}
	d := doc.NewDecimal(coefficient, exponent)
	d.Negative = negative && d.Form != doc.DecimalNaN
	return d
}

// magnitude is the coefficient without its sign.
func magnitude(d decimal) *big.Int {
	c := d.Coefficient()
	return c.Abs(c)
}
