package rest

import (
	"log/slog"
	"strings"
	"time"

	"github.com/mayflydb/mayfly/internal/cosmos/sql/exec"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/plan"
)

// A trace is what the log tells of a slow query.
type trace struct {
	plan *plan.Plan
	seen exec.Metrics
}

// logSlow writes the line of a slow request. Of a query it has the plan, with no value that
// anybody has looked for; the text is made only here.
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
	e.door.log.Info("slow request", about...)
}

// maxPlan is where a plan is cut: that of a query with a thousand conditions has as many.
const maxPlan = 1000

func cut(plan string) string {
	if len(plan) > maxPlan {
		return plan[:maxPlan] + "…"
	}
	return plan
}

// operationName is what the request is called in metrics and in the log.
func (e *exchange) operationName() string {
	if e.route == nil {
		return unknownOperation
	}
	return e.operationType() + e.resourceType()
}
