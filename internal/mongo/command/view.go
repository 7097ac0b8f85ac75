package command

import (
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
)

// A view is a container without documents: a pipeline over another container.
type view struct {
	on     string
	stages []doc.Value
}

// viewOf gives the view if a container is one, nil otherwise.
func viewOf(c *catalog.Container) *view {
	options := c.State().Echo
	if len(options) == 0 {
		return nil
	}
	on, ok := doc.AsString(doc.Lookup(options, "viewOn"))
	if !ok {
		return nil
	}
	v := &view{on: on}
	for stage := range doc.Elements(doc.Lookup(options, "pipeline")) {
		v.stages = append(v.stages, stage)
	}
	return v
}

// countView counts the rows of a view.
func (r *request) countView(a *answer, c *catalog.Container, q *selection, skip, limit int64) error {
	rows, err := r.viewRows(c, q.query)
	if err != nil {
		return err
	}
	counted := selection{skip: skip, limit: limit}
	n := int64(0)
	for _, err := range counted.cut(rows) {
		if err != nil {
			return err
		}
		n++
	}
	a.count("n", n)
	return nil
}

// findOverView turns a find over a view into an aggregation.
func (r *request) findOverView(q *finding) (*aggregation, error) {
	x := &aggregation{selection: selection{ns: q.ns, names: q.names, vars: q.vars}}
	return x, x.overView(r, q.container, q.stages(r.document("projection")))
}

// stages gives the stages of a pipeline that do what a find asks.
func (q *selection) stages(projection doc.Doc) []doc.Value {
	var list []doc.Value
	add := func(name string, v doc.Value) { list = append(list, doc.Object(one(name, v))) }
	if !doc.IsEmpty(q.query) {
		add("$match", doc.Object(q.query))
	}
	if q.sort != nil {
		add("$sort", doc.Object(q.sort.Spec()))
	}
	if q.skip > 0 {
		add("$skip", doc.Int(q.skip))
	}
	if q.limit > 0 {
		add("$limit", doc.Int(q.limit))
	}
	if !doc.IsEmpty(projection) {
		add("$project", doc.Object(projection))
	}
	return list
}

// overView compiles the stages of the view followed by others.
func (x *aggregation) overView(r *request, c *catalog.Container, stages []doc.Value) (err error) {
	if x.container, stages, err = r.unfold(c, stages); err != nil {
		return err
	}
	if x.pipeline, err = pipeline.Compile(stages, pipeline.Options{Names: x.names}); err != nil {
		return err
	}
	return r.mayRun(x.pipeline)
}

// findView answers a find over a view.
func (r *request) findView(a *answer, q *finding, size int64) error {
	x, err := r.findOverView(q)
	if err != nil {
		return err
	}
	p, err := x.start(r)
	if err != nil {
		return err
	}
	keep := func(x *cursor) { x.noTimeout = r.bool("noCursorTimeout", false) }
	return within(duringAggregation, r.reply(a, q.ns, p, size, keep))
}
