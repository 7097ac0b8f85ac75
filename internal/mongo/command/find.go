package command

import (
	"bytes"
	"cmp"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

var findFields = fieldSet(`filter sort projection hint skip limit batchSize singleBatch max min returnKey showRecordId tailable
	oplogReplay noCursorTimeout awaitData allowPartialResults collation allowDiskUse let ntoreturn snapshot maxScan`)

func find(r *request, a *answer) error {
	name := r.collection()
	if r.err != nil {
		return r.err
	}
	if done, err := findPoint(r, a, name); done || err != nil {
		return err
	}
	q, err := readFind(r, name)
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
	if q.Container != nil && query.ViewOf(q.Container) != nil {
		return findView(r, a, q, size)
	}
	if q.Container == nil {
		return r.reply(a, q.Namespace, &listed{}, size, nil)
	}
	return within("Executor error during find command: "+q.Namespace, r.reply(a, q.Namespace, q, size, func(x *session.Cursor) { x.NoTimeout = r.bool("noCursorTimeout", false) }))
}

// within says at what an error has come up, as MongoDB does.
func within(what string, err error) error {
	if err == nil {
		return nil
	}
	e := *session.CodeOf(err)
	e.Message = what + " :: caused by :: " + e.Message
	return &e
}

// readFind reads the arguments of find.
func readFind(r *request, name string) (*query.FindCursor, error) {
	q := &query.FindCursor{}
	q.Namespace = r.db + "." + name
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
	if q.Names, q.Vars, err = readVariables(r); err != nil {
		return nil, err
	}
	if err := r.readSelection(&q.Selection, "filter"); err != nil {
		return nil, err
	}
	q.Skip = r.int("skip", 0, 0)
	q.Limit = r.int("limit", -1<<63, 0)
	if q.Limit < 0 {
		r.fault(code.New(51024, "BSON field 'limit' value must be >= 0, actual value '%d'", q.Limit))
	}
	if r.err != nil {
		return nil, r.err
	}
	q.Left = q.Limit
	if spec := r.document("projection"); !doc.IsEmpty(spec) {
		q.Projection, err = pipeline.CompileProjection(spec, pipeline.ProjectionOptions{Names: q.Names, Find: true, Filter: q.Filter})
		if err != nil {
			return nil, err
		}
	}
	q.Container, err = r.Find(r.db, name)
	q.IsPoint = q.Container != nil && q.Container.State().Dialect == catalog.Mongo && q.Skip == 0 && q.Hint.Type == 0 && query.OnlyID(q.Query).Type != 0
	return q, cmp.Or(err, r.err)
}

// readSelection reads the query called field, the sort and the hint into q, copied.
func (r *request) readSelection(q *query.Selection, field string) (err error) {
	q.Query = bytes.Clone(r.document(field))
	if q.Query == nil {
		q.Query = doc.Empty
	}
	if r.err == nil {
		q.Filter, err = query.CompileQuery(&r.Operation, q.Query, q.Names)
	}
	if err != nil || r.err != nil {
		return cmp.Or(r.err, err)
	}
	sort := r.document("sort")
	if r.err != nil {
		return r.err
	}
	if err := q.Sorts(sort); err != nil {
		return err
	}
	return q.Hinted(r.get("hint"))
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

// findPoint answers a find of one _id and nothing else, which needs no plan.
func findPoint(r *request, a *answer, name string) (done bool, err error) {
	var id doc.Value
	for field, v := range doc.Members(r.body) {
		switch field {
		case "filter":
			if d, ok := doc.AsDoc(v); ok {
				id = query.OnlyID(d)
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
	c, err := r.Find(r.db, name)
	if err != nil || c != nil && c.State().Dialect != catalog.Mongo || c != nil && query.ViewOf(c) != nil {
		return false, err
	}
	a.Object("cursor")
	a.Array("firstBatch")
	if c != nil {
		v, err := r.Enter(c)
		if err != nil {
			return false, err
		}
		_, err = r.Read(v, id, func(d access.Document) error {
			if err := a.Room(len(d.Body) + session.ElementBytes); err != nil {
				return err
			}
			a.Element(d.Body)
			r.Trace.Returned++
			return nil
		})
		if err != nil {
			return false, err
		}
	}
	a.Close()
	a.Int64("id", 0)
	a.String("ns", r.db+"."+name)
	a.Close()
	return true, nil
}
