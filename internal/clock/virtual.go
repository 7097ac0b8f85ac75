package clock

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// Virtual moves only when it is told to, and backwards by Rewind alone. Make one with NewVirtual.
type Virtual struct {
	move sync.Mutex // held during a whole move, including the calls of alarms

	mu     sync.Mutex
	now    time.Time
	alarms []*alarm
}

// An alarm is one Every of a virtual clock.
type alarm struct {
	every time.Duration
	due   time.Time // guarded by Virtual.mu
	f     func(now time.Time)

	running sync.Mutex // held while f runs
	stopped bool       // guarded by running
}

// NewVirtual makes a clock that shows start until it is moved.
func NewVirtual(start time.Time) *Virtual {
	return &Virtual{now: clamp(start).UTC()}
}

// Now is the instant that the clock was moved to last.
func (v *Virtual) Now() time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.now
}

// Every calls f from Advance and Set, at most once per move, however far it goes.
// f must not move the clock.
func (v *Virtual) Every(d time.Duration, f func(now time.Time)) (stop func()) {
	if d <= 0 {
		panic("clock: Every needs a positive duration")
	}
	a := &alarm{every: d, f: f}
	v.mu.Lock()
	a.due = v.now.Add(d)
	v.alarms = append(v.alarms, a)
	v.mu.Unlock()
	return func() { v.stop(a) }
}

func (v *Virtual) stop(a *alarm) {
	v.mu.Lock()
	v.alarms = slices.DeleteFunc(v.alarms, func(b *alarm) bool { return a == b })
	v.mu.Unlock()
	a.running.Lock()
	a.stopped = true
	a.running.Unlock()
}

// Advance moves the clock by d, and returns when every call that became due has
// ended. When it fails, with ErrBackwards or ErrLimit, the clock has not moved.
func (v *Virtual) Advance(d time.Duration) error {
	v.move.Lock()
	defer v.move.Unlock()
	return v.moveTo(v.Now().Add(d))
}

// Set moves the clock to t as Advance does.
func (v *Virtual) Set(t time.Time) error {
	v.move.Lock()
	defer v.move.Unlock()
	return v.moveTo(t.UTC())
}

func (v *Virtual) moveTo(t time.Time) error {
	due, err := v.show(t)
	for _, a := range due {
		a.call(t)
	}
	return err
}

// show makes t the present and takes the alarms that are due, earliest first.
func (v *Virtual) show(t time.Time) (due []*alarm, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case t.Before(v.now):
		return nil, ErrBackwards
	case t.After(Limit):
		return nil, ErrLimit
	}
	v.now = t
	for _, a := range v.alarms {
		if !a.due.After(t) {
			due = append(due, a)
		}
	}
	slices.SortStableFunc(due, func(a, b *alarm) int { return cmp.Compare(a.due.UnixNano(), b.due.UnixNano()) })
	for _, a := range due {
		a.due = t.Add(a.every)
	}
	return due, nil
}

// Rewind makes the clock show t, also before the present, and the alarms begin anew. It is for a caller that replaces
// everything that has seen the present, and lets nothing read the clock before it returns.
func (v *Virtual) Rewind(t time.Time) {
	v.move.Lock()
	defer v.move.Unlock()
	v.mu.Lock()
	defer v.mu.Unlock()
	v.now = clamp(t).UTC()
	for _, a := range v.alarms {
		a.due = v.now.Add(a.every)
	}
}

func (a *alarm) call(now time.Time) {
	a.running.Lock()
	defer a.running.Unlock()
	if !a.stopped {
		a.f(now)
	}
}
