package node

import (
	"context"
	"errors"
	"time"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/store"
)

// A Restored is data from a backup that no node runs yet.
type Restored struct {
	engine  kv.Engine
	catalog *catalog.Catalog
	store   *store.Store
}

// OpenRestored opens the data of a backup. The caller closes it. It closes the engine, also when it fails.
func OpenRestored(ctx context.Context, engine kv.Engine) (*Restored, error) {
	r := &Restored{engine: engine}
	var err error
	if r.catalog, err = catalog.Open(ctx, engine, conditions); err == nil {
		r.store, err = store.Open(ctx, engine, r.catalog)
	}
	if err != nil {
		return nil, errors.Join(err, engine.Close())
	}
	return r, nil
}

// Clock is the instant at which the backup was made, by the clock of its data.
func (r *Restored) Clock() time.Time { return r.catalog.ClockMark() }

// Overdue counts the items that were alive when the backup was made, and how many of them have expired at now.
func (r *Restored) Overdue(ctx context.Context, now time.Time) (overdue, alive uint64, err error) {
	for _, c := range r.catalog.AllContainers() {
		then, err := r.living(ctx, c, r.Clock())
		if err != nil {
			return 0, 0, err
		}
		left, err := r.living(ctx, c, now)
		if err != nil {
			return 0, 0, err
		}
		overdue, alive = overdue+then-min(then, left), alive+then
	}
	return overdue, alive, nil
}

func (r *Restored) living(ctx context.Context, c *catalog.Container, at time.Time) (uint64, error) {
	v, err := c.Enter(ctx, at.Unix())
	if err != nil {
		return 0, err
	}
	u, err := r.store.Usage(ctx, v)
	return u.Documents, err
}

// Rebase moves the clock of the data to now: each item keeps what remained of its life, because its stamp moves too. It
// does nothing if now is not later. dated is how many items have a date by which they expire: it is the item's own, and
// stays. Call it before Finish.
func (r *Restored) Rebase(ctx context.Context, now time.Time) (kept, dated uint64, err error) {
	then := r.Clock()
	by := now.Unix() - then.Unix()
	if by <= 0 {
		return 0, 0, nil
	}
	done, err := r.store.Rebase(ctx, then.Unix(), by)
	if err != nil {
		return 0, 0, err
	}
	return done.Kept, done.Dated, r.catalog.SaveClockMark(ctx, now)
}

// Finish makes the data ready for a node at an instant, by the machine's time. What clients know of the time after the
// backup, such as ETags and resume tokens, matches nothing that is written from then on.
func (r *Restored) Finish(ctx context.Context, now time.Time) error {
	if err := r.catalog.Skip(ctx); err != nil {
		return err
	}
	return r.store.RestartLog(ctx, store.LogTime(max(now.Unix(), 0))<<32)
}

// Close closes store and engine.
func (r *Restored) Close() error { return errors.Join(r.store.Close(), r.engine.Close()) }
