package doc

import (
	"math/big"
	"strconv"
	"strings"
)

// String is d in the notation of MongoDB: 1.50, 1E+3, -Infinity, NaN.
// https://github.com/mongodb/specifications, bson-decimal128
func (d Decimal) String() string {
	sign := ""
	if d.Negative {
		sign = "-"
	}
	switch d.Form {
	case DecimalNaN:
		return "NaN"
	case DecimalInfinite:
		return sign + "Infinity"
	}
	digits := new(big.Int).Abs(d.Coefficient()).String()
	first := d.Exponent + len(digits) - 1
	switch {
	case d.Exponent > 0 || first < -6:
		return sign + scientific(digits, first)
	case d.Exponent == 0:
		return sign + digits
	case first < 0:
		return sign + "0." + strings.Repeat("0", -1-first) + digits
	}
	point := len(digits) + d.Exponent
	return sign + digits[:point] + "." + digits[point:]
}

func scientific(digits string, exponent int) string {
	out := digits[:1]
	if len(digits) > 1 {
		out += "." + digits[1:]
	}
	out += "E"
	if exponent >= 0 {
		out += "+"
	}
	return out + strconv.Itoa(exponent)
}

// ParseDecimal reads a number such as -1.50, 1e3, Infinity or nan, rounded like
// NewDecimal; false if text is not a number.
func ParseDecimal(text string) (Decimal, bool) {
	rest, negative := text, false
	if rest != "" && (rest[0] == '-' || rest[0] == '+') {
		rest, negative = rest[1:], rest[0] == '-'
	}
	switch strings.ToLower(rest[:min(len(rest), 9)]) {
	case "inf", "infinity":
		return Decimal{Form: DecimalInfinite, Negative: negative}, true
	case "nan":
		return Decimal{Form: DecimalNaN}, true
	}
	digits, exponent, ok := readDecimal(rest)
	if !ok {
		return Decimal{}, false
	}
	c, _ := new(big.Int).SetString("0"+digits, 10)
	d := NewDecimal(c, exponent)
	d.Negative = negative
	return d, true
}

// readDecimal reads digits with an optional point and exponent. It keeps only the
// digits that rounding needs.
func readDecimal(text string) (digits string, exponent int, ok bool) {
	const kept = decimalDigits + 2
	seen, point, i := false, false, 0
	var out []byte
	rest := false // some digit beyond those kept is not zero
scan:
	for ; i < len(text); i++ {
		switch c := text[i]; {
		case c == '.' && !point:
			point = true
			continue
		case c < '0' || c > '9':
			break scan
		case len(out) < kept:
			if c != '0' || len(out) > 0 {
				out = append(out, c)
			}
			if point {
				exponent--
			}
		default:
			rest = rest || c != '0'
			if !point {
				exponent++
			}
		}
		seen = true
	}
	if rest {
		out[kept-1] |= 1 // so that rounding sees more than exactly a half
	}
	if !seen {
		return "", 0, false
	}
	if i < len(text) {
		n, ok := readExponent(text[i:])
		if !ok {
			return "", 0, false
		}
		exponent += n
	}
	return string(out), exponent, true
}

// readExponent clamps exponents that are far beyond any limit.
func readExponent(text string) (int, bool) {
	if text[0] != 'e' && text[0] != 'E' || len(text) < 2 {
		return 0, false
	}
	n, err := strconv.Atoi(text[1:])
	if err != nil {
		if e, _ := err.(*strconv.NumError); e == nil || e.Err != strconv.ErrRange {
			return 0, false
		}
	}
	return min(max(n, -1<<30), 1<<30), true
}
