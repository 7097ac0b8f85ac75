package explain

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
func explainedStatement(r *Request, name string) (doc.Doc, error) {
	list := r.Documents(name)
	if r.Err != nil {
		return nil, r.Err
	}
	if len(list) != 1 {
		return nil, code.New(code.InvalidLength, "explained write batches must be of size 1")
	}
	return list[0], nil
}

// findTarget finds the container of a write that is explained.
func findTarget(r *Request, q *query.Selection, name string) (err error) {
	if q.Container, err = r.Find(r.DB, name); err != nil || q.Container == nil {
		return err
	}
	if query.ViewOf(q.Container) != nil {
		return code.New(code.CommandNotSupportedOnView, "Namespace %s is a view, not a collection", q.Namespace)
	}
	return write.Writable(q.Container)
}

func explainUpdate(r *Request, x *query.Explanation) error {
	name := r.Collection()
	d, err := explainedStatement(r, "updates")
	if err != nil {
		return err
	}
	u, err := compileUpdate(r, name, d)
	if err != nil {
		return err
	}
	if err := findTarget(r, &u.Selection, name); err != nil {
		return err
	}
	return explainChange(r, x, u)
}

// explainChange explains a change: what it would do is found out, and not done.
func explainChange(r *Request, x *query.Explanation, u *write.Update) error {
	t := trial{o: &r.Operation, q: &u.Selection, change: u.Change, scope: u.Scope(&r.Operation)}
	stage := query.OuterStage{Stage: "UPDATE", Returned: nothing, Members: func(a *doc.Writer, ran bool) {
		if ran {
			a.Count("nMatched", t.matched)
			a.Count("nWouldModify", t.modified)
			a.Bool("wouldInsert", u.Upsert && t.matched == 0)
		}
	}}
	try := func(d doc.Doc) (goOn bool, err error) { return u.Multi, t.run(d) }
	return x.Selection(&r.Operation, &u.Selection, []query.OuterStage{stage}, try)
}

// nothing is what a stage that writes returns.
func nothing(int64) int64 { return 0 }

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

func explainDelete(r *Request, x *query.Explanation) error {
	name := r.Collection()
	d, err := explainedStatement(r, "deletes")
	if err != nil {
		return err
	}
	q, err := compileDelete(r, name, d)
	if err != nil {
		return err
	}
	if err := findTarget(r, &q.Selection, name); err != nil {
		return err
	}
	return explainRemoval(r, x, &q.Selection, q.One)
}

func explainRemoval(r *Request, x *query.Explanation, q *query.Selection, one bool) error {
	n := int64(0)
	stage := query.OuterStage{Stage: "DELETE", Returned: nothing, Members: func(a *doc.Writer, ran bool) {
		if ran {
			a.Count("nWouldDelete", n)
		}
	}}
	return x.Selection(&r.Operation, q, []query.OuterStage{stage}, func(doc.Doc) (bool, error) {
		n++
		return !one, nil
	})
}

func explainFindAndModify(r *Request, x *query.Explanation) error {
	m, err := write.ReadFindAndModify(r.Request)
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

func compileUpdate(r *Request, name string, d doc.Doc) (*write.Update, error) {
	var s write.UpdateStatement
	if err := s.Read(d); err != nil {
		return nil, err
	}
	return s.Compile(r.Request, name)
}

func compileDelete(r *Request, name string, d doc.Doc) (*write.Delete, error) {
	var s write.DeleteStatement
	if err := s.Read(d); err != nil {
		return nil, err
	}
	return s.Compile(r.Request, name)
}
