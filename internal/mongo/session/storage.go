package session

import (
	"iter"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/store"
)

// The methods here are how commands reach the store: inside of a transaction they see and
// change what it does, outside what everybody does.

// Enter begins to use a container at the instant of the operation, or of the transaction's
// first use of it.
func (o *Operation) Enter(c *catalog.Container) (catalog.View, error) {
	if o.Transaction != nil {
		return o.Transaction.enter(o, c)
	}
	return c.EnterAt(o.Context, o.Now, &o.Moment)
}

// Scan walks documents. They are valid until the next step.
func (o *Operation) Scan(v catalog.View, a access.Access) iter.Seq2[access.Document, error] {
	if o.Transaction != nil {
		return o.Transaction.scan(v, a)
	}
	return o.Node.Store.Scan(o.Context, v, a)
}

// Read calls use with the document of that _id; found is false when there is none. The
// document is valid inside use.
func (o *Operation) Read(v catalog.View, id doc.Value, use func(access.Document) error) (found bool, err error) {
	if o.Transaction != nil {
		x, err := o.Transaction.on(v)
		if err != nil {
			return false, err
		}
		result, err := x.Do(o.Context, store.Op{Verb: store.Read, Key: store.Identity(id)})
		if fault.KindOf(err) == fault.NotFound {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		return true, use(result.Document)
	}
	err = o.Node.Store.Read(o.Context, v, store.Identity(id), func(d access.Document) error {
		found = true
		o.Trace.Points++
		return use(d)
	})
	if !found && fault.KindOf(err) == fault.NotFound {
		err = nil
	}
	return found, err
}

// Find gives the container of that name as the operation sees it: that of its transaction, if it runs in
// one; nil without an error if there is no such container.
func (o *Operation) Find(db, name string) (*catalog.Container, error) {
	if o.Transaction != nil {
		return o.Transaction.find(db, name)
	}
	return o.Node.Find(db, name)
}
