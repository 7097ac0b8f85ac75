package doc

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// Limits of a Decimal128 (IEEE 754-2008, decimal128).
const (
	decimalDigits      = 34
	decimalMinExponent = -6176
	decimalMaxExponent = 6111
)

// A DecimalForm tells finite numbers from infinities and NaN.
type DecimalForm uint8

// The forms of a Decimal.
const (
	DecimalFinite DecimalForm = iota
	DecimalInfinite
	DecimalNaN
)

// A Decimal is an unpacked Decimal128. If it is finite, it is the integer
// Hi*2^64 + Lo, of at most 34 digits, times 10 to the power of Exponent. The
// zero Decimal is 0.
type Decimal struct {
	Form     DecimalForm
	Negative bool
	Hi, Lo   uint64
	Exponent int // -6176 to 6111
}

// AsDecimal unpacks a Decimal128; false if v has another type.
func AsDecimal(v Value) (Decimal, bool) {
	if v.Type != bsoncore.TypeDecimal128 {
		return Decimal{}, false
	}
	return unpackDecimal(v.Data), true
}

func unpackDecimal(data []byte) Decimal {
	lo := Uint64Padded(data)
	hi := Uint64Padded(data[min(8, len(data)):])
	d := Decimal{Negative: hi>>63 == 1}
	switch {
	case hi>>58&0x1F == 0x1F:
		return Decimal{Form: DecimalNaN}
	case hi>>58&0x1F == 0x1E:
		d.Form = DecimalInfinite
	case hi>>61&3 == 3: // all coefficients in this form are too large, which by the standard means zero
		d.Exponent = int(hi>>47&0x3FFF) + decimalMinExponent
	default:
		d.Exponent = int(hi>>49&0x3FFF) + decimalMinExponent
		d.Hi, d.Lo = hi&(1<<49-1), lo
		if !less128(d.Hi, d.Lo, powersOf10[decimalDigits]) {
			d.Hi, d.Lo = 0, 0
		}
	}
	return d
}

// Value is d as a Decimal128.
func (d Decimal) Value() Value {
	hi, lo := uint64(d.Exponent-decimalMinExponent)<<49|d.Hi, d.Lo
	switch d.Form {
	case DecimalNaN:
		hi, lo = 0x1F<<58, 0
	case DecimalInfinite:
		hi, lo = 0x1E<<58, 0
	}
	if d.Negative {
		hi |= 1 << 63
	}
	data := binary.LittleEndian.AppendUint64(make([]byte, 0, 16), lo)
	return Value{Type: bsoncore.TypeDecimal128, Data: binary.LittleEndian.AppendUint64(data, hi)}
}

// IsZero reports whether d is zero, of either sign.
func (d Decimal) IsZero() bool { return d.Form == DecimalFinite && d.Hi|d.Lo == 0 }

// Coefficient is the integer Hi*2^64 + Lo with the sign of d.
func (d Decimal) Coefficient() *big.Int {
	c := new(big.Int).SetUint64(d.Hi)
	c.Or(c.Lsh(c, 64), new(big.Int).SetUint64(d.Lo))
	if d.Negative {
		c.Neg(c)
	}
	return c
}

// DecimalOf is the integer i as a Decimal.
func DecimalOf(i int64) Decimal {
	if i < 0 {
		return Decimal{Negative: true, Lo: -uint64(i)}
	}
	return Decimal{Lo: uint64(i)}
}

// NewDecimal is coefficient times 10 to the power of exponent. If that needs more
// than 34 digits, it is rounded half to even. It is infinite above the largest
// number, and zero below the smallest. If possible, the exponent is kept.
func NewDecimal(coefficient *big.Int, exponent int) Decimal {
	d := Decimal{Negative: coefficient.Sign() < 0}
	c := new(big.Int).Abs(coefficient)
	digits := 0
	if c.Sign() != 0 {
		digits = len(c.Text(10))
	}
	if drop := max(digits-decimalDigits, decimalMinExponent-exponent); drop > 0 {
		c, digits = roundOff(c, digits, drop)
		exponent += drop
	}
	if digits == 0 {
		d.Exponent = min(max(exponent, decimalMinExponent), decimalMaxExponent)
		return d
	}
	if pad := exponent - decimalMaxExponent; pad > 0 {
		if digits+pad > decimalDigits {
			return Decimal{Form: DecimalInfinite, Negative: d.Negative}
		}
		c.Mul(c, power(10, pad))
		exponent = decimalMaxExponent
	}
	d.Exponent = exponent
	d.Lo = new(big.Int).And(c, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
	d.Hi = new(big.Int).Rsh(c, 64).Uint64()
	if d.Hi == powersOf10[decimalDigits].hi && d.Lo == powersOf10[decimalDigits].lo { // rounded up to 35 digits
		d.Hi, d.Lo = powersOf10[decimalDigits-1].hi, powersOf10[decimalDigits-1].lo
		if d.Exponent++; d.Exponent > decimalMaxExponent {
			return Decimal{Form: DecimalInfinite, Negative: d.Negative}
		}
	}
	return d
}

// roundOff removes the last drop digits of c, which may have fewer.
func roundOff(c *big.Int, digits, drop int) (*big.Int, int) {
	if drop > digits {
		return new(big.Int), 0
	}
	unit := power(10, drop)
	q, r := new(big.Int).QuoRem(c, unit, new(big.Int))
	switch r.Lsh(r, 1).Cmp(unit) {
	case 1:
		q.Add(q, big.NewInt(1))
	case 0:
		q.Add(q, big.NewInt(int64(q.Bit(0))))
	}
	if q.Sign() == 0 {
		return q, 0
	}
	return q, max(digits-drop, 1)
}

func power(base int64, n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(base), big.NewInt(int64(n)), nil)
}

