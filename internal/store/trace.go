package store

import (
	"context"
	"iter"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/trace"
)

// SetTracer makes spans of what the store does for requests. It is called before the first request.
func (s *Store) SetTracer(t trace.Tracer) { s.tracer = t }

// span begins the span of an operation on a container.
func (s *Store) span(ctx context.Context, name string, c *catalog.Container) (context.Context, trace.Span) {
	ctx, span := trace.Start(s.tracer, ctx, name)
	if span.On() {
		span.Text("db.namespace", c.Database.Name)
		span.Text("db.collection.name", c.State().Name)
	}
	return ctx, span
}

// apply hands a batch to the engine.
func (s *Store) apply(ctx context.Context, b *kv.Batch) error {
	ctx, span := trace.Start(s.tracer, ctx, "engine.apply")
	err := s.engine.Apply(ctx, b)
	if span.On() {
		span.Number("mayfly.batch.changes", int64(len(b.Ops)))
		span.End(err)
	}
	return err
}

// write does operations in order, all of them or none.
func (s *Store) write(ctx context.Context, c *catalog.Container, now expiry.Stamp, ops []Op, results []Result) error {
	ctx, span := s.span(ctx, "store.write", c)
	err := s.writeUntilDone(ctx, c, now, ops, results)
	if span.On() {
		span.Number("mayfly.operations", int64(len(ops)))
		span.End(err)
	}
	return err
}

// Scan walks the living documents that a selects, and with a Set possibly others. Documents
// and their positions are valid until the next step. A position that the selection cannot
// have given is fault.Invalid. A walk along entries that were dropped since v was entered is
// fault.Conflict: the caller starts again with another View. access.ErrLong is only for a with First.
func (s *Store) Scan(ctx context.Context, v catalog.View, a access.Access) iter.Seq2[access.Document, error] {
	return func(yield func(access.Document, error) bool) {
		ctx, span := s.span(ctx, "store.scan", v.Container)
		err := s.scan(ctx, v, a, yield)
		if err == errStopped {
			err = nil
		}
		if err == access.ErrLong { // no failure, the caller goes on in another way
			span.End(nil)
		} else {
			span.End(err)
		}
		if err != nil {
			yield(access.Document{}, err)
		}
	}
}

// Read calls use with the living document at key; fault.NotFound if there is none. The body is valid only inside use.
func (s *Store) Read(ctx context.Context, v catalog.View, key Key, use func(access.Document) error) error {
	if s.tracer == nil {
		return s.read(ctx, v, key, use)
	}
	ctx, span := s.span(ctx, "store.read", v.Container)
	err := s.read(ctx, v, key, use)
	span.End(err)
	return err
}
