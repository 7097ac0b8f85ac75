package command

import (
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

func dropIndexes(r *request, a *answer) error {
	name := r.Collection()
	which := doc.Lookup(r.Body, "index")
	r.FaultIf(checkIndexArgument(r, which))
	if r.Err != nil {
		return r.Err
	}
	was, all, err := r.schema().DropIndexes(name, which)
	if err != nil {
		return err
	}
	a.Int32("nIndexesWas", was)
	if all {
		a.String("msg", "non-_id indexes dropped for collection")
	}
	return nil
}

// checkIndexArgument refuses values that are not a name, a list of names or a key pattern.
func checkIndexArgument(r *request, which doc.Value) error {
	switch which.Type {
	case 0:
		return code.New(code.MissingFieldOfCommand, "BSON field '%s.index' is missing but a required field", r.Name)
	case bsoncore.TypeString, bsoncore.TypeEmbeddedDocument:
		return nil
	case bsoncore.TypeArray:
		for v := range doc.Elements(which) {
			if v.Type != bsoncore.TypeString {
				return r.WrongType("index", which, "[string]")
			}
		}
		return nil
	}
	return r.WrongType("index", which, "[string, object]")
}
