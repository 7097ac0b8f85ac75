package otlp

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	wire "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/trace"
)

// A receiver is a collector that keeps what it gets.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	status int
	path   string
	spans  []*wire.Span
	about  string // the attributes of the resource
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{status: http.StatusOK}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		var m collector.ExportTraceServiceRequest
		if err == nil {
			err = proto.Unmarshal(body, &m)
		}
		if err != nil || q.Header.Get("Content-Type") != "application/x-protobuf" {
			t.Errorf("request of type %q: %v", q.Header.Get("Content-Type"), err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.path = q.URL.Path
		for _, of := range m.ResourceSpans {
			r.about = fmt.Sprint(of.Resource.Attributes)
			for _, s := range of.ScopeSpans {
				r.spans = append(r.spans, s.Spans...)
			}
		}
		w.WriteHeader(r.status)
	}))
	t.Cleanup(r.Close)
	return r
}

func newTracer(t *testing.T, o Options) *Tracer {
	t.Helper()
	tracer, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return tracer
}

func header(sampled string) http.Header {
	return http.Header{"Traceparent": {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-" + sampled}}
}

func TestSpansArrive(t *testing.T) {
	r := newReceiver(t)
	tracer := newTracer(t, Options{URL: r.URL, Ratio: 0, Version: "test"})
	ctx, request := trace.Serve(tracer, t.Context(), "POST", header("01"))
	request.Name("CreateDocument")
	request.Text("db.namespace", "shop")
	request.Number("http.response.status_code", 201)
	_, step := trace.Start(tracer, ctx, "step")
	step.End(fault.New(fault.Internal, "a secret"))
	_, answer := trace.Start(tracer, ctx, "answer")
	answer.End(fault.New(fault.NotFound, "another secret"))
	request.End(nil)
	if err := tracer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r.path != "/v1/traces" || len(r.spans) != 3 {
		t.Fatalf("%d spans at %q", len(r.spans), r.path)
	}
	top := r.spans[2]
	for _, s := range r.spans {
		if hex.EncodeToString(s.TraceId) != "0af7651916cd43dd8448eb211c80319c" ||
			s.EndTimeUnixNano < s.StartTimeUnixNano {
			t.Errorf("%s: trace %x, from %d to %d", s.Name, s.TraceId, s.StartTimeUnixNano, s.EndTimeUnixNano)
		}
		if s != top && !bytes.Equal(s.ParentSpanId, top.SpanId) {
			t.Errorf("%s is below %x", s.Name, s.ParentSpanId)
		}
	}
	if top.Name != "CreateDocument" || hex.EncodeToString(top.ParentSpanId) != "b7ad6b7169203331" ||
		top.Kind != wire.Span_SPAN_KIND_SERVER {
		t.Errorf("the request is %v", top)
	}
	text := fmt.Sprint(top.Attributes)
	if !strings.Contains(text, "shop") || !strings.Contains(text, "201") {
		t.Errorf("attributes %s", text)
	}
	if s := r.spans[0]; s.Status.Code != wire.Status_STATUS_CODE_ERROR || s.Status.Message != fault.Internal.String() {
		t.Errorf("a failure has status %v", s.Status)
	}
	if s := r.spans[1]; s.Status.Code == wire.Status_STATUS_CODE_ERROR {
		t.Errorf("an answer has status %v", s.Status)
	}
	if all := fmt.Sprint(r.spans); strings.Contains(all, "secret") {
		t.Errorf("texts of errors are sent: %s", all)
	}
	if !strings.Contains(r.about, "mayfly") || !strings.Contains(r.about, "test") {
		t.Errorf("resource %s", r.about)
	}
}

// The client decides whether its request is traced; without its decision the ratio does.
func TestSampling(t *testing.T) {
	for _, c := range []struct {
		header http.Header
		ratio  float64
		spans  int
	}{
		{nil, 1, 1}, {nil, 0, 0}, {header("00"), 1, 0}, {header("01"), 0, 1},
		{http.Header{"Traceparent": {"nonsense"}}, 1, 1},
	} {
		r := newReceiver(t)
		tracer := newTracer(t, Options{URL: r.URL + "/", Ratio: c.ratio})
		_, span := trace.Serve(tracer, t.Context(), "x", c.header)
		span.End(nil)
		if err := tracer.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(r.spans) != c.spans {
			t.Errorf("%v, ratio %v: %d spans", c.header, c.ratio, len(r.spans))
		}
	}
}

func TestCollectorThatFails(t *testing.T) {
	r := newReceiver(t)
	r.status = http.StatusServiceUnavailable
	var log bytes.Buffer
	password := strings.Replace(r.URL, "http://", "http://user:s3cret@", 1)
	tracer := newTracer(t, Options{URL: password, Ratio: 1, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	for range 3 {
		_, span := trace.Start(tracer, t.Context(), "x")
		span.End(nil)
		if err := tracer.provider.ForceFlush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	r.mu.Lock()
	r.status = http.StatusOK
	r.mu.Unlock()
	_, span := trace.Start(tracer, t.Context(), "x")
	span.End(nil)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := tracer.Close(ctx); err != nil {
		t.Fatal(err)
	}
	text := log.String()
	if strings.Count(text, "traces are lost") != 1 || strings.Count(text, "takes traces again") != 1 ||
		strings.Contains(text, "s3cret") {
		t.Errorf("log: %s", text)
	}
}

func TestURLs(t *testing.T) {
	for text, want := range map[string]string{
		"http://localhost:4318":       "http://localhost:4318/v1/traces",
		"https://h/":                  "https://h/v1/traces",
		"https://h/otlp/v1/traces?x=": "https://h/otlp/v1/traces?x=",
		"localhost:4318":              "",
		"ftp://h":                     "",
		"":                            "",
	} {
		u, err := endpoint(text)
		if want == "" {
			if fault.KindOf(err) != fault.Invalid || CheckURL(text) == nil {
				t.Errorf("%q: %v", text, err)
			}
		} else if err != nil || u.String() != want {
			t.Errorf("%q: %v, %v", text, u, err)
		}
	}
}
