package command

import (
	"errors"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/mongo/write"
)

func drop(r *request, a *answer) error {
	name := r.collection()
	if r.err != nil {
		return r.err
	}
	c, err := r.Find(r.db, name)
	if c == nil || err != nil {
		return err // since MongoDB 7.0, dropping a collection that does not exist succeeds
	}
	if err := write.Writable(c); err != nil {
		return err
	}
	indexes, isView := len(indexSpecs(c)), query.ViewOf(c) != nil
	if err := r.dropContainer(c); err != nil {
		return err
	}
	if !isView {
		a.Int32("nIndexesWas", indexes)
	}
	a.String("ns", r.db+"."+name)
	return nil
}

// dropContainer deletes a container and notifies change streams. A container that is gone already is no error.
func (r *request) dropContainer(c *catalog.Container) error {
	deleted, err := r.deleteContainer(c)
	if !deleted || err != nil {
		return err
	}
	return write.NoteDropped(&r.Operation, c)
}

// deleteContainer deletes a container; deleted is false if another request has done so.
func (r *request) deleteContainer(c *catalog.Container) (deleted bool, err error) {
	if r.Transaction != nil {
		return false, code.New(code.OperationNotSupportedInTransaction,
			"Cannot run '%s' in a multi-document transaction.", r.Name)
	}
	err = r.s.o.Catalog.DeleteContainer(r.Context, c)
	if errors.Is(err, catalog.ErrNoOwner) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	r.s.Forget(c)
	return true, nil
}
