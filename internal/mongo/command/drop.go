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
		return err // one that is not there is dropped, as of MongoDB 7.0
	}
	if err := writable(c); err != nil {
		return err
	}
	indexes, isView := len(indexSpecs(c)), viewOf(c) != nil
	if err := r.remove(c); err != nil {
		return err
	}
	if !isView {
		a.int32("nIndexesWas", indexes)
	}
	a.string("ns", r.db+"."+name)
	return nil
}

// remove deletes a container and tells change streams of it; it is content when someone else has done so.
func (r *request) remove(c *catalog.Container) error {
	gone, err := r.discard(c)
	if !gone || err != nil {
		return err
	}
	return r.dropped(c)
}

// discard deletes a container; gone tells that nobody else has.
func (r *request) discard(c *catalog.Container) (gone bool, err error) {
	if r.tx != nil {
		return false, code.New(code.OperationNotSupportedInTransaction, "Cannot run '%s' in a multi-document transaction.", r.name)
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

// forget drops what the door keeps of a container that is gone.
func (s *Server) forget(c *catalog.Container) {
	s.indexLocks.Delete(c.ID)
	s.rules.Delete(c.ID)
	s.uses.Delete(c.ID)
}
