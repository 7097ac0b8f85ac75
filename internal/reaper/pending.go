package reaper

import (
	"sync"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
)

// pending measures how long there has been something to reclaim without interruption. It uses the machine's time, so
// that a jump of a virtual clock does not count, and reading it costs nothing.
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

// end notes that nothing is left to do, or that the reaper is paused.
func (p *pending) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.since = nil
}

// Pending is how long the reaper has not reached the end of its work, because there is too much or because it fails; 0
// while it has nothing to do or is paused.
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

// Freed returns what has been reclaimed since the start.
func (r *Reaper) Freed() (documents, bytes, entries int64) {
	return r.documents.Load(), r.bytes.Load(), r.entries.Load()
}
