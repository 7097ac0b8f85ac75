package command

import (
	"errors"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

func drop(r *request, a *answer) error {
	name := r.collection()
	if r.err != nil {
		return r.err
	}
	c, err := r.find(r.db, name)
	if c == nil || err != nil {
		return err // since MongoDB 7.0, dropping a collection that does not exist succeeds
	}
	if err := writable(c); err != nil {
		return err
	}
	indexes, isView := len(indexSpecs(c)), viewOf(c) != nil
	if err := r.dropContainer(c); err != nil {
		return err
	}
	if !isView {
		a.int32("nIndexesWas", indexes)
	}
	a.string("ns", r.db+"."+name)
	return nil
}

// dropContainer deletes a container and notifies change streams. A container that is gone already is no error.
func (r *request) dropContainer(c *catalog.Container) error {
	deleted, err := r.deleteContainer(c)
	if !deleted || err != nil {
		return err
	}
	return r.dropped(c)
}

// deleteContainer deletes a container; deleted is false if another request has done so.
func (r *request) deleteContainer(c *catalog.Container) (deleted bool, err error) {
	if r.tx != nil {
		return false, code.New(code.OperationNotSupportedInTransaction,
			"Cannot run '%s' in a multi-document transaction.", r.name)
	}
	err = r.s.o.Catalog.DeleteContainer(r.ctx, c)
	if errors.Is(err, catalog.ErrNoOwner) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	r.s.forget(c)
	return true, nil
}

// forget drops what the server keeps in memory about a container that does not exist any more.
func (s *Server) forget(c *catalog.Container) {
	s.indexLocks.Delete(c.ID)
	s.rules.Delete(c.ID)
	s.uses.Delete(c.ID)
}
