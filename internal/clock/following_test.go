package clock

import (
	"testing"
	"time"
)

// TestFollowing lets a clock follow another one on a machine whose own time is wrong and takes steps.
func TestFollowing(t *testing.T) {
	machine := time.Unix(5_000, 0)
	f := newFollowing(time.Unix(1_000_000, 0), func() time.Time { return machine })
	shows := func(want float64) {
		t.Helper()
		if got := float64(f.Now().UnixMilli()) / 1000; got != want {
			t.Errorf("shows %v, want %v", got, want)
		}
	}
	shows(1_000_000)
	machine = machine.Add(2 * time.Second)
	shows(1_000_002)
	machine = machine.Add(-time.Hour)
	shows(1_000_002)
	f.tell(time.Unix(1_000_010, 0), machine)
	shows(1_000_010)
	f.tell(time.Unix(1_000_004, 0), machine)
	shows(1_000_010)
	machine = machine.Add(7 * time.Second)
	shows(1_000_011)
}
