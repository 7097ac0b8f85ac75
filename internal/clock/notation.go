package clock

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// durationForm matches what ParseDuration accepts, and durations that are too long for it.
var durationForm = regexp.MustCompile(`^[-+]?((\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h|d|w))+$`)

// longUnit matches an amount of a unit that time.ParseDuration does not have.
var longUnit = regexp.MustCompile(`(\d+\.?\d*|\.\d+)[dw]`)

// ParseDuration reads a duration as people write it: in the notation of time.ParseDuration, and also in days of 24
// hours and weeks of 7 days, such as 90d, 2w or 1d12h. Its errors are for a person who typed text.
func ParseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(longUnit.ReplaceAllStringFunc(text, inHours))
	switch {
	case err == nil:
		return d, nil
	case durationForm.MatchString(text):
		return 0, fmt.Errorf("duration %q is too long: the longest is %d hours", text, int64(maxDuration/time.Hour))
	}
	return 0, fmt.Errorf(`%q is not a duration: write it like "90s", "24h", "1h30m", "90d" or "2w"`, text)
}

// inHours writes an amount of days or weeks for time.ParseDuration. It leaves an amount that is too long as it is, so
// that time.ParseDuration fails.
func inHours(amount string) string {
	unit := 24 * time.Hour
	if strings.HasSuffix(amount, "w") {
		unit = 7 * 24 * time.Hour
	}
	hours, err := time.ParseDuration(amount[:len(amount)-1] + "h")
	if err != nil || hours > maxDuration/(unit/time.Hour) {
		return amount
	}
	return (hours * (unit / time.Hour)).String()
}

// FormatDuration writes a duration as people do and ParseDuration reads it, without units that are zero: 90d, 12h30m,
// 1d2h. The largest unit is the day, because a number of days is what people compare.
func FormatDuration(d time.Duration) string {
	var b strings.Builder
	rest := uint64(d)
	if d < 0 {
		b.WriteByte('-')
		rest = -rest
	}
	for _, unit := range []struct {
		length time.Duration
		name   string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}} {
		if n := rest / uint64(unit.length); n > 0 {
			fmt.Fprintf(&b, "%d%s", n, unit.name)
		}
		rest %= uint64(unit.length)
	}
	if rest > 0 || d == 0 {
		b.WriteString(time.Duration(rest).String()) // less than a minute
	}
	return b.String()
}

const maxDuration = time.Duration(1<<63 - 1)

// ParseTime reads an instant, in the notation of RFC 3339. Its errors are for
// a person who typed text.
func ParseTime(text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, fmt.Errorf(`%q is not a time: write it like "2026-03-01T12:00:00Z"`, text)
	}
	return t, nil
}
