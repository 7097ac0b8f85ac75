package reaper

import (
	"context"

	"github.com/mayflydb/mayfly/internal/store"
	"github.com/mayflydb/mayfly/internal/trace"
)

// reclaimStep frees some of the documents of a container that are expired at now.
func (r *Reaper) reclaimStep(
	ctx context.Context, c *store.Container, now int64, documents int,
) (store.Reclaimed, error) {
	ctx, span := trace.Start(r.o.Tracer, ctx, "reaper.reclaim")
	done, err := r.o.Store.Reclaim(ctx, c, now, documents)
	endStep(span, c, done, err)
	return done, err
}

// sweepStep removes some of the index entries of reclaimed documents.
func (r *Reaper) sweepStep(ctx context.Context, c *store.Container, entries int) (store.Reclaimed, error) {
	ctx, span := trace.Start(r.o.Tracer, ctx, "reaper.sweep")
	done, err := r.o.Store.Sweep(ctx, c, entries)
	endStep(span, c, done, err)
	return done, err
}

// endStep ends the span of a step, unless the step has found nothing to do: such a span is not sent.
func endStep(span trace.Span, c *store.Container, done store.Reclaimed, err error) {
	if !span.On() || err == nil && done.Documents == 0 && done.Entries == 0 {
		return
	}
	span.Text("db.namespace", c.Database.Name)
	span.Text("db.collection.name", c.State().Name)
	span.Number("mayfly.documents", int64(done.Documents))
	span.Number("mayfly.entries", int64(done.Entries))
	span.End(err)
}
