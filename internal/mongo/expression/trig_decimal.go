package expression

import (
	"math/big"
	"sync"
)

// widest is more than the number of bits that the largest decimal has before its point.
const widest = 20480

var (
	pi     = sync.OnceValue(func() *big.Float { return piOf(precision) })
	widePi = sync.OnceValue(func() *big.Float { return piOf(widest + precision) })
)

// piOf computes pi: 16 atan 1/5 - 4 atan 1/239.
func piOf(precision uint) *big.Float {
	sum := new(big.Float).SetPrec(precision)
	for _, t := range [][2]int64{{16, 5}, {-4, 239}} {
		x := new(big.Float).SetPrec(precision).Quo(floatOf(t[0]), floatOf(t[1]))
		square := floatOf(-t[1] * t[1])
		term := new(big.Float).SetPrec(precision)
		for n := int64(1); x.Sign() != 0 && x.MantExp(nil) > -int(precision); n += 2 {
			sum.Add(sum, term.Quo(x, floatOf(n)))
			x.Quo(x, square)
		}
	}
	return sum
}

// exactFloat is a decimal with as many bits as its integer part needs.
func exactFloat(d decimal) *big.Float {
	if d.Exponent <= 0 {
		return bigOf(d)
	}
	c := d.Coefficient()
	c.Mul(c, power(d.Exponent))
	return new(big.Float).SetPrec(uint(max(precision, c.BitLen()))).SetInt(c)
}

func half(x *big.Float) *big.Float { return x.SetMantExp(x, -1) }

// quadrant is x less a multiple of pi/2, at most pi/4 from 0, and that multiple modulo 4.
func quadrant(x *big.Float) (rest *big.Float, q int) {
	p := pi()
	if x.MantExp(nil) > precision/2 {
		p = widePi()
	}
	right := half(new(big.Float).Set(p))
	turns := new(big.Float).SetPrec(p.Prec()).Quo(x, right)
	turns.Add(turns, floatOf(0).SetFloat64(0.5))
	n, _ := turns.Int(nil)
	if turns.Sign() < 0 && !turns.IsInt() {
		n.Sub(n, big.NewInt(1))
	}
	right.Mul(right, turns.SetInt(n))
	right.SetPrec(max(p.Prec(), x.Prec())).Sub(x, right)
	return right.SetPrec(precision), int(new(big.Int).And(n, big.NewInt(3)).Int64())
}

// series is the sum of x^n / n! for n = first, first+2, ..., with alternating signs if alternating is set.
func series(x *big.Float, first int64, alternating bool) *big.Float {
	term := floatOf(1)
	if first == 1 {
		term.Set(x)
	}
	square := newFloat().Mul(x, x)
	if alternating {
		square.Neg(square)
	}
	sum := newFloat()
	for n := first; term.Sign() != 0 && (sum.Sign() == 0 || term.MantExp(nil) > sum.MantExp(nil)-precision); n += 2 {
		sum.Add(sum, term)
		term.Mul(term, square)
		term.Quo(term, floatOf((n+1)*(n+2)))
	}
	return sum
}

func sinBig(x *big.Float) *big.Float {
	rest, q := quadrant(x)
	return wave(rest, q)
}

func cosBig(x *big.Float) *big.Float {
	rest, q := quadrant(x)
	return wave(rest, q+1)
}

// wave is the sine of x + q*pi/2.
func wave(x *big.Float, q int) *big.Float {
	y := series(x, int64(1-q&1), true)
	if q&2 != 0 {
		y.Neg(y)
	}
	return y
}

func tanBig(x *big.Float) *big.Float {
	rest, q := quadrant(x)
	y := wave(rest, q)
	return y.Quo(y, wave(rest, q+1))
}

func atanBig(x *big.Float) *big.Float {
	one := floatOf(1)
	x = newFloat().Set(x)
	if newFloat().Abs(x).Cmp(one) > 0 {
		y := atanBig(newFloat().Quo(one, newFloat().Abs(x)))
		y.Sub(half(newFloat().Set(pi())), y)
		if x.Sign() < 0 {
			y.Neg(y)
		}
		return y
	}
	const halvings = 3
	for range halvings {
		root := newFloat().Mul(x, x)
		root.Sqrt(root.Add(root, one))
		x.Quo(x, root.Add(root, one))
	}
	square := newFloat().Mul(x, x)
	square.Neg(square)
	sum, power := newFloat().Set(x), newFloat().Set(x)
	for n := int64(3); power.Sign() != 0 && power.MantExp(nil) > sum.MantExp(nil)-precision; n += 2 {
		power.Mul(power, square)
		sum.Add(sum, newFloat().Quo(power, floatOf(n)))
	}
	return sum.SetMantExp(sum, halvings)
}

