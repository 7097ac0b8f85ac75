package catalog

import (
	"context"
	"slices"

	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// Continue makes a catalog that was opened on an earlier state of the data give out no number that the later one has
// given out: no id of a database, container or resource, no sequence or number of a document. Clients have those in
// ETags, resource ids and tokens, and must not take what is created from now on for what they know. It returns when
// that is durable. It is called before the first request, and later gets no requests any more.
func (c *Catalog) Continue(ctx context.Context, later *Catalog) error {
	floor, number, err := later.highest(ctx)
	if err != nil {
		return err
	}
	later.mu.RLock()
	n := later.counters
	later.mu.RUnlock()
	return c.exclusively(ctx, func() error { return c.continueFrom(ctx, later, n, floor, number) })
}

func (c *Catalog) continueFrom(ctx context.Context, later *Catalog, n counters, floor, number uint64) error {
	if err := c.continueTrail(ctx, later); err != nil {
		return err
	}
	return c.change(ctx, func(next *revision, _ *kv.Batch) error {
		next.Database = max(next.Database, n.Database)
		next.Container = max(next.Container, n.Container)
		next.Resource = max(next.Resource, n.Resource)
		next.Sequence = max(next.Sequence, n.Sequence+1)
		next.Purge = max(next.Purge, n.Purge)
		next.Floor = max(next.Floor, floor)
		next.Numbers = max(next.Numbers, number)
		return nil
	}, c.storeFloors)
}

// continueTrail adds the events of a later state, so that nobody loses the trail by going back to earlier data.
func (c *Catalog) continueTrail(ctx context.Context, later *Catalog) error {
	if err := later.beginChange(ctx); err != nil { // no events are added or dropped
		return err
	}
	defer later.endChange()
	b := &kv.Batch{Frees: true}
	for number := c.trail.first; number < min(c.trail.next, later.trail.first); number++ {
		b.Delete(keys.AuditKey(number))
	}
	lower, upper := keys.AuditBounds(c.trail.next)
	it, err := later.engine.Iterate(ctx, lower, upper)
	if err != nil {
		return err
	}
	defer it.Close()
	for it.Next() {
		b.Set(slices.Clone(it.Key()), slices.Clone(it.Value()))
	}
	if err := it.Err(); err != nil || len(b.Ops) == 0 {
		return err
	}
	if err := c.engine.Apply(ctx, b); err != nil {
		return err
	}
	return c.loadTrail(ctx)
}

// storeFloors puts the floors of the counters where containers see them.
func (c *Catalog) storeFloors() {
	c.floor.Store(c.counters.Floor)
	c.numbers.Store(c.counters.Numbers)
}

// highest are the highest sequence, and the highest number within its range, that any document has been given.
func (c *Catalog) highest(ctx context.Context) (newest, number uint64, err error) {
	newest, number = c.floor.Load(), c.numbers.Load()
	for _, ct := range c.AllContainers() {
		err := ct.eachCounter(ctx, c.engine, func(_ uint16, counter keys.Counter) {
			newest, number = max(newest, counter.Sequence), max(number, counter.Number)
		})
		if err != nil {
			return 0, 0, err
		}
	}
	return newest, number, nil
}

// SequenceFloor is the highest sequence that no document of the container gets, see Catalog.Continue.
func (c *Container) SequenceFloor() uint64 { return c.floor.Load() }

// NumberFloor is the highest number within its range that no new document of the container gets: clients have numbers
// in resource ids.
func (c *Container) NumberFloor() uint64 { return c.numbers.Load() }

// How many numbers Skip leaves out: more than can have been given out between a backup and its restoration.
const (
	skippedSequences  = 1 << 32
	skippedResources  = 1 << 24
	skippedContainers = 1 << 16
)

// Skip does what Continue does, where the later data is lost: it leaves out so many numbers that what was given out
// since is among them. It is called before the first request.
func (c *Catalog) Skip(ctx context.Context) error {
	newest, number, err := c.highest(ctx)
	if err != nil {
		return err
	}
	return c.exclusively(ctx, func() error {
		return c.change(ctx, func(next *revision, _ *kv.Batch) error {
			next.Database += skippedContainers
			next.Container += skippedContainers
			next.Resource += skippedResources
			next.Sequence += skippedResources
			next.Floor = newest + skippedSequences
			next.Numbers = number + skippedSequences
			return nil
		}, c.storeFloors)
	})
}

// MoveFloors moves what is final about lives that count from a stamp later, with the stamps (store.Rebase). What is
// final about dates and properties of documents stays, because these stay.
func (c *Catalog) MoveFloors(ctx context.Context, by expiry.Stamp) error {
	for _, ct := range c.AllContainers() {
		_, err := c.alter(ctx, ct, func(st *State, _ *revision, _ *kv.Batch) error {
			if st.Policy.InheritFloor != 0 {
				st.Policy.InheritFloor += by
			}
			if st.Policy.OwnFloor != 0 {
				st.Policy.OwnFloor += by
			}
			return st.compile(c.condition)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
