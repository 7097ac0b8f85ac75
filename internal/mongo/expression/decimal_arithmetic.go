package expression

import (
	"math/big"

	"github.com/mayflydb/mayfly/internal/doc"
)

func negated(d decimal) decimal {
	d.Negative = !d.Negative && d.Form != doc.DecimalNaN
	return d
}

// align returns the signed coefficients of two finite decimals at a common exponent. If one decimal is so small that it
// matters only for rounding, a tiny value stands for it.
func align(a, b decimal) (x, y *big.Int, exponent int) {
	const far = 2*decimalDigits + 4
	if a.Exponent < b.Exponent {
		y, x, exponent = align(b, a)
		return x, y, exponent
	}
	if a.IsZero() {
		return new(big.Int), b.Coefficient(), b.Exponent
	}
	shift := a.Exponent - b.Exponent
	if shift > far {
		unit := int64(signOf(b))
		return new(big.Int).Mul(a.Coefficient(), power(far)), big.NewInt(unit), a.Exponent - far
	}
	return new(big.Int).Mul(a.Coefficient(), power(shift)), b.Coefficient(), b.Exponent
}

func addDecimals(d, e decimal) decimal {
	switch {
	case d.Form == doc.DecimalNaN || e.Form == doc.DecimalNaN:
		return decimalNaN
	case d.Form == doc.DecimalInfinite && e.Form == doc.DecimalInfinite && d.Negative != e.Negative:
		return decimalNaN
	case d.Form == doc.DecimalInfinite:
		return d
	case e.Form == doc.DecimalInfinite:
		return e
	}
	x, y, exponent := align(d, e)
	sum := x.Add(x, y)
	if sum.Sign() == 0 {
		return decimal{Negative: d.Negative && e.Negative, Exponent: min(d.Exponent, e.Exponent)}
	}
	return doc.NewDecimal(sum, exponent)
}

func subtractDecimals(d, e decimal) decimal { return addDecimals(d, negated(e)) }

func multiplyDecimals(d, e decimal) decimal {
	negative := d.Negative != e.Negative
	switch {
	case d.Form == doc.DecimalNaN || e.Form == doc.DecimalNaN:
		return decimalNaN
	case d.Form == doc.DecimalInfinite && e.IsZero() || e.Form == doc.DecimalInfinite && d.IsZero():
		return decimalNaN
	case d.Form == doc.DecimalInfinite || e.Form == doc.DecimalInfinite:
		return infinity(negative)
	}
	c := magnitude(d)
	return rounded(c.Mul(c, magnitude(e)), d.Exponent+e.Exponent, false, negative)
}

// divideDecimals returns d/e. An exact quotient has as few digits as the difference of the exponents allows.
func divideDecimals(d, e decimal) decimal {
	negative := d.Negative != e.Negative
	switch {
	case d.Form == doc.DecimalNaN || e.Form == doc.DecimalNaN:
		return decimalNaN
	case d.Form == doc.DecimalInfinite && e.Form == doc.DecimalInfinite, d.IsZero() && e.IsZero():
		return decimalNaN
	case d.Form == doc.DecimalInfinite || e.IsZero():
		return infinity(negative)
	case e.Form == doc.DecimalInfinite:
		return decimal{Negative: negative, Exponent: minExponent}
	}
	const more = 2*decimalDigits + 2
	q, r := magnitude(d), new(big.Int)
	q.QuoRem(q.Mul(q, power(more)), magnitude(e), r)
	ideal := d.Exponent - e.Exponent
	exponent := ideal - more
	if r.Sign() == 0 {
		q, exponent = stripped(q, exponent, ideal)
	}
	return rounded(q, exponent, r.Sign() != 0, negative)
}

// stripped removes zeros from the end of a coefficient until its exponent is want.
func stripped(c *big.Int, exponent, want int) (*big.Int, int) {
	if c.Sign() == 0 {
		return c, want
	}
	r := new(big.Int)
	for exponent < want {
		q, _ := new(big.Int).QuoRem(c, ten, r)
		if r.Sign() != 0 {
			break
		}
		c, exponent = q, exponent+1
	}
	return c, exponent
}

// modDecimals is the remainder of d divided by e, with the sign of d.
func modDecimals(d, e decimal) decimal {
	switch {
	case d.Form != doc.DecimalFinite || e.Form == doc.DecimalNaN || e.IsZero():
		return decimalNaN
	case e.Form == doc.DecimalInfinite:
		return d
	}
	exponent := min(d.Exponent, e.Exponent)
	x, y := magnitude(d), magnitude(e)
	y.Mul(y, power(e.Exponent-exponent))
	if n := d.Exponent - exponent; n > 0 { // ten to n may be huge, but not modulo y
		x.Mul(x, new(big.Int).Exp(ten, big.NewInt(int64(n)), y))
	}
	return rounded(x.Rem(x, y), exponent, false, d.Negative)
}

// compareDecimals is the order of decimals; NaN is below all and equals itself.
func compareDecimals(d, e decimal) int { return doc.CompareBSON(d.Value(), e.Value()) }

// A rounding is a rounding mode.
type rounding uint8

const (
	halfEven rounding = iota
	towardZero
	downward
	upward
)

// roundDecimal rounds to that many digits after the point, or before it if places is negative. A decimal with fewer
// digits stays as it is.
func roundDecimal(d decimal, places int, how rounding) decimal {
	if d.Form != doc.DecimalFinite || -d.Exponent <= places {
		return d
	}
	drop := -places - d.Exponent
	q, r := new(big.Int), magnitude(d)
	above := -1 // the dropped part, compared with a half
	if drop <= decimalDigits+1 {
		unit := power(drop)
		q.QuoRem(r, unit, r)
		above = new(big.Int).Lsh(r, 1).Cmp(unit)
	}
	var up bool
	switch how {
	case halfEven:
		up = above > 0 || above == 0 && q.Bit(0) == 1
	case downward:
		up = r.Sign() != 0 && d.Negative
	case upward:
		up = r.Sign() != 0 && !d.Negative
	}
	if up {
		q.Add(q, big.NewInt(1))
	}
	return rounded(q, -places, false, d.Negative)
}
