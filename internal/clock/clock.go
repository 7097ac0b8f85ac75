// Package clock tells the time. It is the only room that calls the clock
// functions of package time: doors and the reaper ask a Clock, everything below them is
// handed now as an argument. A Clock never runs backwards. The machine's own
// time, which may, is here too, for what has nothing to do with
// documents: latencies, pauses, certificates and network deadlines.
package clock

import (
	"errors"
	"time"
)

// A Clock says what time it is for documents. It is safe for concurrent use.
type Clock interface {
	// Now is the present instant in UTC, never earlier than any instant that
	// the clock has shown before.
	Now() time.Time

	// Every calls f about once per d of this clock's time, one call at a time,
	// with the instant of the call; what is missed is not made up for. d must be
	// positive. stop ends the calls and waits for one that is running, so f must
	// not call it. stop may be called more than once.
	Every(d time.Duration, f func(now time.Time)) (stop func())
}

// Earliest and Limit are the first and the last instant that a clock shows.
// Limit leaves room for the longest life span, 68 years, within 64-bit nanoseconds.
var (
	Earliest = time.Unix(0, 0).UTC()
	Limit    = time.Date(2190, 1, 1, 0, 0, 0, 0, time.UTC)
)

// InRange fails with ErrRange for an instant that no clock shows.
func InRange(t time.Time) error {
	if t.Before(Earliest) || t.After(Limit) {
		return ErrRange
	}
	return nil
}

// Reasons for which a clock refuses to start or to move.
var (
	// ErrBackwards is returned for an instant before the present one.
	ErrBackwards = errors.New("the clock moves forward only")
	// ErrLimit is returned for an instant after Limit.
	ErrLimit = errors.New("the clock does not go beyond " + Limit.Format(time.RFC3339))
	// ErrRange is returned for an instant at which no clock can start.
	ErrRange = errors.New("the clock goes from " + Earliest.Format(time.RFC3339) + " to " + Limit.Format(time.RFC3339))
)
