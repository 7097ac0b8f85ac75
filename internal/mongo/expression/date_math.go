package expression

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// A unit is a unit of time, smallest first.
type unit uint8

const (
	milliUnit unit = iota
	secondUnit
	minuteUnit
	hourUnit
	dayUnit
	weekUnit
	monthUnit
	quarterUnit
	yearUnit
)

var unitNames = []string{"millisecond", "second", "minute", "hour", "day", "week", "month", "quarter", "year"}

func unitOf(name string) (u unit, ok bool) {
	i := slices.Index(unitNames, name)
	return unit(max(i, 0)), i >= 0
}

// unitMilliseconds are the milliseconds of the units up to a week.
var unitMilliseconds = [...]int64{1, 1000, 60_000, 3_600_000, 86_400_000, 7 * 86_400_000}

// unitMonths are the months of the units from a month on.
var unitMonths = map[unit]int64{monthUnit: 1, quarterUnit: 3, yearUnit: 12}

const (
	maxDays  = math.MaxUint64/86_400_000 + 1 // more than a date can hold
	maxYears = maxDays/365 + 1
)

// maxAmounts limits how many of each unit may be added.
var maxAmounts = [...]int64{
	milliUnit: math.MaxInt64, secondUnit: maxDays * 86_400, minuteUnit: maxDays * 1440, hourUnit: maxDays * 24,
	dayUnit:  maxDays,
	weekUnit: maxDays / 7, monthUnit: maxYears * 12, quarterUnit: maxYears * 4, yearUnit: maxYears,
}

// dateArithmetic adds amounts to dates, or subtracts them if direction is -1.
func dateArithmetic(name string, direction int64) operator {
	h := shape{name: name, object: 5166400, unknown: 5166401, missing: 5166402,
		required: []string{"startDate", "unit", "amount"}, optional: []string{"timezone"}}
	return func(arg doc.Value, names *Names, depth int) (*Expression, error) {
		args, err := h.read(arg, names, depth)
		if err != nil {
			return nil, err
		}
		zoned := zoneArgumentOf(args[3])
		return apply(args, func(s *Scope, args []doc.Value) (doc.Value, error) {
			if nullish(args[0]) || nullish(args[1]) || nullish(args[2]) {
				return null, nil
			}
			z, err := zoned.of(args[3])
			if z == nil {
				return null, err
			}
			ms, ok := dateOf(args[0])
			if !ok {
				return doc.Value{}, code.New(5166403, "%s requires startDate to be convertible to a date", name)
			}
			unitName, ok := doc.AsString(args[1])
			if !ok {
				return doc.Value{}, code.New(5166404, "%s expects string defining the time unit", name)
			}
			u, ok := unitOf(unitName)
			if !ok {
				return doc.Value{}, code.New(code.FailedToParse, "unknown time unit value: %s", quoted(args[1]))
			}
			amount, ok := wholeNumber(args[2])
			if !ok {
				return doc.Value{}, code.New(5166405, "%s expects integer amount of time units", name)
			}
			if direction < 0 && amount == math.MinInt64 {
				return doc.Value{}, code.New(6045000, "invalid $dateSubtract 'amount' parameter value: %d", amount)
			}
			if ms, err = addUnits(ms, u, amount*direction, z); err != nil {
				return doc.Value{}, err
			}
			return s.date(ms), nil
		}), nil
	}
}

// addUnits adds to a date. Units of a day and more keep the local time of day. If the day does not exist in the
// resulting month, the result is the last day of that month.
func addUnits(ms int64, u unit, amount int64, z *zone) (int64, error) {
	if u != milliUnit && (amount <= -maxAmounts[u] || amount >= maxAmounts[u]) {
		return 0, code.New(5976500, "invalid dateAdd 'amount' parameter value: %d %s", amount, unitNames[u])
	}
	if u == milliUnit {
		sum, ok := plus(ms, amount)
		if !ok {
			return 0, code.New(durationOverflow, "dateAdd overflowed")
		}
		return sum, nil
	}
	seconds := floorDivide(ms, 1000)
	rest := ms - seconds*1000
	if u < dayUnit {
		seconds += amount * (unitMilliseconds[u] / 1000)
	} else {
		seconds = z.instant(addDays(shownBy(z.at(ms)), u, amount))
	}
	sum, ok := milliseconds(seconds, rest)
	if !ok {
		return 0, code.New(5166406, "dateAdd overflowed")
	}
	return sum, nil
}

