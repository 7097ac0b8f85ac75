package syntax

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// escape is the length of the escape that s begins with, or 0.
func escape(s string) int {
	if len(s) < 2 {
		return 0
	}
	switch s[1] {
	case '"', '\'', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := hex4(s); ok {
			return 6
		}
	}
	return 0
}

// hex4 parses \uXXXX.
func hex4(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(s[2:6], 16, 32)
	return rune(n), err == nil
}

// unquote is the text of a string token. All of its escapes must be known.
func unquote(token string) string {
	s := token[1 : len(token)-1]
	first := strings.IndexByte(s, '\\')
	if first < 0 {
		return s
	}
	out := append(make([]byte, 0, len(s)), s[:first]...)
	for i := first; i < len(s); {
		if s[i] != '\\' {
			out = append(out, s[i])
			i++
			continue
		}
		var n int
		out, n = unescape(out, s[i:])
		i += n
	}
	return string(out)
}

// unescape appends the character of the escape at the start of s, and returns the length of the escape. Two escapes
// that form a surrogate pair count as one; half a pair is U+FFFD.
func unescape(out []byte, s string) ([]byte, int) {
	switch s[1] {
	case 'b':
		return append(out, '\b'), 2
	case 'f':
		return append(out, '\f'), 2
	case 'n':
		return append(out, '\n'), 2
	case 'r':
		return append(out, '\r'), 2
	case 't':
		return append(out, '\t'), 2
	case 'u':
		high, _ := hex4(s)
		if low, ok := hex4(s[6:]); ok {
			if r := utf16.DecodeRune(high, low); r != utf8.RuneError {
				return utf8.AppendRune(out, r), 12
			}
		}
		return utf8.AppendRune(out, high), 6
	}
	return append(out, s[1]), 2
}

// numeral is the literal of a number's text. ok is false beyond the range of a double.
func numeral(s string, at Span) (*Literal, bool) {
	l := &Literal{Span: at, Kind: Number}
	digits, base := s, 10
	if len(s) > 2 && s[1]|0x20 == 'x' {
		digits, base = s[2:], 16
		s += "p0" // ParseFloat requires an exponent
	}
	if n, err := strconv.ParseInt(digits, base, 64); err == nil {
		l.Int, l.Float, l.Whole = n, float64(n), true
		return l, true
	}
	if n, err := strconv.ParseUint(digits, base, 64); err == nil {
		l.Big = n
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && math.IsInf(f, 0) {
		return nil, false
	}
	l.Float = f
	return l, true
}

// lowest is the digits of the number that only fits with a minus sign.
const lowest = "9223372036854775808"

// negated is the literal of a number's text with a minus sign.
func negated(s string, at Span) (*Literal, bool) {
	if s == lowest {
		return &Literal{Span: at, Kind: Number, Int: math.MinInt64, Float: math.MinInt64, Whole: true}, true
	}
	l, ok := numeral(s, at)
	if ok {
		l.Int, l.Float, l.Big = -l.Int, -l.Float, 0
	}
	return l, ok
}
