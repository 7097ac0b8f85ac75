// Package otlp sends spans to a collector of OpenTelemetry, by OTLP over HTTP. The SDK of OpenTelemetry samples spans
// and collects them into batches; the package makes its kind of spans from package trace's, and sends the batches. It
// holds up no request: spans that the collector does not take are dropped.
// https://opentelemetry.io/docs/specs/otlp/#otlphttp
package otlp

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	otel "go.opentelemetry.io/otel/trace"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/trace"
)

// Options say where spans go.
type Options struct {
	// URL is the collector's, such as http://localhost:4318. Without a path it is completed by /v1/traces.
	URL string
	// Ratio is the share of requests that are traced, from 0 to 1, among those whose client has not decided.
	Ratio float64
	// Version is mayfly's.
	Version string
	Logger  *slog.Logger
}

// A Tracer is a trace.Tracer.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   otel.Tracer
	remote   propagation.TraceContext
}

// CheckURL fails with fault.Invalid unless text can be Options.URL.
func CheckURL(text string) error {
	_, err := endpoint(text)
	return err
}

func endpoint(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fault.New(fault.Invalid, "traces go to a URL such as http://localhost:4318")
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = "/v1/traces"
	}
	return u, nil
}

// New makes a tracer. It does not wait for the collector, which need not be there yet.
func New(o Options) (*Tracer, error) {
	u, err := endpoint(o.URL)
	if err != nil {
		return nil, err
	}
	log := cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	about := resource.NewSchemaless(
		attribute.String("service.name", "mayfly"), attribute.String("service.version", o.Version))
	p := sdk.NewTracerProvider(
		sdk.WithBatcher(&exporter{url: u.String(), shown: u.Redacted(), client: &http.Client{Timeout: sendTime},
			log: log}),
		sdk.WithResource(about),
		sdk.WithSampler(sdk.ParentBased(sdk.TraceIDRatioBased(o.Ratio))),
	)
	return &Tracer{provider: p, tracer: p.Tracer("github.com/mayflydb/mayfly")}, nil
}

// Close sends what is left, until ctx ends.
func (t *Tracer) Close(ctx context.Context) error { return t.provider.Shutdown(ctx) }

// Start begins a span.
func (t *Tracer) Start(ctx context.Context, name string, kind trace.Kind) (context.Context, trace.Recorder) {
	of := otel.SpanKindInternal
	if kind == trace.Server {
		of = otel.SpanKindServer
	}
	ctx, s := t.tracer.Start(ctx, name, otel.WithSpanKind(of))
	return ctx, span{s}
}

// Remote reads the headers traceparent and tracestate.
func (t *Tracer) Remote(ctx context.Context, header http.Header) context.Context {
	return t.remote.Extract(ctx, propagation.HeaderCarrier(header))
}

// A span is a trace.Recorder.
type span struct{ of otel.Span }

func (s span) Name(name string)               { s.of.SetName(name) }
func (s span) Text(key, value string)         { s.of.SetAttributes(attribute.String(key, value)) }
func (s span) Number(key string, value int64) { s.of.SetAttributes(attribute.Int64(key, value)) }
func (s span) End()                           { s.of.End() }

func (s span) Fail(reason string) {
	s.of.SetStatus(codes.Error, reason)
	s.of.SetAttributes(attribute.String("error.type", reason))
}
