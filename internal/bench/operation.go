package bench

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/mayflydb/mayfly/internal/clock"
)

// A Suite is a set of operations on containers with documents, at one endpoint. Each is measured by itself.
type Suite struct {
	Operations []*Operation
	// Close deletes what the suite has made.
	Close func(ctx context.Context) error
}

// An Operation is a request that Measure sends repeatedly, each time with other values. It is safe for concurrent use.
type Operation struct {
	Name string
	// do sends the request and reads its answer; check also fails if the answer is not what a correct endpoint
	// returns. No two calls have the same n.
	do, check func(ctx context.Context, n int) error
	// kind says in a word why a call failed, such as "429".
	kind func(error) string
	next atomic.Int64
}

// Operation finds an operation by its name.
func (s *Suite) Operation(name string) *Operation {
	for _, o := range s.Operations {
		if o.Name == name {
			return o
		}
	}
	return nil
}

// Check sends the request of an operation once and fails if its answer is wrong.
func (o *Operation) Check(ctx context.Context) error {
	if err := o.check(ctx, int(o.next.Add(1))); err != nil {
		return fmt.Errorf("%s: %w", o.Name, err)
	}
	return nil
}

// A Sample is what one turn of an operation has measured.
type Sample struct {
	Calls, Failures int64
	PerSecond       float64
	P50, P99        float64 // in milliseconds
	// CPU is the processor time of the server for each call, in microseconds; 0 if its process is not known.
	CPU float64
}

// Measure repeats an operation until a duration is over or ctx ends. It waits for the calls that have begun until then,
// so that a slow operation is measured, too. server may be nil. It fails if no call succeeds.
func Measure(ctx context.Context, o *Operation, clients int, d time.Duration, server *Process) (Sample, error) {
	before, err := server.processorTime()
	if err != nil {
		return Sample{}, err
	}
	var (
		wait     sync.WaitGroup
		mu       sync.Mutex
		latency  = newHistogram()
		failures = map[string]int64{}
	)
	watch := clock.Start()
	for range clients {
		wait.Go(func() {
			own, failed := o.repeat(ctx, watch, d)
			mu.Lock()
			defer mu.Unlock()
			latency.Merge(own)
			for kind, n := range failed {
				failures[kind] += n
			}
		})
	}
	wait.Wait()
	elapsed := watch.Elapsed().Seconds()
	after, err := server.processorTime()
	if err != nil {
		return Sample{}, err
	}
	s := Sample{Calls: latency.TotalCount()}
	for _, n := range failures {
		s.Failures += n
	}
	if s.Calls == 0 {
		return s, fmt.Errorf("%s: no call succeeded: %s", o.Name,
			strings.Join(slices.Sorted(maps.Keys(failures)), ", "))
	}
	s.PerSecond = float64(s.Calls) / elapsed
	s.P50, s.P99 = float64(latency.ValueAtQuantile(50))/1000, float64(latency.ValueAtQuantile(99))/1000
	s.CPU = float64((after - before).Microseconds()) / float64(s.Calls+s.Failures)
	return s, nil
}

// repeat is one client, until a duration since watch is over. It returns the latencies of calls that succeeded, in
// microseconds, and counts the others by kind.
func (o *Operation) repeat(ctx context.Context, watch clock.Stopwatch, d time.Duration) (
	*hdrhistogram.Histogram, map[string]int64) {
	latency, failures := newHistogram(), map[string]int64{}
	for ctx.Err() == nil && watch.Elapsed() < d {
		call := clock.Start()
		if err := o.do(ctx, int(o.next.Add(1))); err != nil {
			countFailure(failures, o.kind(err))
			continue
		}
		recordLatency(latency, call.Elapsed())
	}
	return latency, failures
}
