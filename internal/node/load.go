package node

import (
	"context"
	"errors"
	"time"

	"github.com/mayflydb/mayfly/internal/audit"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/store"
)

// patience is how long requests may go on when a snapshot is loaded, before they are cut off.
const patience = 2 * time.Second

// data is what belongs to one engine. Loading a snapshot replaces it, while no request uses it.
type data struct {
	*opened
	catalog *catalog.Catalog
	store   *store.Store
}

// Load goes back to a snapshot. Requests that arrive wait until it is done; those that run may finish, for two seconds,
// then they are cut off. MongoDB's cursors, sessions and transactions end. A virtual clock goes back to the instant of
// the snapshot; a real one does not, so what has expired since stays expired. What clients know of the time after the
// snapshot, such as ETags, matches nothing that is written later. If Load fails, nothing has changed. Errors:
// fault.NotFound, fault.Timeout if a request cannot be cut off.
func (n *Node) Load(ctx context.Context, name string) (Snapshot, error) {
	n.moving.Lock()
	defer n.moving.Unlock()
	if err := n.mayKeep(name); err != nil {
		return Snapshot{}, err
	}
	next, err := n.prepare(ctx, name)
	if err != nil {
		return Snapshot{}, err
	}
	n.gate.shut()
	defer n.gate.open()
	err = n.quiesce(ctx)
	if err == nil {
		err = n.follow(ctx, next)
	}
	if err != nil {
		return Snapshot{}, errors.Join(err, next.close(), next.discard())
	}
	before := n.switchTo(next)
	if err := errors.Join(before.close(), next.remove()); err != nil {
		n.log.Warn("what a loaded snapshot has replaced is not removed", "error", err)
	}
	n.log.Info("loaded a snapshot", "name", name, "clock", n.clock.Now())
	return next.Snapshot, nil
}

// prepare opens a snapshot beside the present data.
func (n *Node) prepare(ctx context.Context, name string) (_ *data, err error) {
	d := &data{}
	if d.opened, err = n.shelf.open(ctx, name); err != nil {
		return nil, err
	}
	if d.catalog, err = catalog.Open(ctx, d.engine, conditions); err == nil {
		d.store, err = store.Open(ctx, d.engine, d.catalog)
	}
	if err != nil {
		return nil, errors.Join(err, d.close(), d.discard())
	}
	return d, nil
}

// close closes store and engine.
func (d *data) close() (err error) {
	if d.store != nil {
		err = d.store.Close()
	}
	return errors.Join(err, d.engine.Close())
}

// quiesce waits until no request uses the data any more. The gate is closed.
func (n *Node) quiesce(ctx context.Context) error {
	if n.localMongo != nil {
		n.localMongo.CutOff(false) // change streams wait for as long as their clients want
	}
	for _, cut := range []bool{false, true} {
		if cut {
			n.nosql.cutOff()
			n.compute.cutOff()
			if n.localMongo != nil {
				n.localMongo.CutOff(true)
			}
		}
		waiting, cancel := context.WithTimeout(ctx, patience)
		quiet := n.gate.drain(waiting)
		cancel()
		if quiet {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return fault.New(fault.Timeout, "The snapshot is not loaded, because a request does not end. Try again.")
}

// follow makes data that is older than the present give out nothing that the present data has given out. Everything in
// it may fail.
func (n *Node) follow(ctx context.Context, next *data) error {
	if err := next.catalog.Continue(ctx, n.catalog); err != nil {
		return err
	}
	if !n.catalog.DatesOn() { // a setting of the process
		if err := next.catalog.SetDates(ctx, n.clock.Now().Unix(), false); err != nil {
			return err
		}
	}
	if err := n.followLog(ctx, next); err != nil {
		return err
	}
	at := n.clock.Now
	if n.virtual != nil {
		at = func() time.Time { return next.Clock }
	}
	next.catalog.SetClock(at)
	loaded := audit.Event{Action: "load", Kind: "snapshot", Target: next.Name}
	if err := next.catalog.Audit(ctx, loaded); err != nil {
		return err
	}
	return next.take()
}

// followLog makes a change stream fail that would continue from a time after the snapshot.
func (n *Node) followLog(ctx context.Context, next *data) error {
	if err := n.keepLogOf(ctx, next.store, n.options); err != nil || n.localMongo == nil {
		return err
	}
	newest, err := n.store.LogNewest(ctx)
	if err != nil {
		return err
	}
	return next.store.RestartLog(ctx, max(newest, n.localMongo.Told()))
}

// switchTo replaces the data, and returns what was there before. It cannot fail.
func (n *Node) switchTo(next *data) (before *data) {
	paused := n.reaper.Paused()
	n.reaper.Stop()
	n.surveys.close()
	before = &data{opened: &opened{engine: n.engine}, catalog: n.catalog, store: n.store}
	n.engine, n.catalog, n.store = next.engine, next.catalog, next.store
	if n.virtual != nil {
		n.virtual.Rewind(next.Clock)
	}
	n.watchEngine()
	if n.localMongo != nil {
		n.localMongo.Reload(n.catalog, n.store)
	}
	n.openServices(n.options)
	for _, e := range []*endpoint{n.nosql, n.compute} {
		if e != nil {
			e.handler, _ = n.nosqlHandler(n.options, e) // its options were checked at the start
		}
	}
	if n.local != nil {
		n.localAPI, _ = n.newLocal(n.options)
	}
	if paused {
		n.reaper.Pause()
	}
	n.reaper.Start()
	return before
}
