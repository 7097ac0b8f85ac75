package trace

import (
	"context"
	"testing"
)

func work(t Tracer, ctx context.Context) {
	ctx, request := Serve(t, ctx, "request", nil)
	request.Text("db.namespace", "shop")
	_, step := Start(t, ctx, "step")
	step.Number("mayfly.keys", 3)
	step.End(nil)
	request.Name("other")
	request.Fail("reason")
	request.End(nil)
}

// Without a tracer, spans cost nothing.
func BenchmarkOff(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		work(nil, b.Context())
	}
}

func TestOffAllocatesNothing(t *testing.T) {
	ctx := t.Context()
	if n := testing.AllocsPerRun(100, func() { work(nil, ctx) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if got, span := Start(nil, ctx, "x"); got != ctx || span.On() {
		t.Error("there is a span without a tracer")
	}
}
