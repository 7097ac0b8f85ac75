package clock

import (
	"sync/atomic"
	"time"
)

// Following shows the time that another clock has told last, and goes on from there at the machine's pace. It is for a
// process whose data keeps the time: what is not read in the data, such as the time of a line in the log, is dated by
// the same clock. Make one with NewFollowing.
type Following struct {
	*Real
	ahead *atomic.Int64 // of the machine's time, in nanoseconds; below 0 if behind
}

// NewFollowing makes a clock that shows now.
func NewFollowing(now time.Time) *Following { return newFollowing(now, time.Now) }

func newFollowing(now time.Time, wall func() time.Time) *Following {
	ahead := new(atomic.Int64)
	f := &Following{ahead: ahead}
	f.Real = newReal(time.Time{}, func() time.Time { return wall().Add(time.Duration(ahead.Load())) })
	f.tell(now, wall())
	return f
}

// Tell says what the other clock shows. Where that is behind what Following has shown, it stands still until then.
func (f *Following) Tell(now time.Time) { f.tell(now, time.Now()) }

func (f *Following) tell(now, wall time.Time) { f.ahead.Store(int64(now.Sub(wall))) }
