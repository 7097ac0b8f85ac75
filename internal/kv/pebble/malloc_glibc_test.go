//go:build cgo && linux

package pebble

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/mayflydb/mayfly/internal/kv"
)

// TestOneHeap loads blocks in several threads: C has no heap for one of them.
func TestOneHeap(t *testing.T) {
	e := start(t, Options{Dir: t.TempDir(), NoSync: true, CacheBytes: 2 << 20})
	defer stop(t, e)
	const documents = 8 << 10
	for i := range documents {
		var b kv.Batch
		b.Set(fmt.Appendf(nil, "%06d", i), make([]byte, 1<<10))
		if err := e.Apply(context.Background(), &b); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Compact(context.Background(), nil, nil); err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	for n := range 8 {
		running.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			for i := range documents / 8 {
				key := fmt.Appendf(nil, "%06d", 8*i+n)
				if _, err := e.Get(context.Background(), key, func([]byte) error { return nil }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	running.Wait()
	if heaps := threadHeaps(t); len(heaps) > 0 {
		t.Errorf("C has more than one heap: %v", heaps)
	}
}

// threadHeaps finds the heaps that the GNU allocator has for threads: each has 64 MiB of addresses that begin at a
// multiple of 64 MiB, of which the first part can be read and written.
func threadHeaps(t *testing.T) (heaps []string) {
	t.Helper()
	const bytes = 64 << 20
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var before string
	var first, end uint64 // of the mapping before
	for lines := bufio.NewScanner(f); lines.Scan(); before = lines.Text() {
		var from, to uint64
		if _, err := fmt.Sscanf(lines.Text(), "%x-%x", &from, &to); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(lines.Text(), " ---p ") && strings.Contains(before, " rw-p ") && end == from &&
			first%bytes == 0 && to == first+bytes && first > 0x7000_0000_0000 {
			heaps = append(heaps, before)
		}
		first, end = from, to
	}
	return heaps
}
