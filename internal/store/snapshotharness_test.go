package store_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/store"
)

// collection is the definition of a container of the Mongo dialect.
func collection(name string, ttl expiry.TTL) catalog.Definition {
	return catalog.Definition{Name: name, Dialect: catalog.Mongo, TTL: ttl, Indexing: catalog.Indexing{None: true}}
}

// another makes one more container beside w.c.
func (w *world) another(def catalog.Definition) *catalog.Container {
	w.t.Helper()
	c, err := w.catalog.CreateContainer(context.Background(), w.now, w.c.Database, def, nil)
	w.ok(err)
	return c
}

func (w *world) viewOf(c *catalog.Container) catalog.View {
	w.t.Helper()
	v, err := c.Enter(context.Background(), w.now)
	w.ok(err)
	return v
}

// addIndex adds an index that is complete at once to an empty container.
func (w *world) addIndex(c *catalog.Container, x catalog.NamedIndex) {
	w.t.Helper()
	_, err := w.catalog.ReplaceIndexes(context.Background(), w.now, c,
		func(st *catalog.State) ([]catalog.NamedIndex, error) {
			return append(slices.Clone(st.Named), x), nil
		})
	w.ok(err)
}

func byID(text string) store.Key { return store.Identity(doc.String(text)) }

// doing makes an operation on {_id: text, and what rest says}.
func (w *world) doing(verb store.Verb, text, rest string) store.Op {
	w.t.Helper()
	op := store.Op{Verb: verb, Key: byID(text)}
	if rest != "" {
		rest = "," + rest
	}
	body := w.body(fmt.Sprintf(`{"_id":%q%s}`, text, rest))
	switch verb {
	case store.Read, store.Delete:
	case store.Patch:
		op.Edit = func(access.Document) (doc.Doc, error) { return body, nil }
	default:
		op.Body = body
	}
	return op
}

// all lists what a scan gives, as id=n, in order of the text.
func (w *world) all(x *store.ContainerTransaction, a access.Access) string {
	w.t.Helper()
	return strings.Join(w.listed(x, a), " ")
}

func (w *world) listed(x *store.ContainerTransaction, a access.Access) (list []string) {
	w.t.Helper()
	for d, err := range x.Scan(context.Background(), a) {
		w.ok(err)
		list = append(list, brief(d))
	}
	slices.Sort(list)
	return list
}

func brief(d access.Document) string {
	name, _ := doc.AsString(doc.Lookup(d.Body, "_id"))
	n, _ := doc.AsInt(doc.Lookup(d.Body, "n"))
	return fmt.Sprintf("%s=%d", name, n)
}

// inside lists the living documents of a container.
func (w *world) inside(c *catalog.Container) string {
	w.t.Helper()
	var list []string
	for d, err := range w.store.Scan(context.Background(), w.viewOf(c), access.Access{}) {
		w.ok(err)
		list = append(list, brief(d))
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// at does an operation on a container outside of any transaction.
func (w *world) at(c *catalog.Container, op store.Op) store.Result {
	w.t.Helper()
	r, err := w.store.Write(context.Background(), c, w.now, op)
	w.ok(err)
	return r
}

func renamed(def catalog.Definition, name string) catalog.Definition {
	def.Name = name
	return def
}
