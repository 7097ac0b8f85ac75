package command

import (
	"bytes"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/mongo/session"
	"github.com/mayflydb/mayfly/internal/mongo/write"
)

// explainedStatement is the only one of a command that writes.
func explainedStatement(r *request, name string) (doc.Doc, error) {
	list := r.documents(name)
	if r.err != nil {
		return nil, r.err
	}
	if len(list) != 1 {
		return nil, code.New(code.InvalidLength, "explained write batches must be of size 1")
	}
	return list[0], nil
}

// findTarget finds the container of a write that is explained.
func findTarget(r *request, q *query.Selection, name string) (err error) {
	if q.Container, err = r.Find(r.db, name); err != nil || q.Container == nil {
		return err
	}
	if query.ViewOf(q.Container) != nil {
		return code.New(code.CommandNotSupportedOnView, "Namespace %s is a view, not a collection", q.Namespace)
	}
	return write.Writable(q.Container)
}

func explainUpdate(r *request, x *query.Explanation) error {
	name := r.collection()
	d, err := explainedStatement(r, "updates")
	if err != nil {
		return err
	}
	u, err := explainedUpdate(r, name, d)
	if err != nil {
		return err
	}
	if err := findTarget(r, &u.Selection, name); err != nil {
		return err
	}
	return explainChange(r, x, u)
}

// explainChange explains a change: what it would do is found out, and not done.
func explainChange(r *request, x *query.Explanation, u *write.Update) error {
	t := trial{o: &r.Operation, q: &u.Selection, change: u.Change, scope: u.Scope(&r.Operation)}
	stage := query.OuterStage{Stage: "UPDATE", Returned: func(int64) int64 { return 0 }, Members: func(a *doc.Writer, ran bool) {
		if ran {
			a.Count("nMatched", t.matched)
			a.Count("nWouldModify", t.modified)
			a.Bool("wouldInsert", u.Upsert && t.matched == 0)
		}
	}}
	return x.Selection(&r.Operation, &u.Selection, []query.OuterStage{stage}, func(d doc.Doc) (bool, error) { return u.Multi, t.run(d) })
}

// A trial applies a change to documents and throws away what it makes.
type trial struct {
	o      *session.Operation
	q      *query.Selection
	change *write.Change
	scope  *expression.Scope

	matched, modified int64
}

func (t *trial) run(d doc.Doc) error {
	var where filter.Where
	if t.q.Filter != nil {
		if t.scope != nil {
			t.scope.Reset(doc.Object(d))
		}
		var err error
		if _, where, err = t.q.Filter.Locate(d, t.scope); err != nil {
			return err
		}
	}
	t.matched++
	_, changed, err := t.change.Apply(t.o, bytes.Clone(d), where, false)
	if changed {
		t.modified++
	}
	return err
}

func explainDelete(r *request, x *query.Explanation) error {
	name := r.collection()
	d, err := explainedStatement(r, "deletes")
	if err != nil {
		return err
	}
	q, err := explainedDelete(r, name, d)
	if err != nil {
		return err
	}
	if err := findTarget(r, &q.Selection, name); err != nil {
		return err
	}
	return explainRemoval(r, x, &q.Selection, q.One)
}

func explainRemoval(r *request, x *query.Explanation, q *query.Selection, one bool) error {
	n := int64(0)
	stage := query.OuterStage{Stage: "DELETE", Returned: func(int64) int64 { return 0 }, Members: func(a *doc.Writer, ran bool) {
		if ran {
			a.Count("nWouldDelete", n)
		}
	}}
	return x.Selection(&r.Operation, q, []query.OuterStage{stage}, func(doc.Doc) (bool, error) {
		n++
		return !one, nil
	})
}

func explainFindAndModify(r *request, x *query.Explanation) error {
	m, err := readFindAndModify(r)
	if err != nil {
		return err
	}
	if err := findTarget(r, &m.Selection, m.Name); err != nil {
		return err
	}
	if m.Remove {
		return explainRemoval(r, x, &m.Selection, true)
	}
	return explainChange(r, x, &m.Update)
}

func explainedUpdate(r *request, name string, d doc.Doc) (*write.Update, error) {
	var s updateStatement
	if err := s.read(d); err != nil {
		return nil, err
	}
	return compileUpdate(r, name, &s)
}

func explainedDelete(r *request, name string, d doc.Doc) (*write.Delete, error) {
	var s deleteStatement
	if err := s.read(d); err != nil {
		return nil, err
	}
	return compileDelete(r, name, &s)
}
