package main

import (
	"context"
	"log/slog"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/node"
)

// Sizes of memory, in bytes.
const (
	chosenByMachine = -1        // stands for --memory-limit that is not given
	leastMemory     = 128 << 20 // with less, a single large request would not fit
	engineMemory    = 160 << 20 // the most for block cache and memtables
	ownMemory       = 48 << 20  // the program itself, and structures that no budget counts
	worthReturning  = 16 << 20  // free bytes that are worth a return to the system
	worthShrinking  = 48 << 20  // bytes of the engine that make shrinking it worthwhile
	leastGarbage    = 32 << 20  // between two collections, even if little is alive
)

// quietRequests is the most requests per second at which the process still returns memory to the system.
const quietRequests = 1000

// idleChecks is the number of checks without a request after which the engine is asked to shrink.
const idleChecks = 3

// checkEvery is how often the process checks for memory to return.
const checkEvery = 3 * time.Second

// A memoryPlan divides the memory of the process. Zero means no limit.
type memoryPlan struct {
	engine int64 // its cache and memtables, or all data in memory
	node   int64 // everything else that requests need, garbage included
	heap   int64 // the memory limit of the Go runtime
}

// divide makes a plan for limit bytes. Data in memory may take half of them. On disk the engine gets at most a
// quarter. If mayfly is built with cgo, the engine allocates that outside the Go heap, and fragmentation of C's heap
// and the tables that it writes take up to three quarters as much again.
func divide(limit int64, inMemory bool) memoryPlan {
	switch {
	case limit == 0:
		return memoryPlan{}
	case inMemory:
		return memoryPlan{engine: limit / 2, node: limit/2 - ownMemory, heap: limit - ownMemory/2}
	}
	engine := min(limit/4, engineMemory)
	return memoryPlan{engine: engine, node: limit - engine - ownMemory, heap: limit - engine - engine*3/4 - ownMemory/2}
}

// divideMemory divides the memory that --memory-limit allows or the machine has, and sets the memory limit of the Go
// runtime, unless GOMEMLIMIT sets it.
func (cfg config) divideMemory(log *slog.Logger) memoryPlan {
	limit := cfg.memoryLimit
	if limit == chosenByMachine {
		limit = machineMemory(memlimit.FromCgroup, memlimit.FromSystem)
	}
	plan := divide(limit, cfg.memory)
	if plan.heap > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(plan.heap)
	}
	log.Debug("divided the memory", "limit", limit, "engine", plan.engine, "rest", plan.node, "heap", plan.heap)
	return plan
}

// machineMemory is four fifths of the container's memory limit, or half of the machine's memory, whichever is less; 0
// if neither is known.
func machineMemory(container, machine memlimit.Provider) (limit int64) {
	if bytes, err := machine(); err == nil {
		limit = int64(bytes / 2)
	}
	if bytes, err := container(); err == nil && (limit == 0 || int64(bytes)/5*4 < limit) {
		limit = int64(bytes) / 5 * 4
	}
	if limit == 0 {
		return 0
	}
	return max(limit, leastMemory)
}

// returnMemory returns free memory to the system while the process has few requests, until stop is called. While it has
// none, the engine returns its caches, too. At the first check, and when requests have ended, the pages of the program
// itself go: most of them are for the start alone.
func returnMemory(n *node.Node, log *slog.Logger) (stop func()) {
	base, more := heapBytes(), false
	var last uint64
	idle := 0 // checks without a request
	started := false
	return clock.NewReal(time.Time{}).Every(checkEvery, func(time.Time) {
		requests, held := n.Work()
		fresh := requests - last
		last = requests
		if idle++; fresh > 0 || held > 0 {
			idle = 0
		}
		if !started || idle == idleChecks {
			started = true
			if err := releaseProgram(); err != nil {
				log.Debug("pages of the program stay in memory", "error", err)
			}
		}
		if idle == idleChecks && n.EngineMemory() > worthShrinking {
			if err := n.Shrink(context.Background()); err != nil {
				log.Debug("the engine could not return memory", "error", err)
			}
			more = true // without cgo, its caches are garbage now
		}
		quiet := fresh < quietRequests*uint64(checkEvery/time.Second) && held == 0
		if before := heapBytes(); quiet && (more || before > base+base/8+worthReturning) {
			debug.FreeOSMemory()
			base = heapBytes()
			more = before > base+worthReturning // pools keep what they hold for one collection
		}
	})
}

// boundGarbage adjusts GOGC to what is alive beside the memory of an engine on disk, until stop is called. Go lets the
// heap double between two collections, and a program without cgo has some 150 MiB of caches in it; with cgo only the
// values that the engine remembers are there. They have no pointers, so a collection costs little. GOGC in the
// environment turns this off.
func boundGarbage(n *node.Node) (stop func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	set := 100
	return clock.NewReal(time.Time{}).Every(checkEvery, func(time.Time) {
		alive := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(alive)
		percent := garbagePercent(int64(alive[0].Value.Uint64()), int64(n.EngineMemory()))
		if percent < set-set/8 || percent > set+set/8 { // setting it stops the world
			debug.SetGCPercent(percent)
			set = percent
		}
	})
}

// garbagePercent is the GOGC at which as much garbage comes together as is alive in addition to the engine's memory, or
// leastGarbage.
func garbagePercent(alive, engine int64) int {
	garbage := max(alive-engine, leastGarbage)
	return int(max(10, min(100*garbage/max(alive, 1), 100)))
}

// heapBytes is the memory of the Go heap, including garbage and free parts that could be returned to the system.
func heapBytes() uint64 {
	samples := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"},
	}
	metrics.Read(samples)
	var total uint64
	for _, s := range samples {
		total += s.Value.Uint64()
	}
	return total
}
