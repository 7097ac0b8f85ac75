package script

import (
	"runtime"
	"runtime/metrics"
	"sync/atomic"
)

// watchMemory calls stop when the heap of the process has grown by maxGrowth since the call, or by more than the host
// can reserve. It checks after each garbage collection; the faster the heap grows, the sooner that is. It cannot
// attribute memory to a script, but subtracts what other requests report. The returned function ends the watch.
func watchMemory(host Host, stop func(error)) (end func()) {
	w := &watch{host: host, stop: stop}
	w.base = heapNow() - w.others()
	w.arm()
	return func() { w.ended.Store(true) }
}

type watch struct {
	host  Host
	stop  func(error)
	base  int64
	ended atomic.Bool
}

// smallGrowth is the growth that needs no reservation, and the step in which reservations grow.
const smallGrowth = 16 << 20

func (w *watch) others() int64 {
	if w.host.OthersMemory == nil {
		return 0
	}
	return w.host.OthersMemory()
}

// arm leaves an object for the next garbage collection to find.
func (w *watch) arm() {
	sentinel := new([64]byte)
	runtime.AddCleanup(sentinel, (*watch).look, w)
}

func (w *watch) look() {
	if w.ended.Load() {
		return
	}
	grown := heapLive() - w.others() - w.base
	switch {
	case grown > maxGrowth:
		w.stop(errMemory)
	case grown > smallGrowth && w.host.Reserve != nil && !w.host.Reserve((grown+smallGrowth-1)/smallGrowth*smallGrowth):
		w.stop(errShortOfMemory)
	default:
		w.arm()
	}
}

// heapLive is the live heap after the last garbage collection.
func heapLive() int64 { return measure("/gc/heap/live:bytes") }

// heapNow is the size of all objects, including dead ones that have not been collected.
func heapNow() int64 { return measure("/memory/classes/heap/objects:bytes") }

func measure(name string) int64 {
	sample := []metrics.Sample{{Name: name}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return int64(sample[0].Value.Uint64())
}