// addDays adds days, weeks, months, quarters or years to a local time.
func addDays(shown int64, u unit, amount int64) int64 {
	months := unitMonths[u]
	if months == 0 {
		return shown + amount*(unitMilliseconds[u]/1000)
	}
	t := time.Unix(shown, 0).UTC()
	count := int64(t.Month()) - 1 + amount*months
	year, month := t.Year()+int(floorDivide(count, 12)), time.Month(count-12*floorDivide(count, 12)+1)
	last := time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
	return time.Date(year, month, min(t.Day(), last), t.Hour(), t.Minute(), t.Second(), 0, time.UTC).Unix()
}

// readUnit parses the unit of $dateDiff and $dateTrunc.
func readUnit(name string, v doc.Value) (unit, error) {
	text, ok := doc.AsString(v)
	if !ok {
		return 0, code.New(5439013, "%s requires 'unit' to be a string, but got %s", name, code.TypeName(v))
	}
	u, ok := unitOf(text)
	if !ok {
		return 0, code.New(5439014, "%s parameter 'unit' value cannot be recognized as a time unit: %s", name,
			quoted(v))
	}
	return u, nil
}

// readWeekday parses a day such as "Mon" or "monday". 0 is Monday.
func readWeekday(name string, v doc.Value) (int, error) {
	text, ok := doc.AsString(v)
	if !ok {
		return 0, code.New(5439015, "%s requires 'startOfWeek' to be a string, but got %s", name, code.TypeName(v))
	}
	day, ok := weekday(text)
	if !ok {
		return 0, code.New(5439016, "%s parameter 'startOfWeek' value cannot be recognized as a day of a week: %s",
			name, quoted(v))
	}
	return day, nil
}

// weekday is a day by its name or the first three letters of it, in any case. 0 is Monday.
func weekday(name string) (day int, ok bool) {
	for day := range 7 {
		full := time.Weekday((day + 1) % 7).String()
		if strings.EqualFold(name, full) || strings.EqualFold(name, full[:3]) {
			return day, true
		}
	}
	return 0, false
}

const sunday = 6 // counting from Monday

// A calendar has the arguments that $dateDiff and $dateTrunc share. isNull reports that one of them was nullish.
type calendar struct {
	unit        unit
	startOfWeek int
	zone        *zone
	isNull      bool
}

// readCalendar parses the unit, the time zone and the start of the week, which matters only for weeks.
func readCalendar(name string, args []doc.Value, zoned zoneArgument, given bool) (c calendar, err error) {
	if nullish(args[0]) {
		return calendar{isNull: true}, nil
	}
	if c.unit, err = readUnit(name, args[0]); err != nil {
		return c, err
	}
	c.startOfWeek = sunday
	if given && c.unit == weekUnit {
		if nullish(args[2]) {
			return calendar{isNull: true}, nil
		}
		if c.startOfWeek, err = readWeekday(name, args[2]); err != nil {
			return c, err
		}
	}
	c.zone, err = zoned.of(args[1])
	if e := code.Of(err); e != nil {
		return c, code.New(e.Code, "%s parameter 'timezone' value parsing failed :: caused by :: %s", name, e.Message)
	}
	c.isNull = c.zone == nil
	return c, nil
}

func compileDateDiff(arg doc.Value, names *Names, depth int) (*Expression, error) {
	const name = "$dateDiff"
	h := shape{name: name, object: 5166301, unknown: 5166302,
		optional: []string{"startDate", "endDate", "unit", "timezone", "startOfWeek"}}
	args, err := h.read(arg, names, depth)
	if err != nil {
		return nil, err
	}
	for i := range 3 {
		if args[i] == nil {
			return nil, code.New(5166303+code.Code(i), "Missing '%s' parameter to $dateDiff", h.optional[i])
		}
	}
	zoned, given := zoneArgumentOf(args[3]), args[4] != nil
	return apply(args, func(s *Scope, args []doc.Value) (doc.Value, error) {
		if nullish(args[0]) || nullish(args[1]) {
			return null, nil
		}
		c, err := readCalendar(name, args[2:], zoned, given)
		if err != nil || c.isNull {
			return null, err
		}
		var dates [2]int64
		for i := range dates {
			ms, ok := dateOf(args[i])
			if !ok {
				return doc.Value{}, code.New(5166307, "$dateDiff requires '%s' to be a date, but got %s", h.optional[i],
					code.TypeName(args[i]))
			}
			dates[i] = ms
		}
		n, err := c.between(dates[0], dates[1])
		if err != nil {
			return doc.Value{}, err
		}
		return s.int64(n), nil
	}), nil
}

