package command

import (
	"bytes"
	"iter"
	"math/rand/v2"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
	"github.com/mayflydb/mayfly/internal/mongo/plan"
)

var findFields = fieldSet(`filter sort projection hint skip limit batchSize singleBatch max min returnKey showRecordId tailable
	oplogReplay noCursorTimeout awaitData allowPartialResults collation allowDiskUse let ntoreturn snapshot maxScan`)

// random gives numbers from 0 up to 1.
func random() float64 { return rand.Float64() }

// A finding is the producer of find.
type finding struct {
	holding
	selection
	projection *pipeline.Projection // nil keeps documents as they are
	after      access.Position      // of the last document given out
	left       int64                // of the limit; 0 for none
	point      bool                 // an _id is asked for, and nothing else

	rows func() (doc.Doc, error, bool) // of a sort in memory, pulled; nil when documents come in order by themselves
	quit func()
	held doc.Doc // a document that did not fit
	now  *request
}

func find(r *request, a *answer) error {
	name := r.collection()
	if r.err != nil {
		return r.err
	}
	if done, err := r.findPoint(a, name); done || err != nil {
		return err
	}
	q, err := r.finding(name)
	if err != nil {
		return err
	}
	size := r.batchSize("find", r.get("batchSize"), firstBatch)
	if n := r.int("ntoreturn", 0, 0); n > 0 {
		size = n
	}
	if r.err != nil {
		return r.err
	}
	if q.container != nil && viewOf(q.container) != nil {
		return r.findView(a, q, size)
	}
	if q.container == nil {
		return r.reply(a, q.ns, &listed{}, size, nil)
	}
	return within("Executor error during find command: "+q.ns, r.reply(a, q.ns, q, size, func(x *cursor) { x.noTimeout = r.bool("noCursorTimeout", false) }))
}

// within says at what an error has come up, as MongoDB does.
func within(what string, err error) error {
	if err == nil {
		return nil
	}
	e := *codeOf(err)
	e.Message = what + " :: caused by :: " + e.Message
	return &e
}

// finding reads the arguments of find.
func (r *request) finding(name string) (*finding, error) {
	q := &finding{}
	q.ns = r.db + "." + name
	if err := r.checkBooleans(); err != nil {
		return nil, err
	}
	if err := r.refuseOptions("max", "min", "returnKey", "showRecordId", "tailable", "awaitData", "maxScan", "snapshot"); err != nil {
		return nil, err
	}
	if err := r.checkCollation("collation"); err != nil {
		return nil, err
	}
	var err error
	if q.names, q.vars, err = r.variables(); err != nil {
		return nil, err
	}
	if err := r.readSelection(&q.selection, "filter"); err != nil {
		return nil, err
	}
	q.skip = r.int("skip", 0, 0)
	q.limit = r.int("limit", -1<<63, 0)
	if q.limit < 0 {
		r.fault(code.New(51024, "BSON field 'limit' value must be >= 0, actual value '%d'", q.limit))
	}
	if r.err != nil {
		return nil, r.err
	}
	q.left = q.limit
	if spec := r.document("projection"); !doc.IsEmpty(spec) {
		q.projection, err = pipeline.CompileProjection(spec, pipeline.ProjectionOptions{Names: q.names, Find: true, Filter: q.filter})
		if err != nil {
			return nil, err
		}
	}
	q.container, err = r.find(r.db, name)
	q.point = q.container != nil && q.container.State().Dialect == catalog.Mongo && q.skip == 0 && q.hint.Type == 0 && onlyID(q.query).Type != 0
	return q, cmpOr(err, r.err)
}

