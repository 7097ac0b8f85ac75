package write

import (
	"bytes"
	"cmp"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// statementFields are the members of one statement of an update.
var statementFields = call.FieldSet(
	"q u c upsert multi collation arrayFilters hint upsertSupplied sampleId collationSpec")

// An UpdateStatement is a statement as it was sent. It shares the memory of the request.
type UpdateStatement struct {
	query, change, constants, filters, hint, collation doc.Value
	multi, upsert                                      bool
}

// Read takes a statement apart. A mistake in its form fails the whole command, and nothing is updated.
func (s *UpdateStatement) Read(d doc.Doc) error {
	for field, v := range doc.Members(d) {
		ok := true
		switch field {
		case "q":
			s.query = v
			_, ok = doc.AsDoc(v)
		case "u":
			s.change = v
		case "c":
			s.constants = v
		case "upsert":
			s.upsert, ok = call.Truth(v)
		case "multi":
			s.multi, ok = call.Truth(v)
		case "hint":
			s.hint = v
			if err := new(query.Selection).Hinted(v); err != nil {
				return err
			}
		case "collation":
			s.collation = v
			_, ok = doc.AsDoc(v)
		case "arrayFilters":
			s.filters, ok = v, v.Type == bsoncore.TypeArray
		default:
			if !statementFields[field] {
				return code.New(code.UnknownFieldOfCommand,
					"BSON field 'update.updates.%s' is an unknown field.", field)
			}
		}
		if !ok {
			return code.WrongType("update.updates."+field, v, wantedTypes[field])
		}
	}
	switch {
	case s.query.Type == 0:
		return code.New(code.MissingFieldOfCommand, "BSON field 'update.updates.q' is missing but a required field")
	case s.change.Type == 0:
		return code.New(code.MissingFieldOfCommand, "BSON field 'update.updates.u' is missing but a required field")
	}
	return nil
}

// Compile compiles a statement.
func (s *UpdateStatement) Compile(r *call.Request, name string) (*Update, error) {
	u := &Update{Database: r.DB, Name: name, Multi: s.multi, Upsert: s.upsert}
	u.Namespace = r.DB + "." + name
	collation, _ := doc.AsDoc(s.collation)
	err := cmp.Or(call.CheckCollation(collation), u.Hinted(s.hint))
	if err != nil {
		return nil, err
	}
	if u.Names, u.Vars, err = call.ReadVariables(r); err != nil {
		return nil, err
	}
	u.Query = bytes.Clone(s.query.Data)
	if u.Filter, err = query.CompileQuery(&r.Operation, u.Query, u.Names); err != nil {
		return nil, err
	}
	u.Change, err = CompileChange(&r.Operation, &u.Selection, s.change, s.filters, s.constants)
	if err == nil {
		err = call.RefuseMany(r, u.Multi, "multi=true")
	}
	if err == nil && u.Multi && u.Change.Replaces {
		err = code.New(code.FailedToParse, "multi update is not supported for replacement-style update")
	}
	return u, err
}

// wantedTypes are the types of the members of a statement, for messages.
var wantedTypes = map[string]string{
	"q": "object", "upsert": "bool", "multi": "bool", "arrayFilters": "array", "collation": "object",
}
