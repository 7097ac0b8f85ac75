package command

import (
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/query"
)

func compact(r *request, a *answer) error {
	name, dry := r.Collection(), r.Bool("dryRun", false)
	if r.Err != nil {
		return r.Err
	}
	c, err := query.Existing(&r.Request, name, code.New(code.NamespaceNotFound, "collection does not exist"))
	if err != nil {
		return err
	}
	if dry {
		return code.Unsupported("compact with dryRun")
	}
	before := r.s.o.Store.Load().DiskBytes
	if err := r.s.o.Store.Settle(r.Context, c); err != nil {
		return err
	}
	after := r.s.o.Store.Load().DiskBytes // others may write at the same time, so the difference may be negative
	a.Int64("bytesFreed", int64(before-min(before, after)))
	return nil
}
