package store

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/lease"
)

// Limits of one step of an index build: documents, and the number of entries from which it takes no further document.
const buildStep, buildEntries = 64, 2_000

// A build is how a container's background index build stands.
type build struct {
	running atomic.Bool
	percent atomic.Int32
}

func (s *Store) buildOf(c *catalog.Container) *build {
	b, _ := s.indexBuilds.LoadOrStore(c, &build{})
	return b.(*build)
}

// build starts the background build of a container's new index generation, unless one is under way. Writers maintain
// that generation from the moment the catalog shows it, so the build only has to visit every document once, in any
// order, and may start again after a restart or a failure.
func (s *Store) build(c *catalog.Container) {
	b := s.buildOf(c)
	if c.State().Building == nil || s.buildsOver.Err() != nil || !b.running.CompareAndSwap(false, true) {
		return
	}
	s.builds.Go(func() {
		defer b.running.Store(false)
		for st := c.State(); st.Building != nil && !st.Deleted; st = c.State() {
			b.percent.Store(0)
			err := s.buildInTurn(s.buildsOver, c, b)
			if err == catalog.ErrNoOwner || err == lease.ErrLost {
				return // the container was deleted, or another process builds
			}
			// The reaper asks for it through ResumeBuilds, logs it, and starts again.
			if err != nil && err != errOvertaken {
				s.failed.Store(&err)
				return
			}
		}
	})
}

// ResumeBuilds continues index builds and splits that have stopped before their end, and returns the error of the last
// one that failed, once. Where several processes share the data, these may be builds that another one has left.
func (s *Store) ResumeBuilds(ctx context.Context) error {
	if err := s.catalog.Refresh(ctx); err != nil {
		return err
	}
	for _, c := range s.catalog.AllContainers() {
		if c.State().Building != nil {
			s.build(c)
		}
		s.split(c)
	}
	if s.catalog.Shared() {
		s.resumeNamed(ctx)
	}
	if err := s.failed.Swap(nil); err != nil && s.buildsOver.Err() == nil {
		return *err
	}
	return nil
}

// buildInTurn is buildAll under the lease of it. If another process has that, it fails with lease.ErrLost.
func (s *Store) buildInTurn(ctx context.Context, c *catalog.Container, b *build) (err error) {
	var generation uint16
	t, ok, err := s.takeTurn(ctx, c, indexLease, keys.BuildOfPolicy, func() []uint32 {
		if st := c.State(); st.Building != nil {
			generation = st.Building.Generation
		}
		return []uint32{uint32(generation)}
	})
	if err != nil {
		return err
	}
	if !ok {
		return lease.ErrLost
	}
	defer func() { err = cmp.Or(err, t.end(ctx)) }()
	return s.buildAll(ctx, c, generation, b, t)
}

// buildAll visits every document, then makes the generation the one in use.
func (s *Store) buildAll(ctx context.Context, c *catalog.Container, generation uint16, b *build, t *buildTurn) error {
	mark, end := s.markBuild(ctx, c)
	defer end()
	passed := uint64(0) // in the ranges that are done
	ranges := c.State().Ranges()
	done := slices.IndexFunc(ranges, func(x catalog.Range) bool {
		return t.from() != 0 && x.Number == t.progress.Range
	})
	for i, x := range ranges {
		counter, err := counterOf(ctx, s.engine, c.KeysOf(x.Number))
		if err != nil {
			return err
		}
		if i < done { // by an earlier holder of the turn
			passed += counter.Number
			continue
		}
		next := keys.NumberOf(x.First(), 0)
		if i == done {
			next = max(next, t.from())
		}
		for {
			var over bool
			next, over, err = s.buildFrom(ctx, c, generation, c.KeysOf(x.Number), next, t)
			if fault.KindOf(err) == fault.Conflict {
				// A document of this step was written meanwhile. The step is repeated, and finds its new version.
				continue
			}
			if err != nil {
				return err
			}
			if over {
				break
			}
			mark.reached.Store(passed + keys.CountOfNumber(next))
			b.percent.Store(int32(min(99, mark.reached.Load()*100/max(1, mark.last))))
		}
		passed += counter.Number
	}
	return s.catalog.CompleteIndex(ctx, c, generation)
}

