package node

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"os"
	"runtime/metrics"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/mayflydb/mayfly/internal/admin"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/store"
)

// How often the sampler takes a sample, how many it keeps, how far the machine's time may go back before they are worth
// nothing, and for how long somebody who has looked counts as looking.
const (
	sampleEvery = time.Second
	samplesKept = 15 * 60
	sampleJump  = 60 // seconds
	seenTime    = time.Minute
)

// activity takes a sample of what a node does each second, of the machine's time, so that a virtual clock does not stop
// it. It reads what is counted anyway: requests know nothing of it.
type activity struct {
	n    *Node
	end  context.CancelFunc
	work sync.WaitGroup

	before counts // of the sample before; only the sampler uses it

	mu   sync.Mutex
	seen *clock.Stopwatch // since somebody looked; nil for never
	kept []admin.Sample   // the oldest first
	next chan struct{}    // closed when there is another sample
}

// counts are totals since the start.
type counts struct {
	answered, written, reclaimed, reclaimedBytes uint64

	nosql, mongo Totals
	still        bool // there was no request for two samples

	// The documents that had expired by the last surveys: reclaimed and backlog. The two are not read at one moment,
	// so the larger of two is what later ones are compared with.
	survey *store.Survey
	ended  [2]uint64
}

// startActivity begins to take samples. It is called where somebody can see them: with an admin address, and a meter.
func (n *Node) startActivity() *activity {
	a := &activity{n: n, next: make(chan struct{})}
	ctx, end := context.WithCancel(context.Background())
	a.end = end
	a.work.Go(func() {
		a.read() // what was before is no activity
		for clock.Pause(ctx, untilSample(clock.Wall())) == nil {
			a.take(clock.Wall().Unix())
		}
	})
	return a
}

// untilSample is how long the next sample is ahead. It is taken in the middle of a second, so that a tick that comes a
// little early or late has the second that it is for.
func untilSample(now time.Time) time.Duration {
	wait := now.Truncate(sampleEvery).Add(sampleEvery / 2).Sub(now)
	if wait < sampleEvery/4 {
		wait += sampleEvery
	}
	return wait
}

// close ends the sampler.
func (a *activity) close() {
	if a != nil {
		a.end()
		a.work.Wait()
	}
}

// Since gives the samples after a time; all of them if it is far after the newest: then the machine's clock was set
// back, and those that the time is from are not kept.
func (a *activity) Since(time int64) (list []admin.Sample, next <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	watch := clock.Start()
	a.seen = &watch
	if n := len(a.kept); n > 0 && time-sampleJump > a.kept[n-1].Time {
		time = 0
	}
	from, found := slices.BinarySearchFunc(a.kept, time, func(s admin.Sample, at int64) int {
		return cmp.Compare(s.Time, at)
	})
	if found {
		from++
	}
	return slices.Clone(a.kept[from:]), a.next
}

// take adds a sample at an instant of the machine's clock.
func (a *activity) take(at int64) {
	s := a.read()
	s.Time = at
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.kept) > 0 {
		last := a.kept[len(a.kept)-1].Time
		if at < last-sampleJump { // the machine's clock was set back
			a.kept = nil
		} else {
			s.Time = max(at, last+1)
		}
	}
	if len(a.kept) >= samplesKept {
		a.kept = slices.Delete(a.kept, 0, len(a.kept)-samplesKept+1)
	}
	a.kept = append(a.kept, s)
	close(a.next)
	a.next = make(chan struct{})
}

