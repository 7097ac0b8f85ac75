package function

import (
	"math/bits"
	"time"
)

// A ticks value is a date and time: the number of 100-nanosecond steps since 1970 UTC.
type ticks int64

// Units of ticks, and the years 1 to 9999, which have four digits.
const (
	microsecond ticks = 10
	millisecond       = 1000 * microsecond
	second            = 1000 * millisecond
	minute            = 60 * second
	hour              = 60 * minute
	day               = 24 * hour

	minTicks     = -62135596800 * second
	maxTicks     = 253402300800*second - 1
	windowsEpoch = -11644473600 * second // the year 1601
)

func ticksOf(t time.Time) ticks { return ticks(t.Unix())*second + ticks(t.Nanosecond()/100) }

func (t ticks) valid() bool { return minTicks <= t && t <= maxTicks }

// time is t as a time.Time in UTC.
func (t ticks) time() time.Time {
	return time.Unix(floorDiv(int64(t), int64(second)), t.within(second)*100).UTC()
}

// within is the number of ticks since the last whole unit.
func (t ticks) within(unit ticks) int64 {
	return int64(t) - floorDiv(int64(t), int64(unit))*int64(unit)
}

// ticksFromParts converts year, month, day, hour, minute, second and ticks. ok is false if one of them is out of
// range.
func ticksFromParts(p [7]int64) (ticks, bool) {
	year, month, dayOfMonth := p[0], p[1], p[2]
	if year < 1 || year > 9999 || month < 1 || month > 12 || dayOfMonth < 1 || dayOfMonth > daysIn(year, month) {
		return 0, false
	}
	if outOfRange(p[3], 23) || outOfRange(p[4], 59) || outOfRange(p[5], 59) || outOfRange(p[6], int64(second)-1) {
		return 0, false
	}
	t := time.Date(int(year), time.Month(month), int(dayOfMonth), int(p[3]), int(p[4]), int(p[5]), 0, time.UTC)
	return ticks(t.Unix())*second + ticks(p[6]), true
}

func outOfRange(n, most int64) bool { return n < 0 || n > most }

func daysIn(year, month int64) int64 {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// add adds n units of part. ok is false if the result is out of range. A day that does not exist in the resulting
// month becomes the month's last day.
func (t ticks) add(part datePart, n int64) (ticks, bool) {
	switch part {
	case partYear:
		return t.addMonths(n, 12)
	case partMonth:
		return t.addMonths(n, 1)
	case partNanosecond:
		return t.addUnits(floorDiv(n, 100), 1)
	}
	return t.addUnits(n, part.unit())
}

func (t ticks) addUnits(n int64, unit ticks) (ticks, bool) {
	most := int64((maxTicks - minTicks) / unit)
	if n < -most || n > most {
		return 0, false
	}
	sum := t + ticks(n)*unit // at most twice the span, which fits 64 bits
	return sum, sum.valid()
}

func (t ticks) addMonths(n, each int64) (ticks, bool) {
	if n < -120_000 || n > 120_000 {
		return 0, false
	}
	year, month, dayOfMonth := t.time().Date()
	months := int64(year)*12 + int64(month) - 1 + n*each
	toYear, toMonth := floorDiv(months, 12), months-floorDiv(months, 12)*12+1
	last := int64(dayOfMonth)
	if toYear >= 1 && toYear <= 9999 {
		last = min(last, daysIn(toYear, toMonth))
	}
	sum, ok := ticksFromParts([7]int64{toYear, toMonth, last})
	return sum + ticks(t.within(day)), ok
}

// bin is the start of the bin that contains t. Bins are size units of part long, and one of them starts at origin.
func (t ticks) bin(part datePart, size int64, origin ticks) ticks {
	if part == partNanosecond {
		return t.binNanoseconds(uint64(size), origin)
	}
	unit := part.unit()
	if size > int64((maxTicks-minTicks)/unit)+1 { // there can be only one bin
		size = int64((maxTicks-minTicks)/unit) + 1
	}
	width := int64(unit) * size
	return origin + ticks(floorDiv(int64(t-origin), width)*width)
}

// binNanoseconds uses 128 bits, because ticks are too coarse.
func (t ticks) binNanoseconds(size uint64, origin ticks) ticks {
	distance := uint64(t - origin)
	if t < origin {
		distance = uint64(origin - t)
	}
	high, low := bits.Mul64(distance, 100)
	past := bits.Rem64(high, low, size)
	if t < origin && past > 0 {
		past = size - past
	}
	steps := past / 100
	if past%100 > 0 {
		steps++
	}
	if steps > uint64(maxTicks-minTicks) {
		return minTicks - 1
	}
	return t - ticks(steps)
}

// boundaries counts the starts of part up to t, from a fixed moment on.
func (t ticks) boundaries(part datePart) int64 {
	if part > partMonth {
		return floorDiv(int64(t), int64(part.unit()))
	}
	year, month, _ := t.time().Date()
	if part == partYear {
		return int64(year)
	}
	return int64(year)*12 + int64(month)
}

// part is the value of one part. Milliseconds and smaller parts count from the last whole second.
func (t ticks) part(part datePart) int64 {
	switch part {
	case partYear:
		return int64(t.time().Year())
	case partMonth:
		return int64(t.time().Month())
	case partDay:
		return int64(t.time().Day())
	case partHour:
		return t.within(day) / int64(hour)
	case partMinute:
		return t.within(hour) / int64(minute)
	case partSecond:
		return t.within(minute) / int64(second)
	case partNanosecond:
		return t.within(second) * 100
	}
	return t.within(second) / int64(part.unit())
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}
