package query

import (
	"bytes"
	"cmp"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// ReadFind reads the arguments of find.
func ReadFind(r *call.Request, name string) (*FindCursor, error) {
	q := &FindCursor{}
	q.Namespace = r.DB + "." + name
	if err := checkBooleans(r); err != nil {
		return nil, err
	}
	err := r.RefuseOptions(
		"max", "min", "returnKey", "showRecordId", "tailable", "awaitData", "maxScan", "snapshot")
	if err != nil {
		return nil, err
	}
	if err := r.CheckCollation("collation"); err != nil {
		return nil, err
	}
	if q.Names, q.Vars, err = call.ReadVariables(r); err != nil {
		return nil, err
	}
	if err := q.Read(r, "filter"); err != nil {
		return nil, err
	}
	q.Skip = r.Int("skip", 0, 0)
	q.Limit = r.Int("limit", -1<<63, 0)
	if q.Limit < 0 {
		r.Fault(code.New(51024, "BSON field 'limit' value must be >= 0, actual value '%d'", q.Limit))
	}
	if r.Err != nil {
		return nil, r.Err
	}
	q.Left = q.Limit
	if spec := r.Document("projection"); !doc.IsEmpty(spec) {
		q.Projection, err = pipeline.CompileProjection(spec,
			pipeline.ProjectionOptions{Names: q.Names, Find: true, Filter: q.Filter})
		if err != nil {
			return nil, err
		}
	}
	_, err = q.Find(&r.Operation, r.DB, name)
	q.IsPoint = q.Container != nil && q.Container.State().Dialect == catalog.Mongo && q.Skip == 0 &&
		q.Hint.Type == 0 && OnlyID(q.Query).Type != 0
	return q, cmp.Or(err, r.Err)
}

// Read reads the query called field, the sort and the hint of a command, copied.
func (q *Selection) Read(r *call.Request, field string) (err error) {
	q.Query = bytes.Clone(r.Document(field))
	if q.Query == nil {
		q.Query = doc.Empty
	}
	if r.Err == nil {
		q.Filter, err = CompileQuery(&r.Operation, q.Query, q.Names)
	}
	if err != nil || r.Err != nil {
		return cmp.Or(r.Err, err)
	}
	sort := r.Document("sort")
	if r.Err != nil {
		return r.Err
	}
	if err := q.Sorts(sort); err != nil {
		return err
	}
	return q.Hinted(r.Get("hint"))
}

// booleans are the members of find that have to be true or false; elsewhere numbers count as such.
var booleans = call.FieldSet(`singleBatch allowDiskUse returnKey showRecordId tailable awaitData noCursorTimeout
	allowPartialResults oplogReplay`)

// checkBooleans checks them. mongodb/mongo: src/mongo/idl/basic_types.h, OptionalBool
func checkBooleans(r *call.Request) error {
	for name, v := range doc.Members(r.Body) {
		if booleans[name] && v.Type != bsoncore.TypeBoolean && v.Type != bsoncore.TypeNull {
			return code.New(code.TypeMismatch,
				"Field '%s' should be a boolean value, but found: %s", name, code.TypeName(v))
		}
	}
	return nil
}
