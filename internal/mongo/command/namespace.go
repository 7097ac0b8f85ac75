package command

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

const adminDatabase = account.AdminDatabase

// Limits of names, as MongoDB has them.
const (
	maxDatabaseName = 63
	maxNamespace    = 255
)

// onCollections are the commands whose own value is the name of a collection. MongoDB 7.0 refuses a value of another
// type with one of three errors, which differ by command. The texts are recorded in FerretDB/FerretDB:
// integration/{query,distinct,explain,indexes_command}_test.go.
var onCollections = map[string]code.Code{
	"aggregate":      code.BadValue,
	"collMod":        code.BadValue,
	"collStats":      code.BadValue,
	"create":         code.BadValue,
	"createIndexes":  code.BadValue,
	"delete":         code.BadValue,
	"deleteIndexes":  code.BadValue,
	"drop":           code.BadValue,
	"dropIndexes":    code.BadValue,
	"findAndModify":  code.BadValue,
	"insert":         code.BadValue,
	"listIndexes":    code.BadValue,
	"update":         code.BadValue,
	"compact":        code.InvalidNamespace,
	"planCacheClear": code.InvalidNamespace,
	"reIndex":        code.InvalidNamespace,
	"validate":       code.InvalidNamespace,
	"count":          unreadableName,
	"distinct":       unreadableName,
	"find":           unreadableName,
}

// unreadableName marks the commands that check the type of the name before they read anything else.
const unreadableName code.Code = 0

// withNull is the error for a name with a NUL in it.
func withNull() error {
	return code.New(code.InvalidNamespace, "namespaces cannot have embedded null characters")
}

// checkDatabaseName refuses names that MongoDB refuses before it looks at the command.
func checkDatabaseName(name string) error {
	switch {
	case strings.Contains(name, "\x00"):
		return withNull()
	case strings.Contains(name, "."):
		return code.New(code.InvalidNamespace, "'.' is an invalid character in a db name: %s", name)
	case len(name) > maxDatabaseName:
		return code.New(code.InvalidNamespace,
			"db name must be at most %d characters, found: %d", maxDatabaseName, len(name))
	}
	return nil
}

// isDatabaseName reports whether a database may have this name. A name with a $ is refused only when the database would
// be created: see mayName.
func isDatabaseName(name string) bool { return name != "" && !strings.ContainsAny(name, "/\\ \"") }

// checkNames checks the name of the database together with the command's own value.
func (r *request) checkNames() error {
	if _, on := onCollections[r.name]; isDatabaseName(r.db) || on && r.arg.Type == bsoncore.TypeString {
		return nil // collection checks both names
	}
	return code.New(code.InvalidNamespace, "Invalid database name: '%s'", r.db)
}

// collection reads the name of the container that the command is about: the value of its own member.
func (r *request) collection() string {
	name, ok := doc.AsString(r.arg)
	if !ok {
		r.fault(r.wrongName())
		return ""
	}
	r.faultIf(checkCollectionName(r.db, name))
	return strings.Clone(name)
}

// wrongName is the error for a value that is not a name.
func (r *request) wrongName() error {
	_, number := doc.AsFloat(r.arg)
	switch kind := onCollections[r.name]; {
	case kind == unreadableName:
		return code.New(code.InvalidNamespace, "Failed to parse namespace element")
	case r.name == "aggregate" && number:
		return code.New(code.BadValue,
			"Invalid command format: the 'aggregate' field must specify a collection name or 1")
	case kind == code.BadValue && isUUID(r.arg):
		return code.New(code.BadValue, "Collection name must be provided. UUID is not valid in this context")
	default:
		return code.New(kind, "collection name has invalid type %s", code.TypeName(r.arg))
	}
}

// isUUID reports whether a value is binary data of subtype 4.
func isUUID(v doc.Value) bool {
	return v.Type == bsoncore.TypeBinary && len(v.Data) == 4+1+16 && v.Data[4] == 4
}