func cmpOr(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// readSelection reads the query called field, the sort and the hint into q, copied.
func (r *request) readSelection(q *selection, field string) (err error) {
	q.query = bytes.Clone(r.document(field))
	if q.query == nil {
		q.query = doc.Empty
	}
	if r.err == nil {
		q.filter, err = r.compileQuery(q.query, q.names)
	}
	if err != nil || r.err != nil {
		return cmpOr(r.err, err)
	}
	if err := r.sorts(q, r.document("sort")); err != nil {
		return err
	}
	return q.hinted(r.get("hint"))
}

// sorts reads a sort. {$natural: 1} is the order of creation.
func (r *request) sorts(q *selection, spec doc.Doc) (err error) {
	if doc.IsEmpty(spec) || r.err != nil {
		return r.err
	}
	if v := doc.Lookup(spec, "$natural"); v.Type != 0 {
		if name, more := onlyMember(spec); more {
			return code.New(code.BadValue, "Cannot include '$natural' in compound sort: %s", code.Show(doc.Object(spec)))
		} else if f, ok := doc.AsFloat(v); !ok || f != 1 && f != -1 {
			return code.New(code.BadValue, "%s sort cannot be set to a value other than -1 or 1.", name)
		}
		return q.hinted(doc.Object(spec))
	}
	q.sort, err = pipeline.CompileSort(spec)
	return err
}

// onlyMember gives the name of the first member, and whether there are others.
func onlyMember(d doc.Doc) (name string, more bool) {
	for n := range doc.Members(d) {
		if name != "" {
			return name, true
		}
		name = n
	}
	return name, false
}

// hinted takes a hint, copied. {$natural: -1} is the order of creation from the end.
func (q *selection) hinted(v doc.Value) error {
	switch v.Type {
	case 0:
		return nil
	case bsoncore.TypeString, bsoncore.TypeEmbeddedDocument:
		if d, ok := doc.AsDoc(v); !ok || !doc.IsEmpty(d) {
			q.hint = doc.Clone(v)
			natural, _ := doc.AsFloat(doc.Lookup(d, "$natural"))
			q.reverse = natural < 0
		}
		return nil
	}
	return code.New(code.FailedToParse, "Hint must be a string or an object")
}

// refuseOptions names an option that is set and that mayfly does not have.
func (r *request) refuseOptions(names ...string) error {
	for _, name := range names {
		v := r.get(name)
		if b, ok := doc.AsBool(v); v.Type == 0 || ok && !b {
			continue
		}
		return code.Unsupported("the option '" + name + "' of the command " + r.name)
	}
	return nil
}

// checkCollation refuses every collation but the simple one.
func (r *request) checkCollation(name string) error {
	return simpleCollation(r.document(name))
}

func simpleCollation(d doc.Doc) error {
	if doc.IsEmpty(d) {
		return nil
	}
	locale, ok := doc.AsString(doc.Lookup(d, "locale"))
	switch {
	case !ok:
		return code.New(code.MissingFieldOfCommand, "BSON field 'collation.locale' is missing but a required field")
	case locale != "simple":
		return code.Unsupported("the collation with locale '" + locale + "'")
	}
	return nil
}

// booleans are the members of find that have to be true or false; elsewhere numbers count as such.
var booleans = fieldSet("singleBatch allowDiskUse returnKey showRecordId tailable awaitData noCursorTimeout allowPartialResults oplogReplay")

// checkBooleans checks them. mongodb/mongo: src/mongo/idl/basic_types.h, OptionalBool
func (r *request) checkBooleans() error {
	for name, v := range doc.Members(r.body) {
		if booleans[name] && v.Type != bsoncore.TypeBoolean && v.Type != bsoncore.TypeNull {
			return code.New(code.TypeMismatch, "Field '%s' should be a boolean value, but found: %s", name, code.TypeName(v))
		}
	}
	return nil
}

// findPoint answers a find of one _id and nothing else, which needs no plan.
func (r *request) findPoint(a *answer, name string) (done bool, err error) {
	var id doc.Value
	for field, v := range doc.Members(r.body) {
		switch field {
		case "filter":
			if d, ok := doc.AsDoc(v); ok {
				id = onlyID(d)
			}
		case "find", "limit", "singleBatch", "batchSize", "$db", "lsid", "maxTimeMS", "$clusterTime", "$readPreference", "readConcern", "txnNumber", "autocommit", "startTransaction":
			if field == "singleBatch" && v.Type != bsoncore.TypeBoolean {
				return false, nil
			}
			if n, ok := doc.AsInt64Exact(v); field == "batchSize" && (!ok || n < 1) || field == "limit" && (!ok || n < 0) {
				return false, nil
			}
		default:
			return false, nil
		}
	}
	if id.Type == 0 {
		return false, nil
	}
	c, err := r.find(r.db, name)
	if err != nil || c != nil && c.State().Dialect != catalog.Mongo || c != nil && viewOf(c) != nil {
		return false, err
	}
	a.object("cursor")
	a.array("firstBatch")
	if c != nil {
		v, err := r.enter(c)
		if err != nil {
			return false, err
		}
		_, err = r.read(v, id, func(d access.Document) error {
			if err := a.makeRoom(len(d.Body) + elementBytes); err != nil {
				return err
			}
			a.element(d.Body)
			r.traced.returned++
			return nil
		})
		if err != nil {
			return false, err
		}
	}
	a.close()
	a.int64("id", 0)
	a.string("ns", r.db+"."+name)
	a.close()
	return true, nil
}

// onlyID is the value of a query {_id: value}, missing for every other query.
func onlyID(query doc.Doc) (id doc.Value) {
	n := 0
	for name, v := range doc.Members(query) {
		if n++; n > 1 || name != "_id" {
			return doc.Value{}
		}
		switch v.Type {
		case bsoncore.TypeEmbeddedDocument, bsoncore.TypeArray, bsoncore.TypeRegex, bsoncore.TypeNull, bsoncore.TypeUndefined:
			return doc.Value{}
		}
		id = v
	}
	return id
}

// fill gives documents. Where they come in order by themselves it goes on behind the last one, and
// holds nothing between requests; else it goes on with a sort in memory.
func (q *finding) fill(r *request, b *batch) (done bool, err error) {
	q.now, q.memory = r, &q.holding
	if b.full() {
		return false, nil // nothing was asked for
	}
	if q.rows != nil {
		return q.pull(r, b)
	}
	err = r.replanned(&q.selection, func(v catalog.View, p *plan.Plan) (bool, error) {
		if !p.Sorted && q.sort != nil || q.reverse {
			if q.after == nil {
				q.sorted(r)
				return false, nil
			}
		}
		done, err = q.along(r, v, p, b)
		return q.after != nil, err
	})
	if err == nil && q.rows != nil {
		return q.pull(r, b)
	}
	return done, err
}

// along walks on from where the last batch ended. A batch that the last document fills is not the end, as in
// MongoDB, whose cursor finds out by the next getMore; where the limit or an _id says that nothing follows it is.
// mongodb/mongo: src/mongo/db/query/find.cpp, shouldSaveCursor
func (q *finding) along(r *request, v catalog.View, p *plan.Plan, b *batch) (done bool, err error) {
	done = true
	var room []byte
	s := q.projectionScope(r)
	err = r.each(&q.selection, v, p, q.after, func(d access.Document) (bool, error) {
		if q.skip > 0 {
			q.skip--
			q.after = append(q.after[:0], d.Position...)
			return true, nil
		}
		body, err := q.project(&room, d.Body, s)
		if err != nil {
			return false, err
		}
		if !b.add(body) {
			done = false
			return false, nil
		}
		q.after = append(q.after[:0], d.Position...)
		if q.given() || q.point {
			return false, nil
		}
		done = !b.full()
		return done, nil
	})
	return done, err
}

// given counts a document that the client gets, and reports whether the limit is reached.
func (q *finding) given() bool {
	if q.left > 0 {
		q.left--
		return q.left == 0
	}
	return false
}

func (q *finding) projectionScope(r *request) *expression.Scope {
	if q.projection == nil || !q.projection.NeedsScope() {
		return nil
	}
	return r.scope(q.names, q.vars)
}

// project is what the client sees of a document.
func (q *finding) project(room *[]byte, d doc.Doc, s *expression.Scope) (doc.Doc, error) {
	if q.projection == nil {
		return d, nil
	}
	var where filter.Where
	if s != nil {
		s.Reset(doc.Object(d))
	}
	if q.projection.NeedsWhere() && q.filter != nil {
		scope := q.scope(q.now)
		scope.Reset(doc.Object(d))
		var err error
		if _, where, err = q.filter.Locate(d, scope); err != nil {
			return nil, err
		}
	}
	out, err := q.projection.Apply((*room)[:0], d, where, s)
	if err == nil {
		*room = out
	}
	return out, err
}

// sorted makes ready to pull from a sort in memory.
func (q *finding) sorted(r *request) {
	q.rows, q.quit = iter.Pull2(lasting(func() *request { return q.now }, &q.selection, r.rows(&q.selection)))
}

// pull gives documents of a sort.
func (q *finding) pull(r *request, b *batch) (done bool, err error) {
	s := q.projectionScope(r)
	var room []byte
	if q.held != nil { // since the last request, it may have ended
		there, err := r.lasts(&q.selection, q.held)
		if err != nil {
			return false, err
		}
		if !there {
			q.held = nil
		}
	}
	for {
		if q.held == nil {
			if b.full() {
				return false, nil
			}
			d, err, ok := q.rows()
			if !ok {
				return true, nil
			}
			if err != nil {
				return false, err
			}
			q.held = d
		}
		body, err := q.project(&room, q.held, s)
		if err != nil || !b.add(body) {
			return false, err
		}
		q.held = nil
		if q.given() {
			return true, nil
		}
	}
}

func (q *finding) stop() {
	if q.quit != nil {
		q.quit()
	}
	q.close()
}
