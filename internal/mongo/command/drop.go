package command

import (
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/mongo/schema"
	"github.com/mayflydb/mayfly/internal/mongo/write"
)

func drop(r *request, a *answer) error {
	name := r.Collection()
	if r.Err != nil {
		return r.Err
	}
	if name == account.ProfileContainer {
		return dropProfile(r, a)
	}
	c, err := r.Find(r.DB, name)
	if c == nil || err != nil {
		return err // since MongoDB 7.0, dropping a collection that does not exist succeeds
	}
	if err := write.Writable(c); err != nil {
		return err
	}
	indexes, isView := len(schema.Specs(c)), query.ViewOf(c) != nil
	if err := r.schema().Drop(c); err != nil {
		return err
	}
	if !isView {
		a.Int32("nIndexesWas", indexes)
	}
	a.String("ns", r.DB+"."+name)
	return nil
}
