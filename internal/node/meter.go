package node

import (
	"context"
	"net/http"
	"time"
)

// A Meter makes metrics of what happens in a node. Its methods are safe for concurrent use.
type Meter interface {
	// Operation gives the function that counts the requests of one operation of an API, with the
	// status and how long each took; label names a status. It is called at the start, again for the same
	// operation when there are two addresses for it, and what it gives for each request.
	Operation(api, name string, label func(status int) string) (done func(status int, took time.Duration))

	// Hint counts a hint of that kind to a client, about a lifetime that is probably not what it means.
	Hint(kind string)

	// ExpiredByPolicy counts documents that ended because the lifetime of their container was changed.
	ExpiredByPolicy(documents uint64)

	// Handler serves the metrics. It is called once, and read for each scrape.
	Handler(read func(context.Context) Reading) http.Handler
}

// The names of the APIs in metrics.
const (
	apiNoSQL = "nosql"
	apiMongo = "mongo"
)

// A metered API counts its requests. The reaper yields to them, and the clock's mark follows them.
type metered struct {
	n   *Node
	api string
}

// Operation gives the function that counts the requests of one operation.
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

// ExpiredByPolicy counts documents that a change of a container's lifetime has ended.
func (m metered) ExpiredByPolicy(documents uint64) {
	if m.n.meter != nil {
		m.n.meter.ExpiredByPolicy(documents)
	}
}
