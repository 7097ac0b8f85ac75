package metrics

import (
	"fmt"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/mayflydb/mayfly/internal/kv/memory"
	"github.com/mayflydb/mayfly/internal/node"
)

func scrape(t *testing.T, m *Metrics) string {
	t.Helper()
	n, err := node.Start(t.Context(),
		node.Options{Engine: memory.New(), Version: "v1.2.3", Virtual: true, VirtualStart: time.Unix(1_000_000, 0)})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close(t.Context())
	w := httptest.NewRecorder()
	m.Handler(n.Read).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}

// TestRequests counts requests of several operations at once.
func TestRequests(t *testing.T) {
	m := New()
	read := m.Operation("nosql", "ReadDocument", strconv.Itoa)
	again := m.Operation("nosql", "ReadDocument", strconv.Itoa)
	m.Operation("nosql", "DeleteDocument", strconv.Itoa) // nobody asks for it
	find := m.Operation("mongo", "find", func(status int) string {
		return map[int]string{0: "OK", 11000: "DuplicateKey"}[status]
	})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				read(200, 50*time.Microsecond)
				again(404, 2*time.Millisecond)
				find(0, time.Minute)
				find(11000, time.Second)
			}
		})
	}
	all.Wait()
	m.Hint("milliseconds")
	m.Hint("milliseconds")
	m.ExpiredByPolicy(3)
	text := scrape(t, m)
	for _, want := range []string{
		`mayfly_requests_total{api="nosql",operation="ReadDocument",status="200"} 800`,
		`mayfly_requests_total{api="nosql",operation="ReadDocument",status="404"} 800`,
		`mayfly_requests_total{api="mongo",operation="find",status="OK"} 800`,
		`mayfly_requests_total{api="mongo",operation="find",status="DuplicateKey"} 800`,
		`mayfly_request_duration_seconds_bucket{api="nosql",operation="ReadDocument",le="0.0001"} 800`,
		`mayfly_request_duration_seconds_bucket{api="nosql",operation="ReadDocument",le="0.0025"} 1600`,
		`mayfly_request_duration_seconds_bucket{api="mongo",operation="find",le="10"} 800`,
		`mayfly_request_duration_seconds_count{api="mongo",operation="find"} 1600`,
		`mayfly_lifetime_hints_total{kind="milliseconds"} 2`,
		`mayfly_lifetime_policy_expired_documents_total 3`,
		`mayfly_clock_virtual 1`,
		`mayfly_clock_timestamp_seconds 1e+06`,
		`mayfly_build_info{go_version=`,
	} {
		if !strings.Contains(text, "\n"+want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(text, "DeleteDocument") {
		t.Error("an operation that nobody has asked for is exported")
	}
	if t.Failed() {
		t.Log(text)
	}
}

// TestLabelsAreBounded counts more statuses and kinds of hints than are told apart.
func TestLabelsAreBounded(t *testing.T) {
	m := New()
	done := m.Operation("mongo", "find", strconv.Itoa)
	for status := range 10 * maxStatuses {
		done(status, 0)
		m.Hint(fmt.Sprint("kind", status))
	}
	for name, c := range map[string]int{
		"mayfly_requests_total":       testutil.CollectAndCount(m.requests),
		"mayfly_lifetime_hints_total": testutil.CollectAndCount(m.hints),
	} {
		if c != maxStatuses+1 {
			t.Errorf("%d series of %s, want %d and one for the others", c, name, maxStatuses)
		}
	}
	if got := testutil.ToFloat64(m.requests.WithLabelValues("mongo", "find", other)); got != 9*maxStatuses {
		t.Errorf("%v others, want %d", got, 9*maxStatuses)
	}
}

// TestLint holds names, help and units to the conventions of Prometheus.
func TestLint(t *testing.T) {
	m := New()
	m.Operation("nosql", "ReadDocument", strconv.Itoa)(200, 0)
	m.Hint("milliseconds")
	scrape(t, m)
	problems, err := testutil.GatherAndLint(m.registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// A request that is like one before costs no memory.
func TestCountingAllocatesNothing(t *testing.T) {
	done := New().Operation("nosql", "ReadDocument", strconv.Itoa)
	done(200, 0)
	if n := testing.AllocsPerRun(1000, func() { done(200, time.Millisecond) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkDone(b *testing.B) {
	done := New().Operation("nosql", "ReadDocument", strconv.Itoa)
	b.ReportAllocs()
	for b.Loop() {
		done(200, 30*time.Microsecond)
	}
}
