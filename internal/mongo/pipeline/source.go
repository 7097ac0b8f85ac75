package pipeline

import (
	"slices"
	"strings"

	"github.com/mayflydb/mayfly/internal/doc"
)

// serverStages are the first stages that only the server can answer.
var serverStages = strings.Fields("$changeStream $collStats $currentOp $indexStats $listLocalSessions $listSessions " +
	"$planCacheStats")

func isServerStage(name string) bool { return slices.Contains(serverStages, name) }

// A source is a first stage that the server answers. The server also checks its argument.
type source struct {
	stage string
	arg   doc.Value
}

func (s *source) name() string { return s.stage }

func (s *source) open(r *run) Rows {
	server, err := r.server(s.stage)
	if err != nil {
		return fail(err)
	}
	return server.Source(r.ctx, s.stage, s.arg)
}

func sourceParser(name string) parser {
	return func(_ *compiler, arg doc.Value) (stage, error) { return &source{name, arg}, nil }
}
