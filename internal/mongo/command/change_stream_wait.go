package command

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
)

// Wait is what a host does for its operation.
func (r *request) Wait(grown <-chan struct{}, patience time.Duration) bool {
	return r.waitFor(&r.Node.Waiting, grown, patience)
}

// waitFor waits until grown is closed, for at most patience. waiting counts the requests that wait, and the time does
// not count as the request's work. It returns true when grown is closed or the request has to end, false when time
// is up or the client has left.
func (r *request) waitFor(waiting *atomic.Int64, grown <-chan struct{}, patience time.Duration) bool {
	ctx, cancel := context.WithTimeout(r.Context, patience)
	defer cancel()
	r.unwatch()
	defer r.c.watch(cancel)()
	r.c.memory.Rest()
	watch := clock.Start()
	defer func() { r.Waited += watch.Elapsed() }()
	waiting.Add(1)
	defer waiting.Add(-1)
	select {
	case <-grown:
		return true
	case <-ctx.Done():
		return r.Context.Err() != nil
	}
}

// watch calls left when the client leaves before stop is called.
func (c *connection) watch(left func()) (stop func()) {
	if c.reader.Buffered() > 0 || len(c.in.ahead) > 0 || c.deadline(time.Time{}) != nil {
		return func() {}
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		n, err := c.in.Conn.Read(c.in.one[:])
		c.in.ahead = c.in.one[:n]
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			left()
		}
	}()
	return func() {
		_ = c.deadline(clock.Wall())
		<-over
	}
}
