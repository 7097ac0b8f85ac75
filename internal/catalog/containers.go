package catalog

import (
	"context"
	"crypto/rand"
	"slices"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// A stored is a container on disk. PastDates are those of the policy; the format has them behind the state.
type stored struct {
	ID       uint32 `json:"id"`
	Database uint32 `json:"database"`
	*State
	PastDates []expiry.PastDates `json:"past_dates,omitempty"`

	// Epoch and Born are those of State and Container, where several processes share the data.
	Epoch uint64 `json:"epoch,omitempty"`
	Born  uint64 `json:"born,omitempty"`
}

func containerName(db *Database, text string) name {
	return name{kind: containerKind, owner: Owner{Database: db.ID}, text: text}
}

func (c *Catalog) loadContainers(ctx context.Context) error {
	return each(ctx, c.engine, containerKind, func(s *stored) error {
		db, ok := c.databases.get(s.Database)
		if !ok {
			return fault.New(fault.Corrupt, "container %d is in no database", s.ID)
		}
		st, err := c.thaw(s)
		if err != nil {
			return err
		}
		return c.resumeContainer(ctx, c.newContainer(s.ID, db, st))
	})
}

// resumeContainer makes a loaded container continue at the newest instant that is known to have been seen: the clock
// may start a little below it.
func (c *Catalog) resumeContainer(ctx context.Context, ct *Container) error {
	ct.advance(ct.State().Policy.OwnFloor)
	err := ct.eachCounter(ctx, c.engine, func(_ uint16, counter keys.Counter) { ct.advance(counter.Stamp) })
	c.rememberContainer(ct)
	return err
}

func (c *Catalog) newContainer(id uint32, db *Database, st *State) *Container {
	ct := &Container{ID: id, Database: db, engine: c.engine, authority: c.authority, floor: &c.floor,
		numbers: &c.numbers, settling: make(chan struct{}, 1),
		looking: make(chan struct{}, 1)}
	ct.state.Store(st)
	return ct
}

func (c *Catalog) rememberContainer(ct *Container) {
	c.containers.set(ct.ID, ct)
	c.byName[containerName(ct.Database, ct.State().Name)] = ct
}

func (c *Catalog) forgetContainer(ct *Container) {
	c.containers.delete(ct.ID)
	delete(c.byName, containerName(ct.Database, ct.State().Name))
	markDeleted([]*Container{ct})
}

func (c *Catalog) saveContainer(b *kv.Batch, ct *Container, st *State) {
	s := stored{ID: ct.ID, Database: ct.Database.ID, State: st, PastDates: st.Policy.PastDates}
	if c.shared {
		s.Epoch, s.Born = st.epoch, ct.born
	}
	b.Set(keys.CatalogKey(containerKind, ct.ID), encode(s))
}

// saveChanged writes a state that answers depend on.
func (c *Catalog) saveChanged(n *revision, b *kv.Batch, ct *Container, st *State) {
	if c.shared {
		st.epoch = n.Sequence
		b.Set(keys.EpochKey(ct.ID), keys.AppendNumber(nil, st.epoch))
	}
	c.saveContainer(b, ct, st)
}

// saveNew writes a container that is being created. Where several processes share the data a counter is there from the
// beginning: without one, a writer knows that the container has been deleted.
func (c *Catalog) saveNew(n *revision, b *kv.Batch, ct *Container, st *State) {
	if c.shared {
		ct.born, ct.published = n.Sequence, n.Sequence
		for _, number := range ct.numbersOf() {
			b.Set(ct.KeysOf(number).Order(nil), keys.Counter{Epoch: n.Sequence}.Append(nil))
		}
	}
	c.saveChanged(n, b, ct, st)
}

// nextEpoch is the epoch that begins with the change that is becoming visible.
func (c *Catalog) nextEpoch() uint64 {
	if c.shared {
		c.epochs.Store(c.counters.Sequence)
		return c.counters.Sequence
	}
	return c.epochs.Add(1)
}

// Containers lists a database's containers in order of creation.
func (c *Catalog) Containers(db *Database) []*Container {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.containers.list(func(ct *Container) bool { return ct.Database.ID == db.ID })
}

// AllContainers lists every container in order of creation.
func (c *Catalog) AllContainers() []*Container {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.containers.list(func(*Container) bool { return true })
}

// Container finds by name; fault.NotFound.
func (c *Catalog) Container(db *Database, text string) (*Container, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	ct, ok := c.byName[containerName(db, text)].(*Container)
	if !ok {
		return nil, ErrNotFound
	}
	return ct, nil
}

// ContainerByID finds by number; fault.NotFound.
func (c *Catalog) ContainerByID(id uint32) (*Container, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	ct, ok := c.containers.get(id)
	if !ok {
		return nil, ErrNotFound
	}
	return ct, nil
}

// CreateContainer fails with fault.Exists when the name is taken. A non-nil
// offer is the body of the container's throughput resource.
func (c *Catalog) CreateContainer(
	ctx context.Context, now expiry.Stamp, db *Database, def Definition, offer doc.Doc,
) (*Container, error) {
	return exclusively(ctx, c, func() (*Container, error) { return c.createContainer(ctx, now, db, def, offer) })
}

func (c *Catalog) createContainer(
	ctx context.Context, now expiry.Stamp, db *Database, def Definition, offer doc.Doc,
) (*Container, error) {
	if err := c.mayCreate(db, def.Name); err != nil {
		return nil, err
	}
	now = c.authority.instant(c, now)
	st, err := c.firstState(now, def)
	if err != nil {
		return nil, err
	}
	var ct *Container
	var throughput *Resource
	err = c.change(ctx, func(n *revision, b *kv.Batch) error {
		n.Container++
		st.Sequence = n.Sequence
		ct = c.newContainer(n.Container, db, st)
		c.saveNew(n, b, ct, st)
		n.noteContainer(ct, nil, st)
		throughput = newOffer(n, b, now, Owner{Database: db.ID, Container: ct.ID}, offer)
		return nil
	}, func() {
		c.show(c.nextEpoch(), ct)
		c.addResource(throughput)
	})
	if err != nil {
		return nil, err
	}
	return ct, nil
}

// firstState is the state of a container that is being created.
func (c *Catalog) firstState(now expiry.Stamp, def Definition) (*State, error) {
	st := &State{
		Definition: def,
		Birth:      rand.Text(),
		Stamp:      now,
		Policy:     expiry.Policy{Default: def.TTL, Property: def.TTLProperty},
		Active:     Index{Generation: 1, Indexing: def.Indexing},
		datesOff:   c.datesOff.Load(),
	}
	return st, st.compile(c.condition)
}

// show makes a new container visible, in an epoch that begins with it.
func (c *Catalog) show(epoch uint64, ct *Container) {
	ct.born, ct.draft = epoch, false
	c.rememberContainer(ct)
}

func (c *Catalog) mayCreate(db *Database, text string) error {
	if _, err := c.DatabaseByID(db.ID); err != nil {
		return ErrNoOwner
	}
	if _, err := c.Container(db, text); err == nil {
		return ErrExists
	}
	if len(c.containers.values) >= MaxContainers {
		return errManyContainers
	}
	return nil
}

// ReplaceContainer changes the indexing, lifetime and echo of a container, at once and at a cost that does not depend
// on its size. define gets the present state and returns the new definition; an error of define ends the change. Name,
// dialect, partition key, partitions and unique keys stay as they are, whatever define returns.
func (c *Catalog) ReplaceContainer(
	ctx context.Context, now expiry.Stamp, ct *Container, define func(*State) (Definition, error),
) (*State, error) {
	var built *Index
	st, err := c.alter(ctx, ct, func(st *State, n *revision, b *kv.Batch) error {
		built = st.Building
		old := *st
		def, err := define(st)
		if err != nil {
			return err
		}
		def.Name, def.Dialect, def.Partition, def.Unique = st.Name, st.Dialect, st.Partition, st.Unique
		def.Partitions = st.Partitions
		if err := c.setPolicy(ctx, n, ct, st, def, now); err != nil {
			return err
		}
		if err := c.setIndexing(n, b, ct, st, def.Indexing); err != nil {
			return err
		}
		b.Frees = st.Building == nil || st.Building == built // a lifetime can be shortened on a full disk
		st.Definition = def
		st.Stamp, st.Sequence = max(c.authority.instant(c, now), st.Stamp), n.Sequence
		n.noteContainer(ct, &old, st)
		return st.compile(c.condition)
	})
	if err != nil {
		return nil, err
	}
	if st.Building != nil && st.Building != built && c.Changed != nil {
		c.Changed(ct)
	}
	return st, c.purge(ctx)
}

// alter replaces a container's state by one that do has changed. Requests that enter during the change wait for its
// outcome, so when do runs, the last instant that any request has seen under the old state is known.
func (c *Catalog) alter(
	ctx context.Context, ct *Container, do func(*State, *revision, *kv.Batch) error,
) (*State, error) {
	return c.alterTouching(ctx, touch{Container: ct}, do)
}

func (c *Catalog) alterTouching(
	ctx context.Context, ct touch, do func(*State, *revision, *kv.Batch) error,
) (*State, error) {
	return exclusively(ctx, c, func() (*State, error) {
		if ct.draft {
			return c.alterDraft(ct.Container, do)
		}
		old, err := c.authority.present(ctx, c, ct.Container)
		switch {
		case err != nil:
			return nil, err
		case c.shared:
			return c.alterOnce(ctx, ct, old, do)
		}
		return c.alterBehindGate(ctx, ct, old, do)
	})
}

func (c *Catalog) alterBehindGate(
	ctx context.Context, ct touch, old *State, do func(*State, *revision, *kv.Batch) error,
) (*State, error) {
	gate := *old
	gate.changing = make(chan struct{})
	defer close(gate.changing)
	ct.state.Store(&gate)
	next, err := c.alterGated(ctx, ct, old, do)
	if err != nil {
		ct.state.Store(old)
	}
	return next, err
}

// alterGated tries until no write that had entered before the change comes between what do has read and the change.
func (c *Catalog) alterGated(
	ctx context.Context, ct touch, old *State, do func(*State, *revision, *kv.Batch) error,
) (*State, error) {
	for {
		next, err := c.alterOnce(ctx, ct, old, do)
		if err == nil || fault.KindOf(err) != fault.Conflict {
			return next, err
		}
	}
}

func (c *Catalog) alterOnce(
	ctx context.Context, ct touch, old *State, do func(*State, *revision, *kv.Batch) error,
) (*State, error) {
	var next State
	err := c.change(ctx, func(n *revision, b *kv.Batch) error {
		next = *old
		if err := do(&next, n, b); err != nil {
			return err
		}
		c.saveChanged(n, b, ct.Container, &next)
		return nil
	}, func() {
		next.epoch = c.nextEpoch()
		ct.replace(&next)
	}, ct)
	if err != nil {
		return nil, err
	}
	return &next, nil
}

// setPolicy closes the present policy, if the setting changes, and puts the new setting in force.
func (c *Catalog) setPolicy(
	ctx context.Context, n *revision, ct *Container, st *State, def Definition, now expiry.Stamp,
) error {
	if def.TTL == st.Policy.Default && def.TTLProperty == st.Policy.Property {
		return nil
	}
	var newest uint64
	if st.Policy.Property != "" { // floors need no sequence, and so no read that another write may break
		var err error
		if newest, err = c.newestSequence(ctx, n, ct); err != nil {
			return err
		}
	}
	closed, err := st.Policy.Close(c.authority.closing(ct, now, n.batch), newest)
	if err != nil {
		return err
	}
	if len(st.Ranges()) > 1 {
		st.Floor = max(st.Floor, newest)
	}
	st.Policy = closed
	st.Policy.Default, st.Policy.Property = def.TTL, def.TTLProperty
	return nil
}

// newestSequence reads the newest sequence of all ranges and makes the change depend on it.
func (c *Catalog) newestSequence(ctx context.Context, n *revision, ct *Container) (newest uint64, err error) {
	if c.shared { // it has passed the counters
		return n.newest, nil
	}
	b := n.batch
	view, err := c.engine.View(ctx)
	if err != nil {
		return 0, err
	}
	b.Since = view.Mark
	for _, rng := range ct.State().Ranges() {
		b.Read(ct.KeysOf(rng.Number).Order(nil))
	}
	err = ct.eachCounter(ctx, view, func(_ uint16, counter keys.Counter) { newest = max(newest, counter.Sequence) })
	return newest, err
}

// setIndexing starts a new generation of index entries when the indexing changes. A generation that is still being
// built is dropped, and a split of a range starts again.
func (c *Catalog) setIndexing(n *revision, b *kv.Batch, ct *Container, st *State, indexing Indexing) error {
	latest := st.Active
	if st.Building != nil {
		latest = *st.Building
	}
	if latest.Indexing.Equal(indexing) {
		return nil
	}
	if st.Building != nil {
		c.dropGeneration(n, b, ct, st.Building.Generation)
	}
	next := latest.Generation + 1
	for next == 0 || next == st.Active.Generation {
		next++
	}
	st.Building = &Index{Generation: next, Indexing: indexing}
	return c.restartSplit(n, b, ct, st)
}

// dropGeneration adds to b the deletion of the index entries of a generation.
func (c *Catalog) dropGeneration(n *revision, b *kv.Batch, ct *Container, generation uint16) {
	numbers := ct.numbersOf()
	if split := ct.State().Splitting; split != nil {
		numbers = append(numbers, split.New[:]...)
	}
	for _, number := range numbers {
		rng := ct.KeysOf(number)
		lower, upper := rng.GenerationBounds(keys.KindEntry, generation)
		c.dropRange(n, b, lower, upper)
		lower, upper = rng.GenerationBounds(keys.KindComposite, generation)
		c.dropRange(n, b, lower, upper)
	}
}

// dropContainer adds to b the deletion of a container and its documents.
func (c *Catalog) dropContainer(n *revision, b *kv.Batch, ct *Container) {
	b.Delete(keys.CatalogKey(containerKind, ct.ID))
	if c.shared {
		b.Delete(keys.EpochKey(ct.ID))
	}
	lower, upper := keys.ContainerBounds(ct.ID)
	c.dropRange(n, b, lower, upper)
}

// CompleteIndex makes the generation that was being built the active one and drops the old one. It does nothing if
// another build has started since.
func (c *Catalog) CompleteIndex(ctx context.Context, ct *Container, generation uint16) error {
	_, err := c.alter(ctx, ct, func(st *State, n *revision, b *kv.Batch) error {
		if st.Building == nil || st.Building.Generation != generation {
			return nil
		}
		b.Frees = true
		c.dropGeneration(n, b, ct, st.Active.Generation)
		st.Active, st.Building = *st.Building, nil
		return nil
	})
	if err != nil {
		return err
	}
	return c.purge(ctx)
}

// DeclareDead makes final what the present policy has ended by now, and returns the state with those floors, which are
// durable. It costs a write only if a floor rises.
//
// Requests need not wait: the floors say only what the policy already says at this instant.
func (c *Catalog) DeclareDead(ctx context.Context, now expiry.Stamp, ct *Container) (*State, error) {
	return exclusively(ctx, c, func() (*State, error) {
		if c.shared {
			return c.declareDeadIn(ctx, ct)
		}
		return c.declareDead(ctx, now, ct)
	})
}

func (c *Catalog) declareDead(ctx context.Context, now expiry.Stamp, ct *Container) (*State, error) {
	old := ct.State()
	inherit, own := old.Policy.Floors(ct.advance(now))
	if old.Deleted || inherit == old.Policy.InheritFloor && own == old.Policy.OwnFloor {
		return old, nil
	}
	next := *old
	next.Policy.InheritFloor, next.Policy.OwnFloor = inherit, own
	err := c.change(ctx, func(_ *revision, b *kv.Batch) error {
		b.Frees = true
		c.saveContainer(b, ct, &next)
		return nil
	}, func() { ct.state.Store(&next) })
	if err != nil {
		return nil, err
	}
	return &next, nil
}

// ForgetPast drops closed policies. It is called when every document that they ended is reclaimed. They are compared by
// value, since the list may have changed in between.
func (c *Catalog) ForgetPast(ctx context.Context, ct *Container, over []expiry.Past) error {
	_, err := c.alter(ctx, ct, func(st *State, _ *revision, b *kv.Batch) error {
		b.Frees = true
		st.Policy.Past = slices.DeleteFunc(slices.Clone(st.Policy.Past), func(p expiry.Past) bool {
			return slices.Contains(over, p)
		})
		return st.compile(c.condition)
	})
	return err
}

// DeleteContainer removes a container, its documents, scripts and throughput;
// ErrNoOwner when that has happened already.
func (c *Catalog) DeleteContainer(ctx context.Context, ct *Container) error {
	return c.exclusively(ctx, func() error { return c.deleteContainer(ctx, ct) })
}

func (c *Catalog) deleteContainer(ctx context.Context, ct *Container) error {
	if ct.State().Deleted {
		return ErrNoOwner
	}
	restore := c.authority.refuse([]*Container{ct})
	var gone []*Resource
	err := c.change(ctx, func(n *revision, b *kv.Batch) error {
		b.Frees = true
		n.note("delete", "container", ct.path())
		c.dropContainer(n, b, ct)
		gone = c.resourcesOf(func(o Owner) bool { return o.Container == ct.ID })
		deleteResources(b, gone)
		return nil
	}, func() {
		c.forgetContainer(ct)
		c.forgetResources(gone)
	}, touch{Container: ct, deletes: true})
	if err != nil {
		restore()
		return err
	}
	c.dropped(ct)
	return c.purge(ctx)
}

// dropped calls Dropped, if it is set.
func (c *Catalog) dropped(ct *Container) {
	if c.Dropped != nil {
		c.Dropped(ct)
	}
}

// markDeleted makes containers refuse requests with ErrNoOwner, so that no write follows their deletion. restore undoes
// it.
func markDeleted(containers []*Container) (restore func()) {
	old := make([]*State, len(containers))
	for i, ct := range containers {
		old[i] = ct.State()
		gone := *old[i]
		gone.Deleted = true
		ct.state.Store(&gone)
	}
	return func() {
		for i, ct := range containers {
			ct.state.Store(old[i])
		}
	}
}
