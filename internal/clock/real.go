package clock

import (
	"sync"
	"sync/atomic"
	"time"
)

// Real follows the machine's time. When that steps backwards, Real stands still
// until it has caught up. Make one with NewReal.
type Real struct {
	wall func() time.Time
	last atomic.Int64 // Unix nanoseconds of the latest instant shown
}

// NewReal makes a clock that shows no instant before floor. The zero floor
// means none.
func NewReal(floor time.Time) *Real { return newReal(floor, time.Now) }

func newReal(floor time.Time, wall func() time.Time) *Real {
	r := &Real{wall: wall}
	if !floor.IsZero() {
		r.last.Store(clamp(floor).UnixNano())
	}
	return r
}

// Now is the latest of the machine's time, the floor, and the instants shown before.
func (r *Real) Now() time.Time {
	wall := clamp(r.wall()).UnixNano()
	for {
		last := r.last.Load()
		if wall <= last {
			return time.Unix(0, last).UTC()
		}
		if r.last.CompareAndSwap(last, wall) {
			return time.Unix(0, wall).UTC()
		}
	}
}

// Ahead is how far the clock is ahead of the machine's time, and so how long it
// stands still; 0 when it follows.
func (r *Real) Ahead() time.Duration {
	return max(0, time.Duration(r.last.Load()-clamp(r.wall()).UnixNano()))
}

// Every calls f from a goroutine of its own, paced by the machine's
// monotonic time.
func (r *Real) Every(d time.Duration, f func(now time.Time)) (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	ticker := time.NewTicker(d)
	go func() {
		defer close(done)
		defer ticker.Stop()
		for {
			select {
			case <-quit:
				return
			case <-ticker.C:
				f(r.Now())
			}
		}
	}()
	var once sync.Once
	return func() {
		once.Do(func() { close(quit) })
		<-done
	}
}

// clamp keeps t where its Unix nanoseconds are defined.
func clamp(t time.Time) time.Time {
	if t.After(Limit) {
		return Limit
	}
	if t.Before(Earliest) {
		return Earliest
	}
	return t
}
