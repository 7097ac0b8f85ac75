package command

import (
	"strings"

	"github.com/mayflydb/mayfly/internal/doc"
)

func explainFind(r *request, x *explanation) error {
	name := r.collection()
	if r.err != nil {
		return r.err
	}
	q, err := r.finding(name)
	if err != nil {
		return err
	}
	if q.container != nil && viewOf(q.container) != nil {
		over, err := r.findOverView(q)
		if err != nil {
			return err
		}
		return x.aggregate(r, over)
	}
	spec := r.document("projection")
	return x.selection(r, &q.selection, q.outer(spec, isSimple(spec)), nil)
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

func explainCount(r *request, x *explanation) error {
	name := r.collection()
	if r.err != nil {
		return r.err
	}
	var q selection
	if err := r.readSelection(&q, "query"); err != nil {
		return err
	}
	limit := r.int("limit", -1<<63+1, 0)
	q.limit, q.skip, q.ns = max(limit, -limit), r.int("skip", 0, 0), r.db+"."+name
	var err error
	if q.container, err = r.find(r.db, name); err != nil || r.err != nil {
		return cmpOr(r.err, err)
	}
	if q.container != nil && viewOf(q.container) != nil {
		over, err := r.findOverView(&finding{selection: q})
		if err != nil {
			return err
		}
		return x.aggregate(r, over)
	}
	n := int64(0)
	count := wrapping{stage: "COUNT", returned: func(in int64) int64 {
		n = in
		return 0
	}, members: func(a *answer, ran bool) {
		if ran {
			a.count("nCounted", n)
			a.int32("nSkipped", 0)
		}
	}}
	return x.selection(r, &q, append(q.outer(nil, true), count), nil)
}

func explainDistinct(r *request, x *explanation) error {
	name := r.collection()
	r.string("key")
	if r.err != nil {
		return r.err
	}
	var q selection
	q.ns = r.db + "." + name
	if err := r.readSelection(&q, "query"); err != nil {
		return err
	}
	var err error
	if q.container, err = r.find(r.db, name); err != nil {
		return err
	}
	if q.container != nil && viewOf(q.container) != nil {
		over, err := r.findOverView(&finding{selection: q})
		if err != nil {
			return err
		}
		return x.aggregate(r, over)
	}
	return x.selection(r, &q, nil, nil)
}
