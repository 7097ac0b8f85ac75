// Package trace shows where the time of a request goes: in spans, which have a beginning, an end, and a span above
// them. Something else makes and sends spans, see Tracer. Without a Tracer nothing is allocated. A span never has a
// document, an id or the text of an error, which may quote them; it has names of containers.
package trace

import (
	"context"
	"net/http"

	"github.com/mayflydb/mayfly/internal/fault"
)

// A Tracer makes spans. It is safe for concurrent use.
type Tracer interface {
	// Start begins a span below the one of ctx, and returns a context with it.
	Start(ctx context.Context, name string, kind Kind) (context.Context, Recorder)
	// Remote returns ctx with the span of a caller, if the headers of its request name one:
	// https://www.w3.org/TR/trace-context/
	Remote(ctx context.Context, header http.Header) context.Context
}

// A Kind is what a span is about.
type Kind uint8

// The kinds of spans.
const (
	Inner  Kind = iota // work of mayfly itself
	Server             // a request of a client
)

// A Recorder takes what a span says. It is used by one goroutine at a time.
type Recorder interface {
	Name(name string)
	Text(key, value string)
	Number(key string, value int64)
	// Fail marks the span as failed, for a reason in a few words.
	Fail(reason string)
	End()
}

// A Span is a span, or nothing: the zero value does nothing.
type Span struct{ r Recorder }

// Start begins a span. Without a tracer it returns ctx and the zero Span.
func Start(t Tracer, ctx context.Context, name string) (context.Context, Span) {
	if t == nil {
		return ctx, Span{}
	}
	ctx, r := t.Start(ctx, name, Inner)
	return ctx, Span{r}
}

// Serve begins the span of a client's request. header is that of HTTP, nil for other protocols.
func Serve(t Tracer, ctx context.Context, name string, header http.Header) (context.Context, Span) {
	if t == nil {
		return ctx, Span{}
	}
	if header != nil {
		ctx = t.Remote(ctx, header)
	}
	ctx, r := t.Start(ctx, name, Server)
	return ctx, Span{r}
}

// On reports whether there is a span, for callers whose attributes cost something.
func (s Span) On() bool { return s.r != nil }

// Name gives the span another name.
func (s Span) Name(name string) {
	if s.r != nil {
		s.r.Name(name)
	}
}

// Text adds an attribute.
func (s Span) Text(key, value string) {
	if s.r != nil {
		s.r.Text(key, value)
	}
}

// Number adds an attribute.
func (s Span) Number(key string, value int64) {
	if s.r != nil {
		s.r.Number(key, value)
	}
}

// Fail marks the span as failed.
func (s Span) Fail(reason string) {
	if s.r != nil {
		s.r.Fail(reason)
	}
}

// End ends the span. Of an error it has the kind. A span that is not ended is not sent.
func (s Span) End(err error) {
	if s.r == nil {
		return
	}
	if err != nil {
		kind := fault.KindOf(err)
		if failures[kind] {
			s.r.Fail(kind.String())
		} else {
			s.r.Text("error.type", kind.String())
		}
	}
	s.r.End()
}

// failures are the kinds of errors that are failures of mayfly. The others are answers, such as that there is no such
// document.
var failures = map[fault.Kind]bool{
	fault.Internal: true, fault.Corrupt: true, fault.Unavailable: true, fault.OutOfSpace: true, fault.Timeout: true,
	fault.Busy: true, fault.Undetermined: true,
}