// buildFrom writes the entries of the documents of a range from a number on, and returns where to go on; over says that
// there are none left. In a range that was split since, there is nothing to do: its documents were copied with these
// entries. errOvertaken ends a build whose generation is no longer wanted.
func (s *Store) buildFrom(
	ctx context.Context, c *catalog.Container, generation uint16, rng keys.Range, from uint64, t *buildTurn,
) (next uint64, over bool, err error) {
	if err := ctx.Err(); err != nil {
		return 0, false, err
	}
	r := s.reclaimOf(c, rng.Range)
	r.mu.Lock() // no document may be reclaimed between the look at it and its entries
	defer r.mu.Unlock()
	// The instant does not matter: dead documents get entries too, which the sweep removes with the others.
	v, err := c.Enter(ctx, 0)
	if err != nil {
		return 0, false, err
	}
	if v.Building == nil || v.Building.Generation != generation {
		return 0, false, errOvertaken
	}
	if _, there := v.RangeNumbered(rng.Range); !there {
		return 0, true, nil
	}
	view, err := s.open(ctx, v.Read)
	if err != nil {
		return 0, false, err
	}
	b := &kv.Batch{Since: view.Mark, NoSync: true}
	m := newMatcher(v.Building.Indexing)
	count := 0
	_, upper := rng.Bounds(keys.KindRecord)
	var found terms
	err = walk(ctx, view.Reader, rng.Record(nil, from), upper, func(it kv.Iterator) error {
		number, err := keys.Number(it.Key())
		if err != nil {
			return corrupt(err, "document")
		}
		if count++; count > buildStep || len(b.Ops) >= buildEntries {
			next = number
			return errStopped
		}
		_, body, err := keys.DecodeHeader(it.Value())
		if err != nil {
			return corrupt(err, "document")
		}
		// A write of the document in between makes its own entries in the new generation. This step must not add those
		// of the old version after it.
		b.Read(append([]byte(nil), it.Key()...))
		found.collect(m, rng, generation, body)
		for i := range found.list {
			b.Set(found.entry(i, number), nil)
		}
		return nil
	})
	if err != nil && err != errStopped {
		return 0, false, err
	}
	if len(b.Ops) == 0 {
		return next, next == 0, nil
	}
	if err := t.guard(ctx, b, rng, next); err != nil {
		return 0, false, err
	}
	b.Follow(rng.Order(nil), unlessChanged(v))
	if err := s.engine.Apply(ctx, b); err != nil {
		return from, false, err // after fault.Conflict the caller repeats the step
	}
	return next, next == 0, nil
}

// unlessChanged passes a range's counter without changing it. A change of the container passes the counter too and
// may drop the generation that is being built; so it comes before the look at the state or after the batch, never in
// between.
func unlessChanged(v catalog.View) func([]byte, *kv.Batch) ([]byte, error) {
	return func(last []byte, b *kv.Batch) ([]byte, error) {
		counter, err := keys.DecodeCounter(last)
		if err != nil {
			return nil, corrupt(err, "order counter")
		}
		_, _, err = v.Pass(counter, b)
		return append([]byte{}, last...), err
	}
}

// errOvertaken ends a build whose generation is no longer wanted.
var errOvertaken = fault.New(fault.Precondition, "Another index build has begun.")

// IndexProgress is how far a background index build is, in per cent; 100 if
// none is wanted.
func (s *Store) IndexProgress(c *catalog.Container) int {
	if c.State().Building == nil {
		return 100
	}
	return int(s.buildOf(c).percent.Load())
}
