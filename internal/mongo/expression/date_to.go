package expression

import (
	"strconv"
	"time"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// The default formats of $dateToString: in UTC, and in another zone.
const (
	isoFormat   = "%Y-%m-%dT%H:%M:%S.%LZ"
	localFormat = "%Y-%m-%dT%H:%M:%S.%L"
)

func compileDateToParts(arg doc.Value, names *Names, depth int) (*Expression, error) {
	h := shape{name: "$dateToParts", object: 40524, unknown: 40520, missing: 40522,
		required: []string{"date"}, optional: []string{"timezone", "iso8601"}}
	args, err := h.read(arg, names, depth)
	if err != nil {
		return nil, err
	}
	zoned, asked := zoneArgumentOf(args[1]), args[2] != nil
	return apply(args, func(s *Scope, args []doc.Value) (doc.Value, error) {
		z, err := zoned.of(args[1])
		if z == nil {
			return null, err
		}
		if asked && nullish(args[2]) {
			return null, nil
		}
		iso, ok := doc.AsBool(args[2])
		if asked && !ok {
			return doc.Value{}, code.New(40521, "iso8601 must evaluate to a bool, found %s", code.TypeName(args[2]))
		}
		if nullish(args[0]) {
			return null, nil
		}
		ms, err := mustDate(args[0])
		if err != nil {
			return doc.Value{}, err
		}
		return s.dateParts(z.at(ms), iso)
	}), nil
}

func (s *Scope) dateParts(t time.Time, iso bool) (doc.Value, error) {
	b, mark := s.object(), s.mark()
	set := func(name string, i int) {
		_ = b.set(name, s.int32(int32(i))) // is small
	}
	if iso {
		year, week := t.ISOWeek()
		set("isoWeekYear", year)
		set("isoWeek", week)
		set("isoDayOfWeek", isoWeekday(t))
	} else {
		set("year", t.Year())
		set("month", int(t.Month()))
		set("day", t.Day())
	}
	set("hour", t.Hour())
	set("minute", t.Minute())
	set("second", t.Second())
	set("millisecond", millisecond(t))
	s.release(mark)
	return b.done()
}

// A formatArgument is an optional format. A constant one is checked when the expression is compiled.
type formatArgument struct {
	name      string // of the operator
	letters   string // allowed after a %
	mistype   code.Code
	given     bool
	known     bool
	constant  string
	isNull    bool
	knownFail error
}

func formatArgumentOf(x *Expression, name, letters string, mistype code.Code) formatArgument {
	f := formatArgument{name: name, letters: letters, mistype: mistype, given: x != nil}
	if x == nil {
		return f
	}
	if v, ok := x.Constant(); ok {
		f.constant, f.isNull, f.knownFail = f.of(v)
		f.known = true
	}
	return f
}

// of checks the argument's value and returns it as a format.
func (f *formatArgument) of(v doc.Value) (format string, isNull bool, err error) {
	if f.known {
		return f.constant, f.isNull, f.knownFail
	}
	if nullish(v) {
		return "", true, nil
	}
	format, ok := doc.AsString(v)
	if !ok {
		return "", false, code.New(f.mistype, "%s requires that 'format' be a string, found: %s with value %s", f.name,
			code.TypeName(v), code.Show(v))
	}
	return format, false, checkFormat(format, f.letters)
}

// checkFormat returns an error unless one of letters, or another %, follows each %.
func checkFormat(format, letters string) error {
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		i++
		if i == len(format) {
			return code.New(18535, "%s", "Unmatched '%' at end of format string")
		}
		if format[i] != '%' && !contains(letters, format[i]) {
			return code.New(18536, "Invalid format character '%%%c' in format string", format[i])
		}
	}
	return nil
}

func contains(letters string, c byte) bool {
	for i := range len(letters) {
		if letters[i] == c {
			return true
		}
	}
	return false
}

