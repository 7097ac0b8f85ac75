package monitor

import (
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/trace"
)

// EndSpan ends the span of a request. https://opentelemetry.io/docs/specs/semconv/database/mongodb/
func EndSpan(span *trace.Span, r *call.Request) {
	if !span.On() {
		return
	}
	span.Text("db.system.name", "mongodb")
	span.Text("db.operation.name", r.Name)
	span.Text("db.namespace", r.DB)
	if name := r.ContainerName(); name != "" {
		span.Text("db.collection.name", code.Cut(name, maxLoggedName))
	}
	if r.Status != 0 {
		span.Text("db.response.status_code", statusName(int(r.Status)))
	}
	span.End(nil)
}
