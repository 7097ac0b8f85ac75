package catalog

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// sharing is the authority of a process that shares the data with others. What it has in memory is a cache. Each use
// of it is proved: a request reads the container's epoch in its view, a writer compares the one in the counter that it
// passes, and a change of the catalog depends on the revision that it has started from.
type sharing struct{ c *Catalog }

// A lostTurn is the error of a change that another process's change came before.
type lostTurn struct{ err error }

func (e *lostTurn) Error() string { return e.err.Error() }
func (e *lostTurn) Unwrap() error { return e.err }

// exclusively gives change a view and brings the cache up to it, until no other process comes between.
func (s *sharing) exclusively(ctx context.Context, c *Catalog, change func() error) error {
	for attempt := range maxTurns {
		if err := c.takeTurn(ctx); err != nil {
			return err
		}
		err := change()
		if _, lost := err.(*lostTurn); !lost {
			return err
		}
		// Each process waits for another time, so that one of them comes first.
		if err := clock.Pause(ctx, rand.N(time.Duration(1+min(attempt, maxPause))*time.Millisecond)); err != nil {
			return err
		}
	}
	return errManyChanges
}

// Bounds of a change that other processes come before: how often it is tried, and the longest pause in milliseconds.
const (
	maxTurns = 200
	maxPause = 9
)

var errManyChanges = fault.New(fault.Busy, "Too many changes of databases and containers at once. Try again.")

// takeTurn opens the view of a change, and brings the cache up to it.
func (c *Catalog) takeTurn(ctx context.Context) (err error) {
	if c.turn, err = c.engine.View(ctx); err != nil {
		return err
	}
	if err := c.catchUp(ctx); err != nil {
		return err
	}
	t, err := readTrail(ctx, c.turn)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trail = t
	return nil
}

// apply makes the change depend on the revision that the turn has seen. A change that concerns containers passes their
// counters, and so is ordered among the writes of their documents; it leaves its epoch in each.
func (s *sharing) apply(
	c *Catalog, fill func(*kv.Batch) error, apply func(*kv.Batch) error, touched []touch,
) error {
	b := &kv.Batch{Since: c.turn.Mark}
	b.Read(keys.CatalogKey(countersKind))
	c.passed = 0
	var failed error
	if len(touched) == 0 {
		if err := fill(b); err != nil {
			return err
		}
	} else {
		for _, ct := range touched {
			b.Read(keys.CatalogKey(containerKind, ct.ID)) // DeclareDead changes it without a revision
		}
		c.passCounters(b, touched, func(b *kv.Batch) error {
			failed = fill(b)
			return failed
		})
	}
	err := apply(b)
	if failed != nil {
		return failed
	}
	if fault.KindOf(err) == fault.Conflict {
		return &lostTurn{err}
	}
	return err
}

// append writes the record of the revision as it is, so that of two batches with the same numbers one begins again.
func (s *sharing) append(ctx context.Context, c *Catalog, b *kv.Batch) error {
	key := keys.CatalogKey(countersKind)
	b.Since = c.turn.Mark
	b.Read(key)
	b.Set(key, encode(c.counters))
	err := c.engine.Apply(ctx, b)
	if fault.KindOf(err) == fault.Conflict {
		return &lostTurn{err}
	}
	return err
}

func (s *sharing) trail(ctx context.Context, c *Catalog) (trail, error) {
	return readTrail(ctx, c.engine)
}

// deletedEpoch is in the counters of a container that is being deleted, and in that of a range that was split.
const deletedEpoch = math.MaxUint64

