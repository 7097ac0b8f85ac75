package command

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/monitor"
)

func dataSize(r *request, a *answer) error {
	ns, ok := doc.AsString(r.Arg)
	if !ok {
		return r.WrongType("dataSize", r.Arg, "string")
	}
	estimate := r.Bool("estimate", false)
	if r.Err != nil {
		return r.Err
	}
	if r.Get("min").Type != 0 || r.Get("max").Type != 0 {
		return code.Unsupported("dataSize of a range")
	}
	db, name, err := call.SplitNamespace(ns)
	if err != nil {
		return err
	}
	if err := r.May(account.Read, db); err != nil {
		return err
	}
	c, err := r.Find(db, name)
	if err != nil {
		return err
	}
	size, err := monitor.SizeOf(&r.Request, c)
	if err != nil {
		return err
	}
	a.Int64("size", int64(size.Bytes))
	a.Int64("numObjects", int64(size.Documents))
	a.Int64("millis", r.Since.Elapsed().Milliseconds())
	a.Bool("estimate", estimate)
	return nil
}
