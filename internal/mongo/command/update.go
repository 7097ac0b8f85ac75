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

// statementFields are the members of one statement of an update.
var statementFields = fieldSet("q u c upsert multi collation arrayFilters hint upsertSupplied sampleId collationSpec")

// An upsertion is a document that an update has made.
type upsertion struct {
	index int
	id    doc.Value
}

func runUpdate(r *request, a *answer) error {
	name := r.collection()
	statements := r.documents("updates")
	ordered := r.bool("ordered", true)
	if r.err != nil {
		return r.err
	}
	if err := checkBatch(len(statements)); err != nil {
		return err
	}
	r.s.ops.update.Add(int64(len(statements)))
	w := write.NewWriter(&r.Operation, ordered)
	var modified int64
	var matched int64
	var upserts []upsertion
	shapes := make([]updateStatement, len(statements))
	for i, d := range statements {
		if err := shapes[i].read(d); err != nil {
			return err
		}
	}
	for i := range shapes {
		u, err := compileUpdate(r, name, &shapes[i])
		if err == nil {
			err = u.Run(&r.Operation)
		}
		if err != nil {
			if !w.Fail(i, err) {
				break
			}
			continue
		}
		matched, modified = matched+u.Matched, modified+u.Modified
		if u.Upserted.Type != 0 {
			upserts = append(upserts, upsertion{i, u.Upserted})
		}
	}
	if err := w.Err(); err != nil {
		return err
	}
	a.Count("n", matched+int64(len(upserts)))
	if len(upserts) > 0 {
		a.Array("upserted")
		for _, u := range upserts {
			a.Object(a.Index())
			a.Int32("index", u.index)
			a.Value("_id", u.id)
			a.Close()
		}
		a.Close()
	}
	a.Count("nModified", modified)
	w.Report(&a.Writer)
	return nil
}

// An updateStatement is a statement as it was sent. It shares the memory of the request.
type updateStatement struct {
	query, change, constants, filters, hint, collation doc.Value
	multi, upsert                                      bool
}

// read takes a statement apart. A mistake in its form fails the whole command, and nothing is updated.
func (s *updateStatement) read(d doc.Doc) error {
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
			s.upsert, ok = truth(v)
		case "multi":
			s.multi, ok = truth(v)
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
				return code.New(code.UnknownFieldOfCommand, "BSON field 'update.updates.%s' is an unknown field.", field)
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

// compileUpdate compiles a statement.
func compileUpdate(r *request, name string, s *updateStatement) (*write.Update, error) {
	u := &write.Update{Database: r.db, Name: name, Multi: s.multi, Upsert: s.upsert}
	u.Namespace = r.db + "." + name
	collation, _ := doc.AsDoc(s.collation)
	err := cmp.Or(simpleCollation(collation), u.Hinted(s.hint))
	if err != nil {
		return nil, err
	}
	if u.Names, u.Vars, err = readVariables(r); err != nil {
		return nil, err
	}
	u.Query = bytes.Clone(s.query.Data)
	if u.Filter, err = query.CompileQuery(&r.Operation, u.Query, u.Names); err != nil {
		return nil, err
	}
	u.Change, err = write.CompileChange(&r.Operation, &u.Selection, s.change, s.filters, s.constants)
	if err == nil {
		err = refuseMany(r, u.Multi, "multi=true")
	}
	if err == nil && u.Multi && u.Change.Replaces {
		err = code.New(code.FailedToParse, "multi update is not supported for replacement-style update")
	}
	return u, err
}

var wantedTypes = map[string]string{"q": "object", "upsert": "bool", "multi": "bool", "arrayFilters": "array", "collation": "object"}
