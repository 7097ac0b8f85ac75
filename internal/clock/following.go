package clock

import (
	"sync/atomic"
	"time"
)

// Following shows the time that another clock has told last, and goes on from there at the pace of the machine's
// monotonic time, so that steps of the machine's clock do not matter. It is for a process whose data keeps the time:
// what is not read in the data, such as the time of a line in the log, is dated by the same clock. Make one with
// NewFollowing.
type Following struct {
	*Real
	heard *atomic.Pointer[heard]
}

// A heard is what the other clock has told, and when.
type heard struct{ told, wall time.Time }

// NewFollowing makes a clock that shows now.
func NewFollowing(now time.Time) *Following { return newFollowing(now, time.Now) }

func newFollowing(now time.Time, wall func() time.Time) *Following {
	last := new(atomic.Pointer[heard])
	f := &Following{heard: last}
	f.Real = newReal(time.Time{}, func() time.Time {
		h := last.Load()
		return h.told.Add(wall().Sub(h.wall))
	})
	f.tell(now, wall())
	return f
}

// Tell says what the other clock shows. Where that is behind what Following has shown, it stands still until then.
func (f *Following) Tell(now time.Time) { f.tell(now, time.Now()) }

func (f *Following) tell(now, wall time.Time) { f.heard.Store(&heard{now, wall}) }
