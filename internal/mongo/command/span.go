package command

import (
	"context"

	"github.com/mayflydb/mayfly/internal/trace"
)

// startSpan begins the span of the request. A handshake has none: drivers send them all the time to see that the server
// is there.
func (r *request) startSpan(ctx context.Context) context.Context {
	if r.command.greets {
		return ctx
	}
	ctx, r.span = trace.Serve(r.s.o.Tracer, ctx, r.Name, nil)
	return ctx
}
