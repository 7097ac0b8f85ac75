package query

import (
	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
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
	// Without a filter the store knows the number. It knows nothing of what a transaction has written, and a hint must
	// be checked.
	if q.Filter == nil && o.Transaction == nil && q.Hint.Type == 0 {
		v, err := o.Enter(q.Container)
		if err != nil {
			return 0, err
		}
		if n, ok, err := o.Node.Store.Count(o.Context, v, access.Access{}); ok || err != nil {
			return int64(n), err
		}
	}
	err = WithPlan(o, q, func(v catalog.View, p *plan.Plan) (bool, error) {
		// A walk that begins again counts again.
		n = 0
		return false, Each(o, q, v, p, nil, func(access.Document) (bool, error) {
			n++
			return q.Limit == 0 || n < q.Limit, nil
		})
	})
	return n, err
}
