package command

import "github.com/mayflydb/mayfly/internal/mongo/query"

func count(r *request, a *answer) error {
	name := r.collection()
	if r.err != nil {
		return r.err
	}
	if err := r.checkCollation("collation"); err != nil {
		return err
	}
	var q query.Selection
	if err := r.readSelection(&q, "query"); err != nil {
		return err
	}
	limit, skip := r.int("limit", -1<<63+1, 0), r.int("skip", 0, 0)
	if r.err != nil {
		return r.err
	}
	c, err := r.Find(r.db, name)
	if err != nil {
		return err
	}
	if c != nil && query.ViewOf(c) != nil {
		return countView(r, a, c, &q, skip, max(limit, -limit))
	}
	limit = max(limit, -limit)
	q.Container = c
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
