package command

import (
	"cmp"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/mongo/write"
)

func renameCollection(r *request, a *answer) error {
	from, ok := doc.AsString(r.arg)
	if !ok {
		return r.wrongType("renameCollection", r.arg, "string")
	}
	if r.get("to").Type == 0 {
		return code.New(code.MissingFieldOfCommand, "BSON field 'renameCollection.to' is missing but a required field")
	}
	to := r.string("to")
	over, err := readDropTarget(r)
	if err != nil {
		return err
	}
	db, name, err := splitNamespace(from)
	if err != nil {
		return err
	}
	toDB, toName, err := splitNamespace(to)
	if err != nil {
		return err
	}
	switch {
	case from == to:
		return code.New(code.IllegalOperation, "Can't rename a collection to itself")
	case strings.HasPrefix(name, "system.") || strings.HasPrefix(toName, "system."):
		return code.New(code.IllegalOperation, "renaming system collections is not allowed")
	case db != toDB:
		return code.Unsupported("renaming a collection into another database")
	}
	if err := cmp.Or(r.may(account.Define, db), write.MayName(&r.Operation, db, toName)); err != nil {
		return err
	}
	return renameContainer(r, db, name, toName, over)
}

// readDropTarget reads dropTarget. MongoDB also takes the UUID of the collection to drop.
func readDropTarget(r *request) (bool, error) {
	if v := r.get("dropTarget"); v.Type == bsoncore.TypeBinary {
		return false, code.Unsupported("dropTarget with a UUID")
	}
	over := r.bool("dropTarget", false)
	return over, r.err
}

// renameContainer renames a container within its database. With over it replaces the container that has the new name.
func renameContainer(r *request, db, name, to string, over bool) error {
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
	err = r.s.o.Catalog.RenameContainer(r.Context, c, strings.Clone(to), over)
	if fault.KindOf(err) == fault.Exists {
		return code.New(code.NamespaceExists, "target namespace exists")
	}
	if err != nil {
		return err
	}
	if target != nil {
		r.s.Forget(target)
	}
	return write.NoteRenamed(&r.Operation, c, name, target)
}

// splitNamespace reads "database.collection".
func splitNamespace(ns string) (db, name string, err error) {
	db, name, ok := strings.Cut(ns, ".")
	if !ok || checkDatabaseName(db) != nil {
		return "", "", code.New(code.InvalidNamespace, "Invalid namespace specified '%s'", ns)
	}
	return db, name, write.CheckCollectionName(db, name)
}
