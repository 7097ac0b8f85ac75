package schema

import (
	"errors"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/write"
)

// Drop deletes a container and notifies change streams. A container that is gone already is no error.
func (r *Request) Drop(c *catalog.Container) error {
	deleted, err := r.Delete(c)
	if !deleted || err != nil {
		return err
	}
	return write.NoteDropped(&r.Operation, c)
}

// Delete deletes a container; deleted is false if another request has done so. Change streams are not notified.
func (r *Request) Delete(c *catalog.Container) (deleted bool, err error) {
	if r.Transaction != nil {
		return false, code.New(code.OperationNotSupportedInTransaction,
			"Cannot run '%s' in a multi-document transaction.", r.Name)
	}
	err = r.Node.Catalog.DeleteContainer(r.Context, c)
	if errors.Is(err, catalog.ErrNoOwner) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	r.Node.Forget(c)
	return true, nil
}
