package command

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/mongo/session"
	"github.com/mayflydb/mayfly/internal/mongo/stream"
)

// openStream answers with a change stream.
func openStream(r *request, a *answer, x *query.Aggregation, arg doc.Value, size int64) error {
	switch {
	case r.s.o.ReplSet == "":
		return needsSet(40573, "The $changeStream stage is only supported on replica sets.")
	case r.Transaction != nil:
		return code.New(code.OperationNotSupportedInTransaction,
			"Stage not supported inside of a multi-document transaction: $changeStream")
	}
	stages := r.list("pipeline")
	if x.Container != nil && query.ViewOf(x.Container) != nil || stageName(stages) != "$changeStream" {
		return code.New(code.CommandNotSupportedOnView, "Namespace %s is a view, not a collection", x.Namespace)
	}
	o, err := stream.ReadOptions(arg)
	if err != nil {
		return err
	}
	name, _ := doc.AsString(r.arg)
	scope, err := o.ScopeOf(r.db, name, x.Container)
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
