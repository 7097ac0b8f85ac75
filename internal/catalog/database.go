package catalog

import (
	"context"

	"github.com/mayflydb/mayfly/internal/audit"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// A Database groups containers. It is immutable.
type Database struct {
	ID       uint32       `json:"id"`
	Name     string       `json:"name"`
	Stamp    expiry.Stamp `json:"stamp"`
	Sequence uint64       `json:"sequence"` // the catalog's, for the ETag
}

func databaseName(text string) name { return name{kind: databaseKind, text: text} }

func (c *Catalog) loadDatabases(ctx context.Context) error {
	return each(ctx, c.engine, databaseKind, func(db *Database) error {
		c.rememberDatabase(db)
		return nil
	})
}

func (c *Catalog) rememberDatabase(db *Database) {
	c.databases.set(db.ID, db)
	c.byName[databaseName(db.Name)] = db
}

// Databases lists all databases in order of creation.
func (c *Catalog) Databases() []*Database {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.databases.list(func(*Database) bool { return true })
}

// Database finds by name; fault.NotFound.
func (c *Catalog) Database(text string) (*Database, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	db, ok := c.byName[databaseName(text)].(*Database)
	if !ok {
		return nil, ErrNotFound
	}
	return db, nil
}

// DatabaseByID finds by number; fault.NotFound.
func (c *Catalog) DatabaseByID(id uint32) (*Database, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	db, ok := c.databases.get(id)
	if !ok {
		return nil, ErrNotFound
	}
	return db, nil
}

// CreateDatabase fails with fault.Exists when the name is taken. A non-nil
// offer is the body of the database's throughput resource.
func (c *Catalog) CreateDatabase(ctx context.Context, now expiry.Stamp, text string, offer doc.Doc) (*Database, error) {
	return exclusively(ctx, c, func() (*Database, error) { return c.createDatabase(ctx, now, text, offer) })
}

func (c *Catalog) createDatabase(ctx context.Context, now expiry.Stamp, text string, offer doc.Doc) (*Database, error) {
	if _, err := c.Database(text); err == nil {
		return nil, ErrExists
	}
	if len(c.databases.values) >= MaxDatabases {
		return nil, errManyDatabases
	}
	now = c.authority.instant(c, now)
	db := &Database{Name: text, Stamp: now}
	var throughput *Resource
	err := c.change(ctx, func(n *revision, b *kv.Batch) error {
		n.Database++
		db.ID, db.Sequence = n.Database, n.Sequence
		b.Set(keys.CatalogKey(databaseKind, db.ID), encode(db))
		n.note("create", "database", db.Name)
		throughput = newOffer(n, b, now, Owner{Database: db.ID}, offer)
		return nil
	}, func() {
		c.rememberDatabase(db)
		c.addResource(throughput)
	})
	if err != nil {
		return nil, err
	}
	return db, nil
}

// DeleteDatabase removes a database with everything in it; fault.NotFound
// when that has happened already.
func (c *Catalog) DeleteDatabase(ctx context.Context, db *Database) error {
	return c.exclusively(ctx, func() error { return c.deleteDatabase(ctx, db) })
}

func (c *Catalog) deleteDatabase(ctx context.Context, db *Database) error {
	if _, err := c.DatabaseByID(db.ID); err != nil {
		return err
	}
	containers := c.Containers(db)
	restore := c.authority.refuse(containers)
	touched := make([]touch, len(containers))
	for i, ct := range containers {
		touched[i] = touch{Container: ct, deletes: true}
	}
	var gone []*Resource
	err := c.change(ctx, func(n *revision, b *kv.Batch) error {
		b.Frees = true
		b.Delete(keys.CatalogKey(databaseKind, db.ID))
		n.note("delete", "database", db.Name, audit.Change{Name: "containers", Before: len(containers)})
		for _, ct := range containers {
			c.dropContainer(n, b, ct)
		}
		gone = c.resourcesOf(func(o Owner) bool { return o.Database == db.ID })
		deleteResources(b, gone)
		return nil
	}, func() {
		c.databases.delete(db.ID)
		delete(c.byName, databaseName(db.Name))
		for _, ct := range containers {
			c.forgetContainer(ct)
		}
		c.forgetResources(gone)
	}, touched...)
	if err != nil {
		restore()
		return err
	}
	for _, ct := range containers {
		c.dropped(ct)
	}
	return c.purge(ctx)
}
