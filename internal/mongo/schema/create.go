package schema

import (
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/mongo/write"
)

// Create creates a container; one that exists with the same options is no error.
func (r *Request) Create(name string, options doc.Doc) error {
	if r.Transaction != nil {
		return createInTransaction(r, name, options)
	}
	_, err := write.CreateContainer(&r.Operation, r.DB, name, options)
	if fault.KindOf(err) != fault.Exists {
		return err
	}
	c, err := r.Find(r.DB, name)
	if c == nil || err != nil {
		return err
	}
	return sameOptions(c, options)
}

// createInTransaction creates a collection in a transaction. Unlike outside, a collection that exists is an error even
// if its options are the same.
func createInTransaction(r *Request, name string, options doc.Doc) error {
	if err := mayDefine(r); err != nil {
		return err
	}
	switch c, err := r.Find(r.DB, name); {
	case err != nil:
		return err
	case doc.Lookup(options, "viewOn").Type != 0:
		return code.New(code.OperationNotSupportedInTransaction,
			"Cannot create a view in a multi-document transaction.")
	case c != nil:
		return code.New(code.NamespaceExists, "Collection %s.%s already exists.", r.DB, name)
	}
	_, err := write.CreateContainer(&r.Operation, r.DB, name, options)
	return err
}

// sameOptions is the answer to create if the container exists: no error if it has the options that were asked for.
func sameOptions(c *catalog.Container, options doc.Doc) error {
	have := c.State().Echo
	ns := c.Database.Name + "." + c.State().Name
	if c.State().Dialect != catalog.Mongo {
		return code.New(code.NamespaceExists,
			"Collection %s already exists. It is a Cosmos DB for NoSQL container.", ns)
	}
	switch is, wants := query.ViewOf(c) != nil, doc.Lookup(options, "viewOn").Type != 0; {
	case is && !wants:
		return code.New(code.NamespaceExists, "namespace %s already exists, but is a view rather than a collection", ns)
	case !is && wants:
		return code.New(code.NamespaceExists, "namespace %s already exists, but is a collection rather than a view", ns)
	}
	if have == nil {
		have = doc.Empty
	}
	if options == nil {
		options = doc.Empty
	}
	if !doc.EqualBSON(doc.Object(have), doc.Object(options)) {
		return code.New(code.NamespaceExists,
			"namespace %s already exists, but with different options: %s", ns, code.Show(doc.Object(have)))
	}
	return nil
}
