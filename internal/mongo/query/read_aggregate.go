package query

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
)

// ReadAggregation reads the arguments of an aggregate whose pipeline the client may run.
func ReadAggregation(r *call.Request) (*Aggregation, error) {
	x := &Aggregation{}
	name := "$cmd.aggregate" // of a pipeline over the whole database
	if n, ok := doc.AsInt64Exact(r.Arg); !ok || n != 1 {
		name = r.Collection()
	}
	x.Namespace = r.DB + "." + name
	stages := r.List("pipeline")
	if r.Err == nil && doc.Lookup(r.Body, "pipeline").Type == 0 {
		r.Fault(code.New(code.MissingFieldOfCommand, "BSON field 'aggregate.pipeline' is missing but a required field"))
	}
	if r.Err != nil {
		return nil, r.Err
	}
	if err := r.CheckCollation("collation"); err != nil {
		return nil, err
	}
	var err error
	if x.Names, x.Vars, err = call.ReadVariables(r); err != nil {
		return nil, err
	}
	if _, err = x.Find(&r.Operation, r.DB, name); err != nil {
		return nil, err
	}
	if x.Container != nil && StageName(stages) != "$changeStream" {
		if x.Container, stages, err = UnfoldView(&r.Operation, x.Container, stages); err != nil {
			return nil, err
		}
	}
	if err := x.Hinted(r.Get("hint")); err != nil {
		return nil, err
	}
	x.Pipeline, err = pipeline.Compile(stages, pipeline.Options{Names: x.Names})
	if err == nil {
		err = MayAggregate(r, x.Pipeline)
	}
	if err != nil {
		return nil, err
	}
	if source, _ := x.Pipeline.Source(); source == "" && name == "$cmd.aggregate" {
		return nil, code.New(code.InvalidNamespace,
			"{aggregate: 1} is not valid for '%s'; a collection is required.", StageName(stages))
	}
	return x, nil
}

// StageName is the name of the first stage of a pipeline, for messages.
func StageName(stages []doc.Value) string {
	if len(stages) > 0 {
		if d, ok := doc.AsDoc(stages[0]); ok {
			for name := range doc.Members(d) {
				return name
			}
		}
	}
	return "an empty pipeline"
}
