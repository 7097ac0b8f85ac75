package write

import (
	"errors"

	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/session"
	"github.com/mayflydb/mayfly/internal/store"
)

// Apply does operations in order, each seeing those before; all of them or none. A
// *store.BatchError names the first that failed.
func Apply(o *session.Operation, c *catalog.Container, ops []store.Op) ([]store.Result, error) {
	return applyOnce(o, c, ops, nil)
}

// applyOnce is Apply for statements of a command that may be a retryable write. tell says what has become of them, when
// the operations have been done. If it fails with session.ErrDone, another attempt has done one of the statements;
// o.Retry knows then which.
func applyOnce(
	o *session.Operation, c *catalog.Container, ops []store.Op, tell func() []session.Done,
) ([]store.Result, error) {
	if err := Writable(c); err != nil {
		return nil, err
	}
	// The memory is taken before any lock or wait, so that a refusal has no effect.
	cost := costOf(o, ops)
	if err := o.Take(cost); err != nil {
		return nil, err
	}
	defer noteWritten(o, cost)
	if o.Transaction == nil {
		if err := awaitTransactions(o, c, ops); err != nil {
			return nil, err
		}
		if err := o.Host.BeforeWrite(); err != nil {
			return nil, err
		}
		// Set before the write, which may have taken effect even if it ends with an error. Only a refusal for want of
		// memory is known to have written nothing.
		before := o.Wrote
		o.Wrote = true
		o.Moment = catalog.Moment{} // what the operation reads from now on has the write
		guard := guardOf(o.Context)
		var results []store.Result
		err := guard.begin(ops)
		if err == nil {
			results, err = persist(o, c, ops, tell)
		}
		guard.end(results, err)
		_, refused := errors.AsType[*store.BatchError](err)
		o.Settled = err == nil || refused
		if fault.KindOf(err) == fault.Busy || err == session.ErrDone {
			o.Wrote = before // all or none
		}
		if err == nil {
			o.Host.AfterWrite()
			hintWrites(o, c, ops, results)
		}
		return results, err
	}
	v, err := o.Enter(c)
	if err != nil {
		return nil, err
	}
	results := make([]store.Result, len(ops))
	for i, op := range ops {
		if results[i], err = o.Transaction.Do(v, op); err != nil {
			return nil, &store.BatchError{Index: i, Err: err}
		}
	}
	hintWrites(o, c, ops, results)
	return results, nil
}

// awaitTransactions waits for transactions that have written the documents of ops.
func awaitTransactions(o *session.Operation, c *catalog.Container, ops []store.Op) error {
	if o.Node.Sessions.Locked.Load() != 0 {
		// While it waits for another transaction, this request must not hold up other large ones.
		o.Memory.Rest()
	}
	return o.Node.Sessions.Await(o.Context, c, ops)
}

// persist writes outside of a transaction, where clients never hear of other writes that came first.
func persist(
	o *session.Operation, c *catalog.Container, ops []store.Op, tell func() []session.Done,
) (results []store.Result, err error) {
	ctx := budget.With(o.SyncGroup.With(o.Retry.With(o.Context, tell)), &o.Memory.Share)
	// MongoDB retries write conflicts of single statements by itself. Clients only hear of those in transactions.
	for range maxLooks {
		results, err = o.Node.Store.WriteAll(ctx, c, o.Now, ops)
		if fault.KindOf(err) != fault.Conflict {
			break
		}
	}
	return results, o.Retry.Wrote(err)
}

// Writable refuses writes to containers that belong to the other API.
func Writable(c *catalog.Container) error {
	if c.State().Dialect == catalog.Mongo {
		return nil
	}
	return code.New(code.CommandNotSupported,
		"The collection '%s.%s' is a Cosmos DB for NoSQL container, which can be read through MongoDB but not "+
			"written. Write to it through its own API.", c.Database.Name, c.State().Name)
}
