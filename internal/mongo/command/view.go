package command

import (
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// countView counts the rows of a view.
func countView(r *request, a *answer, c *catalog.Container, q *query.Selection, skip, limit int64) error {
	rows, err := rowsOfView(r, c, q.Query)
	if err != nil {
		return err
	}
	counted := query.Selection{Skip: skip, Limit: limit}
	n := int64(0)
	for _, err := range counted.Cut(rows) {
		if err != nil {
			return err
		}
		n++
	}
	a.Count("n", n)
	return nil
}

// findOverView is a find over a view as an aggregation.
func findOverView(r *request, q *query.FindCursor) (*query.Aggregation, error) {
	x := &query.Aggregation{Selection: query.Selection{Namespace: q.Namespace, Names: q.Names, Vars: q.Vars}}
	return x, x.OverView(&r.Operation, mayRun, q.Container, q.Stages(r.document("projection")))
}

// findView answers a find over a view.
func findView(r *request, a *answer, q *query.FindCursor, size int64) error {
	x, err := findOverView(r, q)
	if err != nil {
		return err
	}
	return within(duringAggregation, r.reply(a, q.Namespace, startPipeline(r, x), size, func(x *session.Cursor) { x.NoTimeout = r.bool("noCursorTimeout", false) }))
}
