package node

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
)

// maxAgent is how many bytes of a User-Agent a connection keeps.
const maxAgent = 256

// A client is a connection to an API over HTTP, as an operator sees it.
type client struct {
	number           int64
	remote           string
	since            time.Time // by the machine's clock
	agent            atomic.Pointer[string]
	requests, active atomic.Int64
}

// clientKey is the key of the client in the context of its requests.
type clientKey struct{}

// arrived remembers a new connection. Its requests find it in their context, so that they need no lock.
func (e *endpoint) arrived(ctx context.Context, conn net.Conn) context.Context {
	e.connections.Add(1)
	c := &client{number: e.arrivals.Add(1), remote: conn.RemoteAddr().String(), since: clock.Wall().UTC()}
	e.clients.Store(conn, c)
	return context.WithValue(ctx, clientKey{}, c)
}

// clientOf is the client that has sent a request, nil for a request that came over no connection.
func clientOf(r *http.Request) *client {
	c, _ := r.Context().Value(clientKey{}).(*client)
	return c
}

// begin counts a request, until end.
func (c *client) begin(r *http.Request) {
	if c == nil {
		return
	}
	c.requests.Add(1)
	c.active.Add(1)
	if c.agent.Load() == nil {
		agent := r.UserAgent()
		agent = strings.Clone(agent[:min(len(agent), maxAgent)]) // it shares the memory of the whole header
		agent = strings.ToValidUTF8(agent, "?")
		c.agent.Store(&agent)
	}
}

func (c *client) end() {
	if c != nil {
		c.active.Add(-1)
	}
}

// name is the User-Agent of the first request.
func (c *client) name() string {
	if agent := c.agent.Load(); agent != nil {
		return *agent
	}
	return ""
}
