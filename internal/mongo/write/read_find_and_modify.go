package write

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
)

// ReadFindAndModify reads the arguments of a findAndModify.
func ReadFindAndModify(r *call.Request) (*FindAndModify, error) {
	m := &FindAndModify{}
	m.Database, m.Name = r.DB, r.Collection()
	m.Namespace = r.DB + "." + m.Name
	m.Remove, m.ReturnNew, m.Upsert = r.Bool("remove", false), r.Bool("new", false), r.Bool("upsert", false)
	spec, filters := r.Get("update"), r.Get("arrayFilters")
	fields := r.Document("fields")
	if r.Err != nil {
		return nil, r.Err
	}
	if err := r.CheckCollation("collation"); err != nil {
		return nil, err
	}
	switch {
	case m.Remove && spec.Type != 0:
		return nil, code.New(code.FailedToParse, "Cannot specify both an update and remove=true")
	case m.Remove && m.Upsert:
		return nil, code.New(code.FailedToParse, "Cannot specify both upsert=true and remove=true")
	case m.Remove && m.ReturnNew:
		return nil, code.New(code.FailedToParse,
			"Cannot specify both new=true and remove=true; 'remove' always returns the deleted document")
	case !m.Remove && spec.Type == 0:
		return nil, code.New(code.FailedToParse, "Either an update or remove=true must be specified")
	}
	var err error
	if m.Names, m.Vars, err = call.ReadVariables(r); err != nil {
		return nil, err
	}
	if err = m.Selection.Read(r, "query"); err != nil {
		return nil, err
	}
	if !doc.IsEmpty(fields) {
		m.Projection, err = pipeline.CompileProjection(fields,
			pipeline.ProjectionOptions{Names: m.Names, Find: true, Filter: m.Filter})
	}
	if m.Projection != nil && m.Projection.NeedsWhere() && m.ReturnNew { // the query may not match that one
		return nil, code.New(code.BadValue, "cannot use a positional projection and return the new document")
	}
	if err == nil && !m.Remove {
		m.Change, err = CompileChange(&r.Operation, &m.Selection, spec, filters, doc.Value{})
	}
	return m, err
}
