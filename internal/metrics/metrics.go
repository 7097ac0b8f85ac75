// Package metrics makes Prometheus metrics of a node. It counts requests at their end, and reads everything else at the
// moment of a scrape. Metrics belong to a node, not to the process, so that several nodes can run in one process. It is
// a package of its own so that programs that embed mayfly do not depend on the Prometheus client.
package metrics

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/mayflydb/mayfly/internal/node"
)

// buckets are the upper bounds of the histogram of latencies, in seconds. A point read takes less than the first.
var buckets = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10}

// Limits on the kinds of hints, and on the statuses of one operation. All others share the label "other", so that no
// client can make the number of time series grow.
const (
	maxHints    = 64
	maxStatuses = 64
	other       = "other"
)

// Metrics are the metrics of one node. It implements node.Meter. The zero value is not usable: call New.
type Metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	latency  *prometheus.HistogramVec
	hints    *prometheus.CounterVec
	ended    prometheus.Counter

	mu         sync.Mutex
	operations map[[2]string]*operation
	kinds      map[string]prometheus.Counter
}

var _ node.Meter = (*Metrics)(nil)

// New returns the metrics for a node that starts with them as its Meter.
func New() *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "mayfly_requests_total",
			Help: "Requests that were answered, by API, operation and status: " +
				"an HTTP status, or the name of a MongoDB error code, OK for none.",
		}, []string{"api", "operation", "status"}),
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "mayfly_request_duration_seconds",
			Help: "How long requests took, by API and operation, " +
				"without the time in which long polls waited for an event.",
			Buckets: buckets,
		}, []string{"api", "operation"}),
		hints: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "mayfly_lifetime_hints_total",
			Help: "Hints to clients about a lifetime that is probably a mistake, by kind.",
		}, []string{"kind"}),
		ended: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "mayfly_lifetime_policy_expired_documents_total",
			Help: "Documents that expired because the lifetime of their container was changed. " +
				"Very many are not all counted.",
		}),
		operations: map[[2]string]*operation{}, kinds: map[string]prometheus.Counter{},
	}
	m.registry.MustRegister(m.requests, m.latency, m.hints, m.ended,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Operation returns the function that counts the requests of an operation. An operation has no metrics until its first
// request.
func (m *Metrics) Operation(api, name string, status func(int) string) func(int, time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := [2]string{api, name}
	o := m.operations[key]
	if o == nil {
		o = &operation{of: m, api: api, name: name, label: status}
		m.operations[key] = o
	}
	return o.done
}

// Hint counts a hint of this kind.
func (m *Metrics) Hint(kind string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kinds[kind] == nil {
		if len(m.kinds) >= maxHints {
			kind = other
		}
		m.kinds[kind] = m.hints.WithLabelValues(kind)
	}
	m.kinds[kind].Inc()
}

// ExpiredByPolicy counts documents that expired because the lifetime of their container was changed.
func (m *Metrics) ExpiredByPolicy(documents uint64) { m.ended.Add(float64(documents)) }

// Handler serves the metrics in the text format of Prometheus, or in the format that the client prefers. It calls read
// once per scrape.
func (m *Metrics) Handler(read func(context.Context) node.Reading) http.Handler {
	m.registry.MustRegister(&reader{read: read})
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: maxScrapes})
}

// maxScrapes is how many scrapes may run at the same time.
const maxScrapes = 4
