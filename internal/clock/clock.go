// Package clock tells the time. It is the only package that calls the clock functions of package time: the APIs and
// the reaper ask a Clock, and pass the instant as an argument to the packages below them. A Clock never runs
// backwards, except that a virtual one goes back with all data to a snapshot (Virtual.Rewind). The machine's own time
// may, and is for things other than documents: latencies, pauses, certificates and network deadlines.
package clock

import (
	"errors"
	"time"
)

// A Clock tells the time that decides when documents expire. It is safe for concurrent use.
type Clock interface {
	// Now is the present instant in UTC, never earlier than any instant that
	// the clock has shown before.
	Now() time.Time

	// Every calls f about once per d of this clock's time, one call at a time,
	// with the instant of the call. It does not make up for missed calls. d must be
	// positive. stop ends the calls and waits for one that is running, so f must
	// not call it. stop may be called more than once.
	Every(d time.Duration, f func(now time.Time)) (stop func())
}

// Earliest and Limit are the first and the last instant that a clock shows. A document
// written at Limit with the longest TTL, 68 years, still ends within 64-bit nanoseconds.
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

// The reasons why a clock does not start or move.
var (
	// ErrBackwards is returned for an instant before the present one.
	ErrBackwards = errors.New("the clock moves forward only")
	// ErrLimit is returned for an instant after Limit.
	ErrLimit = errors.New("the clock does not go beyond " + Limit.Format(time.RFC3339))
	// ErrRange is returned for an instant at which no clock can start.
	ErrRange = errors.New("the clock goes from " + Earliest.Format(time.RFC3339) + " to " + Limit.Format(time.RFC3339))
)
