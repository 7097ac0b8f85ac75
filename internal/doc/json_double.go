package doc

import (
	"math"
	"strconv"
)

func (s Style) appendNumber(dst []byte, n number) []byte {
	switch n.class {
	case classInt:
		return strconv.AppendInt(dst, n.i, 10)
	case classUint:
		if s == PointRead {
			return strconv.AppendUint(dst, n.u, 10)
		}
	}
	return s.appendDouble(dst, n.float())
}

// Doubles are written as by printf of the Windows C library: with "%.15g" if
// that reads back as the same number, else with "%.17g", so that 1/3 is
// 0.33333333333333331. From 1e-4 to 1e17 there is no exponent. Answers of a hosted
// account confirm this.
const (
	shortDigits = 15
	longDigits  = 17
	plainBelow  = 1e17
)

const smallestNormal = 0x1p-1022

func (s Style) appendDouble(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, `"NaN"`...)
	case math.IsInf(f, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(f, -1):
		return append(dst, `"-Infinity"`...)
	case math.Abs(f) < plainBelow && f == math.Trunc(f):
		return strconv.AppendInt(dst, int64(f), 10)
	}
	if f < 0 {
		dst = append(dst, '-')
		f = -f
	}
	var buffer [24]byte
	digits, exponent := decimal(buffer[:0], f)
	if exponent < -4 || f >= plainBelow {
		return s.appendExponential(dst, digits, exponent)
	}
	return appendFixed(dst, digits, exponent)
}

// decimal returns the digits of f > 0 without trailing zeros, and the exponent of
// the first digit.
func decimal(buffer []byte, f float64) (digits []byte, exponent int) {
	// The shortest digits that read back equal those of "%.15g" whenever there are at most
	// 15 of them, but only for normal numbers: 5e-324 is 4.94065645841247e-324.
	b := strconv.AppendFloat(buffer, f, 'e', -1, 64)
	if f < smallestNormal {
		b = strconv.AppendFloat(buffer, f, 'e', shortDigits-1, 64)
		if back, _ := strconv.ParseFloat(view(b), 64); back != f {
			b = strconv.AppendFloat(buffer, f, 'e', longDigits-1, 64)
		}
	}
	digits, exponent = split(b)
	if len(digits) > shortDigits {
		digits, exponent = split(strconv.AppendFloat(buffer, f, 'e', longDigits-1, 64))
	}
	return digits, exponent
}

// split splits "d.ddde±xx" into digits and exponent, in place.
func split(b []byte) (digits []byte, exponent int) {
	e := len(b) - 1
	for b[e] != 'e' {
		e--
	}
	for _, c := range b[e+2:] {
		exponent = exponent*10 + int(c-'0')
	}
	if b[e+1] == '-' {
		exponent = -exponent
	}
	if e > 1 {
		b[1] = b[0]
		b = b[1:e]
	} else {
		b = b[:1]
	}
	for len(b) > 1 && b[len(b)-1] == '0' {
		b = b[:len(b)-1]
	}
	return b, exponent
}

func (s Style) appendExponential(dst, digits []byte, exponent int) []byte {
	dst = append(dst, digits[0])
	if len(digits) > 1 {
		dst = append(append(dst, '.'), digits[1:]...)
	}
	sign := byte('+')
	if exponent < 0 {
		sign, exponent = '-', -exponent
	}
	dst = append(dst, 'e', sign)
	if s == PointRead && exponent < 100 {
		dst = append(dst, '0')
	}
	if exponent < 10 {
		dst = append(dst, '0')
	}
	return strconv.AppendInt(dst, int64(exponent), 10)
}

// appendFixed writes a number that is not an integer.
func appendFixed(dst, digits []byte, exponent int) []byte {
	if exponent < 0 {
		return append(append(dst, "0.000"[:1-exponent]...), digits...)
	}
	dst = append(append(dst, digits[:exponent+1]...), '.')
	return append(dst, digits[exponent+1:]...)
}
