package query

import (
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// Existing finds the collection that a command is about, which is no view. missing is the error when there is none.
func Existing(r *call.Request, name string, missing *code.Error) (*catalog.Container, error) {
	c, err := r.Find(r.DB, name)
	switch {
	case err != nil:
		return nil, err
	case c == nil:
		return nil, missing
	case ViewOf(c) != nil:
		return nil, code.New(code.CommandNotSupportedOnView, "Namespace %s.%s is a view, not a collection", r.DB, name)
	}
	return c, nil
}
