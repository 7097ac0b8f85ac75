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
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/node"
)

// Sizes of memory, in bytes.
const (
	chosenByMachine = -1        // the value of --memory-limit that nobody gives
	leastMemory     = 128 << 20 // below this, a single large request would not fit
	engineMemory    = 160 << 20 // block cache and memtables, where there is enough
	ownMemory       = 48 << 20  // the program itself, and structures that no budget counts
	worthReturning  = 16 << 20  // that are free before they are given back to the system
	worthShrinking  = 48 << 20  // that the engine holds before it is asked to shrink
)

// quietRequests is how many requests a second the process may have while it gives memory back.
const quietRequests = 1000

// silentLooks is after how many looks without a request the engine counts as at rest.
const silentLooks = 3

// lookEvery is how often the process looks for memory to give back.
const lookEvery = 3 * time.Second

// A memoryPlan divides the memory of the process. Zeros are no limits.
type memoryPlan struct {
	engine int64 // its cache and memtables, or all data in memory
	node   int64 // everything else that requests need, garbage included
	heap   int64 // what the Go runtime keeps its heap below
}

// divide makes a plan for that many bytes. Data in memory may take half of them. On disk the engine has
// a quarter at most, which it allocates outside of the Go heap where mayfly is built with cgo; holes in C's heap and
// the tables that it writes take up to three quarters as much again.
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

// divideMemory divides what --memory-limit says or the machine has, and limits the heap to it unless
// GOMEMLIMIT does.
func (cfg config) divideMemory(log *slog.Logger) memoryPlan {
	limit := cfg.memoryLimit
	if limit == chosenByMachine {
		limit = machineMemory(memlimit.FromCgroup, memlimit.FromSystem)
	}
	plan := divide(limit, cfg.memory)
	if plan.heap > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(plan.heap)
	}
	log.Debug("memory is divided", "limit", limit, "engine", plan.engine, "rest", plan.node, "heap", plan.heap)
	return plan
}

// machineMemory is four fifths of what the container may take, or half of what the machine has, whichever
// is less; 0 when neither is known.
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

// keepMemory gives memory that has become free back to the system when the process is quiet, until it is told
// to stop. An engine that nobody asks anything gives back what it holds to be faster.
func keepMemory(n *node.Node, engine kv.Engine, log *slog.Logger) (stop func()) {
	shrinker, _ := engine.(kv.Shrinker)
	base, more := heapBytes(), false
	var last uint64
	silent := 0 // looks without a request
	return clock.NewReal(time.Time{}).Every(lookEvery, func(time.Time) {
		requests, held := n.Work()
		fresh := requests - last
		last = requests
		if silent++; fresh > 0 || held > 0 {
			silent = 0
		}
		if shrinker != nil && silent == silentLooks && n.EngineMemory() > worthShrinking {
			if err := shrinker.Shrink(context.Background()); err != nil {
				log.Debug("the engine gives no memory back", "error", err)
			}
		}
		quiet := fresh < quietRequests*uint64(lookEvery/time.Second) && held == 0
		if before := heapBytes(); quiet && (more || before > base+base/8+worthReturning) {
			debug.FreeOSMemory()
			base = heapBytes()
			more = before > base+worthReturning // pools keep what they hold for one collection
		}
	})
}

// heapBytes is the memory that the Go heap holds, garbage and free parts that the system could have included.
func heapBytes() uint64 {
	samples := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/free:bytes"}, {Name: "/memory/classes/heap/unused:bytes"},
	}
	metrics.Read(samples)
	var total uint64
	for _, s := range samples {
		total += s.Value.Uint64()
	}
	return total
}
