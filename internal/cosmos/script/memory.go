package script

import (
	"runtime"
	"runtime/metrics"
	"sync/atomic"
)

// watchMemory calls over when the heap of the process has grown by maxGrowth
// since it was called. It looks after each garbage collection, which comes the
// sooner the faster the heap grows; it cannot tell whose memory it is. stop ends it.
func watchMemory(over func()) (stop func()) {
	w := &watch{limit: heapNow() + maxGrowth, over: over}
	w.arm()
	return func() { w.stopped.Store(true) }
}

type watch struct {
	limit   uint64
	over    func()
	stopped atomic.Bool
}

// arm leaves something behind for the next collection to find.
func (w *watch) arm() {
	sentinel := new([64]byte)
	runtime.AddCleanup(sentinel, (*watch).look, w)
}

func (w *watch) look() {
	switch {
	case w.stopped.Load():
	case heapLive() > w.limit:
		w.over()
	default:
		w.arm()
	}
}

// heapLive is what the last garbage collection has left.
func heapLive() uint64 { return measure("/gc/heap/live:bytes") }

// heapNow is all objects, dead ones that nobody has collected yet included.
func heapNow() uint64 { return measure("/memory/classes/heap/objects:bytes") }

func measure(name string) uint64 {
	sample := []metrics.Sample{{Name: name}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return sample[0].Value.Uint64()
}
