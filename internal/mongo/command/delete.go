package command

import (
	"bytes"
	"cmp"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/mongo/write"
)

func runDelete(r *request, a *answer) error {
	name := r.collection()
	statements := r.documents("deletes")
	ordered := r.bool("ordered", true)
	if r.err != nil {
		return r.err
	}
	if err := checkBatch(len(statements)); err != nil {
		return err
	}
	r.s.ops.delete.Add(int64(len(statements)))
	w := write.NewWriter(&r.Operation, ordered)
	n := int64(0)
	shapes := make([]deleteStatement, len(statements))
	for i, d := range statements {
		if err := shapes[i].read(d); err != nil {
			return err
		}
	}
	for i := range shapes {
		x, err := compileDelete(r, name, &shapes[i])
		if err == nil {
			err = x.Run(&r.Operation)
		}
		if err == nil {
			n += x.Deleted
		} else if !w.Fail(i, err) {
			break
		}
	}
	if err := w.Err(); err != nil {
		return err
	}
	a.Count("n", n)
	w.Report(&a.Writer)
	return nil
}

// A deleteStatement is a statement as it was sent. It shares the memory of the request.
type deleteStatement struct {
	query           doc.Doc
	one             bool
	hint, collation doc.Value
}

// read takes a statement apart. A mistake in its form fails the whole command, and nothing is deleted.
func (s *deleteStatement) read(d doc.Doc) error {
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
	n, whole := wholeOf(limit)
	switch {
	case q.Type == 0:
		return code.New(code.MissingFieldOfCommand, "BSON field 'delete.deletes.q' is missing but a required field")
	case !ok:
		return code.WrongType("delete.deletes.q", q, "object")
	case limit.Type == 0:
		return code.New(code.MissingFieldOfCommand, "BSON field 'delete.deletes.limit' is missing but a required field")
	case !whole || n != 0 && n != 1:
		return code.New(code.FailedToParse, "The limit field in delete objects must be 0 or 1. Got %s", code.Show(limit))
	}
	s.one = n == 1
	return nil
}

// compileDelete compiles a statement.
func compileDelete(r *request, name string, s *deleteStatement) (*write.Delete, error) {
	x := &write.Delete{One: s.one}
	x.Namespace = r.db + "." + name
	collation, _ := doc.AsDoc(s.collation)
	err := cmp.Or(simpleCollation(collation), x.Hinted(s.hint), refuseMany(r, !x.One, "limit=0"))
	if err != nil {
		return nil, err
	}
	if x.Names, x.Vars, err = readVariables(r); err != nil {
		return nil, err
	}
	x.Query = bytes.Clone(s.query)
	if x.Filter, err = query.CompileQuery(&r.Operation, x.Query, x.Names); err != nil {
		return nil, err
	}
	x.Container, err = r.Find(r.db, name)
	return x, err
}
