package explain

import (
	"cmp"
	"strings"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/query"
)

func explainFind(r *Request, x *query.Explanation) error {
	name := r.Collection()
	if r.Err != nil {
		return r.Err
	}
	q, err := query.ReadFind(r.Request, name)
	if err != nil {
		return err
	}
	if q.Container != nil && query.ViewOf(q.Container) != nil {
		over, err := query.FindOverView(r.Request, r.MayRun, q)
		if err != nil {
			return err
		}
		return x.Aggregate(&r.Operation, over)
	}
	spec := r.Document("projection")
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

func explainCount(r *Request, x *query.Explanation) error {
	name := r.Collection()
	if r.Err != nil {
		return r.Err
	}
	var q query.Selection
	if err := q.Read(r.Request, "query"); err != nil {
		return err
	}
	limit := r.Int("limit", -1<<63+1, 0)
	q.Limit, q.Skip, q.Namespace = max(limit, -limit), r.Int("skip", 0, 0), r.DB+"."+name
	var err error
	if q.Container, err = r.Find(r.DB, name); err != nil || r.Err != nil {
		return cmp.Or(r.Err, err)
	}
	if q.Container != nil && query.ViewOf(q.Container) != nil {
		over, err := query.FindOverView(r.Request, r.MayRun, &query.FindCursor{Selection: q})
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

func explainDistinct(r *Request, x *query.Explanation) error {
	name := r.Collection()
	r.String("key")
	if r.Err != nil {
		return r.Err
	}
	var q query.Selection
	q.Namespace = r.DB + "." + name
	if err := q.Read(r.Request, "query"); err != nil {
		return err
	}
	var err error
	if q.Container, err = r.Find(r.DB, name); err != nil {
		return err
	}
	if q.Container != nil && query.ViewOf(q.Container) != nil {
		over, err := query.FindOverView(r.Request, r.MayRun, &query.FindCursor{Selection: q})
		if err != nil {
			return err
		}
		return x.Aggregate(&r.Operation, over)
	}
	return x.Selection(&r.Operation, &q, nil, nil)
}
