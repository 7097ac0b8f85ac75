// Package bulk is the server's side of imports and exports: it reads lines of JSON into the store, and writes the
// documents of a container as lines, in the order of the change feed. Lines of a container of Cosmos DB are items;
// lines of a MongoDB collection are extended JSON. It never writes a document that is dead, and never shows one.
package bulk

import (
	"context"
	"net/url"
	"strings"

	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/store"
)

// Lines imports and exports lines. It is safe for concurrent use.
type Lines struct {
	catalog *catalog.Catalog
	store   *store.Store
	budget  *budget.Budget
	now     func() expiry.Stamp
	imports chan struct{} // holds a value for each import under way
}

// maxImports is how many imports run at once; others wait. Each may hold a line of transfer.MaxLine in memory.
const maxImports = 4

// New makes lines of the documents in a store. Documents that are large take their memory from the budget. now is the
// clock of the APIs.
func New(c *catalog.Catalog, s *store.Store, b *budget.Budget, now func() expiry.Stamp) *Lines {
	return &Lines{catalog: c, store: s, budget: b, now: now, imports: make(chan struct{}, maxImports)}
}

// find gives a container that has documents of its own.
func (l *Lines) find(db, container string) (*catalog.Container, error) {
	owner, err := l.catalog.Database(db)
	if err != nil {
		return nil, fault.Wrap(fault.OwnerNotFound, err, "The database %s does not exist.", db)
	}
	c, err := l.catalog.Container(owner, container)
	if err != nil {
		return nil, fault.Wrap(fault.NotFound, err, "The container %s does not exist in the database %s.", container,
			db)
	}
	if isView(c.State()) {
		return nil, fault.New(fault.Invalid, "%s.%s is a view, which has no documents of its own.", db, container)
	}
	return c, nil
}

func isView(st *catalog.State) bool {
	return st.Dialect == catalog.Mongo && !doc.IsUndefined(doc.Lookup(st.Echo, "viewOn"))
}

// enter waits until an import may begin. leave ends it.
func (l *Lines) enter(ctx context.Context) (leave func(), err error) {
	select {
	case l.imports <- struct{}{}:
		return func() { <-l.imports }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Memory for documents that are larger than largeDocument is taken from the budget: largeCopies times their size, for
// their line, the document, and what is made of it.
const (
	largeDocument = 64 << 10
	largeCopies   = 4
)

// A loan is memory that is taken until it is given back as a whole.
type loan struct {
	share budget.Share
	taken int64
}

func (l *loan) take(ctx context.Context, bytes int) error {
	if err := l.share.Take(ctx, int64(bytes)); err != nil {
		return err
	}
	l.taken += int64(bytes)
	return nil
}

// hold takes the memory for a document of that size, if it is large.
func (l *loan) hold(ctx context.Context, size int) error {
	if size < largeDocument {
		return nil
	}
	return l.take(ctx, largeCopies*size)
}

func (l *loan) giveBack() {
	l.share.Give(l.taken)
	l.taken = 0
}

// choose reads a parameter that has one of these values, the first by default.
func choose(query url.Values, name string, values ...string) (string, error) {
	if !query.Has(name) {
		return values[0], nil
	}
	given := query.Get(name)
	for _, v := range values {
		if v == given {
			return v, nil
		}
	}
	return "", fault.New(fault.Invalid, "The parameter %s is %q. It takes one of %s.",
		name, given, strings.Join(values, ", "))
}

// onlyThese refuses parameters that would have no effect.
func onlyThese(query url.Values, names ...string) error {
	for name := range query {
		known := false
		for _, n := range names {
			known = known || n == name
		}
		if !known {
			return fault.New(fault.Invalid, "The parameter %q does not exist here. There are %s.",
				name, strings.Join(names, ", "))
		}
	}
	return nil
}
