package query

import (
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// A view is a container that has no documents: a pipeline over another one.
type view struct {
	On     string
	Stages []doc.Value
}

// ViewOf is the view that a container is, nil if the container holds documents itself.
func ViewOf(c *catalog.Container) *view {
	options := c.State().Echo
	// Most containers were created without options, and this is asked for each command.
	if len(options) == 0 {
		return nil
	}
	on, ok := doc.AsString(doc.Lookup(options, "viewOn"))
	if !ok {
		return nil
	}
	v := &view{On: on}
	for stage := range doc.Elements(doc.Lookup(options, "pipeline")) {
		v.Stages = append(v.Stages, stage)
	}
	return v
}

// Stages are what a find asks, as stages of a pipeline.
func (q *Selection) Stages(projection doc.Doc) []doc.Value {
	var list []doc.Value
	add := func(name string, v doc.Value) { list = append(list, doc.Object(doc.Single(name, v))) }
	if !doc.IsEmpty(q.Query) {
		add("$match", doc.Object(q.Query))
	}
	if q.Sort != nil {
		add("$sort", doc.Object(q.Sort.Spec()))
	}
	if q.Skip > 0 {
		add("$skip", doc.Int(q.Skip))
	}
	if q.Limit > 0 {
		add("$limit", doc.Int(q.Limit))
	}
	if !doc.IsEmpty(projection) {
		add("$project", doc.Object(projection))
	}
	return list
}

// OverView makes the pipeline of some stages over a view. may tells whether the client may run it.
func (x *Aggregation) OverView(o *session.Operation, may MayRun, c *catalog.Container, stages []doc.Value) (err error) {
	if x.Container, stages, err = UnfoldView(o, c, stages); err != nil {
		return err
	}
	if x.Pipeline, err = pipeline.Compile(stages, pipeline.Options{Names: x.Names}); err != nil {
		return err
	}
	return may(o, x.Pipeline)
}

// FindOverView is a find over a view as an aggregation.
func FindOverView(r *call.Request, may MayRun, q *FindCursor) (*Aggregation, error) {
	x := &Aggregation{Selection: Selection{Namespace: q.Namespace, Names: q.Names, Vars: q.Vars}}
	return x, x.OverView(&r.Operation, may, q.Container, q.Stages(r.Document("projection")))
}
