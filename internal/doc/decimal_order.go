package doc

import (
	"cmp"
	"math"
	"math/big"
	"math/bits"
)

// Magnitude returns the exponent of the first digit of d, which is finite and not
// zero, and the coefficient with zeros appended up to 34 digits. Decimals of the
// same sign sort by the exponent, then by the coefficient.
func (d Decimal) Magnitude() (exponent int, hi, lo uint64) {
	digits := digits128(d.Hi, d.Lo)
	p := powersOf10[decimalDigits-digits]
	over, lo := bits.Mul64(d.Lo, p.lo)
	return d.Exponent + digits - 1, over + d.Hi*p.lo + d.Lo*p.hi, lo
}

// compareMagnitudes compares two decimals that are finite and not zero,
// whatever their signs.
func compareMagnitudes(a, b Decimal) int {
	if a.Exponent == b.Exponent {
		return cmp.Or(cmp.Compare(a.Hi, b.Hi), cmp.Compare(a.Lo, b.Lo))
	}
	n, ahi, alo := a.Magnitude()
	m, bhi, blo := b.Magnitude()
	return cmp.Or(cmp.Compare(n, m), cmp.Compare(ahi, bhi), cmp.Compare(alo, blo))
}

// compareMagnitude compares d, finite and not zero, with a double that is
// finite and above zero, whatever the sign of d.
func (d Decimal) compareMagnitude(f float64) int {
	exponent := d.Exponent + digits128(d.Hi, d.Lo) - 1
	switch {
	case exponent > 308:
		return 1
	case exponent < -324:
		return -1
	}
	if c, p, ok := d.short(); ok && d.Exponent <= 0 {
		c = math.Abs(c)
		scaled := f * p
		return cmp.Or(cmp.Compare(c, scaled), cmp.Compare(0, math.FMA(f, p, -scaled)))
	}
	near := (math.Ldexp(float64(d.Hi), 64) + float64(d.Lo)) * math.Pow10(d.Exponent)
	if near > 1e-280 && near < 1e300 && d.Exponent > -300 {
		switch {
		case near > f*(1+1e-12):
			return 1
		case near < f*(1-1e-12):
			return -1
		}
	}
	return d.compareSlowly(f)
}

func (d Decimal) compareSlowly(f float64) int {
	fraction, twos := math.Frexp(f)
	twos -= 53
	left, right := d.Coefficient(), big.NewInt(int64(math.Ldexp(fraction, 53)))
	left.Abs(left)
	if twos < 0 {
		left.Lsh(left, uint(-twos))
	} else {
		right.Lsh(right, uint(twos))
	}
	if d.Exponent < 0 {
		right.Mul(right, power(10, -d.Exponent))
	} else {
		left.Mul(left, power(10, d.Exponent))
	}
	return left.Cmp(right)
}
