package script

import (
	"runtime"
	"runtime/metrics"
	"sync/atomic"
)

// watchMemory calls stop when the heap of the process has grown by maxGrowth since it was called, or by more than
// the host has room for. It looks after each garbage collection, which comes the
// sooner the faster the heap grows. It cannot tell whose memory it is, but leaves out what
// other requests say that they hold. The function that it gives ends it.
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

// smallGrowth is what a script need not ask for, and the step in which it asks for more.
const smallGrowth = 16 << 20

func (w *watch) others() int64 {
	if w.host.Others == nil {
		return 0
	}
	return w.host.Others()
}

// arm leaves something behind for the next collection to find.
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
	case grown > smallGrowth && w.host.Room != nil && !w.host.Room((grown+smallGrowth-1)/smallGrowth*smallGrowth):
		w.stop(errNoRoom)
	default:
		w.arm()
	}
}

// heapLive is what the last garbage collection has left.
func heapLive() int64 { return measure("/gc/heap/live:bytes") }

// heapNow is all objects, dead ones that nobody has collected yet included.
func heapNow() int64 { return measure("/memory/classes/heap/objects:bytes") }

func measure(name string) int64 {
	sample := []metrics.Sample{{Name: name}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return int64(sample[0].Value.Uint64())
}
