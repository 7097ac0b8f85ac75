package rest

import (
	"log/slog"
	"strings"
	"time"

	"github.com/mayflydb/mayfly/internal/cosmos/sql/exec"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/plan"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/slow"
)

// A queryTrace is what the log shows about a slow query.
type queryTrace struct {
	plan *plan.Plan
	seen exec.Metrics
}

// logSlow writes the log line of a slow request, and keeps the request. Both have the plan of a query without any value
// from the query. Its text is only rendered here.
func (e *exchange) logSlow(status int, took time.Duration) {
	kept := slow.Request{API: slow.NoSQL, Operation: e.operationName()}
	if e.database != nil {
		kept.Database = e.database.Name
	}
	if e.container != nil {
		kept.Container = e.container.State().Name
	}
	about := []any{
		slog.String("api", "nosql"),
		slog.String("operation", e.operationName()),
		slog.String("path", loggedPath(e.URL.Path)),
		slog.Int("status", status),
		slog.String("duration", took.String()),
		slog.String("activity", e.activityID()),
	}
	if p := e.trace.plan; p != nil {
		kept.Plan = strings.TrimSpace(p.Shape())
		kept.Query = strings.ReplaceAll(syntax.PrintShape(p.Query), "\n", " ")
		kept.Examined, kept.Returned = e.trace.seen.Documents, e.trace.seen.Rows
		about = append(about,
			slog.String("plan", cut(strings.ReplaceAll(kept.Plan, "\n", "; "))),
			slog.Uint64("documents", e.trace.seen.Documents),
			slog.Uint64("returned", e.trace.seen.Rows))
	}
	e.api.slow.Add(kept, took)
	e.api.log.Info("slow request", about...)
}

// maxPlan is the length at which a logged plan is truncated: the plan of a query with a thousand conditions has a
// thousand conditions too.
const maxPlan = 1000

func cut(plan string) string {
	if len(plan) > maxPlan {
		return plan[:maxPlan] + "…"
	}
	return plan
}

// operationName is the name of the request's operation in metrics and in the log.
func (e *exchange) operationName() string {
	if e.route == nil {
		return unknownOperation
	}
	return e.operationType() + e.resourceType()
}