// between counts the boundaries of the unit from one date to another.
func (c calendar) between(start, end int64) (int64, error) {
	if c.unit == milliUnit {
		if d := end - start; (d < 0) == (end < start) {
			return d, nil
		}
		return 0, code.New(5166308, "dateDiff overflowed")
	}
	from, to := c.zone.at(start), c.zone.at(end)
	if c.unit < dayUnit {
		_, before := from.Zone()
		_, after := to.Zone()
		size := unitMilliseconds[c.unit] / 1000
		return floorDivide(shownBy(to), size) - floorDivide(shownBy(from), size) + int64(before-after)/size, nil
	}
	return c.from(from.Year(), int(from.Month()), dayNumber(from), to), nil
}

// dayNumber counts the days since 1970-01-01, a Thursday.
func dayNumber(t time.Time) int64 { return floorDivide(shownBy(t), 86_400) }

// from counts units of a day or more from a day to t.
func (c calendar) from(year, month int, day int64, t time.Time) int64 {
	switch c.unit {
	case dayUnit:
		return dayNumber(t) - day
	case weekUnit:
		return floorDivide(dayNumber(t)+3-int64(c.startOfWeek), 7) - floorDivide(day+3-int64(c.startOfWeek), 7)
	case monthUnit:
		return int64(int(t.Month()) - month + (t.Year()-year)*12)
	case quarterUnit:
		return int64((int(t.Month())-1)/3 - (month-1)/3 + (t.Year()-year)*4)
	}
	return int64(t.Year() - year)
}

func compileDateTrunc(arg doc.Value, names *Names, depth int) (*Expression, error) {
	const name = "$dateTrunc"
	h := shape{name: name, object: 5439007, unknown: 5439008,
		optional: []string{"date", "unit", "timezone", "startOfWeek", "binSize"}}
	args, err := h.read(arg, names, depth)
	if err != nil {
		return nil, err
	}
	for i := range 2 {
		if args[i] == nil {
			return nil, code.New(5439009+code.Code(i), "Missing '%s' parameter to $dateTrunc", h.optional[i])
		}
	}
	zoned, given, binned := zoneArgumentOf(args[2]), args[3] != nil, args[4] != nil
	return apply(args, func(s *Scope, args []doc.Value) (doc.Value, error) {
		if nullish(args[0]) || nullish(args[1]) || binned && nullish(args[4]) {
			return null, nil
		}
		c, err := readCalendar(name, args[1:], zoned, given)
		if err != nil || c.isNull {
			return null, err
		}
		ms, ok := dateOf(args[0])
		if !ok {
			return doc.Value{}, code.New(5439012, "$dateTrunc requires 'date' to be a date, but got %s",
				code.TypeName(args[0]))
		}
		bin := int64(1)
		if binned {
			if bin, err = readBin(args[4]); err != nil {
				return doc.Value{}, err
			}
		}
		if ms, err = c.truncate(ms, bin); err != nil {
			return doc.Value{}, err
		}
		return s.date(ms), nil
	}), nil
}

func readBin(v doc.Value) (int64, error) {
	bin, ok := wholeNumber(v)
	if !ok {
		return 0, code.New(5439017,
			"$dateTrunc requires 'binSize' to be a 64-bit integer, but got value '%s' of type %s", code.Show(v),
			code.TypeName(v))
	}
	if bin <= 0 {
		return 0, code.New(5439018, "$dateTrunc requires 'binSize' to be greater than 0, but got value %d", bin)
	}
	return bin, nil
}

const maxBin = 100_000_000_000 // days or more

// truncate is the start of the bin that a date is in. Bins of that many units are aligned with the start of 2000 in the
// zone, weeks with the first start of a week in that year.
func (c calendar) truncate(ms, bin int64) (int64, error) {
	reference := c.zone.instant(time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC).Unix()) * 1000
	if c.unit < dayUnit {
		size, ok := times(bin, unitMilliseconds[c.unit])
		if !ok {
			return 0, code.New(5439002, "dateTrunc overflowed")
		}
		distance := ms - reference
		if (distance < 0) != (ms < reference) {
			return 0, code.New(5439000, "dateTrunc overflowed")
		}
		start := ms - (distance - floorDivide(distance, size)*size)
		if start > ms {
			return 0, code.New(5439001, "dateTrunc overflowed")
		}
		return start, nil
	}
	if bin > maxBin {
		return 0, code.New(5439006, "dateTrunc unsupported binSize value")
	}
	first := time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)
	if c.unit == weekUnit {
		days := (c.startOfWeek + 2) % 7 // 2000-01-01 is a Saturday
		first = first.AddDate(0, 0, days)
		reference += int64(days) * 86_400_000
	}
	distance := c.from(2000, 1, dayNumber(first), c.zone.at(ms))
	return addUnits(reference, c.unit, floorDivide(distance, bin)*bin, c.zone)
}
