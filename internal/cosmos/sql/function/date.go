package function

import (
	"math"

	"github.com/mayflydb/mayfly/internal/doc"
)

// The family "Date and time functions" of the reference. A date and time is a string in ISO 8601. Other strings,
// unknown parts, and numbers that are not whole make the result undefined. The current time is that of the request,
// so the STATIC functions differ only in name.
var dateFunctions = []Function{
	{Name: "AGO", Family: familyDate, Min: 2, Max: 2, Run: fromNow(-1)},
	{Name: "DATETIMEADD", Family: familyDate, Min: 3, Max: 3, Run: dateTimeAdd},
	{Name: "DATETIMEBIN", Family: familyDate, Min: 2, Max: 4, Run: dateTimeBin},
	{Name: "DATETIMEDIFF", Family: familyDate, Min: 3, Max: 3, Run: dateTimeDiff},
	{Name: "DATETIMEFORMAT", Family: familyDate, Min: 2, Max: 2, Run: dateTimeFormat,
		Note: "The reference lists no format specifiers. Those of .NET are supported, with English names."},
	{Name: "DATETIMEFROMPARTS", Family: familyDate, Min: 3, Max: 7, Run: dateTimeFromParts},
	{Name: "DATETIMEPART", Family: familyDate, Min: 2, Max: 2, Run: dateTimePart},
	{Name: "DATETIMETOTICKS", Family: familyDate, Min: 1, Max: 1, Run: dateTimeToTicks},
	{Name: "DATETIMETOTIMESTAMP", Family: familyDate, Min: 1, Max: 1, Run: dateTimeToTimestamp},
	{Name: "DAY", Family: familyDate, Min: 1, Max: 1, Run: partOf(partDay)},
	{Name: "GETCURRENTDATETIME", Family: familyDate, Min: 0, Max: 0, Run: currentDateTime},
	{Name: "GETCURRENTDATETIMESTATIC", Family: familyDate, Min: 0, Max: 0, Run: currentDateTime},
	{Name: "GETCURRENTTICKS", Family: familyDate, Min: 0, Max: 0, Run: currentTicks},
	{Name: "GETCURRENTTICKSSTATIC", Family: familyDate, Min: 0, Max: 0, Run: currentTicks},
	{Name: "GETCURRENTTIMESTAMP", Family: familyDate, Min: 0, Max: 0, Run: currentTimestamp},
	{Name: "GETCURRENTTIMESTAMPSTATIC", Family: familyDate, Min: 0, Max: 0, Run: currentTimestamp},
	{Name: "MONTH", Family: familyDate, Min: 1, Max: 1, Run: partOf(partMonth)},
	{Name: "NOW", Family: familyDate, Min: 0, Max: 2, Run: fromNow(+1)},
	{Name: "TICKSTODATETIME", Family: familyDate, Min: 1, Max: 1, Run: ticksToDateTime},
	{Name: "TIMESTAMPTODATETIME", Family: familyDate, Min: 1, Max: 1, Run: timestampToDateTime},
	{Name: "YEAR", Family: familyDate, Min: 1, Max: 1, Run: partOf(partYear)},
}

const familyDate = "Date and time"

// ticksResult is a date and time as a number: a double, like all numbers of the query language, so an odd number of
// ticks may be off by one since 1998.
func ticksResult(c *Call, t ticks) doc.Value { return scratchOf(c).float(float64(t)) }

func timestampResult(c *Call, t ticks) doc.Value {
	return scratchOf(c).int(floorDiv(int64(t), int64(millisecond)))
}

func textResult(c *Call, t ticks) doc.Value {
	if !t.valid() {
		return undefined
	}
	r := scratchOf(c)
	return r.text(t.appendISO(r.begin()))
}

func currentDateTime(c *Call, _ []doc.Value) doc.Value  { return textResult(c, ticksOf(c.Now)) }
func currentTicks(c *Call, _ []doc.Value) doc.Value     { return ticksResult(c, ticksOf(c.Now)) }
func currentTimestamp(c *Call, _ []doc.Value) doc.Value { return timestampResult(c, ticksOf(c.Now)) }

