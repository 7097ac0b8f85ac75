package command

import (
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/mongo/write"
)

func aggregate(r *request, a *answer) error {
	x, err := readAggregation(r)
	if err != nil {
		return err
	}
	if r.bool("explain", false) {
		return explainInAggregate(r, x, a)
	}
	size := int64(firstBatch)
	cursor := r.get("cursor")
	options, ok := doc.AsDoc(cursor)
	switch {
	case cursor.Type == 0:
		return code.New(code.FailedToParse, "The 'cursor' option is required, except for aggregate with the explain argument")
	case !ok:
		return code.New(code.TypeMismatch, "cursor field must be missing or an object")
	}
	size = r.batchSize("cursor", doc.Lookup(options, "batchSize"), firstBatch)
	if r.err != nil {
		return r.err
	}
	switch stage, arg := x.Pipeline.Source(); stage {
	case "$changeStream":
		return openStream(r, a, x, arg, size)
	case "$collStats":
		if err := checkCollStats(r, arg); err != nil {
			return err
		}
	}
	if _, writes := x.Pipeline.Containers(); writes != nil {
		return runWriting(r, x, a)
	}
	return within(duringAggregation, r.reply(a, x.Namespace, startPipeline(r, x), size, nil))
}

const duringAggregation = "PlanExecutor error during aggregation"

// readAggregation reads the arguments.
func readAggregation(r *request) (*query.Aggregation, error) {
	x := &query.Aggregation{}
	name := "$cmd.aggregate" // of a pipeline over the whole database
	if n, ok := doc.AsInt64Exact(r.arg); !ok || n != 1 {
		name = r.collection()
	}
	x.Namespace = r.db + "." + name
	stages := r.list("pipeline")
	if r.err == nil && doc.Lookup(r.body, "pipeline").Type == 0 {
		r.fault(code.New(code.MissingFieldOfCommand, "BSON field 'aggregate.pipeline' is missing but a required field"))
	}
	if r.err != nil {
		return nil, r.err
	}
	if err := r.checkCollation("collation"); err != nil {
		return nil, err
	}
	var err error
	if x.Names, x.Vars, err = readVariables(r); err != nil {
		return nil, err
	}
	if x.Container, err = r.Find(r.db, name); err != nil {
		return nil, err
	}
	if x.Container != nil && stageName(stages) != "$changeStream" {
		if x.Container, stages, err = query.UnfoldView(&r.Operation, x.Container, stages); err != nil {
			return nil, err
		}
	}
	if err := x.Hinted(r.get("hint")); err != nil {
		return nil, err
	}
	x.Pipeline, err = pipeline.Compile(stages, pipeline.Options{Names: x.Names})
	if err == nil {
		err = r.mayRun(x.Pipeline)
	}
	if err != nil {
		return nil, err
	}
	if source, _ := x.Pipeline.Source(); source == "" && name == "$cmd.aggregate" {
		return nil, code.New(code.InvalidNamespace, "{aggregate: 1} is not valid for '%s'; a collection is required.", stageName(stages))
	}
	return x, nil
}

func stageName(stages []doc.Value) string {
	if len(stages) > 0 {
		if d, ok := doc.AsDoc(stages[0]); ok {
			for name := range doc.Members(d) {
				return name
			}
		}
	}
	return "an empty pipeline"
}

// newPipelineCursor makes a cursor of a pipeline that the request runs.
func newPipelineCursor(r *request) *query.PipelineCursor {
	p := query.NewPipelineCursor(&r.Operation, mayRun)
	p.Serve(server{write.Sink{Joined: query.Joined{Cursor: p, Database: r.db}}})
	return p
}

// startPipeline makes ready to run a pipeline.
func startPipeline(r *request, x *query.Aggregation) *query.PipelineCursor {
	p := newPipelineCursor(r)
	p.Run(x)
	return p
}

// rowsOfView gives the rows of a view that match a query.
func rowsOfView(r *request, c *catalog.Container, query doc.Doc) (pipeline.Rows, error) {
	return newPipelineCursor(r).ViewRows(c, query)
}

// runWriting runs a pipeline that ends in $out or $merge.
func runWriting(r *request, x *query.Aggregation, a *answer) error {
	if r.Transaction != nil {
		return code.New(code.OperationNotSupportedInTransaction, "$out and $merge cannot be used in a transaction")
	}
	for _, err := range startPipeline(r, x).All() {
		if err != nil {
			return within(duringAggregation, err)
		}
	}
	a.Object("cursor")
	a.Int64("id", 0)
	a.String("ns", x.Namespace)
	a.Array("firstBatch")
	a.Close()
	a.Close()
	return nil
}
