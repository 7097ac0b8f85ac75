package reaper

import (
	"sync"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
)

// A pending is for how long there has been something to reclaim without a pause. It measures the
// machine's time, so that a virtual clock that jumps by a year is no reason to worry, and costs
// nothing to ask.
type pending struct {
	mu    sync.Mutex
	since *clock.Stopwatch // nil while the reaper rests
}

// begin notes that a pass begins.
func (p *pending) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.since == nil {
		watch := clock.Start()
		p.since = &watch
	}
}

// end notes that there is nothing left to do, or that nothing is to be done.
func (p *pending) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.since = nil
}

// Pending is for how long the reaper has not come to the end of its work, because there is more
// than it can do, or because it fails; 0 while it rests or is paused.
func (r *Reaper) Pending() time.Duration {
	r.pending.mu.Lock()
	defer r.pending.mu.Unlock()
	if r.pending.since == nil || r.paused.Load() {
		return 0
	}
	return r.pending.since.Elapsed()
}

// Paused reports whether reclaiming is paused.
func (r *Reaper) Paused() bool { return r.paused.Load() }

// Freed is what has been reclaimed since the start.
func (r *Reaper) Freed() (documents, bytes, entries int64) {
	return r.documents.Load(), r.bytes.Load(), r.entries.Load()
}
