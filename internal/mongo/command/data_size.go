package command

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

func dataSize(r *request, a *answer) error {
	ns, ok := doc.AsString(r.arg)
	if !ok {
		return r.wrongType("dataSize", r.arg, "string")
	}
	estimate := r.bool("estimate", false)
	if r.err != nil {
		return r.err
	}
	if r.get("min").Type != 0 || r.get("max").Type != 0 {
		return code.Unsupported("dataSize of a range")
	}
	db, name, err := splitNamespace(ns)
	if err != nil {
		return err
	}
	if err := r.may(account.Read, db); err != nil {
		return err
	}
	c, err := r.Find(db, name)
	if err != nil {
		return err
	}
	size, err := sizeOfContainer(r, c)
	if err != nil {
		return err
	}
	a.Int64("size", int64(size.Bytes))
	a.Int64("numObjects", int64(size.Documents))
	a.Int64("millis", r.Since.Elapsed().Milliseconds())
	a.Bool("estimate", estimate)
	return nil
}
