package store

import (
	"context"
	"time"

	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/kv"
)

// CreateContainer creates a container, and its database if there is none. Until the commit only the transaction sees
// them. The commit fails with fault.Conflict if another request has created a container of that name in between; a
// second one of the transaction's own is fault.Exists at once.
func (tx *SnapshotTransaction) CreateContainer(
	ctx context.Context, now expiry.Stamp, db string, def catalog.Definition,
) (*catalog.Container, error) {
	switch {
	case tx.at == nil:
		return nil, errEnded
	case tx.failed != nil:
		return nil, tx.failed
	case tx.ops >= maxSnapshotOps:
		return nil, errManySnapshotSteps
	}
	if tx.draft == nil {
		tx.draft = tx.s.catalog.NewDraft()
	}
	tx.ops++
	return tx.draft.Create(ctx, now, db, def)
}

// Created finds a container that the transaction has created, nil if it has none of that name.
func (tx *SnapshotTransaction) Created(db, name string) *catalog.Container {
	if tx.draft == nil {
		return nil
	}
	return tx.draft.Container(db, name)
}

// created reports whether the transaction has created a container.
func (tx *SnapshotTransaction) created(c *catalog.Container) bool {
	return tx.draft != nil && tx.draft.Container(c.Database.Name, c.State().Name) == c
}

// Sees reports whether a container was there when the transaction began, or is its own.
func (tx *SnapshotTransaction) Sees(c *catalog.Container) bool {
	return c.Born() <= tx.epoch || tx.created(c)
}

// Redefine gives the part in a container that the transaction has created the container's new state. The container must
// be empty.
func (tx *SnapshotTransaction) Redefine(v catalog.View) {
	for _, x := range tx.members {
		if x.set.v.Container == v.Container {
			x.set.v, x.set.x = v, x.set.s.indexer(v)
		}
	}
}

// An apiEntry is an entry that the API itself adds to the log.
type apiEntry struct {
	at        uint64 // operations before it
	container *catalog.Container
	entry     LogEntry
}

// AppendLog adds an entry about a container to what the log gets from the transaction, in the order of its operations.
// Without a log it does nothing.
func (tx *SnapshotTransaction) AppendLog(c *catalog.Container, e LogEntry) {
	if tx.s.log.on() {
		tx.apiEntries = append(tx.apiEntries, apiEntry{tx.ops, c, e})
	}
}

// encode is the entry as the log has it, under the number that the database has by then.
func (x *apiEntry) encode(label []byte) []byte {
	e := x.entry
	e.Label = label
	e.Database, e.DatabaseName = x.container.Database.ID, x.container.Database.Name
	e.Container, e.ContainerName = x.container.ID, x.container.State().Name
	return e.encode()
}

// publishTime is about how long the publication of a large transaction takes.
const publishTime = time.Second

// publish writes what the transaction has done, and the containers that it has created, in one batch.
func (tx *SnapshotTransaction) publish(ctx context.Context, c *snapshotCommit) error {
	if tx.loaded() >= largeBody { // not under the catalog's lock
		share := budget.Of(ctx)
		if err := share.Hold(ctx, publishTime); err != nil {
			return err
		}
		defer share.Rest()
	}
	// One batch has the containers and their documents, so a crash leaves both or none.
	err := tx.draft.Publish(ctx, func(records *kv.Batch) error {
		c.records = records
		c.batch.Ops = append(c.batch.Ops, records.Ops...)
		return c.commit(ctx)
	})
	if err == nil {
		tx.draft = nil
	}
	return err
}

// discard gives up the containers that the transaction has created.
func (tx *SnapshotTransaction) discard() {
	if tx.draft == nil {
		return
	}
	tx.draft.Discard()
	for _, c := range tx.draft.Containers() {
		tx.s.forget(c)
	}
	tx.draft = nil
}
