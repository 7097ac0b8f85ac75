package write

import (
	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/mongo/session"
	"github.com/mayflydb/mayfly/internal/store"
)

// A Delete is one statement of a delete.
type Delete struct {
	query.Selection
	One     bool
	Deleted int64
}

// Run carries the statement out.
func (x *Delete) Run(o *session.Operation) error {
	if !x.One {
		if x.Container == nil {
			return nil
		}
		return x.all(o)
	}
	err := x.one(o)
	if err == nil && x.Deleted == 0 {
		var done session.Done
		if done, _, err = o.Retry.FoundAfterAll(); err == nil {
			x.Deleted = done.Matched
		}
	}
	return err
}

// one deletes the first document that is selected.
func (x *Delete) one(o *session.Operation) error {
	if x.Container == nil {
		return nil
	}
	for range maxLooks {
		if done, ok := o.Retry.Found(); ok {
			x.Deleted = done.Matched
			return nil
		}
		id, found, err := firstID(o, &x.Selection)
		if fault.KindOf(err) == fault.NotFound && o.Transaction == nil {
			return nil // the container was dropped during the write
		}
		if err != nil || !found {
			return err
		}
		var tell func() []session.Done
		if o.Retry != nil {
			tell = func() []session.Done { return o.Retry.One(session.Done{Matched: 1}) }
		}
		results, err := applyOnce(o, x.Container, []store.Op{x.op(o, id)}, tell)
		switch {
		case err == session.ErrDone:
			continue
		// Skipped: the document was there, but no longer selected when it was to be deleted.
		case err == nil && !results[0].Skipped:
			x.Deleted++
			return nil
		case err != nil && !isGone(err):
			return statementErr(x.Container, nil, err)
		// A query that selects more than an _id looks again: another document may match instead.
		case query.OnlyID(x.Query).Type != 0:
			return nil // there is none of that _id
		}
	}
	return code.New(code.WriteConflict, "other writes came first too often")
}

// op deletes a document that is selected still.
func (x *Delete) op(o *session.Operation, id doc.Value) store.Op {
	scope := x.Scope(o)
	return store.Op{Verb: store.Delete, Key: store.Identity(id), If: func(d access.Document) (bool, error) {
		return x.Matches(d.Body, scope)
	}}
}

func (x *Delete) all(o *session.Operation) error {
	nothing := query.Selection{Container: x.Container, Namespace: x.Namespace, Query: impossible}
	// The query finds nothing, and is there for its checks alone: a view or a NoSQL container is refused before
	// anything is deleted.
	if _, _, err := firstID(o, &nothing); err != nil {
		return err
	}
	return inChunks(o, &x.Selection, map[uint64]struct{}{}, func(ids []doc.Value) error {
		ops := make([]store.Op, len(ids))
		for i, id := range ids {
			ops[i] = x.op(o, id)
		}
		return writeEach(o, x.Container, ops, func(_ int, result store.Result, err error) error {
			switch {
			case err != nil && fault.KindOf(err) == fault.NotFound:
			case err != nil:
				return err
			case !result.Skipped:
				x.Deleted++
			}
			return nil
		})
	})
}
