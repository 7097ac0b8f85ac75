package query

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// Find finds what the selection is of, a container or the documents of none; false if there is neither.
func (q *Selection) Find(o *session.Operation, db, name string) (ok bool, err error) {
	if q.Container, err = o.Find(db, name); q.Container != nil || err != nil || o.Node.Given == nil {
		return q.Container != nil, err
	}
	q.Given, err = o.Node.Given(o, db, name)
	return q.Given != nil, err
}

// givenRows gives the documents of a selection that are in no container, in its order, skipped and limited.
func givenRows(current func() *session.Operation, q *Selection) pipeline.Rows {
	if q.Given == nil {
		return none
	}
	list := q.Given(q.Reverse)
	var rows pipeline.Rows = func(yield func(doc.Doc, error) bool) {
		for d := range list {
			o := current()
			s := q.Scope(o)
			err := o.Pass(len(d))
			ok := false
			if err == nil {
				ok, err = q.Matches(d, s)
			}
			if (ok || err != nil) && (!yield(d, err) || err != nil) {
				return
			}
		}
	}
	if q.Sort != nil {
		limit := int64(0)
		if q.Limit > 0 {
			limit = q.Limit + q.Skip
		}
		rows = q.Sort.RowsWithin(q.memoryOf(current()), current().Work(), rows, limit)
	}
	return q.Cut(rows)
}
