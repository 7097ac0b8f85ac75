package command

import (
	"context"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/mongo/write"
)

// A server is what the stages of one pipeline ask for.
type server struct{ write.Sink }

// Source gives the rows of a stage about the server.
func (s server) Source(_ context.Context, stage string, arg doc.Value) pipeline.Rows {
	give, ok := sources[stage]
	if !ok {
		return query.Failed(code.Unsupported("the stage " + stage))
	}
	return give(s.Cursor.Operation().Host.(*request), arg)
}

var _ pipeline.Server = server{}

// sources are the stages that give rows about the server, not documents of a collection.
var sources = map[string]func(r *request, arg doc.Value) pipeline.Rows{
	"$collStats": func(r *request, arg doc.Value) pipeline.Rows {
		if _, err := r.s.given(&r.Operation, r.DB, r.ContainerName()); err != nil {
			return query.Failed(err)
		}
		return r.s.monitor.CollStats(&r.Request, arg)
	},
	"$currentOp": currentOpStage,
	"$indexStats": func(r *request, arg doc.Value) pipeline.Rows {
		return r.s.monitor.IndexStats(&r.Request, arg)
	},
	"$listLocalSessions": listSessions,
	"$listSessions":      listSessions,
}
