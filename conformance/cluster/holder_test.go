package cluster

import (
	"flag"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/conformance/cluster/load"
)

// holders is how often TestDeadMayflyHoldsACounter kills.
var holders = flag.Int("holders", 2, "kills in TestDeadMayflyHoldsACounter")

// A mayfly that is killed while it is busy on a counter has the counter locked, nearly always. The writers of another
// one wait until the lock's life is over, 3 s, and go on: they get an answer in far less than the 15 s of a request.
func TestDeadMayflyHoldsACounter(t *testing.T) {
	t.Parallel() // it mostly waits
	s := startSharing(t, 2)
	ctx := within(t, time.Minute)
	ways := s.overNoSQL(ctx, t, 1)
	// The feed of one load shows the writes of both, from its start on; so it is there before the other one writes.
	other, err := load.Start(ways[2:3], ways[2:3])
	if err != nil {
		t.Fatal(err)
	}
	await(t, other, 1, 0)
	busy, err := load.Start(ways[1:2], nil)
	if err != nil {
		t.Fatal(err)
	}
	both := loads{"killed": busy, "other": other}
	var longest time.Duration
	for range *holders {
		both.await(t, 50, 0)
		both.silence()
		s.processes[0].Kill()
		await(t, other, 50, 0)
		silence := other.Silence()
		t.Logf("writers of the other mayfly had no answer for %v", silence.Round(time.Millisecond))
		longest = max(longest, silence)
		s.processes[0].Again(t)
	}
	if longest >= load.Deadline {
		t.Errorf("no answer for %v, want less than %v", longest, load.Deadline)
	}
	both.stop(t.Context(), t)
}
