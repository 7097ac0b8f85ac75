package command

import (
	"strings"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// Limits of names, as MongoDB has them.
const (
	maxDatabaseName = 63
	maxNamespace    = 255
)

func checkDatabaseName(name string) error {
	if name == "" || len(name) > maxDatabaseName || strings.ContainsAny(name, "/\\. \"$\x00") {
		return code.New(code.InvalidNamespace, "Invalid database name: '%s'", name)
	}
	return nil
}

// collection reads the name of the container that the command is about: the value of its own member.
func (r *request) collection() string {
	name, ok := doc.AsString(r.arg)
	if !ok {
		r.fault(code.New(code.InvalidNamespace, "collection name has invalid type %s", code.TypeName(r.arg)))
		return ""
	}
	r.faultIf(checkCollectionName(r.db, name))
	return strings.Clone(name)
}

func (r *request) faultIf(err error) {
	if err != nil {
		r.fault(err)
	}
}

func checkCollectionName(db, name string) error {
	switch {
	case name == "" || strings.ContainsAny(name, "\x00") || strings.HasPrefix(name, ".") || strings.HasSuffix(name, "."):
		return code.New(code.InvalidNamespace, "Invalid namespace specified '%s.%s'", db, name)
	case strings.Contains(name, "$"):
		return code.New(code.InvalidNamespace, "Invalid collection name: %s", name)
	case len(db)+1+len(name) > maxNamespace:
		return code.New(code.InvalidNamespace, "Fully qualified namespace is too long. Namespace: %s.%s Max: %d", db, name, maxNamespace)
	}
	return nil
}

// find gives the container of that name; nil without an error when there is none.
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

// find gives the container of that name as the request sees it: that of its transaction, if it runs in
// one; nil without an error when there is none.
func (r *request) find(db, name string) (*catalog.Container, error) {
	if r.tx != nil {
		return r.tx.find(db, name)
	}
	return r.s.find(db, name)
}

// systemKeyPath is the partition key path of containers that clients made without one.
const systemKeyPath = "/_partitionKey"

// create makes a container, and its database when there is none; fault.Exists when it is there.
// options are those of the command create that are shown again. In a transaction it is there for that
// alone until the commit.
func (r *request) create(db, name string, options doc.Doc) (*catalog.Container, error) {
	if err := r.mayName(db, name); err != nil {
		return nil, err
	}
	db, name = strings.Clone(db), strings.Clone(name) // they may be views of the request's bytes
	def := catalog.Definition{
		Name: name, Dialect: catalog.Mongo, Echo: options,
		Partition: catalog.PartitionKey{Paths: []string{systemKeyPath}, Version: 2}, Indexing: catalog.Indexing{None: true},
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

// make is create outside of transactions.
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

// findOrCreate gives the container of that name for a write, making it when there is none.
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

// existing finds the collection that a command is about, which is no view.
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
