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

// TestChangesFalse bounds false conflicts in a window as long as a busy engine's batches wait: small ones of 64
// writers, or three of 1,000 documents with ten keys each beside a fourth one, which reads a key of each.
func TestChangesFalse(t *testing.T) {
	const reads = 200_000
	for _, window := range []int{600, 30_000} {
		c := NewChanges()
		for i := range 2 * window { // the first half was before the mark
			c.Record([]kv.Op{{Key: fmt.Append(nil, "written", i)}}, uint64(i/10+1))
		}
		conflicts := 0
		for i := range reads {
			if c.Since([][]byte{fmt.Append(nil, "read", i)}, kv.Mark(window/10)) {
				conflicts++
			}
		}
		t.Logf("window of %d: %d conflicts", window, conflicts)
		if conflicts > reads/10_000 {
			t.Errorf("%d of %d keys that nobody wrote conflict after %d changes", conflicts, reads, window)
		}
	}
}

func BenchmarkChanges(b *testing.B) {
	c := NewChanges()
	var ops []kv.Op
	var keys [][]byte
	for i := range 17 {
		ops = append(ops, kv.Op{Key: fmt.Append(nil, "a key of a document, and of some length ", i)})
		keys = append(keys, ops[i].Key)
	}
	for number := uint64(1); b.Loop(); number++ {
		ops[number%17].Key[0]++
		if c.Since(keys[:2], kv.Mark(number)) {
			b.Fatal("a change in the future")
		}
		c.Record(ops, number)
	}
}
