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

// A DeleteStatement is a statement as it was sent. It shares the memory of the request.
type DeleteStatement struct {
	query           doc.Doc
	one             bool
	hint, collation doc.Value
}

// Read takes a statement apart. A mistake in its form fails the whole command, and nothing is deleted.
func (s *DeleteStatement) Read(d doc.Doc) error {
	var q, limit doc.Value
	for field, v := range doc.Members(d) {
		switch field {
		case "q":
			q = v
		case "limit":
			limit = v
		case "hint":
			s.hint = v
			if err := new(query.Selection).Hinted(v); err != nil {
				return err
			}
		case "collation":
			if s.collation = v; v.Type != bsoncore.TypeEmbeddedDocument {
				return code.WrongType("delete.deletes.collation", v, "object")
			}
		case "sampleId":
		default:
			return code.New(code.UnknownFieldOfCommand, "BSON field 'delete.deletes.%s' is an unknown field.", field)
		}
	}
	var ok bool
	s.query, ok = doc.AsDoc(q)
	n, whole := call.WholeOf(limit)
	switch {
	case q.Type == 0:
		return code.New(code.MissingFieldOfCommand, "BSON field 'delete.deletes.q' is missing but a required field")
	case !ok:
		return code.WrongType("delete.deletes.q", q, "object")
	case limit.Type == 0:
		return code.New(code.MissingFieldOfCommand, "BSON field 'delete.deletes.limit' is missing but a required field")
	case !whole || n != 0 && n != 1:
		return code.New(code.FailedToParse,
			"The limit field in delete objects must be 0 or 1. Got %s", code.Show(limit))
	}
	s.one = n == 1
	return nil
}

// Compile compiles a statement.
func (s *DeleteStatement) Compile(r *call.Request, name string) (*Delete, error) {
	x := &Delete{One: s.one}
	x.Namespace = r.DB + "." + name
	collation, _ := doc.AsDoc(s.collation)
	err := cmp.Or(call.CheckCollation(collation), x.Hinted(s.hint), call.RefuseMany(r, !x.One, "limit=0"))
	if err != nil {
		return nil, err
	}
	if x.Names, x.Vars, err = call.ReadVariables(r); err != nil {
		return nil, err
	}
	x.Query = bytes.Clone(s.query)
	if x.Filter, err = query.CompileQuery(&r.Operation, x.Query, x.Names); err != nil {
		return nil, err
	}
	x.Container, err = r.Find(r.DB, name)
	return x, err
}
