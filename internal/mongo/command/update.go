package command

import (
	"bytes"
	"errors"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/plan"
	"github.com/mayflydb/mayfly/internal/store"
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
	w := writer{r: r, ordered: ordered}
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
		u, err := r.updating(name, &shapes[i])
		if err == nil {
			err = u.run(r)
		}
		if err != nil {
			if !w.fail(i, err) {
				break
			}
			continue
		}
		matched, modified = matched+u.matched, modified+u.modified
		if u.upserted.Type != 0 {
			upserts = append(upserts, upsertion{i, u.upserted})
		}
	}
	if w.failed != nil {
		return w.failed
	}
	a.count("n", matched+int64(len(upserts)))
	if len(upserts) > 0 {
		a.array("upserted")
		for _, u := range upserts {
			a.object(a.index())
			a.int32("index", u.index)
			a.value("_id", u.id)
			a.close()
		}
		a.close()
	}
	a.count("nModified", modified)
	w.report(a)
	return nil
}

// An updating is one statement of an update on its way.
type updating struct {
	selection
	name   string
	change *change
	multi  bool
	upsert bool

	matched, modified int64
	upserted          doc.Value // the _id of inserted
	inserted          doc.Doc
}

// An updateStatement is a statement as it was sent. It shares the memory of the request.
type updateStatement struct {
	query, change, constants, filters, hint, collation doc.Value
	multi, upsert                                      bool
}

