package reaper

import (
	"context"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/store"
)

// Sizes of one step. In a large batch a document costs less, but a large batch delays the commits of requests, which
// wait for it and share the log with it. While there are requests, a step has as many documents as take stepTime,
// within these bounds; without requests, or when the reaper is behind, it has the most.
const (
	fewestDocuments, mostDocuments = 128, 1024 // with their queue entries and changes, at most 5,000 keys
	fewestEntries, mostEntries     = 1024, 4096
	stepTime                       = 3 * time.Millisecond

	// entriesPerDocument is how many index entries of a sweep cost as much as one document.
	entriesPerDocument = 16
)

// slice is how long the reaper works on a container before it turns to the next one, and sweepSlice how long it
// sweeps. If it is behind, it sweeps less: fewer, later sweeps find more to remove.
const slice, sweepSlice, sweepBehind = 400 * time.Millisecond, 400 * time.Millisecond, 100 * time.Millisecond

// countStep is how many expired documents are counted in one step, which takes some milliseconds.
const countStep = 16_384

// reportEvery is how often the governor gets backlog and lag during a pass.
const reportEvery = 50 * time.Millisecond

// countDead counts the documents of a container that have expired since the last look.
func (r *Reaper) countDead(c *store.Container, l *ledger) error {
	now, at := r.now(), r.alive.Elapsed()
	for more := true; more; {
		watch := clock.Start()
		var n uint64
		var err error
		if n, more, err = r.o.Store.Deaths(r.running, c, now, &l.toll, countStep); err != nil {
			return err
		}
		l.arrive(n, at)
		r.governor.arrive(n)
		if n > 0 {
			r.report(false)
		}
		if more && !r.paced(step{took: watch.Elapsed()}) {
			return nil
		}
	}
	return nil
}

// report passes backlog and lag to the governor, unless it has done so just before and force is not set. Containers
// whose space cannot be freed do not count: working faster would not help.
func (r *Reaper) report(force bool) {
	if r.reported && !force && r.reportedAt.Elapsed() < reportEvery {
		return
	}
	backlog, lag, now := uint64(0), time.Duration(0), r.alive.Elapsed()
	for _, l := range r.ledgers {
		if !l.stuck {
			backlog += l.backlog()
			lag = max(lag, l.lag(now))
		}
	}
	r.reported, r.reportedAt = true, clock.Start()
	r.governor.owes(backlog, lag)
}

// tend reclaims the expired documents of a container, and sweeps its indexes if that is worthwhile, for a slice of time
// and as long as pace returns true. It reports whether there is more to do.
func (r *Reaper) tend(c *store.Container, l *ledger, pace func(step) bool) (more bool, err error) {
	if !r.due(c) {
		return false, nil
	}
	now := r.now()
	more = true
	for turn := clock.Start(); more && turn.Elapsed() < slice; {
		documents, _ := r.sizes()
		watch := clock.Start()
		done, err := r.reclaimStep(r.running, c, now, documents)
		if err != nil || done.Elsewhere {
			return false, err
		}
		r.count(done)
		more = done.More
		r.book(l, done)
		took := watch.Elapsed()
		r.learn(documents, done, took)
		searching := done.More && done.Documents < uint64(documents) // for documents that may not be in the backlog
		if !pace(step{documents: done.Documents, sweep: searching, took: took}) {
			return false, nil
		}
	}
	if !more {
		r.looked[c] = now
	}
	swept, err := r.sweep(c, l, pace)
	return err == nil && (more || swept), err
}

// book enters a step into the ledger of its container.
func (r *Reaper) book(l *ledger, done store.Reclaimed) {
	waited := l.backlog() > 0
	r.governor.arrive(l.free(done.Documents))
	if !done.More {
		l.settle()
	}
	r.report(waited && !done.More)
}

// sweep continues the sweep of a container for a slice of time; more reports that it is not over.
func (r *Reaper) sweep(c *store.Container, l *ledger, pace func(step) bool) (more bool, err error) {
	slice := sweepSlice
	if r.governor.behind() {
		slice = sweepBehind
	}
	turn := clock.Start()
	for r.o.Store.SweepDue(r.running, c, l.backlog()) {
		if turn.Elapsed() >= slice {
			return true, nil
		}
		_, entries := r.sizes()
		watch := clock.Start()
		done, err := r.sweepStep(r.running, c, entries)
		if err != nil {
			return false, err
		}
		r.count(done)
		if !pace(step{charged: uint64(entries) / entriesPerDocument, sweep: true, took: watch.Elapsed()}) {
			return false, nil
		}
	}
	return false, nil
}

// lookEvery is the number of seconds between two passes over a container whose lifetime counts from a property: such
// a pass visits every document.
const lookEvery = 10

// due reports whether a pass over a container may begin.
func (r *Reaper) due(c *store.Container) bool {
	if c.State().Policy.Ordered() {
		return true
	}
	return r.now() >= r.looked[c]+lookEvery
}

// trimEvery is the number of seconds between two attempts to trim the log.
const trimEvery = 60

// trim removes entries of the log that are too old.
func (r *Reaper) trim() {
	now := r.now()
	if r.paused.Load() || now < r.trimmed+trimEvery {
		return
	}
	r.trimmed = now
	if err := r.o.Store.TrimDue(r.running, now); err != nil && r.running.Err() == nil {
		r.o.Logger.Log(r.running, level(err), "trimming the log failed", "error", err)
	}
}

// sizes returns the number of documents of a step, and of index entries of a step of a sweep.
func (r *Reaper) sizes() (documents, entries int) {
	documents, entries = max(r.documentsPerStep, fewestDocuments), fewestEntries
	if r.governor.idle() || r.governor.behind() {
		documents, entries = mostDocuments, mostEntries
	}
	if r.o.Rate > 0 { // a step must not use the whole limit of a second
		documents = min(documents, max(1, r.o.Rate/8))
		entries = min(entries, documents*entriesPerDocument)
	}
	return documents, entries
}

// learn adapts the size of steps, so that one takes about stepTime.
func (r *Reaper) learn(asked int, done store.Reclaimed, took time.Duration) {
	switch {
	case took > stepTime*5/4:
		r.documentsPerStep = max(min(asked, r.documentsPerStep)*7/8, fewestDocuments)
	case took < stepTime*3/4 && int(done.Documents) == asked:
		r.documentsPerStep = min(max(r.documentsPerStep, fewestDocuments)*9/8, mostDocuments)
	}
}

// exhaust reclaims and sweeps a container without pauses. It reclaims twice, since the first call may continue a pass
// that is already past documents that have expired since it began.
func (r *Reaper) exhaust(ctx context.Context, c *store.Container) error {
	reclaim := func() (store.Reclaimed, error) { return r.reclaimStep(ctx, c, r.now(), mostDocuments) }
	sweep := func() (store.Reclaimed, error) { return r.sweepStep(ctx, c, mostEntries) }
	if err := r.o.Store.TendHere(ctx, c); err != nil {
		return err
	}
	for _, step := range []func() (store.Reclaimed, error){reclaim, reclaim, sweep} {
		for more := true; more; {
			done, err := step()
			if err == nil && done.Elsewhere { // taken away in the meantime
				if err = r.o.Store.TendHere(ctx, c); err == nil {
					continue
				}
			}
			if err != nil {
				return err
			}
			r.count(done)
			more = done.More
		}
	}
	return r.o.Store.Settle(ctx, c)
}
