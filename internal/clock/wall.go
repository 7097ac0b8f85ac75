package clock

import (
	"context"
	"time"
)

// Wall is the machine's own time, which may step backwards: for certificates,
// network deadlines and the age of a signature, never for a document.
func Wall() time.Time { return time.Now() }

// A Stopwatch measures how long something takes, in the machine's monotonic time.
type Stopwatch struct{ start time.Time }

// Start begins to measure.
func Start() Stopwatch { return Stopwatch{time.Now()} }

// Elapsed is the time since Start.
func (s Stopwatch) Elapsed() time.Duration { return time.Since(s.start) }

// Later calls f in its own goroutine after d, unless the timer is stopped.
func Later(d time.Duration, f func()) *time.Timer { return time.AfterFunc(d, f) }

// Pause waits for d of the machine's time, or until ctx ends, whose error it
// then returns. It paces background work and decides nothing.
func Pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
