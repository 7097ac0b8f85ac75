package command

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

func explainAggregate(r *request, x *explanation) error {
	over, err := r.aggregation()
	if err != nil {
		return err
	}
	return x.aggregate(r, over)
}

// explainAggregate answers with the plan of an aggregation.
func (r *request) explainAggregate(x *aggregation, a *answer) error {
	e := &explanation{a: a}
	if err := e.aggregate(r, x); err != nil {
		return err
	}
	return r.explainEnd(e)
}

// aggregate writes what finds the documents of a pipeline, and the stages that are left over. If
// there are none of those it looks like that of a find.
func (x *explanation) aggregate(r *request, over *aggregation) error {
	if _, writes := over.pipeline.Containers(); writes != nil && x.level != planOnly {
		return code.New(code.IllegalOperation, "explain of an aggregation with $out or $merge is possible with the verbosity queryPlanner only")
	}
	x.a.string("explainVersion", "1")
	rest := over.pipeline
	q := over.selection
	source, _ := rest.Source()
	if source == "" {
		prefix := rest.Prefix()
		rest = prefix.Rest
		q.filter, q.query, q.sort, q.skip, q.limit = prefix.Match, prefix.Query, prefix.Sort, prefix.Skip, max(0, prefix.Limit)
		if q.query == nil {
			q.query = doc.Empty
		}
		if rest.Len() == 0 {
			return x.planned(r, &q, q.outer(nil, true), nil)
		}
	}
	x.a.array("stages")
	if source == "" {
		x.a.object(x.a.index())
		x.a.object("$cursor")
		if err := x.planned(r, &q, q.outer(nil, true), nil); err != nil {
			return err
		}
		x.a.close()
		x.a.close()
	}
	for _, stage := range rest.Stages() {
		x.a.element(stage)
	}
	x.a.close()
	return nil
}