// Int64 returns d as an int64, if it is an integer in that range.
func (d Decimal) Int64() (int64, bool) {
	if d.Form != DecimalFinite {
		return 0, false
	}
	if d.Hi|d.Lo == 0 {
		return 0, true
	}
	hi, lo, exponent := d.stripped()
	if hi != 0 || exponent < 0 || exponent > 18 {
		return 0, false
	}
	over, n := bits.Mul64(lo, powersOf10[exponent].lo)
	switch {
	case over != 0:
		return 0, false
	case d.Negative:
		return -int64(n), n <= two63
	}
	return int64(n), n < two63
}

// Float64 returns the double nearest to d.
func (d Decimal) Float64() float64 {
	if c, p, ok := d.short(); ok {
		if d.Exponent < 0 {
			return c / p
		}
		return c * p
	}
	f, _ := strconv.ParseFloat(d.String(), 64) // an error means out of range: f is infinite, as it should be
	return f
}

// short returns the coefficient with its sign, and 10 to the power of Exponent or
// of -Exponent, if doubles hold both exactly. Then one multiplication or division
// gives d, rounded only once.
func (d Decimal) short() (c, p float64, ok bool) {
	if d.Form != DecimalFinite || d.Hi != 0 || d.Lo > 1<<53 || d.Exponent < -22 || d.Exponent > 22 {
		return 0, 0, false
	}
	c = float64(d.Lo)
	if d.Negative {
		c = -c
	}
	return c, math.Pow10(max(d.Exponent, -d.Exponent)), true
}

// FloorFloat64 returns the largest double that is not above d, and whether it
// equals d.
func (d Decimal) FloorFloat64() (f float64, exact bool) {
	f = d.Float64()
	var above int // the sign of f - d
	switch c, p, ok := d.short(); {
	case ok && d.Exponent < 0:
		above = cmp.Compare(0, math.FMA(-f, p, c))
	case ok:
		above = cmp.Compare(0, math.FMA(c, p, -f))
	case d.Form != DecimalFinite || d.IsZero():
		return f, true
	default:
		above = -compareDecimal(d, number{class: classFloat, f: f})
	}
	if above > 0 {
		return math.Nextafter(f, math.Inf(-1)), false
	}
	return f, above == 0
}

// exactFloat returns the double that equals d; false if there is none or d is not
// finite.
func (d Decimal) exactFloat() (float64, bool) {
	if d.Form != DecimalFinite {
		return 0, false
	}
	if d.Hi|d.Lo == 0 {
		return 0, true
	}
	hi, lo, exponent := d.stripped()
	if exponent < -48 || exponent > 22 { // 5^49 has more than 34 digits, 5^23 more than 53 bits
		return 0, false
	}
	for n := exponent; n < 0; n++ {
		var rest uint64
		if hi, lo, rest = divide128(hi, lo, 5); rest != 0 {
			return 0, false
		}
	}
	twos := zeros128(hi, lo)
	hi, lo = shift128(hi, lo, twos)
	for n := exponent; n > 0 && hi == 0 && lo < 1<<53; n-- {
		lo *= 5
	}
	if hi != 0 || lo >= 1<<53 {
		return 0, false
	}
	f := math.Ldexp(float64(lo), twos+exponent)
	if d.Negative {
		f = -f
	}
	return f, true
}

// stripped returns the coefficient without trailing zeros, and the exponent that
// belongs to it. d is not zero.
func (d Decimal) stripped() (hi, lo uint64, exponent int) {
	hi, lo, exponent = d.Hi, d.Lo, d.Exponent
	for {
		qhi, qlo, rest := divide128(hi, lo, 10)
		if rest != 0 {
			return hi, lo, exponent
		}
		hi, lo, exponent = qhi, qlo, exponent+1
	}
}
