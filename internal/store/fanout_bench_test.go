package store_test

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"testing"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/expiry"
)

// BenchmarkMergedWalk reads a page of 20 in the order of a value, and reports the memory that the walk holds when it is
// under way: that of its iterators and stacks. Blocks of the engine's cache are not counted.
func BenchmarkMergedWalk(b *testing.B) {
	const count = 50_000
	for _, ranges := range []int{1, 16, 256} {
		def := benchDefinition(expiry.Never)
		def.Partitions = ranges
		w := newDisk(b, def, true)
		w.fillGroups(count, count/100)
		w.ok(w.engine.Compact(context.Background(), nil, nil))
		b.Run(fmt.Sprintf("ranges=%d", ranges), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w.scanned(walkOf("name", nil), 20)
			}
			b.ReportMetric(float64(w.heldBy(walkOf("name", nil), 1000)), "B-held")
		})
	}
}

// heldBy is the memory that a scan holds after so many documents.
func (w *world) heldBy(a access.Access, documents int) int64 {
	before := inUse()
	next, stop := iter.Pull2(w.store.Scan(context.Background(), w.view(), a))
	defer stop()
	for range documents {
		if _, err, ok := next(); err != nil || !ok {
			w.t.Fatal(err, ok)
		}
	}
	return inUse() - before
}

// inUse is the memory of the heap and of stacks.
func inUse() int64 {
	var m runtime.MemStats
	for range 3 { // pools give up what they keep only at the second
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}
