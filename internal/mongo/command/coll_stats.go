package command

import (
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/monitor"
	"github.com/mayflydb/mayfly/internal/mongo/query"
)

func collStats(r *request, a *answer) error {
	name := r.Collection()
	scale := monitor.ReadScale(&r.Request, "collStats.scale", r.Get("scale"))
	if r.Err != nil {
		return r.Err
	}
	c, err := r.Find(r.DB, name)
	if err != nil {
		return err
	}
	if c != nil && query.ViewOf(c) != nil {
		return code.New(code.CommandNotSupportedOnView, "Namespace %s.%s is a view, not a collection", r.DB, name)
	}
	a.String("ns", r.DB+"."+name)
	return monitor.WriteStorageStats(&r.Request, &a.Writer, c, scale)
}
