package rest

import (
	"net/http"

	"github.com/mayflydb/mayfly/internal/trace"
)

// endSpan ends the span of the request, which has no id of an item: only names of a database and a container that
// exist. https://opentelemetry.io/docs/specs/semconv/database/cosmosdb/
func (e *exchange) endSpan(span trace.Span, status int) {
	if !span.On() {
		return
	}
	name := e.operationName()
	span.Name(name)
	span.Text("db.system.name", "azure.cosmosdb")
	span.Text("db.operation.name", name)
	span.Text("http.request.method", e.Method)
	span.Number("http.response.status_code", int64(status))
	if e.database != nil {
		span.Text("db.namespace", e.database.Name)
	}
	if e.container != nil {
		span.Text("db.collection.name", e.container.State().Name)
	}
	if status >= http.StatusInternalServerError {
		span.Fail(http.StatusText(status))
	}
	span.End(nil)
}
