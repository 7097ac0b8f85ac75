package command

import (
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/write"
)

// customActions are the extension commands of Cosmos DB. Throughput has no meaning here, and is refused rather than
// ignored (D-67).
// https://learn.microsoft.com/azure/cosmos-db/mongodb/custom-commands
var customActions = map[string]func(*request, *answer) error{
	"CreateCollection": (*request).createCustomCollection,
	"GetCollection":    (*request).getCustomCollection,
	"GetDatabase":      (*request).getCustomDatabase,
}

func customAction(r *request, a *answer) error {
	name, ok := doc.AsString(r.Arg)
	if !ok {
		return r.WrongType("customAction", r.Arg, "string")
	}
	for _, option := range []string{"offerThroughput", "autoScaleSettings"} {
		if r.Get(option).Type != 0 {
			return code.Unsupported("the member '" + option + "' of customAction")
		}
	}
	do, ok := customActions[name]
	if !ok {
		return code.Unsupported("the customAction '" + name + "'")
	}
	return do(r, a)
}

// customCollection reads the member collection.
func customCollection(r *request) (string, error) {
	name := r.String("collection")
	if r.Err != nil {
		return "", r.Err
	}
	return name, call.CheckName(r.DB, name)
}

func (r *request) createCustomCollection(*answer) error {
	name, err := customCollection(r)
	if err != nil {
		return err
	}
	if r.Get("indexes").Type != 0 {
		return code.Unsupported("the member 'indexes' of customAction")
	}
	if err := r.May(account.Define, r.DB); err != nil {
		return err
	}
	_, err = write.CreateContainer(&r.Operation, r.DB, name, nil)
	if fault.KindOf(err) == fault.Exists {
		return code.New(code.NamespaceExists, "Collection %s.%s already exists.", r.DB, name)
	}
	return err
}

func (r *request) getCustomDatabase(a *answer) error {
	if _, err := r.s.o.Catalog.Database(r.DB); err != nil {
		if fault.KindOf(err) == fault.NotFound {
			return code.New(code.NamespaceNotFound, "Database %s not found.", r.DB)
		}
		return err
	}
	a.String("database", r.DB)
	return nil
}

func (r *request) getCustomCollection(a *answer) error {
	name, err := customCollection(r)
	if err != nil {
		return err
	}
	c, err := r.Find(r.DB, name)
	if err != nil {
		return err
	}
	if c == nil {
		return code.New(code.NamespaceNotFound, "Collection %s.%s not found.", r.DB, name)
	}
	a.String("database", r.DB)
	a.String("collection", name)
	if c.State().Dialect != catalog.Mongo {
		a.shardKey(c)
	}
	return nil
}

// shardKey shows the partition key of a container that the API for NoSQL has created.
func (a *answer) shardKey(c *catalog.Container) {
	a.Object("shardKeyDefinition")
	for _, path := range c.State().Partition.Paths {
		a.String(path, "hash")
	}
	a.Close()
}
