package write

import (
	"strings"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// MayName decides whether a container of that name may be made.
func MayName(o *session.Operation, db, name string) error {
	switch { // mongodb/mongo: src/mongo/db/catalog/collection_catalog_helper.cpp, userAllowedCreateNS
	case strings.Contains(db, "$"):
		return code.New(code.InvalidNamespace, "Invalid namespace: %s.%s", db, name)
	case strings.HasPrefix(name, "system.") && name != "system.js":
		return code.New(code.InvalidNamespace, "Invalid system namespace: %s.%s", db, name)
	case strings.Contains(name, ".system."):
		return code.New(code.BadValue, "Invalid namespace: %s.%s", db, name)
	}
	// MongoDB refuses names that differ only in case, for the sake of file systems that do not tell them apart. Clients
	// may rely on it.
	for _, other := range o.Node.Catalog.Databases() {
		if other.Name != db && strings.EqualFold(other.Name, db) {
			return code.New(13297, "db already exists with different case already have: [%s] trying to create [%s]",
				other.Name, db)
		}
	}
	return nil
}

// systemKeyPath is the partition key path of containers that clients made without one.
const systemKeyPath = "/_partitionKey"

// CreateContainer makes a container, and its database when there is none; fault.Exists when it is there.
// options are those of the command create that are shown again. In a transaction it is there for that
// alone until the commit.
func CreateContainer(o *session.Operation, db, name string, options doc.Doc) (*catalog.Container, error) {
	if err := MayName(o, db, name); err != nil {
		return nil, err
	}
	db, name = strings.Clone(db), strings.Clone(name) // they may be views of the request's bytes
	// Also a MongoDB container has a partition key, because Cosmos DB for NoSQL shows it as a container, where each has
	// one.
	def := catalog.Definition{
		Name: name, Dialect: catalog.Mongo, Echo: options,
		Partition: catalog.PartitionKey{Paths: []string{systemKeyPath}, Version: 2},
		Indexing:  catalog.Indexing{None: true},
	}
	var c *catalog.Container
	var err error
	if o.Transaction != nil {
		c, err = o.Transaction.Make(db, def)
	} else {
		c, err = makeContainer(o, db, def)
	}
	if err == nil {
		err = noteCreated(o, c)
	}
	return c, err
}

// makeContainer is createContainer outside of transactions.
func makeContainer(o *session.Operation, db string, def catalog.Definition) (*catalog.Container, error) {
	cat := o.Node.Catalog
	d, err := cat.Database(db)
	if fault.KindOf(err) == fault.NotFound {
		// Another request may have created it in between.
		if d, err = cat.CreateDatabase(o.Context, o.Now, db, nil); fault.KindOf(err) == fault.Exists {
			d, err = cat.Database(db)
		}
	}
	if err != nil {
		return nil, err
	}
	return cat.CreateContainer(o.Context, o.Now, d, def, nil)
}

// FindOrCreate gives the container of that name for a write, making it when there is none.
func FindOrCreate(o *session.Operation, db, name string) (*catalog.Container, error) {
	for {
		c, err := o.Find(db, name)
		if c != nil || err != nil {
			return c, err
		}
		// If another request was faster, the next round finds its container.
		if c, err = CreateContainer(o, db, name, nil); fault.KindOf(err) != fault.Exists {
			return c, err
		}
	}
}
