package clock

import (
	"fmt"
	"regexp"
	"time"
)

// durationForm matches what time.ParseDuration accepts, and durations that are too long for it.
var durationForm = regexp.MustCompile(`^[-+]?((\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h))+$`)

// ParseDuration reads how far to move a clock, in the notation of
// time.ParseDuration. Its errors are for a person who typed text.
func ParseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	switch {
	case err == nil:
		return d, nil
	case durationForm.MatchString(text):
		return 0, fmt.Errorf("duration %q is too long: a clock moves by at most %d hours at once",
			text, int64(maxDuration/time.Hour))
	}
	return 0, fmt.Errorf(`%q is not a duration: write it like "90s", "24h" or "1h30m"`, text)
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