// passCounters makes b pass the counters of containers, in the order of their keys. With the last, it calls fill.
func (c *Catalog) passCounters(b *kv.Batch, touched []touch, fill func(*kv.Batch) error) {
	type passing struct {
		key   []byte
		epoch uint64
	}
	var orders []passing
	for _, ct := range touched {
		for _, number := range ct.numbersOf() {
			epoch := c.counters.Sequence + 1
			if ct.deletes || ct.retires.Of(number) {
				epoch = deletedEpoch
			}
			orders = append(orders, passing{ct.KeysOf(number).Order(nil), epoch})
		}
	}
	slices.SortFunc(orders, func(x, y passing) int { return bytes.Compare(x.key, y.key) })
	for i, x := range orders {
		b.Follow(x.key, func(last []byte, b *kv.Batch) ([]byte, error) {
			counter, err := keys.DecodeCounter(last)
			if err != nil {
				return nil, fault.Wrap(fault.Corrupt, err, "an order counter cannot be read")
			}
			if i == 0 {
				c.passed = 0 // the engine may begin again
			}
			c.passed = max(c.passed, counter.Sequence)
			if i == len(orders)-1 {
				if err := fill(b); err != nil {
					return nil, err
				}
			}
			counter.Epoch = x.epoch
			return counter.Append(nil), nil
		})
	}
}

func (s *sharing) present(ctx context.Context, c *Catalog, ct *Container) (*State, error) {
	return c.stateIn(ctx, c.turn, ct)
}

// refuse has nothing to do: writers see the deletion in the counters, readers in their views. Until its commit the
// container is there.
func (s *sharing) refuse([]*Container) (restore func()) { return func() {} }

// reserve is a change by itself, so that no other process gives the numbers out.
func (s *sharing) reserve(ctx context.Context, c *Catalog, database bool) (counters, error) {
	err := c.change(ctx, func(n *revision, _ *kv.Batch) error {
		n.Container++
		if database {
			n.Database++
		}
		return nil
	}, func() {})
	return c.counters, err
}

func (s *sharing) instant(c *Catalog, _ expiry.Stamp) expiry.Stamp { return c.turn.Time.Unix() }

// closing bounds the commit to the second in which it is made: whoever has read the old state has done so in that
// second or earlier. A change that comes too late is made again in the next.
func (s *sharing) closing(ct *Container, now expiry.Stamp, b *kv.Batch) expiry.Stamp {
	if ct.draft {
		return ct.advance(now)
	}
	now = b.Time.Unix()
	if end := time.Unix(now+1, 0); b.Before.IsZero() || end.Before(b.Before) {
		b.Before = end
	}
	return now
}

// stateIn reads a container's state. A deleted container is ErrNoOwner.
func (c *Catalog) stateIn(ctx context.Context, r kv.Reader, ct *Container) (st *State, err error) {
	found, err := r.Get(ctx, keys.CatalogKey(containerKind, ct.ID), func(value []byte) error {
		var s stored
		if err := decode(value, &s); err != nil {
			return err
		}
		st, err = c.thaw(&s)
		return err
	})
	if err == nil && !found {
		err = ErrNoOwner
	}
	return st, err
}

// thaw prepares a state that was read.
func (c *Catalog) thaw(s *stored) (*State, error) {
	st := s.State
	st.Policy.PastDates = s.PastDates
	st.epoch = s.Epoch
	if err := st.compile(c.condition); err != nil {
		return nil, fault.Wrap(fault.Corrupt, err, "container %d cannot be read", s.ID)
	}
	return st, nil
}

// declareDeadIn is DeclareDead within a turn. It depends on the container alone, and is no revision: no answer depends
// on the floors. The instant is one that has passed by the commit, so the policy says the same from then on.
func (c *Catalog) declareDeadIn(ctx context.Context, ct *Container) (*State, error) {
	old, err := c.stateIn(ctx, c.turn, ct)
	if err == ErrNoOwner {
		return ct.State(), nil
	}
	if err != nil {
		return nil, err
	}
	next := *old
	next.Policy.InheritFloor, next.Policy.OwnFloor = old.Policy.Floors(c.turn.Time.Unix())
	if next.Policy.InheritFloor == old.Policy.InheritFloor && next.Policy.OwnFloor == old.Policy.OwnFloor {
		return old, nil
	}
	b := &kv.Batch{Since: c.turn.Mark, Frees: true}
	b.Read(keys.CatalogKey(containerKind, ct.ID))
	c.saveContainer(b, ct, &next)
	switch err := c.engine.Apply(ctx, b); {
	case fault.KindOf(err) == fault.Conflict:
		return nil, &lostTurn{err}
	case err != nil:
		return nil, err
	}
	ct.replace(&next)
	return &next, nil
}

