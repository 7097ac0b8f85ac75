package catalog

import (
	"context"
	"slices"

	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// A Draft is the containers that a transaction creates, and databases for them. Until Publish no other request finds
// them, and nothing of them is on disk. Their numbers are taken at once; those of a discarded draft are never used. It
// is used by one goroutine.
type Draft struct {
	c          *Catalog
	databases  []*Database
	containers []*Container
}

// NewDraft begins an empty draft.
func (c *Catalog) NewDraft() *Draft { return &Draft{c: c} }

// Containers are those of the draft, in order of creation.
func (d *Draft) Containers() []*Container { return d.containers }

// Container finds one of the draft's by name, nil if it has none of that name.
func (d *Draft) Container(db, text string) *Container {
	for _, ct := range d.containers {
		if ct.Database.Name == db && ct.State().Name == text {
			return ct
		}
	}
	return nil
}

// Create adds a container, and its database if there is none; fault.Exists when the draft has one of that name. Whether
// the catalog has one is checked by Publish.
func (d *Draft) Create(ctx context.Context, now expiry.Stamp, db string, def Definition) (*Container, error) {
	return exclusively(ctx, d.c, func() (*Container, error) { return d.create(ctx, now, db, def) })
}

func (d *Draft) create(ctx context.Context, now expiry.Stamp, db string, def Definition) (*Container, error) {
	c := d.c
	if d.Container(db, def.Name) != nil {
		return nil, ErrExists
	}
	if err := d.fits(1); err != nil {
		return nil, err
	}
	now = c.authority.instant(c, now)
	st, err := c.firstState(now, def)
	if err != nil {
		return nil, err
	}
	owner, isNew, err := d.database(now, db)
	if err != nil {
		return nil, err
	}
	numbers, err := c.authority.reserve(ctx, c, isNew)
	if err != nil {
		return nil, err
	}
	if isNew {
		owner.ID = numbers.Database
		d.databases = append(d.databases, owner)
	}
	ct := c.newContainer(numbers.Container, owner, st)
	ct.draft = true
	d.containers = append(d.containers, ct)
	return ct, nil
}

// fits checks the draft, with so many containers more, against the limit.
func (d *Draft) fits(more int) error {
	if len(d.c.containers.values)+len(d.containers)+more > MaxContainers {
		return errManyContainers
	}
	return nil
}

// database finds the database of that name, or makes one without a number.
func (d *Draft) database(now expiry.Stamp, text string) (db *Database, isNew bool, err error) {
	if db, err := d.c.Database(text); err == nil {
		return db, false, nil
	}
	if i := slices.IndexFunc(d.databases, func(db *Database) bool { return db.Name == text }); i >= 0 {
		return d.databases[i], false, nil
	}
	if len(d.c.databases.values)+len(d.databases) >= MaxDatabases {
		return nil, false, errManyDatabases
	}
	return &Database{Name: text, Stamp: now}, true, nil
}

// Publish makes the draft durable together with what apply writes, and then visible. apply
// gets the records of the draft and writes them in one batch with its own. fault.Conflict when
// others have made a container of one of the names, or have deleted its database. The batch of apply depends on what
// records depends on, at the moment of records.
func (d *Draft) Publish(ctx context.Context, apply func(records *kv.Batch) error) error {
	return d.c.exclusively(ctx, func() error {
		err := d.publish(ctx, apply)
		if lost, ok := err.(*lostTurn); ok { // the transaction has to begin again
			err = lost.err
		}
		return err
	})
}

func (d *Draft) publish(ctx context.Context, apply func(records *kv.Batch) error) error {
	c := d.c
	if err := d.settle(); err != nil {
		return err
	}
	return c.changeBy(ctx, func(n *revision, b *kv.Batch) error {
		for _, db := range d.databases {
			db.Sequence = n.Sequence
			b.Set(keys.CatalogKey(databaseKind, db.ID), encode(db))
			n.note("create", "database", db.Name)
		}
		for _, ct := range d.containers {
			st := *ct.State()
			st.Sequence, st.datesOff = n.Sequence, c.datesOff.Load()
			if err := st.compile(c.condition); err != nil {
				return err
			}
			c.saveNew(n, b, ct, &st)
			ct.state.Store(&st)
			n.noteContainer(ct, nil, &st)
			n.noteIndexes(ct, nil, st.Named)
		}
		return nil
	}, func() {
		for _, db := range d.databases {
			c.rememberDatabase(db)
		}
		epoch := c.nextEpoch() // one for all: who sees one of them sees the others
		for _, ct := range d.containers {
			c.show(epoch, ct)
		}
	}, apply)
}

// settle checks that the draft can be published. A database of the draft that another request has created since is
// replaced by that one.
func (d *Draft) settle() error {
	if err := d.fits(0); err != nil {
		return err
	}
	for _, ct := range d.containers {
		db, err := d.c.Database(ct.Database.Name)
		isNew := slices.Contains(d.databases, ct.Database)
		switch {
		case err != nil && isNew:
			continue
		case err != nil, !isNew && db != ct.Database:
			return errDatabaseGone
		}
		if _, err := d.c.Container(db, ct.State().Name); err == nil {
			return errCreatedByOther
		}
		ct.Database = db
	}
	d.databases = slices.DeleteFunc(d.databases, func(db *Database) bool {
		_, err := d.c.Database(db.Name)
		return err == nil
	})
	if len(d.c.databases.values)+len(d.databases) > MaxDatabases {
		return errManyDatabases
	}
	return nil
}

// Discard gives the draft up: its containers refuse requests with ErrNoOwner from then on.
func (d *Draft) Discard() { markDeleted(d.containers) }

// alterDraft is alter for a container that no other request sees. Nothing of it is on disk yet, so nothing has to be
// dropped, and Publish writes its last state.
func (c *Catalog) alterDraft(ct *Container, do func(*State, *revision, *kv.Batch) error) (*State, error) {
	next, n := *ct.State(), revision{counters: c.counters, batch: &kv.Batch{}}
	if next.Deleted {
		return nil, ErrNoOwner
	}
	if err := do(&next, &n, n.batch); err != nil {
		return nil, err
	}
	next.epoch = c.epochs.Add(1)
	ct.state.Store(&next)
	return &next, nil
}

var (
	errManyContainers = fault.New(fault.Forbidden, "Too many containers (limit %d). Delete one first.", MaxContainers)
	errManyDatabases  = fault.New(fault.Forbidden, "Too many databases (limit %d). Delete one first.", MaxDatabases)
	errCreatedByOther = fault.New(fault.Conflict,
		"Another request created a container of this name during the transaction. "+
			"Start the transaction again.")
	errDatabaseGone = fault.New(fault.Conflict, "The database was deleted during the transaction. "+
		"Start the transaction again.")
)