func (r *request) faultIf(err error) {
	if err != nil {
		r.fault(err)
	}
}

func checkCollectionName(db, name string) error {
	switch {
	case strings.Contains(name, "\x00"):
		return withNull()
	case strings.HasPrefix(name, "."):
		return code.New(code.InvalidNamespace, "Collection names cannot start with '.': %s", name)
	case name == "" || !isDatabaseName(db):
		return code.New(code.InvalidNamespace, "Invalid namespace specified '%s.%s'", db, name)
	case strings.Contains(name, "$"):
		return code.New(code.InvalidNamespace, "Invalid collection name: %s", name)
	case len(db)+1+len(name) > maxNamespace:
		return code.New(code.InvalidNamespace,
			"Fully qualified namespace is too long. Namespace: %s.%s Max: %d", db, name, maxNamespace)
	}
	return nil
}

// find gives the container of a name, nil if there is none.
func (s *Server) find(db, name string) (*catalog.Container, error) {
	d, err := s.o.Catalog.Database(db)
	if err == nil {
		var c *catalog.Container
		if c, err = s.o.Catalog.Container(d, name); err == nil {
			return c, nil
		}
	}
	if kind := fault.KindOf(err); kind == fault.NotFound || kind == fault.OwnerNotFound {
		return nil, nil
	}
	return nil, err
}

// find gives the container of a name as the request sees it, also one that its transaction has created; nil if there is
// none.
func (r *request) find(db, name string) (*catalog.Container, error) {
	if r.tx != nil {
		return r.tx.find(db, name)
	}
	return r.s.find(db, name)
}

// systemKeyPath is the partition key path of containers that were created without one.
const systemKeyPath = "/_partitionKey"

// create creates a container, and its database if that does not exist. It fails with fault.Exists if the container
// exists. options are those of the command create that listCollections shows. In a transaction nobody else sees the
// container before the commit.
func (r *request) create(db, name string, options doc.Doc) (*catalog.Container, error) {
	if err := r.mayName(db, name); err != nil {
		return nil, err
	}
	db, name = strings.Clone(db), strings.Clone(name) // they may be views of the request's bytes
	def := catalog.Definition{
		Name: name, Dialect: catalog.Mongo, Echo: options,
		Partition: catalog.PartitionKey{Paths: []string{systemKeyPath}, Version: 2},
		Indexing:  catalog.Indexing{None: true},
	}
	make := r.make
	if r.tx != nil {
		make = r.tx.make
	}
	c, err := make(db, def)
	if err == nil {
		err = r.created(c)
	}
	return c, err
}

// make creates a container outside of transactions.
func (r *request) make(db string, def catalog.Definition) (*catalog.Container, error) {
	cat := r.s.o.Catalog
	d, err := cat.Database(db)
	if fault.KindOf(err) == fault.NotFound {
		if d, err = cat.CreateDatabase(r.ctx, r.now, db, nil); fault.KindOf(err) == fault.Exists {
			d, err = cat.Database(db)
		}
	}
	if err != nil {
		return nil, err
	}
	return cat.CreateContainer(r.ctx, r.now, d, def, nil)
}

// findOrCreate gives the container of a name for a write, and creates it if it does not exist.
func (r *request) findOrCreate(db, name string) (*catalog.Container, error) {
	for {
		c, err := r.find(db, name)
		if c != nil || err != nil {
			return c, err
		}
		if c, err = r.create(db, name, nil); fault.KindOf(err) != fault.Exists {
			return c, err
		}
	}
}

// existing finds the collection that a command is about. It fails with missing if there is none, and if it is a view.
func (r *request) existing(name string, missing *code.Error) (*catalog.Container, error) {
	c, err := r.find(r.db, name)
	switch {
	case err != nil:
		return nil, err
	case c == nil:
		return nil, missing
	case viewOf(c) != nil:
		return nil, code.New(code.CommandNotSupportedOnView, "Namespace %s.%s is a view, not a collection", r.db, name)
	}
	return c, nil
}
