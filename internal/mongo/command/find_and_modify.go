package command

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
	"github.com/mayflydb/mayfly/internal/mongo/write"
)

func findAndModify(r *request, a *answer) error {
	m, err := readFindAndModify(r)
	if err != nil {
		return err
	}
	if m.Remove {
		err = m.Delete(&r.Operation)
	} else {
		err = m.Modify(&r.Operation)
	}
	if err != nil {
		return within("Plan executor error during findAndModify", err)
	}
	a.Object("lastErrorObject")
	switch {
	case m.Remove:
		a.Count("n", m.Matched)
	default:
		n := m.Matched
		if m.Upserted.Type != 0 {
			n++
		}
		a.Count("n", n)
		a.Bool("updatedExisting", m.Matched > 0)
		a.Value("upserted", m.Upserted)
	}
	a.Close()
	if m.Value == nil {
		a.Null("value")
		return nil
	}
	value, err := m.Projected(&r.Operation)
	if err != nil {
		return err
	}
	a.Doc("value", value)
	return nil
}

// readFindAndModify reads the arguments.
func readFindAndModify(r *request) (*write.FindAndModify, error) {
	m := &write.FindAndModify{}
	m.Database, m.Name = r.db, r.collection()
	m.Namespace = r.db + "." + m.Name
	m.Remove, m.ReturnNew, m.Upsert = r.bool("remove", false), r.bool("new", false), r.bool("upsert", false)
	spec, filters := r.get("update"), r.get("arrayFilters")
	fields := r.document("fields")
	if r.err != nil {
		return nil, r.err
	}
	if err := r.checkCollation("collation"); err != nil {
		return nil, err
	}
	switch {
	case m.Remove && spec.Type != 0:
		return nil, code.New(code.FailedToParse, "Cannot specify both an update and remove=true")
	case m.Remove && m.Upsert:
		return nil, code.New(code.FailedToParse, "Cannot specify both upsert=true and remove=true")
	case m.Remove && m.ReturnNew:
		return nil, code.New(code.FailedToParse, "Cannot specify both new=true and remove=true; 'remove' always returns the deleted document")
	case !m.Remove && spec.Type == 0:
		return nil, code.New(code.FailedToParse, "Either an update or remove=true must be specified")
	}
	var err error
	if m.Names, m.Vars, err = readVariables(r); err != nil {
		return nil, err
	}
	if err = r.readSelection(&m.Selection, "query"); err != nil {
		return nil, err
	}
	if !doc.IsEmpty(fields) {
		m.Projection, err = pipeline.CompileProjection(fields, pipeline.ProjectionOptions{Names: m.Names, Find: true, Filter: m.Filter})
	}
	if m.Projection != nil && m.Projection.NeedsWhere() && m.ReturnNew { // the query may not match that one
		return nil, code.New(code.BadValue, "cannot use a positional projection and return the new document")
	}
	if err == nil && !m.Remove {
		m.Change, err = write.CompileChange(&r.Operation, &m.Selection, spec, filters, doc.Value{})
	}
	return m, err
}
