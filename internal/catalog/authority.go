package catalog

import (
	"context"

	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// An authority says what holds at the moment of a request or of a change. There are two: alone, for data that one
// process has open, and sharing, for data that others change, too. DESIGN.md compares them.
type authority interface {
	// enter is Container.EnterAt; m may be nil.
	enter(ctx context.Context, ct *Container, now expiry.Stamp, m *Moment) (View, error)
	// pass is View.Pass.
	pass(v View, counter keys.Counter, b *kv.Batch) (now expiry.Stamp, epoch uint64, err error)
	// refresh is View.Refresh.
	refresh(v View) (expiry.Stamp, error)
	// holds is View.Holds.
	holds(ctx context.Context, v View, r kv.Reader) (bool, error)

	// moved is Container.Moved.
	moved(ctx context.Context, ct *Container, known *State) (*State, error)
	// layout is Container.Layout.
	layout(ctx context.Context, ct *Container, known *State, r kv.Reader) (st *State, again bool, err error)
	// there is Container.There.
	there(ctx context.Context, ct *Container, r kv.Reader) error
	// gone is Container.Gone.
	gone(ct *Container, counter keys.Counter) bool

	// exclusively runs a change of the catalog. The caller holds c.changes.
	exclusively(ctx context.Context, c *Catalog, change func() error) error
	// apply makes a batch that fill fills, and applies it. touched are the containers that the change concerns.
	apply(c *Catalog, fill func(*kv.Batch) error, apply func(*kv.Batch) error, touched []touch) error
	// append applies a batch that writes events of the audit trail, but is no revision.
	append(ctx context.Context, c *Catalog, b *kv.Batch) error
	// trail is where the audit trail begins and ends.
	trail(ctx context.Context, c *Catalog) (trail, error)
	// present is the state of a container that a change starts from.
	present(ctx context.Context, c *Catalog, ct *Container) (*State, error)
	// refuse makes containers that are about to be deleted refuse requests, if that is needed. restore undoes it.
	refuse(containers []*Container) (restore func())
	// reserve gives out the number of a container, and with database that of a database.
	reserve(ctx context.Context, c *Catalog, database bool) (counters, error)
	// instant is the moment of a change, for its stamp: now by the clock of this machine, or by the engine's.
	instant(c *Catalog, now expiry.Stamp) expiry.Stamp
	// closing is the last instant that any request sees under the state that a change replaces.
	closing(ct *Container, now expiry.Stamp, b *kv.Batch) expiry.Stamp
}

// beginChange waits until no other change is under way, or until ctx ends.
func (c *Catalog) beginChange(ctx context.Context) error {
	select {
	case c.changes <- struct{}{}:
		return nil
	default:
	}
	select {
	case c.changes <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// endChange lets the next change begin.
func (c *Catalog) endChange() { <-c.changes }

// A touch is a container that a change concerns.
type touch struct {
	*Container
	deletes bool   // the change deletes it
	retires *Split // the split that the change completes, nil for none
}

// exclusively runs change as the only one. Each method that changes the catalog does its work in it: checks included.
func (c *Catalog) exclusively(ctx context.Context, change func() error) error {
	if err := c.beginChange(ctx); err != nil {
		return err
	}
	defer c.endChange()
	return c.authority.exclusively(ctx, c, change)
}

// exclusively is Catalog.exclusively for a change with a result.
func exclusively[T any](ctx context.Context, c *Catalog, change func() (T, error)) (result T, err error) {
	err = c.exclusively(ctx, func() error {
		result, err = change()
		return err
	})
	return result, err
}

// alone is the authority of a process that has the data to itself: what it has in memory is what holds.
type alone struct{}

func (alone) exclusively(_ context.Context, _ *Catalog, change func() error) error { return change() }

func (alone) apply(_ *Catalog, fill func(*kv.Batch) error, apply func(*kv.Batch) error, _ []touch) error {
	b := &kv.Batch{}
	if err := fill(b); err != nil {
		return err
	}
	return apply(b)
}

func (alone) append(ctx context.Context, c *Catalog, b *kv.Batch) error {
	return c.engine.Apply(ctx, b)
}

func (alone) trail(_ context.Context, c *Catalog) (trail, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.trail, nil
}

func (alone) present(_ context.Context, _ *Catalog, ct *Container) (*State, error) {
	st := ct.State()
	if st.Deleted {
		return nil, ErrNoOwner
	}
	return st, nil
}

// refuse lets no write follow the deletion.
func (alone) refuse(containers []*Container) (restore func()) { return markDeleted(containers) }

func (alone) reserve(_ context.Context, c *Catalog, database bool) (counters, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counters.Container++ // the next change writes it
	if database {
		c.counters.Database++
	}
	return c.counters, nil
}

func (alone) instant(_ *Catalog, now expiry.Stamp) expiry.Stamp { return now }

func (alone) closing(ct *Container, now expiry.Stamp, _ *kv.Batch) expiry.Stamp {
	return ct.advance(now)
}

func (alone) enter(ctx context.Context, c *Container, now expiry.Stamp, _ *Moment) (View, error) {
	now = c.advance(now)
	if err := c.settle(ctx, now); err != nil {
		return View{}, err
	}
	st := c.state.Load()
	for st.changing != nil {
		select {
		case <-st.changing:
			st = c.state.Load()
		case <-ctx.Done():
			return View{}, ctx.Err()
		}
	}
	if st.Deleted {
		return View{}, ErrNoOwner
	}
	return View{Container: c, State: st, Now: now}, nil
}

func (alone) pass(v View, counter keys.Counter, _ *kv.Batch) (expiry.Stamp, uint64, error) {
	now, err := alone{}.refresh(v)
	return now, counter.Epoch, err
}

func (alone) refresh(v View) (expiry.Stamp, error) {
	if st := v.Container.state.Load(); st.epoch != v.epoch || st.changing != nil || st.Deleted {
		return 0, errChanged
	}
	return max(v.Now, v.Container.latest.Load()), nil
}

func (alone) holds(_ context.Context, v View, _ kv.Reader) (bool, error) {
	_, err := alone{}.refresh(v)
	return err == nil, nil
}

func (alone) there(_ context.Context, ct *Container, _ kv.Reader) error {
	if ct.State().Deleted {
		return ErrNoOwner
	}
	return nil
}

func (alone) gone(ct *Container, _ keys.Counter) bool { return ct.State().Deleted }