// read takes a statement apart. A mistake in its form is one of the whole command, of which nothing is done then.
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
			if err := new(selection).hinted(v); err != nil {
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
			return wrongTypeOf("update.updates."+field, v, wantedTypes[field])
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

// updating compiles a statement.
func (r *request) updating(name string, s *updateStatement) (*updating, error) {
	u := &updating{name: name, multi: s.multi, upsert: s.upsert}
	u.ns = r.db + "." + name
	collation, _ := doc.AsDoc(s.collation)
	err := cmpOr(simpleCollation(collation), u.hinted(s.hint))
	if err != nil {
		return nil, err
	}
	if u.names, u.vars, err = r.variables(); err != nil {
		return nil, err
	}
	u.query = bytes.Clone(s.query.Data)
	if u.filter, err = r.compileQuery(u.query, u.names); err != nil {
		return nil, err
	}
	u.change, err = r.changing(&u.selection, s.change, s.filters, s.constants)
	if err == nil {
		err = r.refuseMany(u.multi, "multi=true")
	}
	if err == nil && u.multi && u.change.replaces {
		err = code.New(code.FailedToParse, "multi update is not supported for replacement-style update")
	}
	return u, err
}

var wantedTypes = map[string]string{"q": "object", "upsert": "bool", "multi": "bool", "arrayFilters": "array", "collation": "object"}

// truth reads a boolean or a number as one.
func truth(v doc.Value) (on, ok bool) {
	if b, ok := doc.AsBool(v); ok {
		return b, true
	}
	f, ok := doc.AsFloat(v)
	return f != 0, ok
}

// maxLooks bounds how often a write looks again for a document because others have changed what it
// has found.
const maxLooks = 1_000

// run carries the statement out.
func (u *updating) run(r *request) error {
	for range maxLooks {
		again, err := u.try(r)
		if !again || err != nil {
			return err
		}
	}
	return code.New(code.WriteConflict, "other writes came first too often")
}

// try looks for the documents and changes them, or makes one; again when another write has come
// between.
func (u *updating) try(r *request) (again bool, err error) {
	if u.container, err = r.find(r.db, u.name); err != nil {
		return false, err
	}
	if u.container != nil {
		if u.multi {
			err = u.changeAll(r)
		} else {
			again, err = u.changeOne(r)
		}
		if isNotFound(err) && r.tx == nil {
			return true, nil // the container was dropped meanwhile
		}
		if again || err != nil || u.matched > 0 {
			return again, err
		}
	}
	if !u.upsert {
		return false, nil
	}
	return u.insert(r)
}

// changeOne changes the first document that is selected.
func (u *updating) changeOne(r *request) (again bool, err error) {
	id, found, err := r.first(&u.selection)
	if err != nil || !found {
		return false, err
	}
	validate, err := r.validator(u.container)
	if err != nil {
		return false, err
	}
	e := u.change.edit(r, &u.selection, validate, u.container)
	results, err := r.write(u.container, []store.Op{e.op(id)})
	if err != nil {
		if isGone(err) {
			return onlyID(u.query).Type == 0, nil
		}
		return false, statementErr(u.container, e.made, err)
	}
	if !e.matched {
		return onlyID(u.query).Type == 0, nil // it is another document by now
	}
	u.matched++
	if !results[0].Skipped && e.changed {
		u.modified++
	}
	return false, nil
}

// first finds the _id of the first document that is selected.
func (r *request) first(q *selection) (id doc.Value, found bool, err error) {
	if q.container.State().Dialect != catalog.Mongo {
		return doc.Value{}, false, writable(q.container)
	}
	if viewOf(q.container) != nil {
		return doc.Value{}, false, code.New(code.CommandNotSupportedOnView, "Namespace %s is a view, not a collection", q.ns)
	}
	if id = onlyID(q.query); id.Type != 0 && q.hint.Type == 0 {
		return id, true, nil // the write itself finds out
	}
	one := *q
	if one.sort != nil || one.reverse {
		one.limit = 1
		for d, err := range r.rows(&one) {
			return doc.Clone(doc.Lookup(d, "_id")), err == nil, err
		}
		return doc.Value{}, false, nil
	}
	err = r.replanned(&one, func(v catalog.View, p *plan.Plan) (bool, error) {
		return found, r.each(&one, v, p, nil, func(d access.Document) (bool, error) {
			id, found = doc.Clone(doc.Lookup(d.Body, "_id")), true
			return false, nil
		})
	})
	return id, found, err
}

// isGone reports whether the document that a write was for is not there any more.
func isGone(err error) bool {
	var e *store.BatchError
	return errors.As(err, &e) && isNotFound(e.Err)
}

// statementErr is what a client is told of a statement that the store has refused.
func statementErr(c *catalog.Container, body doc.Doc, err error) error {
	var e *store.BatchError
	if errors.As(err, &e) {
		err = e.Err
	}
	return duplicate(c, body, err)
}

// changeAll changes every document that is selected, each for itself, chunk by chunk. A document that a
// change moves to a later place in an index is changed once.
func (u *updating) changeAll(r *request) error {
	if _, _, err := r.first(&selection{container: u.container, ns: u.ns, query: impossible}); err != nil {
		return err
	}
	validate, err := r.validator(u.container)
	if err != nil {
		return err
	}
	seen := map[uint64]struct{}{}
	return r.inChunks(&u.selection, seen, func(ids []doc.Value) error {
		edits, ops := make([]*edit, len(ids)), make([]store.Op, len(ids))
		for i, id := range ids {
			edits[i] = u.change.edit(r, &u.selection, validate, u.container)
			ops[i] = edits[i].op(id)
		}
		return r.writeEach(u.container, ops, func(i int, result store.Result, err error) error {
			e := edits[i]
			switch {
			case err != nil && isNotFound(err):
				return nil
			case err != nil:
				return statementErr(u.container, e.made, err)
			case e.matched:
				u.matched++
				if !result.Skipped && e.changed {
					u.modified++
				}
			}
			return nil
		})
	})
}

// impossible selects nothing and costs nothing: a query of one _id that nobody has looked for.
var impossible = bsoncore.NewDocumentBuilder().AppendMinKey("_id").Build()

const idCost = 128 // of an _id that is kept, beside its value

// inChunks calls use with the _ids of the documents that are selected, some at a time. seen has the
// numbers of those that were given out.
func (r *request) inChunks(q *selection, seen map[uint64]struct{}, use func(ids []doc.Value) error) error {
	var after access.Position
	for {
		var ids []doc.Value
		size, more := 0, false
		err := r.replanned(q, func(v catalog.View, p *plan.Plan) (bool, error) {
			ids, size, more = ids[:0], 0, false
			return after != nil, r.each(q, v, p, after, func(d access.Document) (bool, error) {
				if _, again := seen[d.Number]; again {
					return true, nil
				}
				id := doc.Lookup(d.Body, "_id")
				if err := r.take(len(id.Data) + idCost); err != nil {
					return false, err
				}
				ids = append(ids, doc.Clone(id))
				seen[d.Number] = struct{}{}
				if size += len(d.Body); r.tx == nil && (size >= chunkBytes || len(ids) >= chunkDocuments) {
					after, more = append(after[:0], d.Position...), true
					return false, nil
				}
				return true, nil
			})
		})
		if err != nil {
			return err
		}
		if len(ids) > 0 {
			if err := use(ids); err != nil {
				return err
			}
		}
		if !more {
			return nil
		}
	}
}

// writeEach does operations that have nothing to do with each other: together if that
// succeeds, else one by one. took is told what became of each; its error ends it.
func (r *request) writeEach(c *catalog.Container, ops []store.Op, took func(i int, result store.Result, err error) error) error {
	if r.tx == nil && len(ops) > 1 {
		results, err := r.write(c, ops)
		if err == nil {
			for i, result := range results {
				if err := took(i, result, nil); err != nil {
					return err
				}
			}
			return nil
		}
		var e *store.BatchError
		if !errors.As(err, &e) {
			return err
		}
	}
	for i := range ops {
		results, err := r.write(c, ops[i:i+1])
		var e *store.BatchError
		switch {
		case errors.As(err, &e):
			err = took(i, store.Result{}, e.Err)
		case err == nil:
			err = took(i, results[0], nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// insert makes the document of an upsert; again when another one has come first.
func (u *updating) insert(r *request) (again bool, err error) {
	body, err := u.change.insertion(r, &u.selection)
	if err != nil {
		return false, err
	}
	if u.container, err = r.findOrCreate(r.db, u.name); err != nil {
		return false, err
	}
	validate, err := r.validator(u.container)
	if err == nil && validate != nil {
		err = validate(body)
	}
	if err != nil {
		return false, err
	}
	id := doc.Lookup(body, "_id")
	_, err = r.write(u.container, []store.Op{{Verb: store.Create, Key: store.Identity(id), Body: body, Lenient: true}})
	if isExists(err) && r.tx == nil && r.selected(&u.selection) {
		return true, nil
	}
	if err != nil {
		return false, statementErr(u.container, body, err)
	}
	u.upserted, u.inserted = id, body
	return false, nil
}

// selected reports whether a document is selected by now, so that what was to insert one has to change it.
func (r *request) selected(q *selection) bool {
	if id := onlyID(q.query); id.Type != 0 {
		v, err := r.enter(q.container)
		if err != nil {
			return false
		}
		there, err := r.read(v, id, func(access.Document) error { return nil })
		return there && err == nil
	}
	_, there, err := r.first(q)
	return there && err == nil
}
