package command

import (
	"cmp"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/write"
)

func renameCollection(r *request, a *answer) error {
	from, ok := doc.AsString(r.Arg)
	if !ok {
		return r.WrongType("renameCollection", r.Arg, "string")
	}
	if r.Get("to").Type == 0 {
		return code.New(code.MissingFieldOfCommand, "BSON field 'renameCollection.to' is missing but a required field")
	}
	to := r.String("to")
	over, err := readDropTarget(r)
	if err != nil {
		return err
	}
	db, name, err := call.SplitNamespace(from)
	if err != nil {
		return err
	}
	toDB, toName, err := call.SplitNamespace(to)
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
	if err := cmp.Or(r.May(account.Define, db), write.MayName(&r.Operation, db, toName)); err != nil {
		return err
	}
	return r.schema().Rename(db, name, toName, over)
}

// readDropTarget reads dropTarget. MongoDB also takes the UUID of the collection to drop.
func readDropTarget(r *request) (bool, error) {
	if v := r.Get("dropTarget"); v.Type == bsoncore.TypeBinary {
		return false, code.Unsupported("dropTarget with a UUID")
	}
	over := r.Bool("dropTarget", false)
	return over, r.Err
}
