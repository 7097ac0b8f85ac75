package query

import (
	"bytes"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
	"github.com/mayflydb/mayfly/internal/mongo/plan"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// Count counts without regard to skip, and up to the limit when it has to look at documents.
func Count(o *session.Operation, q *Selection) (n int64, err error) {
	if q.Container == nil {
		for _, err := range givenRows(func() *session.Operation { return o }, q) {
			if err != nil {
				return 0, err
			}
			n++
		}
		return n, nil
	}
	if q.countable(o) {
		v, err := o.Enter(q.Container)
		if err != nil {
			return 0, err
		}
		if n, ok, err := o.Node.Store.Count(o.Context, v, access.Access{}); ok || err != nil {
			return int64(n), err
		}
	}
	err = WithPlan(o, q, func(v catalog.View, p *plan.Plan) (bool, error) {
		if a, ok := p.Counted(); ok && q.Limit == 0 && o.Transaction == nil {
			o.TracePlan(p, &a)
			o.Node.Used(v.Container, p)
			counted, ok, err := o.Node.Store.Count(o.Context, v, a)
			if n = int64(counted); ok || err != nil {
				return false, err
			}
		}
		// A walk that begins again counts again.
		n = 0
		return false, Each(o, q, v, p, nil, func(access.Document) (bool, error) {
			n++
			return q.Limit == 0 || n < q.Limit, nil
		})
	})
	return n, err
}

// countable reports whether the store knows how many documents there are: all, without what a transaction has written.
// A hint must be checked.
func (q *Selection) countable(o *session.Operation) bool {
	return q.acceptsAll() && o.Transaction == nil && q.Hint.Type == 0
}

// acceptsAll reports that there is no filter, or an empty one.
func (q *Selection) acceptsAll() bool {
	return q.Filter == nil || len(q.Query) > 0 && bytes.Equal(q.Query, doc.Empty)
}

// countedRows gives the only document of a stage that counts what is selected.
func countedRows(p *PipelineCursor, q *Selection, made func(n int64) doc.Doc) pipeline.Rows {
	return func(yield func(doc.Doc, error) bool) {
		counted := *q
		counted.Sort, counted.Reverse = nil, false
		n, err := Count(p.current, &counted)
		switch {
		case err != nil:
			yield(nil, err)
		case n > 0:
			yield(made(n), nil)
		}
	}
}
