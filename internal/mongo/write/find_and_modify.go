package write

import (
	"bytes"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/mongo/session"
	"github.com/mayflydb/mayfly/internal/store"
)

// A FindAndModify changes or deletes one document, and gives it as it was or as it becomes.
type FindAndModify struct {
	Update
	Remove     bool
	ReturnNew  bool // the answer has the document as it becomes
	Projection *pipeline.Projection

	Value doc.Doc // of the answer; nil for none
}

// Run does what the command asks for.
func (m *FindAndModify) Run(o *session.Operation) error {
	run := m.modify
	if m.Remove {
		run = m.remove
	}
	if err := run(o); err != nil || m.Matched > 0 || m.Upserted.Type != 0 {
		return err
	}
	x, ok, err := o.Retry.FoundAfterAll()
	if ok {
		m.takeAll(x)
	}
	return err
}

// modify changes the first document, or makes one.
func (m *FindAndModify) modify(o *session.Operation) error {
	m.image = func(before, after doc.Doc) doc.Doc {
		if m.ReturnNew && after != nil {
			return after
		}
		return before
	}
	for range maxLooks {
		if m.found(o) {
			return nil
		}
		var err error
		if m.Container, err = o.Find(m.Database, m.Name); err != nil {
			return err
		}
		if m.Container != nil {
			again, err := m.modifyOne(o)
			if err == session.ErrDone {
				continue
			}
			if err != nil || !again && m.Matched > 0 {
				return err
			}
			if again {
				continue
			}
		}
		if !m.Upsert {
			return nil
		}
		again, err := m.insertOne(o)
		if err == session.ErrDone {
			continue
		}
		if !again || err != nil {
			return err
		}
	}
	return code.New(code.WriteConflict, "other writes came first too often")
}

// found takes over what an earlier attempt of the command has done.
func (m *FindAndModify) found(o *session.Operation) bool {
	x, ok := o.Retry.Found()
	if ok {
		m.takeAll(x)
	}
	return ok
}

func (m *FindAndModify) takeAll(x session.Done) {
	m.take(x)
	m.Value = x.Image
}

func (m *FindAndModify) modifyOne(o *session.Operation) (again bool, err error) {
	id, found, err := firstID(o, &m.Selection)
	if err != nil || !found {
		return false, err
	}
	validate, err := ValidatorOf(o, m.Container)
	if err != nil {
		return false, err
	}
	e := m.Change.edit(o, &m.Selection, validate, m.Container)
	// The answer shows the very version that was changed, not one that was read before.
	e.kept, e.image = true, m.image
	_, err = applyOnce(o, m.Container, []store.Op{e.op(id)}, e.tell())
	switch {
	case isGone(err):
		return query.OnlyID(m.Query).Type == 0, nil
	case err != nil:
		return false, statementErr(m.Container, e.made, err)
	case !e.matched:
		return query.OnlyID(m.Query).Type == 0, nil
	}
	m.Matched = 1
	if m.Value = e.before; m.ReturnNew && e.changed {
		m.Value = e.made
	}
	return false, nil
}

func (m *FindAndModify) insertOne(o *session.Operation) (again bool, err error) {
	if again, err = m.insert(o); err == nil && !again && m.ReturnNew {
		m.Value = m.inserted
	}
	return again, err
}

// remove deletes the first document.
func (m *FindAndModify) remove(o *session.Operation) error {
	var err error
	if m.Container, err = o.Find(m.Database, m.Name); err != nil || m.Container == nil {
		return err
	}
	for range maxLooks {
		if m.found(o) {
			return nil
		}
		id, found, err := firstID(o, &m.Selection)
		if err != nil || !found {
			return err
		}
		x := Delete{Selection: m.Selection}
		op := x.op(o, id)
		matches := op.If
		op.If = func(d access.Document) (bool, error) {
			ok, err := matches(d)
			if ok {
				if err := holdEdit(o, len(d.Body)); err != nil {
					return false, err
				}
				// The store calls this on the version that it deletes; the body is the engine's memory.
				m.Value = bytes.Clone(d.Body)
			}
			return ok, err
		}
		var tell func() []session.Done
		if o.Retry != nil {
			tell = func() []session.Done { return o.Retry.One(session.Done{Matched: 1, Image: m.Value}) }
		}
		results, err := applyOnce(o, m.Container, []store.Op{op}, tell)
		switch {
		case err == session.ErrDone:
			m.Value = nil
			continue
		case err == nil && !results[0].Skipped:
			m.Matched = 1
			return nil
		case err != nil && !isGone(err):
			return statementErr(m.Container, nil, err)
		}
		// The attempt failed after it took the value.
		m.Value = nil
		if query.OnlyID(m.Query).Type != 0 {
			return nil
		}
	}
	return code.New(code.WriteConflict, "other writes came first too often")
}

// Projected is the document as the client wants it.
func (m *FindAndModify) Projected(o *session.Operation) (doc.Doc, error) {
	q := query.FindCursor{Selection: m.Selection, Projection: m.Projection, Current: o}
	var room []byte
	return q.Project(&room, m.Value, q.ProjectionScope(o))
}
