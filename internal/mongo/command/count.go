package command

import (
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/mongo/query"
)

func count(r *request, a *answer) error {
	name := r.Collection()
	if r.Err != nil {
		return r.Err
	}
	if err := r.CheckCollation("collation"); err != nil {
		return err
	}
	var q query.Selection
	if err := q.Read(&r.Request, "query"); err != nil {
		return err
	}
	limit, skip := r.Int("limit", -1<<63+1, 0), r.Int("skip", 0, 0)
	if r.Err != nil {
		return r.Err
	}
	if _, err := q.Find(&r.Operation, r.DB, name); err != nil {
		return err
	}
	c := q.Container
	if c != nil && query.ViewOf(c) != nil {
		return countView(r, a, c, &q, skip, max(limit, -limit))
	}
	limit = max(limit, -limit)
	if limit > 0 && limit < query.MaxRing && skip < query.MaxRing {
		q.Limit = skip + limit
	}
	n, err := query.Count(&r.Operation, &q)
	if err != nil {
		return err
	}
	n = max(0, n-skip)
	if limit > 0 {
		n = min(n, limit)
	}
	a.Count("n", n)
	return nil
}

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