// enter reads everything in one view, whose time is the request's.
func (s *sharing) enter(ctx context.Context, ct *Container, _ expiry.Stamp, m *Moment) (View, error) {
	for {
		read, earlier, err := s.open(ctx, m)
		if err != nil {
			return View{}, err
		}
		v := View{Container: ct, State: ct.state.Load(), Now: read.Time.Unix(), Read: read}
		if v.Deleted {
			return View{}, ErrNoOwner
		}
		if ct.draft {
			return v, nil
		}
		epoch, known := uint64(0), false
		if earlier {
			epoch, known = m.epochOf(ct)
		}
		if !known {
			if epoch, err = epochIn(ctx, read, ct); err != nil {
				return View{}, err
			}
		}
		switch {
		case epoch == 0 && earlier: // the request itself may have created it since
			continue
		case epoch == 0:
			return View{}, ErrNoOwner
		case epoch == v.epoch:
			return v, nil
		case epoch < v.epoch: // another request has a later view
			continue
		}
		if v.State, err = s.c.stateIn(ctx, read, ct); err != nil {
			return View{}, err
		}
		ct.replace(v.State)
		return v, nil
	}
}

// open is the view of a moment, which is earlier than the call, or else a new one.
func (s *sharing) open(ctx context.Context, m *Moment) (view *kv.View, earlier bool, err error) {
	if view := m.take(); view != nil {
		return view, true, nil
	}
	v, err := s.c.engine.View(ctx)
	return &v, false, err
}

// epochIn is the epoch of a container, 0 if it does not exist.
func epochIn(ctx context.Context, r kv.Reader, ct *Container) (epoch uint64, err error) {
	_, err = r.Get(ctx, keys.EpochKey(ct.ID), func(value []byte) (err error) {
		epoch, err = decodeEpoch(ct, value)
		return err
	})
	return epoch, err
}

func decodeEpoch(ct *Container, value []byte) (epoch uint64, err error) {
	if epoch, err = keys.DecodeNumber(value); err != nil {
		err = fault.Wrap(fault.Corrupt, err, "the epoch of container %d cannot be read", ct.ID)
	}
	return epoch, err
}

// pass compares epochs under the counter. Those of a draft begin with its publication.
func (s *sharing) pass(v View, counter keys.Counter, b *kv.Batch) (expiry.Stamp, uint64, error) {
	now := max(v.Now, b.Time.Unix())
	if v.Container.draft {
		if v.Container.State().epoch != v.epoch && v.Container.published == 0 {
			return 0, 0, errChanged
		}
		return now, v.Container.published, nil
	}
	if counter.Epoch != v.epoch {
		return 0, 0, errChanged
	}
	return now, counter.Epoch, nil
}

// refresh need not look: what was read in a view held at its moment.
func (s *sharing) refresh(v View) (expiry.Stamp, error) { return v.Now, nil }

func (s *sharing) holds(ctx context.Context, v View, r kv.Reader) (bool, error) {
	if v.Container.draft {
		return true, nil
	}
	epoch, err := epochIn(ctx, r, v.Container)
	return epoch == v.epoch, err
}

// loadShared loads everything in one view.
func (c *Catalog) loadShared(ctx context.Context) (err error) {
	if err := c.beginChange(ctx); err != nil {
		return err
	}
	defer c.endChange()
	return c.takeTurn(ctx)
}

// Refresh brings names, databases and resources up to date where several processes share the data. A request that was
// sent after a change was acknowledged must know it, whichever process made it, so the APIs call this before a request
// looks anything up. Elsewhere it does nothing.
func (c *Catalog) Refresh(ctx context.Context) error {
	_, err := c.Present(ctx, time.Time{})
	return err
}

// Present is Refresh, and the instant of the request: that of the view in which it looks, so that all processes tell
// the same. No machine's clock decides about a life. Elsewhere it is now, the time of the API's clock.
func (c *Catalog) Present(ctx context.Context, now time.Time) (time.Time, error) {
	m, err := c.Begin(ctx, now, nil)
	return m.Time, err
}

