package catalog

import (
	"context"
	"crypto/rand"

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
		s.Policy.PastDates = s.PastDates
		if err := s.State.compile(c.condition); err != nil {
			return fault.Wrap(fault.Corrupt, err, "container %d cannot be read", s.ID)
		}
		return c.resumeContainer(ctx, c.newContainer(s.ID, db, s.State))
	})
}

// resumeContainer makes a loaded container continue at the newest instant that is known to have been seen: the clock
// may start a little below it.
func (c *Catalog) resumeContainer(ctx context.Context, ct *Container) error {
	ct.advance(ct.State().Policy.OwnFloor)
	ct.resuming.Store(!c.clean)
	_, err := c.engine.Get(ctx, ct.Keys().Order(nil), func(value []byte) error {
		counter, err := keys.DecodeCounter(value)
		if err != nil {
			return fault.Wrap(fault.Corrupt, err, "the counter of container %d cannot be read", ct.ID)
		}
		ct.advance(counter.Stamp)
		return nil
	})
	c.rememberContainer(ct)
	return err
}

func (c *Catalog) newContainer(id uint32, db *Database, st *State) *Container {
	ct := &Container{ID: id, Database: db, engine: c.engine, floor: &c.floor,
		numbers: &c.numbers, settling: make(chan struct{}, 1)}
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
}

func (c *Catalog) saveContainer(b *kv.Batch, ct *Container, st *State) {
	b.Set(keys.CatalogKey(containerKind, ct.ID), encode(stored{ct.ID, ct.Database.ID, st, st.Policy.PastDates}))
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
	c.changes.Lock()
	defer c.changes.Unlock()
	if err := c.mayCreate(db, def.Name); err != nil {
		return nil, err
	}
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
		c.saveContainer(b, ct, st)
		n.noteContainer(ct, nil, st)
		throughput = newOffer(n, b, now, Owner{Database: db.ID, Container: ct.ID}, offer)
		return nil
	}, func() {
		c.show(c.epochs.Add(1), ct)
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
// dialect, partition key and unique keys stay as they are, whatever define returns.
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
		if err := c.setPolicy(ctx, b, ct, st, def, now); err != nil {
			return err
		}
		c.setIndexing(n, b, ct, st, def.Indexing)
		b.Frees = st.Building == nil || st.Building == built // a lifetime can be shortened on a full disk
		st.Definition = def
		st.Stamp, st.Sequence = max(now, st.Stamp), n.Sequence
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
	c.changes.Lock()
	defer c.changes.Unlock()
	old := ct.State()
	if old.Deleted {
		return nil, ErrNoOwner
	}
	if ct.draft {
		return c.alterDraft(ct, do)
	}
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
	ctx context.Context, ct *Container, old *State, do func(*State, *revision, *kv.Batch) error,
) (*State, error) {
	for {
		next := *old
		err := c.change(ctx, func(n *revision, b *kv.Batch) error {
			if err := do(&next, n, b); err != nil {
				return err
			}
			c.saveContainer(b, ct, &next)
			return nil
		}, func() {
			next.epoch = c.epochs.Add(1)
			ct.state.Store(&next)
		})
		if err == nil {
			return &next, nil
		}
		if fault.KindOf(err) != fault.Conflict {
			return nil, err
		}
	}
}

// setPolicy closes the present policy, if the setting changes, and puts the new setting in force.
func (c *Catalog) setPolicy(
	ctx context.Context, b *kv.Batch, ct *Container, st *State, def Definition, now expiry.Stamp,
) error {
	if def.TTL == st.Policy.Default && def.TTLProperty == st.Policy.Property {
		return nil
	}
	var newest uint64
	if st.Policy.Property != "" { // floors need no sequence, and so no read that another write may break
		var err error
		if newest, err = c.newestSequence(ctx, b, ct); err != nil {
			return err
		}
	}
	closed, err := st.Policy.Close(ct.advance(now), newest)
	if err != nil {
		return err
	}
	st.Policy = closed
	st.Policy.Default, st.Policy.Property = def.TTL, def.TTLProperty
	return nil
}

// newestSequence reads the container's newest sequence and makes b depend on it. No change reads anything else.
func (c *Catalog) newestSequence(ctx context.Context, b *kv.Batch, ct *Container) (uint64, error) {
	view, err := c.engine.View(ctx)
	if err != nil {
		return 0, err
	}
	key := ct.Keys().Order(nil)
	b.Since = view.Mark
	b.Read(key)
	var counter keys.Counter
	_, err = view.Get(ctx, key, func(value []byte) (err error) {
		counter, err = keys.DecodeCounter(value)
		return err
	})
	return counter.Sequence, err
}

// setIndexing starts a new generation of index entries when the indexing changes. A generation that is still being
// built is dropped.
func (c *Catalog) setIndexing(n *revision, b *kv.Batch, ct *Container, st *State, indexing Indexing) {
	latest := st.Active
	if st.Building != nil {
		latest = *st.Building
	}
	if latest.Indexing.Equal(indexing) {
		return
	}
	if st.Building != nil {
		c.dropGeneration(n, b, ct, st.Building.Generation)
	}
	next := latest.Generation + 1
	for next == 0 || next == st.Active.Generation {
		next++
	}
	st.Building = &Index{Generation: next, Indexing: indexing}
}

// dropGeneration adds to b the deletion of the index entries of a generation.
func (c *Catalog) dropGeneration(n *revision, b *kv.Batch, ct *Container, generation uint16) {
	lower, upper := ct.Keys().GenerationBounds(keys.KindEntry, generation)
	c.dropRange(n, b, lower, upper)
	lower, upper = ct.Keys().GenerationBounds(keys.KindComposite, generation)
	c.dropRange(n, b, lower, upper)
}

// dropContainer adds to b the deletion of a container and its documents.
func (c *Catalog) dropContainer(n *revision, b *kv.Batch, ct *Container) {
	b.Delete(keys.CatalogKey(containerKind, ct.ID))
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
	c.changes.Lock()
	defer c.changes.Unlock()
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

// ForgetPast drops the first count closed policies. It is called when every document that they ended is reclaimed.
func (c *Catalog) ForgetPast(ctx context.Context, ct *Container, count int) error {
	_, err := c.alter(ctx, ct, func(st *State, _ *revision, b *kv.Batch) error {
		b.Frees = true
		st.Policy.Past = append([]expiry.Past(nil), st.Policy.Past[min(count, len(st.Policy.Past)):]...)
		return st.compile(c.condition)
	})
	return err
}

// DeleteContainer removes a container, its documents, scripts and throughput;
// ErrNoOwner when that has happened already.
func (c *Catalog) DeleteContainer(ctx context.Context, ct *Container) error {
	c.changes.Lock()
	defer c.changes.Unlock()
	if ct.State().Deleted {
		return ErrNoOwner
	}
	restore := markDeleted([]*Container{ct})
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
	})
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
