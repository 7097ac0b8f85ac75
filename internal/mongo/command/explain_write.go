package command

import (
	"bytes"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
)

// statement is the only one of a command that writes.
func (r *request) statement(name string) (doc.Doc, error) {
	list := r.documents(name)
	if r.err != nil {
		return nil, r.err
	}
	if len(list) != 1 {
		return nil, code.New(code.InvalidLength, "explained write batches must be of size 1")
	}
	return list[0], nil
}

// target finds the container of a write that is explained.
func (r *request) target(q *selection, name string) (err error) {
	if q.container, err = r.find(r.db, name); err != nil || q.container == nil {
		return err
	}
	if viewOf(q.container) != nil {
		return code.New(code.CommandNotSupportedOnView, "Namespace %s is a view, not a collection", q.ns)
	}
	return writable(q.container)
}

func explainUpdate(r *request, x *explanation) error {
	name := r.collection()
	d, err := r.statement("updates")
	if err != nil {
		return err
	}
	u, err := r.explainedUpdate(name, d)
	if err != nil {
		return err
	}
	if err := r.target(&u.selection, name); err != nil {
		return err
	}
	return x.update(r, u)
}

// update explains a change: what it would do is found out, and not done.
func (x *explanation) update(r *request, u *updating) error {
	t := trial{r: r, q: &u.selection, change: u.change, scope: u.scope(r)}
	stage := wrapping{stage: "UPDATE", returned: func(int64) int64 { return 0 }, members: func(a *answer, ran bool) {
		if ran {
			a.count("nMatched", t.matched)
			a.count("nWouldModify", t.modified)
			a.bool("wouldInsert", u.upsert && t.matched == 0)
		}
	}}
	return x.selection(r, &u.selection, []wrapping{stage}, func(d doc.Doc) (bool, error) { return u.multi, t.run(d) })
}

// A trial applies a change to documents and throws away what it makes.
type trial struct {
	r      *request
	q      *selection
	change *change
	scope  *expression.Scope

	matched, modified int64
}

func (t *trial) run(d doc.Doc) error {
	var where filter.Where
	if t.q.filter != nil {
		if t.scope != nil {
			t.scope.Reset(doc.Object(d))
		}
		var err error
		if _, where, err = t.q.filter.Locate(d, t.scope); err != nil {
			return err
		}
	}
	t.matched++
	_, changed, err := t.change.apply(t.r, bytes.Clone(d), where, false)
	if changed {
		t.modified++
	}
	return err
}

func explainDelete(r *request, x *explanation) error {
	name := r.collection()
	d, err := r.statement("deletes")
	if err != nil {
		return err
	}
	q, err := r.explainedDelete(name, d)
	if err != nil {
		return err
	}
	if err := r.target(&q.selection, name); err != nil {
		return err
	}
	return x.delete(r, &q.selection, q.one)
}

func (x *explanation) delete(r *request, q *selection, one bool) error {
	n := int64(0)
	stage := wrapping{stage: "DELETE", returned: func(int64) int64 { return 0 }, members: func(a *answer, ran bool) {
		if ran {
			a.count("nWouldDelete", n)
		}
	}}
	return x.selection(r, q, []wrapping{stage}, func(doc.Doc) (bool, error) {
		n++
		return !one, nil
	})
}

func explainFindAndModify(r *request, x *explanation) error {
	m, err := r.modifying()
	if err != nil {
		return err
	}
	if err := r.target(&m.selection, m.name); err != nil {
		return err
	}
	if m.remove {
		return x.delete(r, &m.selection, true)
	}
	return x.update(r, &m.updating)
}

func (r *request) explainedUpdate(name string, d doc.Doc) (*updating, error) {
	var s updateStatement
	if err := s.read(d); err != nil {
		return nil, err
	}
	return r.updating(name, &s)
}

func (r *request) explainedDelete(name string, d doc.Doc) (*deleting, error) {
	var s deleteStatement
	if err := s.read(d); err != nil {
		return nil, err
	}
	return r.deleting(name, &s)
}
