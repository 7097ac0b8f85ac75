package store

import (
	"context"
	"time"

	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/kv"
)

// Make makes a container, and its database when there is none, that is there for the group
// alone until its commit. That is fault.Conflict when someone else has made one of that name
// meanwhile; a second one of the group's own is fault.Exists at once.
func (g *Group) Make(now expiry.Stamp, db string, def catalog.Definition) (*catalog.Container, error) {
	switch {
	case g.at == nil:
		return nil, errEnded
	case g.failed != nil:
		return nil, g.failed
	case g.ops >= maxGroupOps:
		return nil, errGroupSteps
	}
	if g.draft == nil {
		g.draft = g.s.catalog.NewDraft()
	}
	g.ops++
	return g.draft.Create(now, db, def)
}

// Made finds a container that the group has made, nil if it has none of that name.
func (g *Group) Made(db, name string) *catalog.Container {
	if g.draft == nil {
		return nil
	}
	return g.draft.Container(db, name)
}

// made reports whether the group has made a container.
func (g *Group) made(c *catalog.Container) bool {
	return g.draft != nil && g.draft.Container(c.Database.Name, c.State().Name) == c
}

// Sees reports whether a container was there when the group began, or is the group's own.
func (g *Group) Sees(c *catalog.Container) bool { return c.Born() <= g.epoch || g.made(c) }

// Redefine makes the group's part in a container that it has made go by the container's
// new state. No document of it may be alive.
func (g *Group) Redefine(v catalog.View) {
	for _, x := range g.members {
		if x.t.v.Container == v.Container {
			x.t.v, x.t.x = v, x.t.s.indexer(v)
		}
	}
}

// A told is an entry that the API itself adds to the log.
type told struct {
	at        uint64 // operations before it
	container *catalog.Container
	entry     LogEntry
}

// Tell adds an entry about a container to what the log gets from the group, in the order in
// which things were done. Without a log it does nothing.
func (g *Group) Tell(c *catalog.Container, e LogEntry) {
	if g.s.log.on() {
		g.told = append(g.told, told{g.ops, c, e})
	}
}

// encode is the entry as the log has it, under the number that the database has by then.
func (x *told) encode(label []byte) []byte {
	e := x.entry
	e.Label = label
	e.Database, e.DatabaseName, e.Container, e.ContainerName = x.container.Database.ID, x.container.Database.Name, x.container.ID, x.container.State().Name
	return e.encode()
}

// publishTime is about how long the publication of a large group takes.
const publishTime = time.Second

// publish writes what the group has done, and the containers that it has made, in one batch.
func (g *Group) publish(ctx context.Context, c *groupCommit) error {
	if g.loaded() >= largeBody { // not under the catalog's lock
		share := budget.Of(ctx)
		if err := share.Hold(ctx, publishTime); err != nil {
			return err
		}
		defer share.Rest()
	}
	err := g.draft.Publish(func(records *kv.Batch) error {
		c.batch.Ops = append(c.batch.Ops, records.Ops...)
		return c.commit(ctx)
	})
	if err == nil {
		g.draft = nil
	}
	return err
}

// discard gives up the containers that the group has made.
func (g *Group) discard() {
	if g.draft == nil {
		return
	}
	g.draft.Discard()
	for _, c := range g.draft.Containers() {
		g.s.forget(c)
	}
	g.draft = nil
}
