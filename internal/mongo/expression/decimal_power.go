package expression

import (
	"math"
	"math/big"
	"strings"
	"sync"

	"github.com/mayflydb/mayfly/internal/doc"
)

// precision is the precision, in bits, with which functions of decimals compute: 77 digits, for results of 34.
const precision = 256

func newFloat() *big.Float { return new(big.Float).SetPrec(precision) }

func floatOf(i int64) *big.Float { return newFloat().SetInt64(i) }

// bigOf is a finite decimal as a big.Float.
func bigOf(d decimal) *big.Float {
	f := newFloat().SetInt(d.Coefficient())
	p := newFloat().SetInt(power(max(d.Exponent, -d.Exponent)))
	if d.Exponent < 0 {
		return f.Quo(f, p)
	}
	return f.Mul(f, p)
}

// decimalOfBig is f times ten to the exponent. It drops trailing zeros after the point if f is a short decimal but for
// its last bits.
func decimalOfBig(f *big.Float, exponent int) decimal {
	const digits = 50
	text := f.Text('e', digits)
	mantissa, power, _ := strings.Cut(text, "e")
	d, _ := doc.ParseDecimal(strings.TrimRight(strings.TrimRight(mantissa, "0"), ".") + "e" + power)
	if d.IsZero() {
		return decimal{}
	}
	d = rounded(magnitude(d), d.Exponent+exponent, false, d.Negative)
	return quantize(d, max(0, -d.Exponent), halfEven)
}

var ln2 = sync.OnceValue(func() *big.Float { // 18 atanh 1/26 - 2 atanh 1/4801 + 8 atanh 1/8749
	sum := newFloat()
	for _, t := range [][2]int64{{18, 26}, {-2, 4801}, {8, 8749}} {
		x := atanh(newFloat().Quo(floatOf(1), floatOf(t[1])))
		sum.Add(sum, x.Mul(x, floatOf(t[0])))
	}
	return sum
})

var ln10 = sync.OnceValue(func() *big.Float { return lnBig(floatOf(10)) })

// atanh is x + x^3/3 + x^5/5 ..., for small x.
func atanh(x *big.Float) *big.Float {
	square := newFloat().Mul(x, x)
	sum, power, term := newFloat().Set(x), newFloat().Set(x), newFloat()
	for n := int64(3); ; n += 2 {
		power.Mul(power, square)
		if power.Sign() == 0 || power.MantExp(nil) < sum.MantExp(nil)-precision {
			return sum
		}
		sum.Add(sum, term.Quo(power, floatOf(n)))
	}
}

// lnBig is the natural logarithm of a positive number.
func lnBig(x *big.Float) *big.Float {
	m := newFloat()
	n := x.MantExp(m) // 0.5 <= m < 1
	if m.Cmp(big.NewFloat(math.Sqrt2/2)) < 0 {
		m.SetMantExp(m, 1)
		n--
	}
	z := newFloat().Sub(m, floatOf(1))
	z = atanh(z.Quo(z, m.Add(m, floatOf(1))))
	z.Mul(z, floatOf(2))
	if n == 0 {
		return z
	}
	return z.Add(z, newFloat().Mul(ln2(), floatOf(int64(n))))
}

// expBig is e to x as a number and a power of ten.
func expBig(x *big.Float) (f *big.Float, exponent int) {
	const halvings = 10
	q, _ := newFloat().Quo(x, ln10()).Int64()
	r := newFloat().Sub(x, newFloat().Mul(ln10(), floatOf(q)))
	r.SetMantExp(r, -halvings)
	sum, term := floatOf(1), floatOf(1)
	for n := int64(1); term.Sign() != 0 && term.MantExp(nil) > -precision-halvings; n++ {
		term.Mul(term, r)
		sum.Add(sum, term.Quo(term, floatOf(n)))
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum, int(q)
}

// extreme is an exponent of e whose power no decimal holds.
const extreme = 20000

func expOf(x *big.Float) decimal {
	switch {
	case x.Cmp(floatOf(extreme)) > 0:
		return infinity(false)
	case x.Cmp(floatOf(-extreme)) < 0:
		return decimal{Exponent: minExponent}
	}
	return decimalOfBig(expBig(x))
}

func expDecimal(d decimal) decimal {
	switch {
	case d.Form == doc.DecimalNaN:
		return d
	case d.Form == doc.DecimalInfinite && d.Negative:
		return decimal{}
	case d.Form == doc.DecimalInfinite:
		return d
	}
	return expOf(bigOf(d))
}

// lnDecimal takes a positive decimal, or NaN.
func lnDecimal(d decimal) decimal {
	if d.Form != doc.DecimalFinite {
		return d
	}
	return decimalOfBig(lnBig(bigOf(d)), 0)
}

// logDecimal takes positive decimals, or NaN.
func logDecimal(d, base decimal) decimal {
	if d.Form != doc.DecimalFinite || base.Form != doc.DecimalFinite {
		return divideDecimals(lnDecimal(d), lnDecimal(base))
	}
	x := lnBig(bigOf(d))
	return decimalOfBig(x.Quo(x, lnBig(bigOf(base))), 0)
}

// sqrtDecimal takes a decimal that is not negative, or NaN.
func sqrtDecimal(d decimal) decimal {
	if d.Form != doc.DecimalFinite || d.IsZero() {
		return d
	}
	const more = 2 * decimalDigits
	ideal := d.Exponent >> 1
	c := magnitude(d)
	c.Mul(c, power(2*more+d.Exponent&1))
	root := new(big.Int).Sqrt(c)
	exact := new(big.Int).Mul(root, root).Cmp(c) == 0
	exponent := ideal - more
	if exact {
		root, exponent = stripped(root, exponent, ideal)
	}
	return rounded(root, exponent, !exact, false)
}

// maxExactPower is the largest integer exponent for which a power is computed by multiplication.
const maxExactPower = 128

func powDecimal(d, e decimal) decimal {
	n, whole := e.Int64()
	switch {
	case whole && n == 0:
		return doc.DecimalOf(1)
	case d.Form == doc.DecimalNaN || e.Form == doc.DecimalNaN:
		return decimalNaN
	case d.Form == doc.DecimalInfinite || e.Form == doc.DecimalInfinite || d.IsZero():
		return decimalOfDouble(math.Pow(clamp(d), clamp(e)))
	case whole && n > 0 && n <= maxExactPower:
		return powWhole(d, n)
	case whole && n < 0 && -n <= maxExactPower:
		return divideDecimals(doc.DecimalOf(1), powWhole(d, -n))
	case d.Negative && !isWhole(e):
		return decimalNaN
	}
	odd := whole && n&1 == 1
	x := lnBig(newFloat().Abs(bigOf(d)))
	r := expOf(x.Mul(x, bigOf(e)))
	r.Negative = d.Negative && odd
	return r
}

func isWhole(d decimal) bool { return compareDecimals(d, roundDecimal(d, 0, towardZero)) == 0 }

// clamp is a double that behaves like d together with infinities and zeros.
func clamp(d decimal) float64 {
	f := d.Float64()
	switch {
	case d.Form == doc.DecimalFinite && math.IsInf(f, 0):
		return math.Copysign(math.MaxFloat64, f)
	case !d.IsZero() && f == 0:
		return math.Copysign(math.SmallestNonzeroFloat64, f)
	}
	return f
}

func powWhole(d decimal, n int64) decimal {
	c := magnitude(d)
	c.Exp(c, big.NewInt(n), nil)
	return rounded(c, d.Exponent*int(n), false, d.Negative && n&1 == 1)
}
