package command

import (
	"bytes"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/store"
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
	w := writer{r: r, ordered: ordered}
	n := int64(0)
	shapes := make([]deleteStatement, len(statements))
	for i, d := range statements {
		if err := shapes[i].read(d); err != nil {
			return err
		}
	}
	for i := range shapes {
		x, err := r.deleting(name, &shapes[i])
		if err == nil {
			err = x.run(r)
		}
		if err == nil {
			n += x.n
		} else if !w.fail(i, err) {
			break
		}
	}
	if w.failed != nil {
		return w.failed
	}
	a.count("n", n)
	w.report(a)
	return nil
}

// A deleting is one statement of a delete on its way.
type deleting struct {
	selection
	one bool
	n   int64
}

// A deleteStatement is a statement as it was sent. It shares the memory of the request.
type deleteStatement struct {
	query           doc.Doc
	one             bool
	hint, collation doc.Value
}

// read takes a statement apart. A mistake in its form is one of the whole command, of which nothing is done then.
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
			if err := new(selection).hinted(v); err != nil {
				return err
			}
		case "collation":
			if s.collation = v; v.Type != bsoncore.TypeEmbeddedDocument {
				return wrongTypeOf("delete.deletes.collation", v, "object")
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
		return wrongTypeOf("delete.deletes.q", q, "object")
	case limit.Type == 0:
		return code.New(code.MissingFieldOfCommand, "BSON field 'delete.deletes.limit' is missing but a required field")
	case !whole || n != 0 && n != 1:
		return code.New(code.FailedToParse, "The limit field in delete objects must be 0 or 1. Got %s", code.Show(limit))
	}
	s.one = n == 1
	return nil
}

// deleting compiles a statement.
func (r *request) deleting(name string, s *deleteStatement) (*deleting, error) {
	x := &deleting{one: s.one}
	x.ns = r.db + "." + name
	collation, _ := doc.AsDoc(s.collation)
	err := cmpOr(simpleCollation(collation), x.hinted(s.hint), r.refuseMany(!x.one, "limit=0"))
	if err != nil {
		return nil, err
	}
	if x.names, x.vars, err = r.variables(); err != nil {
		return nil, err
	}
	x.query = bytes.Clone(s.query)
	if x.filter, err = r.compileQuery(x.query, x.names); err != nil {
		return nil, err
	}
	x.container, err = r.find(r.db, name)
	return x, err
}

// run carries the statement out.
func (x *deleting) run(r *request) error {
	if x.container == nil {
		return nil
	}
	if !x.one {
		return x.all(r)
	}
	for range maxLooks {
		id, found, err := r.first(&x.selection)
		if isNotFound(err) && r.tx == nil {
			return nil // the container was dropped meanwhile
		}
		if err != nil || !found {
			return err
		}
		results, err := r.write(x.container, []store.Op{x.op(r, id)})
		switch {
		case err == nil && !results[0].Skipped:
			x.n++
			return nil
		case err != nil && !isGone(err):
			return statementErr(x.container, nil, err)
		case onlyID(x.query).Type != 0:
			return nil // there is none of that _id
		}
	}
	return code.New(code.WriteConflict, "other writes came first too often")
}

// op deletes a document that is selected still.
func (x *deleting) op(r *request, id doc.Value) store.Op {
	scope := x.scope(r)
	return store.Op{Verb: store.Delete, Key: store.Identity(id), If: func(d access.Document) (bool, error) { return x.matches(d.Body, scope) }}
}

func (x *deleting) all(r *request) error {
	if _, _, err := r.first(&selection{container: x.container, ns: x.ns, query: impossible}); err != nil {
		return err
	}
	return r.inChunks(&x.selection, map[uint64]struct{}{}, func(ids []doc.Value) error {
		ops := make([]store.Op, len(ids))
		for i, id := range ids {
			ops[i] = x.op(r, id)
		}
		return r.writeEach(x.container, ops, func(_ int, result store.Result, err error) error {
			switch {
			case err != nil && isNotFound(err):
			case err != nil:
				return err
			case !result.Skipped:
				x.n++
			}
			return nil
		})
	})
}
