package command

import (
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/mongo/write"
)

func dropDatabase(r *request, a *answer) error {
	if n, ok := doc.AsInt64Exact(r.Arg); !ok || n != 1 {
		return code.New(5255100, "Have to pass 1 as db parameter")
	}
	if r.DB == account.AdminDatabase || r.DB == "config" || r.DB == "local" && r.s.o.ReplSet != "" {
		return code.New(code.IllegalOperation, "Dropping the '%s' database is prohibited.", r.DB)
	}
	d, err := r.s.o.Catalog.Database(r.DB)
	if fault.KindOf(err) == fault.NotFound {
		r.s.monitor.Profiler.Drop(r.DB)
		return nil
	}
	if err != nil {
		return err
	}
	list := r.s.o.Catalog.Containers(d)
	for _, c := range list {
		if c.State().Dialect != catalog.Mongo {
			return code.New(code.CommandNotSupported, "The database '%s' has the Cosmos DB for NoSQL container '%s', "+
				"so it can be dropped only through that API. Drop its other collections one by one.",
				d.Name, c.State().Name)
		}
	}
	s := r.schema()
	for _, c := range list {
		if query.ViewOf(c) != nil { // change streams see no dropped view when a whole database is dropped
			_, err = s.Delete(c)
		} else {
			err = s.Drop(c)
		}
		if err != nil {
			return err
		}
	}
	if err := r.s.o.Catalog.DeleteDatabase(r.Context, d); err != nil && fault.KindOf(err) != fault.NotFound {
		return err
	}
	if err := write.NoteDatabaseDropped(&r.Operation, d); err != nil {
		return err
	}
	r.s.monitor.Profiler.Drop(d.Name)
	a.String("dropped", d.Name)
	return nil
}
