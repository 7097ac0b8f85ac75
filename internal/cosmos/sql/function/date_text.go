package function

import (
	"strings"
	"time"

	"github.com/mayflydb/mayfly/internal/doc"
)

// A datePart is a part of a date and time, the largest first.
type datePart uint8

const (
	partYear datePart = iota
	partMonth
	partDay
	partHour
	partMinute
	partSecond
	partMillisecond
	partMicrosecond
	partNanosecond
)

// partNames are the names and abbreviations from the page DATETIMEADD.
var partNames = map[string]datePart{
	"year": partYear, "yyyy": partYear, "yy": partYear,
	"month": partMonth, "mm": partMonth, "m": partMonth,
	"day": partDay, "dd": partDay, "d": partDay,
	"hour": partHour, "hh": partHour,
	"minute": partMinute, "mi": partMinute, "n": partMinute,
	"second": partSecond, "ss": partSecond, "s": partSecond,
	"millisecond": partMillisecond, "ms": partMillisecond,
	"microsecond": partMicrosecond, "mcs": partMicrosecond,
	"nanosecond": partNanosecond, "ns": partNanosecond,
}

func readPart(v doc.Value) (datePart, bool) {
	name, ok := doc.AsString(v)
	if !ok || len(name) > len("microsecond") {
		return 0, false
	}
	part, ok := partNames[strings.ToLower(name)]
	return part, ok
}

// unit is the length of a part. It is 0 for years and months, whose length varies, and for nanoseconds, which are
// shorter than a tick.
func (p datePart) unit() ticks {
	return [...]ticks{0, 0, day, hour, minute, second, millisecond, microsecond, 0}[p]
}

// parseTicks parses the format of the page IS_DATETIME: YYYY-MM-DD, and optionally T or a space and hh:mm:ss with up
// to seven fractional digits. It may end with Z; the time is UTC in any case. Other zones are not valid.
func parseTicks(s string) (ticks, bool) {
	var p [7]int64
	x := dateScan{rest: s}
	p[0], p[1], p[2] = x.digits(4), x.after('-'), x.after('-')
	if x.rest = strings.TrimSuffix(x.rest, "Z"); x.rest != "" {
		x.clock(&p)
	}
	if x.bad || x.rest != "" {
		return 0, false
	}
	return ticksFromParts(p)
}

// A dateScan parses the numbers of a date. bad is set once one is missing.
type dateScan struct {
	rest string
	bad  bool
}

// clock parses the time of day, with the separator before it.
func (x *dateScan) clock(p *[7]int64) {
	if x.rest[0] != 'T' && x.rest[0] != ' ' {
		x.bad = true
		return
	}
	x.rest = x.rest[1:]
	p[3], p[4], p[5] = x.digits(2), x.after(':'), x.after(':')
	p[6] = x.fraction()
}

func (x *dateScan) digits(n int) int64 {
	if len(x.rest) < n {
		x.bad = true
		return 0
	}
	var value int64
	for i := range n {
		d := x.rest[i] - '0'
		if d > 9 {
			x.bad = true
			return 0
		}
		value = value*10 + int64(d)
	}
	x.rest = x.rest[n:]
	return value
}

// after parses two digits that follow mark.
func (x *dateScan) after(mark byte) int64 {
	if x.bad || x.rest == "" || x.rest[0] != mark {
		x.bad = true
		return 0
	}
	x.rest = x.rest[1:]
	return x.digits(2)
}

// fraction parses up to seven digits after a point, as ticks.
func (x *dateScan) fraction() int64 {
	if x.bad || !strings.HasPrefix(x.rest, ".") {
		return 0
	}
	x.rest = x.rest[1:]
	var value int64
	n := 0
	for ; n < len(x.rest) && x.rest[n]-'0' <= 9; n++ {
		if n == 7 {
			x.bad = true
			return 0
		}
		value = value*10 + int64(x.rest[n]-'0')
	}
	x.bad = n == 0
	x.rest = x.rest[n:]
	for ; n < 7; n++ {
		value *= 10
	}
	return value
}

