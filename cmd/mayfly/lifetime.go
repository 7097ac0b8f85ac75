package main

import (
	"fmt"
	"math"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
)

// ttlNever is the value of a TTL that is on, without an end by default.
const ttlNever = -1

// parseTTL reads a time to live as people write it, in whole seconds.
func parseTTL(text string) (int64, error) {
	if text == "never" {
		return ttlNever, nil
	}
	d, err := clock.ParseDuration(text)
	switch {
	case err != nil:
		return 0, err
	case d < time.Second || d%time.Second != 0:
		return 0, fmt.Errorf("%q is not a TTL: give whole seconds, at least 1s, or never", text)
	case d/time.Second > math.MaxInt32:
		return 0, fmt.Errorf("%q is too long: the longest TTL is %s", text,
			clock.FormatDuration(math.MaxInt32*time.Second))
	}
	return int64(d / time.Second), nil
}

// ttlText writes a TTL as people do.
func ttlText(seconds *int64) string {
	switch {
	case seconds == nil:
		return "off"
	case *seconds == ttlNever:
		return "never"
	}
	return clock.FormatDuration(time.Duration(*seconds) * time.Second)
}