func countersIn(ctx context.Context, r kv.Reader) (n counters, err error) {
	_, err = r.Get(ctx, keys.CatalogKey(countersKind), func(value []byte) error { return decode(value, &n) })
	return n, err
}

// catchUp brings the cache to the revision that the turn sees.
func (c *Catalog) catchUp(ctx context.Context) error {
	present, err := countersIn(ctx, c.turn)
	if err != nil || present == c.counters { // only changes write it, and they hold c.changes
		return err
	}
	changed, ok, err := c.changedSince(ctx, present.Sequence)
	if err != nil {
		return err
	}
	if !ok {
		return c.loadAll(ctx, present)
	}
	d, err := c.read(ctx, changed)
	if err != nil {
		return err
	}
	c.caughtUp(present, func() []*Container { return c.applyDelta(d) })
	return nil
}

// caughtUp puts what was read in force.
func (c *Catalog) caughtUp(present counters, apply func() (gone []*Container)) {
	c.mu.Lock()
	gone := apply()
	c.counters = present
	c.mu.Unlock()
	c.epochs.Store(present.Sequence)
	c.storeFloors()
	for _, ct := range gone {
		c.dropped(ct)
	}
}

// loadAll loads the catalog of a revision.
func (c *Catalog) loadAll(ctx context.Context, present counters) error {
	var databases []*Database
	var containers []*stored
	var resources []*Resource
	err := cmp.Or(
		each(ctx, c.turn, databaseKind, func(db *Database) error { databases = append(databases, db); return nil }),
		each(ctx, c.turn, containerKind, func(s *stored) error { containers = append(containers, s); return nil }),
		each(ctx, c.turn, resourceKind, func(r *Resource) error { resources = append(resources, r); return nil }),
	)
	if err != nil {
		return err
	}
	states := make([]*State, len(containers))
	there := make(map[uint32]bool, len(databases))
	for _, db := range databases {
		there[db.ID] = true
	}
	for i, s := range containers { // before anything of the cache is replaced
		if !there[s.Database] {
			return fault.New(fault.Corrupt, "container %d is in no database", s.ID)
		}
		if states[i], err = c.thaw(s); err != nil {
			return err
		}
	}
	c.caughtUp(present, func() []*Container { return c.replaceAll(databases, containers, states, resources) })
	return nil
}

// replaceAll makes the cache what was read, and returns the containers that are no more. What is still there keeps its
// handle.
func (c *Catalog) replaceAll(
	databases []*Database, containers []*stored, states []*State, resources []*Resource,
) (gone []*Container) {
	was, wasDatabases, wasResources := c.containers.values, c.databases.values, c.resources.values
	c.clear()
	for _, db := range databases {
		if known := wasDatabases[db.ID]; known != nil {
			db = known
		}
		c.rememberDatabase(db)
	}
	for i, s := range containers {
		ct := was[s.ID]
		if ct == nil {
			db, _ := c.databases.get(s.Database)
			ct = c.newContainer(s.ID, db, states[i])
			ct.born = s.Born
		}
		ct.replace(states[i])
		c.containers.set(ct.ID, ct)
		c.byName[containerName(ct.Database, s.Name)] = ct
	}
	for id, ct := range was {
		if _, there := c.containers.get(id); !there {
			markDeleted([]*Container{ct})
			gone = append(gone, ct)
		}
	}
	for _, r := range resources {
		if known := wasResources[r.Number]; known != nil && known.Sequence == r.Sequence {
			r = known
		}
		c.addResource(r)
	}
	return gone
}

func (s *sharing) there(ctx context.Context, ct *Container, r kv.Reader) error {
	if ct.draft {
		return nil
	}
	epoch, err := epochIn(ctx, r, ct)
	if err == nil && epoch == 0 {
		err = ErrNoOwner
	}
	return err
}

// gone sees the deletion in the counter, and when that is deleted, too, its absence.
func (s *sharing) gone(ct *Container, counter keys.Counter) bool {
	return !ct.draft && (counter.Epoch == 0 || counter.Epoch == deletedEpoch)
}
