package otlp

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	otel "go.opentelemetry.io/otel/trace"
	collector "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	resource "go.opentelemetry.io/proto/slim/otlp/resource/v1"
	wire "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// sendTime is how long a collector may take to answer.
const sendTime = 10 * time.Second

// An exporter sends batches of spans, one at a time. A batch that the collector does not take is dropped, since those
// that follow would not fit into memory either.
type exporter struct {
	url, shown string // shown is without a password
	client     *http.Client
	log        *slog.Logger
	failing    atomic.Bool
}

// ExportSpans sends a batch. It logs a failure itself, once until a batch is taken again.
func (x *exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := x.send(ctx, spans)
	if failed := err != nil; x.failing.Swap(failed) != failed {
		if failed {
			x.log.Warn("traces are lost: the collector does not take them", "url", x.shown, "error", err)
		} else {
			x.log.Info("the collector takes traces again", "url", x.shown)
		}
	}
	return nil
}

// Shutdown has nothing to do.
func (x *exporter) Shutdown(context.Context) error { return nil }

func (x *exporter) send(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	body, err := proto.Marshal(request(spans))
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, x.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	response, err := x.client.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 64<<10)) // so that the connection can be used again
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("status %s", response.Status)
	}
	return nil
}

// request is a batch in the form of the protocol. All spans have one resource and one scope, those of a Tracer.
// https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/trace/v1/trace.proto
func request(spans []sdk.ReadOnlySpan) *collector.ExportTraceServiceRequest {
	if len(spans) == 0 {
		return &collector.ExportTraceServiceRequest{}
	}
	list := make([]*wire.Span, len(spans))
	for i, s := range spans {
		list[i] = encode(s)
	}
	return &collector.ExportTraceServiceRequest{ResourceSpans: []*wire.ResourceSpans{{
		Resource: &resource.Resource{Attributes: attributes(spans[0].Resource().Attributes())},
		ScopeSpans: []*wire.ScopeSpans{{
			Scope: &common.InstrumentationScope{Name: spans[0].InstrumentationScope().Name}, Spans: list,
		}},
	}}}
}

var kinds = map[otel.SpanKind]wire.Span_SpanKind{
	otel.SpanKindInternal: wire.Span_SPAN_KIND_INTERNAL, otel.SpanKindServer: wire.Span_SPAN_KIND_SERVER,
}

func encode(s sdk.ReadOnlySpan) *wire.Span {
	trace, id := s.SpanContext().TraceID(), s.SpanContext().SpanID()
	w := &wire.Span{
		TraceId: trace[:], SpanId: id[:], TraceState: s.SpanContext().TraceState().String(),
		Name: s.Name(), Kind: kinds[s.SpanKind()], Attributes: attributes(s.Attributes()),
		StartTimeUnixNano: uint64(s.StartTime().UnixNano()), EndTimeUnixNano: uint64(s.EndTime().UnixNano()),
		DroppedAttributesCount: uint32(s.DroppedAttributes()), Status: &wire.Status{},
	}
	if parent := s.Parent().SpanID(); parent.IsValid() {
		w.ParentSpanId = parent[:]
	}
	if s.Status().Code == codes.Error {
		w.Status = &wire.Status{Code: wire.Status_STATUS_CODE_ERROR, Message: s.Status().Description}
	}
	return w
}

func attributes(list []attribute.KeyValue) (out []*common.KeyValue) {
	for _, kv := range list {
		value := &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: kv.Value.AsString()}}
		if kv.Value.Type() == attribute.INT64 {
			value = &common.AnyValue{Value: &common.AnyValue_IntValue{IntValue: kv.Value.AsInt64()}}
		}
		out = append(out, &common.KeyValue{Key: string(kv.Key), Value: value})
	}
	return out
}
