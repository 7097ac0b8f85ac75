package node

import (
	"context"
	"net/http"
	"time"
)

// A Meter makes metrics of a node. Its methods are safe for concurrent use.
type Meter interface {
	// Operation returns the function that counts the requests of one operation of an API, each with its status and
	// duration. label names a status. The node calls Operation at its start, twice for an operation that two addresses
	// serve, and done at the end of each request.
	Operation(api, name string, label func(status int) string) (done func(status int, took time.Duration))

	// Hint counts a hint of this kind to a client about a lifetime that is probably a mistake.
	Hint(kind string)

	// ExpiredByPolicy counts documents that expired because the lifetime of their container was changed.
	ExpiredByPolicy(documents uint64)

	// Totals adds up the requests of an API since the start. It costs them nothing, and is called once a second.
	Totals(api string, into *Totals)

	// Handler serves the metrics. The node calls it once; the handler calls read for each scrape.
	Handler(read func(context.Context) Reading) http.Handler
}

// Totals are the requests of an API since the start.
type Totals struct {
	Errors uint64
	Bounds []float64 // in seconds, rising
	Took   []uint64  // requests by duration: up to each bound, but above the one before, and at last above all
}

// The names of the APIs in metrics.
const (
	apiNoSQL = "nosql"
	apiMongo = "mongo"
)

// metered counts the requests of one API, for metrics, for the reaper, which yields to them, and for the clock's mark,
// which is saved only while there are requests.
type metered struct {
	n   *Node
	api string
}

// Operation returns the function that counts the requests of one operation.
func (m metered) Operation(name string, label func(status int) string) func(int, time.Duration) {
	if m.n.meter == nil {
		return func(_ int, took time.Duration) { m.n.observe(took) }
	}
	done := m.n.meter.Operation(m.api, name, label)
	return func(status int, took time.Duration) {
		m.n.observe(took)
		done(status, took)
	}
}

// hinted counts a hint to a client.
func (n *Node) hinted(kind string) {
	if n.meter != nil {
		n.meter.Hint(kind)
	}
}

// ExpiredByPolicy counts documents that expired because the lifetime of their container was changed.
func (m metered) ExpiredByPolicy(documents uint64) {
	if m.n.meter != nil {
		m.n.meter.ExpiredByPolicy(documents)
	}
}
