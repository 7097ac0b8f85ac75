package rest

import (
	"log/slog"
	"strings"
	"time"

	"github.com/mayflydb/mayfly/internal/cosmos/sql/exec"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/plan"
)

// A trace is what the log shows about a slow query.
type trace struct {
	plan *plan.Plan
	seen exec.Metrics
}

// logSlow writes the log line of a slow request. It has the plan of a query without any value from the query. The
// text of the plan is only rendered here.
func (e *exchange) logSlow(status int, took time.Duration) {
	about := []any{
		slog.String("api", "nosql"),
		slog.String("operation", e.operationName()),
		slog.String("path", loggedPath(e.URL.Path)),
		slog.Int("status", status),
		slog.String("duration", took.String()),
		slog.String("activity", e.activityID()),
	}
	if p := e.trace.plan; p != nil {
		about = append(about,
			slog.String("plan", cut(strings.ReplaceAll(strings.TrimSpace(p.Shape()), "\n", "; "))),
			slog.Uint64("documents", e.trace.seen.Documents),
			slog.Uint64("returned", e.trace.seen.Rows))
	}
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
