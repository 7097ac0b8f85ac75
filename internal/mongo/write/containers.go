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
	for _, other := range o.Node.Catalog.Databases() {
		if other.Name != db && strings.EqualFold(other.Name, db) {
			return code.New(13297, "db already exists with different case already have: [%s] trying to create [%s]", other.Name, db)
		}
	}
	return nil
}

// Limits of names, as MongoDB has them.
const (
	MaxDatabaseName = 63
	maxNamespace    = 255
)

// NullInName is the answer to a name with a NUL in it.
func NullInName() error {
	return code.New(code.InvalidNamespace, "namespaces cannot have embedded null characters")
}

// IsDatabaseName reports whether a database may have this name; a $ is refused when it is to be made.
func IsDatabaseName(name string) bool { return name != "" && !strings.ContainsAny(name, "/\\ \"") }

// CheckCollectionName refuses names that no collection can have.
func CheckCollectionName(db, name string) error {
	switch {
	case strings.Contains(name, "\x00"):
		return NullInName()
	case strings.HasPrefix(name, "."):
		return code.New(code.InvalidNamespace, "Collection names cannot start with '.': %s", name)
	case name == "" || !IsDatabaseName(db):
		return code.New(code.InvalidNamespace, "Invalid namespace specified '%s.%s'", db, name)
	case strings.Contains(name, "$"):
		return code.New(code.InvalidNamespace, "Invalid collection name: %s", name)
	case len(db)+1+len(name) > maxNamespace:
		return code.New(code.InvalidNamespace, "Fully qualified namespace is too long. Namespace: %s.%s Max: %d", db, name, maxNamespace)
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
	def := catalog.Definition{
		Name: name, Dialect: catalog.Mongo, Echo: options,
		Partition: catalog.PartitionKey{Paths: []string{systemKeyPath}, Version: 2}, Indexing: catalog.Indexing{None: true},
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
		if c, err = CreateContainer(o, db, name, nil); fault.KindOf(err) != fault.Exists {
			return c, err
		}
	}
}
