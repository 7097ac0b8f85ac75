package command

import (
	"cmp"
	"strings"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/query"
)

func explainFind(r *request, x *query.Explanation) error {
	name := r.collection()
	if r.err != nil {
		return r.err
	}
	q, err := readFind(r, name)
	if err != nil {
		return err
	}
	if q.Container != nil && query.ViewOf(q.Container) != nil {
		over, err := findOverView(r, q)
		if err != nil {
			return err
		}
		return x.Aggregate(&r.Operation, over)
	}
	spec := r.document("projection")
	return x.Selection(&r.Operation, &q.Selection, q.Outer(spec, isSimple(spec)), nil)
}

// isSimple reports whether a projection only says which top-level fields stay or go.
func isSimple(spec doc.Doc) bool {
	for name, v := range doc.Members(spec) {
		_, number := doc.AsFloat(v)
		_, boolean := doc.AsBool(v)
		if strings.Contains(name, ".") || !number && !boolean {
			return false
		}
	}
	return true
}

func explainCount(r *request, x *query.Explanation) error {
	name := r.collection()
	if r.err != nil {
		return r.err
	}
	var q query.Selection
	if err := r.readSelection(&q, "query"); err != nil {
		return err
	}
	limit := r.int("limit", -1<<63+1, 0)
	q.Limit, q.Skip, q.Namespace = max(limit, -limit), r.int("skip", 0, 0), r.db+"."+name
	var err error
	if q.Container, err = r.Find(r.db, name); err != nil || r.err != nil {
		return cmp.Or(r.err, err)
	}
	if q.Container != nil && query.ViewOf(q.Container) != nil {
		over, err := findOverView(r, &query.FindCursor{Selection: q})
		if err != nil {
			return err
		}
		return x.Aggregate(&r.Operation, over)
	}
	n := int64(0)
	count := query.OuterStage{Stage: "COUNT", Returned: func(in int64) int64 {
		n = in
		return 0
	}, Members: func(a *doc.Writer, ran bool) {
		if ran {
			a.Count("nCounted", n)
			a.Int32("nSkipped", 0)
		}
	}}
	return x.Selection(&r.Operation, &q, append(q.Outer(nil, true), count), nil)
}

func explainDistinct(r *request, x *query.Explanation) error {
	name := r.collection()
	r.string("key")
	if r.err != nil {
		return r.err
	}
	var q query.Selection
	q.Namespace = r.db + "." + name
	if err := r.readSelection(&q, "query"); err != nil {
		return err
	}
	var err error
	if q.Container, err = r.Find(r.db, name); err != nil {
		return err
	}
	if q.Container != nil && query.ViewOf(q.Container) != nil {
		over, err := findOverView(r, &query.FindCursor{Selection: q})
		if err != nil {
			return err
		}
		return x.Aggregate(&r.Operation, over)
	}
	return x.Selection(&r.Operation, &q, nil, nil)
}
