package reaper

import (
	"context"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/store"
)

// Sizes of one step. A document costs less in a large batch, and a large batch stands in the way of commits: it
// is one turn of theirs, and its bytes are in the log that they share. While requests come, a step has as many documents as
// take stepTime, from the smaller number to the larger one; without them, or when the reaper is behind, the larger one.
const (
	fewestDocuments, mostDocuments = 128, 1024 // and their queue entries and changes: 5,000 keys
	fewestEntries, mostEntries     = 1024, 4096
	stepTime                       = 3 * time.Millisecond

	// entriesPerDocument is how many index entries a sweep looks at for the
	// budget of one document.
	entriesPerDocument = 16
)

// slice is for how long a container is tended before it is the next one's turn, and sweepSlice the same of its sweep.
// While the reaper is behind, sweeps have to wait: fewer of them find more.
const slice, sweepSlice, sweepBehind = 400 * time.Millisecond, 400 * time.Millisecond, 100 * time.Millisecond

// countStep is how many of the dead are counted at once, some milliseconds.
const countStep = 16_384

// tellEvery is how often the governor is told during a pass how much there is to do.
const tellEvery = 50 * time.Millisecond

// countDead finds out who has died in a container since the last look.
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
			r.tell(false)
		}
		if more && !r.paced(step{took: watch.Elapsed()}) {
			return nil
		}
	}
	return nil
}

// tell tells the governor how much there is to do, if it was not told just now. A container whose space cannot be freed is no reason to hurry.
func (r *Reaper) tell(anyway bool) {
	if r.told && !anyway && r.toldAt.Elapsed() < tellEvery {
		return
	}
	backlog, lag, now := uint64(0), time.Duration(0), r.alive.Elapsed()
	for _, l := range r.ledgers {
		if !l.stuck {
			backlog += l.backlog()
			lag = max(lag, l.lag(now))
		}
	}
	r.told, r.toldAt = true, clock.Start()
	r.governor.owes(backlog, lag)
}

// tend reclaims what is expired in a container and sweeps its indexes if that
// is worth the pass, for a slice of time and while pace says to go on. It reports whether there is more.
func (r *Reaper) tend(c *store.Container, l *ledger, pace func(step) bool) (more bool, err error) {
	if !r.due(c) {
		return false, nil
	}
	now := r.now()
	more = true
	for turn := clock.Start(); more && turn.Elapsed() < slice; {
		documents, _ := r.sizes()
		watch := clock.Start()
		done, err := r.o.Store.Reclaim(r.running, c, now, documents)
		if err != nil {
			return false, err
		}
		r.count(done)
		more = done.More
		r.book(l, done)
		took := watch.Elapsed()
		r.learn(documents, done, took)
		looking := done.More && done.Documents < uint64(documents) // for what nobody has counted, perhaps
		if !pace(step{documents: done.Documents, sweep: looking, took: took}) {
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
	r.tell(waited && !done.More)
}

// sweep goes on with the sweep of a container for a slice of time; more reports that it is not over.
func (r *Reaper) sweep(c *store.Container, l *ledger, pace func(step) bool) (more bool, err error) {
	slice := sweepSlice
	if r.governor.behind() {
		slice = sweepBehind
	}
	turn := clock.Start()
	for r.o.Store.SweepDue(c, l.backlog()) {
		if turn.Elapsed() >= slice {
			return true, nil
		}
		_, entries := r.sizes()
		watch := clock.Start()
		done, err := r.o.Store.Sweep(r.running, c, entries)
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

// lookEvery is how many seconds pass between two looks through every document
// of a container whose lifetime counts from a property.
const lookEvery = 10

// due reports whether a container's turn has come.
func (r *Reaper) due(c *store.Container) bool {
	if c.State().Policy.Ordered() {
		return true
	}
	return r.now() >= r.looked[c]+lookEvery
}

// trimEvery is how many seconds pass between two looks at the age of the log.
const trimEvery = 60

// trim drops what is too old in the log.
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

// sizes is how much one step takes on.
func (r *Reaper) sizes() (documents, entries int) {
	documents, entries = max(r.documentsPerStep, fewestDocuments), fewestEntries
	if r.governor.idle() || r.governor.behind() {
		documents, entries = mostDocuments, mostEntries
	}
	if r.o.Rate > 0 { // no step takes a second's budget at once
		documents = min(documents, max(1, r.o.Rate/8))
		entries = min(entries, documents*entriesPerDocument)
	}
	return documents, entries
}

// learn moves the size of a step towards what takes stepTime.
func (r *Reaper) learn(asked int, done store.Reclaimed, took time.Duration) {
	switch {
	case took > stepTime*5/4:
		r.documentsPerStep = max(min(asked, r.documentsPerStep)*7/8, fewestDocuments)
	case took < stepTime*3/4 && int(done.Documents) == asked:
		r.documentsPerStep = min(max(r.documentsPerStep, fewestDocuments)*9/8, mostDocuments)
	}
}

// exhaust reclaims and sweeps a container without regard for anyone. It
// reclaims twice, since the first may be the end of a pass that has come by what died meanwhile.
func (r *Reaper) exhaust(ctx context.Context, c *store.Container) error {
	reclaim := func() (store.Reclaimed, error) { return r.o.Store.Reclaim(ctx, c, r.now(), mostDocuments) }
	sweep := func() (store.Reclaimed, error) { return r.o.Store.Sweep(ctx, c, mostEntries) }
	for _, step := range []func() (store.Reclaimed, error){reclaim, reclaim, sweep} {
		for more := true; more; {
			done, err := step()
			if err != nil {
				return err
			}
			r.count(done)
			more = done.More
		}
	}
	return r.o.Store.Settle(ctx, c)
}
