package expression

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/mayflydb/mayfly/internal/doc"
)

// exact is the value of a finite decimal.
func exact(d decimal) *big.Rat {
	r := new(big.Rat).SetInt(d.Coefficient())
	if d.Exponent < 0 {
		return r.Quo(r, new(big.Rat).SetInt(power(-d.Exponent)))
	}
	return r.Mul(r, new(big.Rat).SetInt(power(d.Exponent)))
}

func randomDecimal(r *rand.Rand) decimal {
	c := new(big.Int)
	for range 1 + r.IntN(decimalDigits) {
		c.Add(c.Mul(c, ten), big.NewInt(r.Int64N(10)))
	}
	if r.IntN(2) == 0 {
		c.Neg(c)
	}
	return doc.NewDecimal(c, r.IntN(90)-45)
}

// TestDecimalsAreRoundedOnce compares arithmetic with rational numbers: the answer is
// within half a unit of its 34th digit, and exact when it has fewer digits.
func TestDecimalsAreRoundedOnce(t *testing.T) {
	const seed = 20260301
	r := rand.New(rand.NewPCG(seed, 1))
	half := big.NewRat(1, 2)
	for range 3000 {
		a, b := randomDecimal(r), randomDecimal(r)
		x, y := exact(a), exact(b)
		for name, c := range map[string]struct {
			got  decimal
			want *big.Rat
		}{
			"+": {addDecimals(a, b), new(big.Rat).Add(x, y)},
			"-": {subtractDecimals(a, b), new(big.Rat).Sub(x, y)},
			"*": {multiplyDecimals(a, b), new(big.Rat).Mul(x, y)},
			"/": {divideDecimals(a, b), quotient(x, y)},
		} {
			if c.want == nil {
				continue
			}
			off := new(big.Rat).Sub(exact(c.got), c.want)
			if c.got.Form != doc.DecimalFinite || len(magnitude(c.got).String()) < decimalDigits && off.Sign() != 0 {
				t.Fatalf("seed %d: %s %s %s = %s", seed, a, name, b, c.got)
			}
			unit := exact(decimal{Lo: 1, Exponent: c.got.Exponent})
			if off.Abs(off).Cmp(unit.Mul(unit, half)) > 0 {
				t.Fatalf("seed %d: %s %s %s = %s", seed, a, name, b, c.got)
			}
		}
		if b.IsZero() {
			continue
		}
		whole := new(big.Int).Quo(new(big.Int).Mul(x.Num(), y.Denom()), new(big.Int).Mul(x.Denom(), y.Num()))
		rest := x.Sub(x, new(big.Rat).Mul(y, new(big.Rat).SetInt(whole)))
		if got := modDecimals(a, b); exact(got).Cmp(rest) != 0 {
			t.Fatalf("seed %d: %s mod %s = %s", seed, a, b, got)
		}
	}
}

// quotient is nil for what has none.
func quotient(x, y *big.Rat) *big.Rat {
	if y.Sign() == 0 {
		return nil
	}
	return new(big.Rat).Quo(x, y)
}

func TestRoundDecimal(t *testing.T) {
	for _, c := range []struct {
		text   string
		places int
		want   [4]string // half even, toward zero, downward, upward
	}{
		{"2.5", 0, [4]string{"2", "2", "2", "3"}},
		{"-2.5", 0, [4]string{"-2", "-2", "-3", "-2"}},
		{"3.5", 0, [4]string{"4", "3", "3", "4"}},
		{"0.4", 0, [4]string{"0", "0", "0", "1"}},
		{"-0.4", 0, [4]string{"-0", "-0", "-1", "-0"}},
		{"1.005", 2, [4]string{"1.00", "1.00", "1.00", "1.01"}},
		{"150", -2, [4]string{"2E+2", "1E+2", "1E+2", "2E+2"}},
		{"1E-6000", 2, [4]string{"0.00", "0.00", "0.00", "0.01"}},
		{"9.99", 1, [4]string{"10.0", "9.9", "9.9", "10.0"}},
		{"7", 5, [4]string{"7", "7", "7", "7"}},
	} {
		d, _ := doc.ParseDecimal(c.text)
		for how, want := range c.want {
			if got := roundDecimal(d, c.places, rounding(how)).String(); got != want {
				t.Errorf("%s to %d places, way %d: %s, want %s", c.text, c.places, how, got, want)
			}
		}
	}
}
