package schema

import (
	"strings"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/mongo/write"
)

// Rename renames a container within its database. With over it replaces the container that has the new name.
func (r *Request) Rename(db, name, to string, over bool) error {
	c, err := r.Find(db, name)
	if err != nil {
		return err
	}
	target, err := r.Find(db, to)
	switch {
	case err != nil:
		return err
	case c == nil:
		return code.New(code.NamespaceNotFound, "Source collection %s.%s does not exist", db, name)
	case query.ViewOf(c) != nil:
		return code.New(code.CommandNotSupportedOnView, "cannot rename view: %s.%s", db, name)
	case target != nil && query.ViewOf(target) != nil:
		return code.New(code.NamespaceExists, "a view already exists with that name: %s.%s", db, to)
	case target != nil && !over:
		return code.New(code.NamespaceExists, "target namespace exists")
	}
	for _, x := range []*catalog.Container{c, target} {
		if x != nil {
			if err := write.Writable(x); err != nil {
				return err
			}
		}
	}
	err = r.Node.Catalog.RenameContainer(r.Context, c, strings.Clone(to), over)
	if fault.KindOf(err) == fault.Exists {
		return code.New(code.NamespaceExists, "target namespace exists")
	}
	if err != nil {
		return err
	}
	if target != nil {
		r.Node.Forget(target)
	}
	return write.NoteRenamed(&r.Operation, c, name, target)
}
