package expression

import (
	"math"
	"time"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// The positions of $dateFromParts' arguments.
const (
	partYear = iota
	partMonth
	partDay
	partISOYear
	partISOWeek
	partISODay
	partHour
	partMinute
	partSecond
	partMillisecond
	partTimezone
)

var partNames = []string{"year", "month", "day", "isoWeekYear", "isoWeek", "isoDayOfWeek",
	"hour", "minute", "second", "millisecond", "timezone"}

func compileDateFromParts(arg doc.Value, names *Names, depth int) (*Expression, error) {
	h := shape{name: "$dateFromParts", object: 40519, unknown: 40518, optional: partNames}
	args, err := h.read(arg, names, depth)
	if err != nil {
		return nil, err
	}
	var given [partTimezone + 1]bool
	for i, x := range args {
		given[i] = x != nil
	}
	iso := given[partISOYear]
	switch {
	case !given[partYear] && !iso:
		return nil, code.New(40516, "$dateFromParts requires either 'year' or 'isoWeekYear' to be present")
	case given[partYear] && (iso || given[partISOWeek] || given[partISODay]):
		return nil, code.New(40489, "$dateFromParts does not allow mixing natural dates with ISO dates")
	case iso && (given[partMonth] || given[partDay]):
		return nil, code.New(40525, "$dateFromParts does not allow mixing ISO dates with natural dates")
	}
	zoned := zoneArgumentOf(args[partTimezone])
	return apply(args, func(s *Scope, args []doc.Value) (doc.Value, error) {
		p := partReader{args: args, given: given[:]}
		clock := [4]int64{p.bounded(partHour, 0), p.bounded(partMinute, 0), p.number(partSecond, 0),
			p.number(partMillisecond, 0)}
		if p.over() {
			return null, p.err
		}
		z, err := zoned.of(args[partTimezone])
		if z == nil {
			return null, err
		}
		day := p.day(iso)
		if p.over() {
			return null, p.err
		}
		seconds, ok := plus(day.Unix()+clock[0]*3600+clock[1]*60, clock[2])
		if ms, fits := milliseconds(z.instant(seconds), clock[3]); ok && fits {
			return s.date(ms), nil
		}
		return doc.Value{}, code.New(durationOverflow,
			"Overflow casting from a lower-precision duration to a higher-precision duration")
	}), nil
}

// A partReader reads integers until one is nullish or invalid.
type partReader struct {
	args  []doc.Value
	given []bool
	null  bool
	err   error
}

func (p *partReader) over() bool { return p.null || p.err != nil }

// number is the value of an argument, or absent if it is not given.
func (p *partReader) number(i int, absent int64) int64 {
	if p.over() || !p.given[i] {
		return absent
	}
	v := p.args[i]
	if nullish(v) {
		p.null = true
		return absent
	}
	n, ok := wholeNumber(v)
	if !ok {
		p.err = code.New(40515, "'%s' must evaluate to an integer, found %s with value %s", partNames[i],
			code.TypeName(v), code.Show(v))
	}
	return n
}

// bounded is number, but fails if the value does not fit into 16 bits.
func (p *partReader) bounded(i int, absent int64) int64 {
	n := p.number(i, absent)
	if !p.over() && (n < math.MinInt16 || n > math.MaxInt16) {
		p.err = code.New(31034, "'%s' must evaluate to a value in the range [%d, %d]; value %d is not in range",
			partNames[i], math.MinInt16, math.MaxInt16, n)
	}
	return n
}

// day is midnight of the day, in UTC.
func (p *partReader) day(iso bool) time.Time {
	if iso {
		year, week, day := p.number(partISOYear, 0), p.bounded(partISOWeek, 1), p.bounded(partISODay, 1)
		p.year(year, "isoWeekYear", 31095)
		return isoDay(int(year), int(week), int(day))
	}
	year, month, day := p.number(partYear, 0), p.bounded(partMonth, 1), p.bounded(partDay, 1)
	p.year(year, "year", 40523)
	return time.Date(int(year), time.Month(month), int(day), 0, 0, 0, 0, time.UTC)
}

func (p *partReader) year(year int64, name string, wrong code.Code) {
	if !p.over() && (year < 1 || year > 9999) {
		p.err = code.New(wrong, "'%s' must evaluate to an integer in the range 1 to 9999, found %d", name, year)
	}
}

func compileDateFromString(arg doc.Value, names *Names, depth int) (*Expression, error) {
	h := shape{name: "$dateFromString", object: 40540, unknown: 40541, missing: 40542,
		required: []string{"dateString"}, optional: []string{"format", "timezone", "onNull", "onError"}}
	args, err := h.read(arg, names, depth)
	if err != nil {
		return nil, err
	}
	zoned := zoneArgumentOf(args[2])
	formatted := formatArgumentOf(args[1], "$dateFromString", "bBdGHjLmMSuVYzZ", 40684)
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
		if nullish(v[0]) {
			if args[3] != nil {
				return args[3].run(s)
			}
			return null, nil
		}
		text, ok := doc.AsString(v[0])
		switch {
		case !ok:
			err = code.New(code.ConversionFailure,
				"$dateFromString requires that 'dateString' be a string, found: %s with value %s", code.TypeName(v[0]),
				code.Show(v[0]))
		case z == nil, formatted.given && isNull:
			return null, nil
		default:
			var ms int64
			if ms, err = parseDate(text, format, formatted.given, z); err == nil {
				return s.date(ms), nil
			}
		}
		if args[4] != nil && code.Is(err, code.ConversionFailure) {
			return args[4].run(s)
		}
		return doc.Value{}, err
	}}, args...), nil
}
