package command

import (
	"iter"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/store"
)

// The methods here are how commands use the store. In a transaction they read and write by way of the transaction.

// enter begins to use a container at the instant of the request, or at that of the transaction's first use of it.
func (r *request) enter(c *catalog.Container) (catalog.View, error) {
	if r.tx != nil {
		return r.tx.enter(r, c)
	}
	return c.Enter(r.ctx, r.now)
}

// scan visits documents. Each is valid until the next one.
func (r *request) scan(v catalog.View, a access.Access) iter.Seq2[access.Document, error] {
	if r.tx != nil {
		return r.tx.scan(v, a)
	}
	return r.s.o.Store.Scan(r.ctx, v, a)
}

// read calls use with the document of an _id, which is valid until use returns. found is false if there is none.
func (r *request) read(v catalog.View, id doc.Value, use func(access.Document) error) (found bool, err error) {
	if r.tx != nil {
		result, err := r.tx.on(v).Do(store.Op{Verb: store.Read, Key: store.Identity(id)})
		if isNotFound(err) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		return true, use(result.Document)
	}
	err = r.s.o.Store.Read(r.ctx, v, store.Identity(id), func(d access.Document) error {
		found = true
		r.traced.points++
		return use(d)
	})
	if !found && isNotFound(err) {
		err = nil
	}
	return found, err
}

// write does operations in order, all of them or none. Each sees what those before it have done. A *store.BatchError
// says which one failed.
func (r *request) write(c *catalog.Container, ops []store.Op) ([]store.Result, error) {
	if err := writable(c); err != nil {
		return nil, err
	}
	cost := r.cost(ops)
	if err := r.take(cost); err != nil {
		return nil, err
	}
	defer r.written(cost)
	if r.tx == nil {
		if err := r.awaitTransactions(c, ops); err != nil {
			return nil, err
		}
		if err := r.failsWrite(); err != nil {
			return nil, err
		}
		before := r.wrote
		r.wrote = true
		results, err := r.persist(c, ops)
		if fault.KindOf(err) == fault.Busy {
			r.wrote = before // all or none
		}
		if err == nil {
			r.failsWritten()
			r.hint(c, ops, results)
		}
		return results, err
	}
	v, err := r.enter(c)
	if err != nil {
		return nil, err
	}
	results := make([]store.Result, len(ops))
	for i, op := range ops {
		if results[i], err = r.tx.do(v, op); err != nil {
			return nil, &store.BatchError{Index: i, Err: err}
		}
	}
	r.hint(c, ops, results)
	return results, nil
}

// awaitTransactions waits for open transactions that have written the documents of ops.
func (r *request) awaitTransactions(c *catalog.Container, ops []store.Op) error {
	if r.s.sessions.locked.Load() != 0 {
		r.c.memory.Rest()
	}
	return r.s.sessions.await(r.ctx, c, ops)
}

// persist writes outside of a transaction. Clients never see a conflict with another write: the write is tried again.
func (r *request) persist(c *catalog.Container, ops []store.Op) (results []store.Result, err error) {
	ctx := budget.With(r.ctx, &r.c.memory.share)
	for range maxLooks {
		results, err = r.s.o.Store.WriteAll(ctx, c, r.now, ops)
		if fault.KindOf(err) != fault.Conflict {
			break
		}
	}
	return results, err
}

// writable refuses writes to containers that the API for NoSQL has created.
func writable(c *catalog.Container) error {
	if c.State().Dialect == catalog.Mongo {
		return nil
	}
	return code.New(code.CommandNotSupported, "The collection '%s.%s' is a Cosmos DB for NoSQL container, "+
		"which can be read through MongoDB but not written. Write to it through its own API.",
		c.Database.Name, c.State().Name)
}