// appendISO appends t as YYYY-MM-DDThh:mm:ss.fffffffZ.
func (t ticks) appendISO(dst []byte) []byte {
	at := t.time()
	year, month, dayOfMonth := at.Date()
	h, m, s := at.Clock()
	dst = append(appendDigits(dst, year, 4), '-')
	dst = append(appendDigits(dst, int(month), 2), '-')
	dst = append(appendDigits(dst, dayOfMonth, 2), 'T')
	dst = append(appendDigits(dst, h, 2), ':')
	dst = append(appendDigits(dst, m, 2), ':')
	dst = append(appendDigits(dst, s, 2), '.')
	return append(appendDigits(dst, int(t.within(second)), 7), 'Z')
}

// appendDigits appends n with leading zeros, at least width digits.
func appendDigits(dst []byte, n, width int) []byte {
	var digits [20]byte
	i := len(digits)
	for ; n > 0 || width > 0; n /= 10 {
		i--
		digits[i] = byte('0' + n%10)
		width--
	}
	return append(dst, digits[i:]...)
}

func dateTimeFormat(c *Call, args []doc.Value) doc.Value {
	t, okT := readTicks(args[0])
	format, okF := doc.AsString(args[1])
	if !okT || !okF {
		return undefined
	}
	r := scratchOf(c)
	b := t.appendFormat(r.begin(), format)
	if len(b) > maxTextBytes {
		return failText(c)
	}
	return r.text(b)
}

// appendFormat implements the custom format of .NET: runs of letters are parts of the time, a backslash and quotes
// escape literal text.
func (t ticks) appendFormat(dst []byte, format string) []byte {
	at := t.time()
	for i := 0; i < len(format) && len(dst) <= maxTextBytes; {
		switch ch := format[i]; ch {
		case '\\':
			if i++; i < len(format) {
				dst = append(dst, format[i])
			}
			i++
		case '\'', '"':
			text, _, _ := strings.Cut(format[i+1:], string(ch))
			dst = append(dst, text...)
			i += len(text) + 2
		case '%':
			i++
		default:
			n := runOf(format[i:])
			dst = t.appendSpecifier(dst, at, ch, n, format[i:i+n])
			i += n
		}
	}
	return dst
}

// runOf counts how often the first byte of s is repeated at its start.
func runOf(s string) int {
	n := 1
	for n < len(s) && s[n] == s[0] {
		n++
	}
	return n
}

func (t ticks) appendSpecifier(dst []byte, at time.Time, ch byte, n int, plain string) []byte {
	switch ch {
	case 'y':
		if n < 3 {
			return appendDigits(dst, at.Year()%100, n)
		}
		return appendDigits(dst, at.Year(), min(n, 20))
	case 'M':
		return appendNamed(dst, int(at.Month()), at.Month().String(), n)
	case 'd':
		if n > 2 {
			return appendNamed(dst, 0, at.Weekday().String(), n)
		}
		return appendDigits(dst, at.Day(), n)
	case 'h':
		return appendDigits(dst, (at.Hour()+11)%12+1, min(n, 2))
	case 'H':
		return appendDigits(dst, at.Hour(), min(n, 2))
	case 'm':
		return appendDigits(dst, at.Minute(), min(n, 2))
	case 's':
		return appendDigits(dst, at.Second(), min(n, 2))
	case 'f', 'F':
		return t.appendFraction(dst, ch, min(n, 7))
	case 't':
		return append(dst, "AMPM"[at.Hour()/12*2:][:min(n, 2)]...)
	case 'z':
		return append(dst, [...]string{"+0", "+00", "+00:00"}[min(n, 3)-1]...)
	case 'K':
		return append(dst, strings.Repeat("Z", n)...)
	}
	return append(dst, plain...)
}

// appendNamed appends a number, or from three letters on a name: abbreviated, then in full.
func appendNamed(dst []byte, number int, name string, n int) []byte {
	switch {
	case n < 3:
		return appendDigits(dst, number, n)
	case n == 3:
		return append(dst, name[:3]...)
	}
	return append(dst, name...)
}

// appendFraction appends the first digits of the fraction. F omits trailing zeros.
func (t ticks) appendFraction(dst []byte, ch byte, n int) []byte {
	from := len(dst)
	dst = appendDigits(dst, int(t.within(second)), 7)[:from+n]
	for ch == 'F' && len(dst) > from && dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	return dst
}