// fromNow returns NOW or AGO: the current time plus or minus an offset.
func fromNow(direction int64) func(*Call, []doc.Value) doc.Value {
	return func(c *Call, args []doc.Value) doc.Value {
		now := ticksOf(c.Now)
		if len(args) == 0 {
			return textResult(c, now)
		}
		if len(args) == 1 {
			return undefined
		}
		part, okPart := readPart(args[0])
		n, okN := doc.AsInt(args[1])
		if !okPart || !okN || n == math.MinInt64 { // cannot be negated
			return undefined
		}
		return addResult(c, now, part, direction*n)
	}
}

func dateTimeAdd(c *Call, args []doc.Value) doc.Value {
	part, okPart := readPart(args[0])
	n, okN := doc.AsInt(args[1])
	t, okT := readTicks(args[2])
	if !okPart || !okN || !okT {
		return undefined
	}
	return addResult(c, t, part, n)
}

func addResult(c *Call, t ticks, part datePart, n int64) doc.Value {
	sum, ok := t.add(part, n)
	if !ok {
		return undefined
	}
	return textResult(c, sum)
}

// dateTimeBin accepts bins of at most days, and origins from 1601 on.
func dateTimeBin(c *Call, args []doc.Value) doc.Value {
	t, okT := readTicks(args[0])
	part, okPart := readPart(args[1])
	if !okT || !okPart || part < partDay {
		return undefined
	}
	size, origin := int64(1), ticks(0)
	ok := true
	if len(args) > 2 {
		if size, ok = doc.AsInt(args[2]); !ok || size <= 0 {
			return undefined
		}
	}
	if len(args) > 3 {
		if origin, ok = readTicks(args[3]); !ok || origin < windowsEpoch {
			return undefined
		}
	}
	return textResult(c, t.bin(part, size, origin))
}

// dateTimeDiff counts the boundaries between the two times.
func dateTimeDiff(c *Call, args []doc.Value) doc.Value {
	part, okPart := readPart(args[0])
	start, okStart := readTicks(args[1])
	end, okEnd := readTicks(args[2])
	if !okPart || !okStart || !okEnd {
		return undefined
	}
	if part == partNanosecond { // the result may exceed 64 bits
		return scratchOf(c).float(float64(end-start) * 100)
	}
	return scratchOf(c).int(end.boundaries(part) - start.boundaries(part))
}

func dateTimeFromParts(c *Call, args []doc.Value) doc.Value {
	var parts [7]int64
	for i, v := range args {
		n, ok := doc.AsInt(v)
		if !ok {
			return undefined
		}
		parts[i] = n
	}
	t, ok := ticksFromParts(parts)
	if !ok {
		return undefined
	}
	return textResult(c, t)
}

func dateTimePart(c *Call, args []doc.Value) doc.Value {
	part, okPart := readPart(args[0])
	t, okT := readTicks(args[1])
	if !okPart || !okT {
		return undefined
	}
	return scratchOf(c).int(t.part(part))
}

// partOf returns YEAR, MONTH or DAY.
func partOf(part datePart) func(*Call, []doc.Value) doc.Value {
	return func(c *Call, args []doc.Value) doc.Value {
		t, ok := readTicks(args[0])
		if !ok {
			return undefined
		}
		return scratchOf(c).int(t.part(part))
	}
}

func dateTimeToTicks(c *Call, args []doc.Value) doc.Value {
	t, ok := readTicks(args[0])
	if !ok {
		return undefined
	}
	return ticksResult(c, t)
}

func dateTimeToTimestamp(c *Call, args []doc.Value) doc.Value {
	t, ok := readTicks(args[0])
	if !ok {
		return undefined
	}
	return timestampResult(c, t)
}

func ticksToDateTime(c *Call, args []doc.Value) doc.Value {
	n, ok := doc.AsInt(args[0])
	if !ok {
		return undefined
	}
	return textResult(c, ticks(n))
}

func timestampToDateTime(c *Call, args []doc.Value) doc.Value {
	n, ok := doc.AsInt(args[0])
	if !ok || n < int64(minTicks/millisecond) || n > int64(maxTicks/millisecond) {
		return undefined
	}
	return textResult(c, ticks(n)*millisecond)
}

func readTicks(v doc.Value) (ticks, bool) {
	s, ok := doc.AsString(v)
	if !ok {
		return 0, false
	}
	return parseTicks(s)
}
