//go:build cgo && linux && !race

package pebble

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/mayflydb/mayfly/internal/kv"
)

// TestCacheReturnsItsMemory fills the cache and makes it smaller: what is left over is the system's again. It happens
// once a minute at most.
func TestCacheReturnsItsMemory(t *testing.T) {
	if ranAlone(t) {
		return
	}
	const cache, values = 64 << 20, 48 << 10 // values of a KiB, which cannot be compressed
	e := start(t, Options{Dir: t.TempDir(), NoSync: true, MemTableBytes: 1 << 20, CacheBytes: cache})
	defer stop(t, e)
	random := rand.NewChaCha8([32]byte{})
	for i := 0; i < values; {
		var b kv.Batch
		for range 64 {
			value := make([]byte, 1<<10)
			random.Read(value)
			b.Set(fmt.Appendf(nil, "%06d", i), value)
			i++
		}
		if err := e.Apply(context.Background(), &b); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Compact(context.Background(), nil, nil); err != nil {
		t.Fatal(err)
	}
	rest(e, pauseChecks+1) // memtables return theirs
	for round, returned := range []bool{true, false} {
		for i := range values {
			ok := func([]byte) error { return nil }
			if found, err := e.Get(context.Background(), fmt.Appendf(nil, "%06d", i), ok); !found || err != nil {
				t.Fatal(found, err)
			}
		}
		rest(e, 1)
		before := residentBytes(t)
		release := e.cache.Reserve(cache * 3 / 4)
		rest(e, slackChecks)
		if after := residentBytes(t); (before-after > cache/4) != returned {
			t.Errorf("round %d: %d MiB were resident, and %d are after the cache has got smaller",
				round, before>>20, after>>20)
		}
		release()
	}
}
