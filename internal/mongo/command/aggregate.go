package command

import (
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/monitor"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/mongo/session"
	"github.com/mayflydb/mayfly/internal/mongo/stream"
	"github.com/mayflydb/mayfly/internal/mongo/write"
)

func aggregate(r *request, a *answer) error {
	x, err := query.ReadAggregation(&r.Request)
	if err != nil {
		return err
	}
	if r.Bool("explain", false) {
		return explainInAggregate(r, x, a)
	}
	size := int64(firstBatch)
	cursor := r.Get("cursor")
	options, ok := doc.AsDoc(cursor)
	switch {
	case cursor.Type == 0:
		return code.New(code.FailedToParse,
			"The 'cursor' option is required, except for aggregate with the explain argument")
	case !ok:
		return code.New(code.TypeMismatch, "cursor field must be missing or an object")
	}
	size = r.BatchSize("cursor", doc.Lookup(options, "batchSize"), firstBatch)
	if r.Err != nil {
		return r.Err
	}
	switch stage, arg := x.Pipeline.Source(); stage {
	case "$changeStream":
		return openStream(r, a, x, arg, size)
	case "$collStats":
		if err := monitor.CheckCollStats(&r.Request, arg); err != nil {
			return err
		}
	}
	if _, writes := x.Pipeline.Containers(); writes != nil {
		return runWriting(r, x, a)
	}
	return within(duringAggregation, r.reply(a, x.Namespace, startPipeline(r, x), size, nil))
}

const duringAggregation = "PlanExecutor error during aggregation"

// newPipelineCursor makes a cursor of a pipeline that the request runs.
func newPipelineCursor(r *request) *query.PipelineCursor {
	p := query.NewPipelineCursor(&r.Operation, mayRun)
	p.Serve(server{write.Sink{Joined: query.Joined{Cursor: p, Database: r.DB}}})
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

// openStream answers with a change stream.
func openStream(r *request, a *answer, x *query.Aggregation, arg doc.Value, size int64) error {
	switch {
	case r.Node.Shares:
		return changeStreamsOff()
	case r.s.o.ReplSet == "":
		return call.NeedsSet(40573, "The $changeStream stage is only supported on replica sets.")
	case r.Transaction != nil:
		return code.New(code.OperationNotSupportedInTransaction,
			"Stage not supported inside of a multi-document transaction: $changeStream")
	}
	stages := r.List("pipeline")
	if x.Container != nil && query.ViewOf(x.Container) != nil || query.StageName(stages) != "$changeStream" {
		return code.New(code.CommandNotSupportedOnView, "Namespace %s is a view, not a collection", x.Namespace)
	}
	o, err := stream.ReadOptions(arg)
	if err != nil {
		return err
	}
	name, _ := doc.AsString(r.Arg)
	scope, err := o.ScopeOf(r.DB, name, x.Container)
	if err != nil {
		return err
	}
	rest, err := pipeline.Compile(stages[1:], pipeline.Options{Names: x.Names})
	if err != nil {
		return err
	}
	s, err := stream.New(&r.Operation, o, scope, rest, x.Vars)
	if err != nil {
		return err
	}
	return r.reply(a, x.Namespace, s, size, func(c *session.Cursor) { c.Awaits, c.Token = true, s.Token })
}
