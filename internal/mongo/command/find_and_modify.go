package command

import (
	"bytes"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
	"github.com/mayflydb/mayfly/internal/store"
)

// A modifying is a findAndModify on its way.
type modifying struct {
	updating
	remove     bool
	newer      bool // the answer has the document as it becomes
	projection *pipeline.Projection

	value doc.Doc // of the answer; nil for none
}

func findAndModify(r *request, a *answer) error {
	m, err := r.modifying()
	if err != nil {
		return err
	}
	if m.remove {
		err = m.delete(r)
	} else {
		err = m.modify(r)
	}
	if err != nil {
		return within("Plan executor error during findAndModify", err)
	}
	a.object("lastErrorObject")
	switch {
	case m.remove:
		a.count("n", m.matched)
	default:
		n := m.matched
		if m.upserted.Type != 0 {
			n++
		}
		a.count("n", n)
		a.bool("updatedExisting", m.matched > 0)
		a.value("upserted", m.upserted)
	}
	a.close()
	if m.value == nil {
		a.null("value")
		return nil
	}
	value, err := m.projected(r)
	if err != nil {
		return err
	}
	a.doc("value", value)
	return nil
}

// modifying reads the arguments.
func (r *request) modifying() (*modifying, error) {
	m := &modifying{}
	m.name = r.collection()
	m.ns = r.db + "." + m.name
	m.remove, m.newer, m.upsert = r.bool("remove", false), r.bool("new", false), r.bool("upsert", false)
	spec, filters := r.get("update"), r.get("arrayFilters")
	fields := r.document("fields")
	if r.err != nil {
		return nil, r.err
	}
	if err := r.checkCollation("collation"); err != nil {
		return nil, err
	}
	switch {
	case m.remove && spec.Type != 0:
		return nil, code.New(code.FailedToParse, "Cannot specify both an update and remove=true")
	case m.remove && m.upsert:
		return nil, code.New(code.FailedToParse, "Cannot specify both upsert=true and remove=true")
	case m.remove && m.newer:
		return nil, code.New(code.FailedToParse, "Cannot specify both new=true and remove=true; 'remove' always returns the deleted document")
	case !m.remove && spec.Type == 0:
		return nil, code.New(code.FailedToParse, "Either an update or remove=true must be specified")
	}
	var err error
	if m.names, m.vars, err = r.variables(); err != nil {
		return nil, err
	}
	if err = r.readSelection(&m.selection, "query"); err != nil {
		return nil, err
	}
	if !doc.IsEmpty(fields) {
		m.projection, err = pipeline.CompileProjection(fields, pipeline.ProjectionOptions{Names: m.names, Find: true, Filter: m.filter})
	}
	if m.projection != nil && m.projection.NeedsWhere() && m.newer { // the query may not match that one
		return nil, code.New(code.BadValue, "cannot use a positional projection and return the new document")
	}
	if err == nil && !m.remove {
		m.change, err = r.changing(&m.selection, spec, filters, doc.Value{})
	}
	return m, err
}

// modify changes the first document, or makes one.
func (m *modifying) modify(r *request) error {
	for range maxLooks {
		var err error
		if m.container, err = r.find(r.db, m.name); err != nil {
			return err
		}
		if m.container != nil {
			again, err := m.modifyOne(r)
			if err != nil || !again && m.matched > 0 {
				return err
			}
			if again {
				continue
			}
		}
		if !m.upsert {
			return nil
		}
		again, err := m.insertOne(r)
		if !again || err != nil {
			return err
		}
	}
	return code.New(code.WriteConflict, "other writes came first too often")
}

func (m *modifying) modifyOne(r *request) (again bool, err error) {
	id, found, err := r.first(&m.selection)
	if err != nil || !found {
		return false, err
	}
	validate, err := r.validator(m.container)
	if err != nil {
		return false, err
	}
	e := m.change.edit(r, &m.selection, validate, m.container)
	e.kept = true
	_, err = r.write(m.container, []store.Op{e.op(id)})
	switch {
	case isGone(err):
		return onlyID(m.query).Type == 0, nil
	case err != nil:
		return false, statementErr(m.container, e.made, err)
	case !e.matched:
		return onlyID(m.query).Type == 0, nil
	}
	m.matched = 1
	if m.value = e.before; m.newer && e.changed {
		m.value = e.made
	}
	return false, nil
}

func (m *modifying) insertOne(r *request) (again bool, err error) {
	if again, err = m.insert(r); err == nil && !again && m.newer {
		m.value = m.inserted
	}
	return again, err
}

// delete removes the first document.
func (m *modifying) delete(r *request) error {
	var err error
	if m.container, err = r.find(r.db, m.name); err != nil || m.container == nil {
		return err
	}
	for range maxLooks {
		id, found, err := r.first(&m.selection)
		if err != nil || !found {
			return err
		}
		x := deleting{selection: m.selection}
		op := x.op(r, id)
		matches := op.If
		op.If = func(d access.Document) (bool, error) {
			ok, err := matches(d)
			if ok {
				if err := r.editing(len(d.Body)); err != nil {
					return false, err
				}
				m.value = bytes.Clone(d.Body)
			}
			return ok, err
		}
		results, err := r.write(m.container, []store.Op{op})
		switch {
		case err == nil && !results[0].Skipped:
			m.matched = 1
			return nil
		case err != nil && !isGone(err):
			return statementErr(m.container, nil, err)
		}
		m.value = nil
		if onlyID(m.query).Type != 0 {
			return nil
		}
	}
	return code.New(code.WriteConflict, "other writes came first too often")
}

// projected is the document as the client wants it.
func (m *modifying) projected(r *request) (doc.Doc, error) {
	q := finding{selection: m.selection, projection: m.projection, now: r}
	var room []byte
	return q.project(&room, m.value, q.projectionScope(r))
}