// around returns 1+x and 1-x.
func around(x *big.Float) (above, below *big.Float) {
	one := floatOf(1)
	return newFloat().Add(one, x), newFloat().Sub(one, x)
}

func asinBig(x *big.Float) *big.Float {
	above, below := around(x)
	root := newFloat().Sqrt(above.Mul(above, below))
	if root.Sign() == 0 {
		y := half(newFloat().Set(pi()))
		if x.Sign() < 0 {
			y.Neg(y)
		}
		return y
	}
	return atanBig(root.Quo(x, root))
}

func acosBig(x *big.Float) *big.Float {
	above, below := around(x)
	if above.Sign() == 0 {
		return pi()
	}
	y := atanBig(below.Sqrt(below.Quo(below, above)))
	return y.Mul(y, floatOf(2))
}

// hyperbolic is half of e^x + sign*e^-x, for x not below 0.
func hyperbolic(x *big.Float, sign int64) decimal {
	if x.Cmp(floatOf(200)) < 0 {
		up, n := expBig(x)
		down, m := expBig(newFloat().Neg(x))
		up.Mul(up, bigOf(decimal{Lo: 1, Exponent: n}))
		down.Mul(down, bigOf(decimal{Lo: 1, Exponent: m}))
		return decimalOfBig(half(up.Add(up, down.Mul(down, floatOf(sign)))), 0)
	}
	if x.Cmp(floatOf(widest)) > 0 {
		return infinity(false)
	}
	f, n := expBig(x)
	return decimalOfBig(half(f), n)
}

func sinhDecimal(d decimal) decimal {
	x := bigOf(d)
	if x.MantExp(nil) <= 0 { // |x| < 1
		return decimalOfBig(series(x, 1, false), 0)
	}
	y := hyperbolic(newFloat().Abs(x), -1)
	y.Negative = d.Negative
	return y
}

func coshDecimal(d decimal) decimal { return hyperbolic(newFloat().Abs(bigOf(d)), 1) }

func tanhBig(x *big.Float) *big.Float {
	if x.MantExp(nil) > 7 { // all digits are nines
		return floatOf(int64(x.Sign()))
	}
	if x.MantExp(nil) <= 0 {
		y := series(x, 1, false)
		return y.Quo(y, series(x, 0, false))
	}
	f, n := expBig(newFloat().Mul(x, floatOf(2)))
	f.Mul(f, bigOf(decimal{Lo: 1, Exponent: n}))
	above, below := around(f)
	return below.Neg(below.Quo(below, above))
}

func asinhBig(x *big.Float) *big.Float {
	x = newFloat().Set(x)
	root := newFloat().Mul(x, x)
	root.Sqrt(root.Add(root, floatOf(1)))
	if x.MantExp(nil) < 0 { // |x| < 1/2
		return atanh(x.Quo(x, root))
	}
	y := lnBig(root.Add(root, newFloat().Abs(x)))
	if x.Sign() < 0 {
		y.Neg(y)
	}
	return y
}

func acoshBig(x *big.Float) *big.Float {
	x = newFloat().Set(x)
	above, below := around(x)
	below.Neg(below)
	if x.Cmp(floatOf(2)) < 0 {
		y := atanh(below.Sqrt(below.Quo(below, above)))
		return y.Mul(y, floatOf(2))
	}
	return lnBig(x.Add(x, above.Sqrt(above.Mul(above, below))))
}

func atanhBig(x *big.Float) *big.Float {
	if x.MantExp(nil) < 0 { // |x| < 1/2
		return atanh(x)
	}
	above, below := around(x)
	switch {
	case below.Sign() == 0:
		return newFloat().SetInf(false)
	case above.Sign() == 0:
		return newFloat().SetInf(true)
	}
	return half(lnBig(above.Quo(above, below)))
}

func toRadians(x *big.Float) *big.Float {
	y := newFloat().Mul(x, pi())
	return y.Quo(y, floatOf(180))
}

func toDegrees(x *big.Float) *big.Float {
	y := newFloat().Mul(x, floatOf(180))
	return y.Quo(y, pi())
}
