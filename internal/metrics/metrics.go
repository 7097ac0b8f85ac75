// Package metrics makes Prometheus metrics of what happens in a node: requests, as they end, and
// everything else at the moment of a scrape. They belong to the node and not to the process, so
// several nodes in one process do not meet. It is a package of its own so that programs that embed
// mayfly do not have to build a client of Prometheus.
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

// buckets are the upper ends of latencies, in seconds. A point read takes less than the first.
var buckets = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10}

// maxHints bounds the kinds of hints, maxStatuses the statuses of one operation: the label of
// those beyond is "other".
const (
	maxHints    = 64
	maxStatuses = 64
	other       = "other"
)

// Metrics are those of one node. The zero value is not usable. It implements node.Meter.
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

// New makes the metrics of a node that is to be started with them.
func New() *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "mayfly_requests_total",
			Help: "Requests that were answered, by API, operation and status: an HTTP status, or the name of MongoDB's error code, OK for none.",
		}, []string{"api", "operation", "status"}),
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "mayfly_request_duration_seconds",
			Help:    "How long requests took, by API and operation, without the time in which they waited for something to happen.",
			Buckets: buckets,
		}, []string{"api", "operation"}),
		hints: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "mayfly_lifetime_hints_total",
			Help: "Hints to clients about a lifetime that is probably not what they mean, by kind.",
		}, []string{"kind"}),
		ended: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "mayfly_lifetime_policy_expired_documents_total",
			Help: "Documents that ended at once because the lifetime of their container was changed, as far as they were counted.",
		}),
		operations: map[[2]string]*operation{}, kinds: map[string]prometheus.Counter{},
	}
	m.registry.MustRegister(m.requests, m.latency, m.hints, m.ended,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Operation gives the function that counts the requests of an operation. Nothing is exported of
// operations that nobody has asked for.
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

// Hint counts a hint of that kind.
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

// ExpiredByPolicy counts documents that a change of a container's lifetime has ended.
func (m *Metrics) ExpiredByPolicy(documents uint64) { m.ended.Add(float64(documents)) }

// Handler serves the metrics in the text format of Prometheus, or in the one that the client
// prefers. read is called once for each scrape.
func (m *Metrics) Handler(read func(context.Context) node.Reading) http.Handler {
	m.registry.MustRegister(&reader{read: read})
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: maxScrapes})
}

// maxScrapes bounds how many scrapes run at once.
const maxScrapes = 4