func compileDateToString(arg doc.Value, names *Names, depth int) (*Expression, error) {
	h := shape{name: "$dateToString", object: 18629, unknown: 18534, missing: 18628,
		required: []string{"date"}, optional: []string{"format", "timezone", "onNull"}}
	args, err := h.read(arg, names, depth)
	if err != nil {
		return nil, err
	}
	zoned := zoneArgumentOf(args[2])
	formatted := formatArgumentOf(args[1], "$dateToString", "bBdGHjLmMSwuUVYzZ", 18533)
	return fold(&Expression{run: func(s *Scope) (doc.Value, error) {
		v, err := optionals(s, args[:3])
		if err != nil {
			return doc.Value{}, err
		}
		format, isNull, err := formatted.of(v[1])
		if err != nil {
			return doc.Value{}, err
		}
		z, err := zoned.of(v[2])
		if err != nil {
			return doc.Value{}, err
		}
		switch {
		case nullish(v[0]) && args[3] != nil:
			return args[3].run(s)
		case nullish(v[0]), z == nil, isNull && formatted.given:
			return null, nil
		}
		ms, err := mustDate(v[0])
		if err != nil {
			return doc.Value{}, err
		}
		switch {
		case formatted.given:
		case z.isUTC:
			format = isoFormat
		default:
			format = localFormat
		}
		return s.dateText(format, ms, z)
	}}, args...), nil
}

// dateText formats a date as a string.
func (s *Scope) dateText(format string, ms int64, z *zone) (doc.Value, error) {
	start := s.openText()
	var err error
	if s.arena, err = appendDate(s.arena, format, ms, z); err != nil {
		return doc.Value{}, err
	}
	return s.closeText(start)
}

// appendDate writes a date in a format that checkFormat has accepted. It fails if the year does not have four digits
// (18537) or if the result is too large.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/dateToString/#format-specifiers
func appendDate(dst []byte, format string, ms int64, z *zone) ([]byte, error) {
	t, start := z.at(ms), len(dst)
	var err error
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			dst = append(dst, format[i])
			continue
		}
		i++
		if dst, err = appendDatePart(dst, format[i], t); err != nil {
			return dst, err
		}
		if err = fits(len(dst) - start); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

func appendDatePart(dst []byte, letter byte, t time.Time) ([]byte, error) {
	switch letter {
	case '%':
		return append(dst, '%'), nil
	case 'Y':
		return appendYear(dst, t.Year())
	case 'G':
		year, _ := t.ISOWeek()
		return appendYear(dst, year)
	case 'b':
		return append(dst, t.Month().String()[:3]...), nil
	case 'B':
		return append(dst, t.Month().String()...), nil
	case 'm':
		return appendPadded(dst, int(t.Month()), 2), nil
	case 'd':
		return appendPadded(dst, t.Day(), 2), nil
	case 'H':
		return appendPadded(dst, t.Hour(), 2), nil
	case 'M':
		return appendPadded(dst, t.Minute(), 2), nil
	case 'S':
		return appendPadded(dst, t.Second(), 2), nil
	case 'L':
		return appendPadded(dst, millisecond(t), 3), nil
	case 'j':
		return appendPadded(dst, t.YearDay(), 3), nil
	case 'w':
		return appendPadded(dst, int(t.Weekday())+1, 1), nil
	case 'u':
		return appendPadded(dst, isoWeekday(t), 1), nil
	case 'U':
		return appendPadded(dst, weekOfYear(t), 2), nil
	case 'V':
		_, week := t.ISOWeek()
		return appendPadded(dst, week, 2), nil
	}
	_, offset := t.Zone()
	if letter == 'Z' {
		return strconv.AppendInt(dst, int64(offset/60), 10), nil
	}
	sign := byte('+')
	if offset < 0 {
		sign, offset = '-', -offset
	}
	return appendPadded(append(dst, sign), offset/3600*100+offset/60%60, 4), nil
}

func appendYear(dst []byte, year int) ([]byte, error) {
	if year < 0 || year > 9999 {
		return dst, code.New(18537,
			"Could not convert date to string: date component was outside the supported range of 0-9999: %d", year)
	}
	return appendPadded(dst, year, 4), nil
}

// appendPadded writes a number that is not negative with at least width digits; width is at most 4.
func appendPadded(dst []byte, n, width int) []byte {
	for limit := [...]int{0, 1, 10, 100, 1000}[width]; n < limit && limit > 1; limit /= 10 {
		dst = append(dst, '0')
	}
	return strconv.AppendInt(dst, int64(n), 10)
}
