package local

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/mayflydb/mayfly/internal/kv"
)

// TestChanges compares the table with exact memory: no change may be missed.
func TestChanges(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	c := NewChanges()

	const keys = 60_000
	exact := map[string]uint64{}
	for number := uint64(1); number <= 20_000; number++ {
		var b kv.Batch
		for range 1 + rng.IntN(9) {
			key := fmt.Appendf(nil, "%d", rng.IntN(keys))
			b.Set(key, nil)
			exact[string(key)] = number
		}
		c.Record(b.Ops, number)
	}
	wrong, alarms := 0, 0
	for key, changed := range exact {
		mark := rng.Uint64N(20_000)
		got := c.Since([][]byte{[]byte(key)}, kv.Mark(mark))
		if !got && changed > mark {
			t.Fatalf("change %d of %s after %d is missed", changed, key, mark)
		}
		if got {
			alarms++
		}
		if got && changed <= mark {
			wrong++
		}
	}
	t.Logf("%d alarms, %d of them false", alarms, wrong)
}

// TestChangesFalse bounds false conflicts in a window as long as a busy
// engine's batches wait.
func TestChangesFalse(t *testing.T) {
	c := NewChanges()
	const window, reads = 600, 200_000
	for i := range window {
		c.Record([]kv.Op{{Key: fmt.Append(nil, "written", i)}}, uint64(i+1))
	}
	conflicts := 0
	for i := range reads {
		if c.Since([][]byte{fmt.Append(nil, "read", i)}, 0) {
			conflicts++
		}
	}
	if conflicts > reads/2000 {
		t.Errorf("%d of %d keys that nobody wrote conflict", conflicts, reads)
	}
}
