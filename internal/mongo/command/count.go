package command

import (
	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/mongo/plan"
)

func count(r *request, a *answer) error {
	name := r.collection()
	if r.err != nil {
		return r.err
	}
	if err := r.checkCollation("collation"); err != nil {
		return err
	}
	var q selection
	if err := r.readSelection(&q, "query"); err != nil {
		return err
	}
	limit, skip := r.int("limit", -1<<63+1, 0), r.int("skip", 0, 0)
	if r.err != nil {
		return r.err
	}
	c, err := r.find(r.db, name)
	if err != nil {
		return err
	}
	if c != nil && viewOf(c) != nil {
		return r.countView(a, c, &q, skip, max(limit, -limit))
	}
	limit = max(limit, -limit)
	q.container = c
	if limit > 0 && limit < maxRing && skip < maxRing {
		q.limit = skip + limit
	}
	n, err := r.countSelected(&q)
	if err != nil {
		return err
	}
	n = max(0, n-skip)
	if limit > 0 {
		n = min(n, limit)
	}
	a.count("n", n)
	return nil
}

// count writes a number as int when it is one, as MongoDB does.
func (a *answer) count(name string, n int64) {
	if n == int64(int32(n)) {
		a.int32(name, int(n))
	} else {
		a.int64(name, n)
	}
}

// countSelected counts without regard to skip, and up to the limit when it has to look at documents.
func (r *request) countSelected(q *selection) (n int64, err error) {
	if q.container == nil {
		return 0, nil
	}
	if q.filter == nil && r.tx == nil && q.hint.Type == 0 {
		v, err := r.enter(q.container)
		if err != nil {
			return 0, err
		}
		if n, ok, err := r.s.o.Store.Count(r.ctx, v, access.Access{}); ok || err != nil {
			return int64(n), err
		}
	}
	err = r.replanned(q, func(v catalog.View, p *plan.Plan) (bool, error) {
		n = 0
		return false, r.each(q, v, p, nil, func(access.Document) (bool, error) {
			n++
			return q.limit == 0 || n < q.limit, nil
		})
	})
	return n, err
}