// read compares all counters with those of the sample before.
func (a *activity) read() (s admin.Sample) {
	n, was := a.n, &a.before
	s.MemoryBytes = processMemory()
	if answered := n.answered.Load(); answered != was.answered || !was.still {
		was.still = answered == was.answered // a request is in answered a moment before it is in the meter
		was.answered = answered
		s.NoSQL, s.Mongo = a.traffic(apiNoSQL, &was.nosql), a.traffic(apiMongo, &was.mongo)
	}
	n.gate.Enter() // loading a snapshot replaces all that counts below
	defer n.gate.Leave()
	now := n.clock.Now()
	s.Now = now.Unix()
	written := uint64(0)
	for _, c := range n.catalog.AllContainers() {
		written += c.Written()
	}
	s.Written = grown(&was.written, written)
	documents, bytes, _ := n.reaper.Freed()
	s.Reclaimed = grown(&was.reclaimed, uint64(documents))
	s.ReclaimedBytes = grown(&was.reclaimedBytes, uint64(bytes))
	survey := n.surveys.glance(context.Background(), a.share())
	if survey == nil {
		return s
	}
	s.Backlog, s.LagSeconds = survey.Backlog(), int64(lagOf(survey, now)/time.Second)
	if survey != was.survey {
		ended := uint64(documents) + s.Backlog
		if was.survey == nil { // what had expired before the first one is no activity
			was.ended = [2]uint64{ended, ended}
		}
		s.Expired = ended - min(ended, max(was.ended[0], was.ended[1]))
		was.survey, was.ended = survey, [2]uint64{was.ended[1], ended}
	}
	return s
}

// share is how much of its time the node may spend on surveys.
func (a *activity) share() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.seen != nil && a.seen.Elapsed() < seenTime {
		return glanceShare
	}
	return unseenShare
}

// grown is by how much a counter has grown. One that is smaller than before has another beginning: a container was
// deleted, or a snapshot loaded.
func grown(was *uint64, is uint64) uint64 {
	before := *was
	*was = is
	return is - min(is, before)
}

// traffic compares the requests of an API with those of the sample before.
func (a *activity) traffic(api string, was *Totals) (t admin.Traffic) {
	var is Totals
	a.n.meter.Totals(api, &is)
	took := slices.Clone(is.Took)
	for i := range was.Took {
		took[i] -= min(took[i], was.Took[i])
	}
	for _, n := range took {
		t.Requests += n
	}
	t.Errors = min(is.Errors-min(is.Errors, was.Errors), t.Requests)
	t.P50Ms, t.P99Ms = quantile(is.Bounds, took, 0.5), quantile(is.Bounds, took, 0.99)
	*was = is
	return t
}

// quantile estimates in milliseconds how long a part of the requests took at most: they count as evenly spread between
// the bounds of their bucket. Beyond the last bound, the answer is that bound.
func quantile(bounds []float64, took []uint64, part float64) float64 {
	all := uint64(0)
	for _, n := range took {
		all += n
	}
	if all == 0 {
		return 0
	}
	rank, below := part*float64(all), 0.0
	for i, bound := range bounds {
		here := float64(took[i])
		if here > 0 && below+here >= rank {
			from := 0.0
			if i > 0 {
				from = bounds[i-1]
			}
			return inMilliseconds(from + (bound-from)*(rank-below)/here)
		}
		below += here
	}
	return inMilliseconds(bounds[len(bounds)-1])
}

// inMilliseconds rounds to microseconds.
func inMilliseconds(seconds float64) float64 { return math.Round(seconds*1e6) / 1e3 }

// processMemory is how many bytes of memory the process uses: those that the system counts, on Linux, elsewhere those
// of the Go runtime.
func processMemory() uint64 {
	// https://man7.org/linux/man-pages/man5/proc_pid_statm.5.html: size, resident, …, in pages
	if text, err := os.ReadFile("/proc/self/statm"); err == nil {
		if fields := bytes.Fields(text); len(fields) > 1 {
			if pages, err := strconv.ParseUint(string(fields[1]), 10, 64); err == nil {
				return pages * uint64(os.Getpagesize())
			}
		}
	}
	samples := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
	}
	metrics.Read(samples)
	return samples[0].Value.Uint64() - samples[1].Value.Uint64()
}
