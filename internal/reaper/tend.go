package reaper

import (
	"context"

	"github.com/mayflydb/mayfly/internal/store"
)

// Sizes of one step. Large batches stand in the way of durable commits that
// share the log with them, so they are for idle times only.
const (
	busyDocuments, idleDocuments = 32, 1024
	busyEntries, idleEntries     = 128, 4096

	// entriesPerDocument is how many index entries a sweep looks at for the
	// budget of one document.
	entriesPerDocument = 16
)

// tend reclaims what is expired in a container and sweeps its indexes if that
// is worth the pass, while pace says to go on.
func (r *Reaper) tend(c *store.Container, pace func(documents uint64) bool) error {
	if !r.due(c) {
		return nil
	}
	wave := uint64(0)
	for more := true; more; {
		documents, _ := r.sizes()
		done, err := r.o.Store.Reclaim(r.running, c, r.now(), documents)
		if err != nil {
			return err
		}
		r.count(done)
		wave += done.Documents
		if more = done.More; done.Documents > 0 && !pace(done.Documents) {
			return nil
		}
	}
	for r.o.Store.SweepDue(c) {
		_, entries := r.sizes()
		done, err := r.o.Store.Sweep(r.running, c, entries)
		if err != nil {
			return err
		}
		r.count(done)
		if !pace(uint64(entries) / entriesPerDocument) {
			return nil
		}
	}
	return r.settle(c, wave)
}

// lookEvery is how many seconds pass between two looks through every document
// of a container whose lifetime counts from a property.
const lookEvery = 10

// due reports whether a container's turn has come.
func (r *Reaper) due(c *store.Container) bool {
	if st := c.State(); st.Policy.Plain() && len(st.PastDates) == 0 {
		return true
	}
	if now := r.now(); now >= r.looked[c]+lookEvery {
		r.looked[c] = now
		return true
	}
	return false
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

// settle asks the engine for the space of a large wave. A compaction is felt by
// everyone, so it waits until there is no one; the engine's own come anyway, only later.
func (r *Reaper) settle(c *store.Container, wave uint64) error {
	if wave > 0 {
		r.owed[c] += wave
	}
	if r.owed[c] < settleFrom || !r.governor.idle() {
		return nil
	}
	delete(r.owed, c)
	return r.o.Store.Settle(r.running, c)
}

func (r *Reaper) sizes() (documents, entries int) {
	documents, entries = busyDocuments, busyEntries
	if r.governor.idle() {
		documents, entries = idleDocuments, idleEntries
	}
	if r.o.Rate > 0 { // no step takes a second's budget at once
		documents = min(documents, max(1, r.o.Rate/8))
		entries = min(entries, documents*entriesPerDocument)
	}
	return documents, entries
}

// exhaust reclaims and sweeps a container without regard for anyone. It
// reclaims twice, since the first may be the end of a pass that has come by what died meanwhile.
func (r *Reaper) exhaust(ctx context.Context, c *store.Container) error {
	reclaim := func() (store.Reclaimed, error) { return r.o.Store.Reclaim(ctx, c, r.now(), idleDocuments) }
	sweep := func() (store.Reclaimed, error) { return r.o.Store.Sweep(ctx, c, idleEntries) }
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
