package command

import (
	"context"
	"errors"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
)

// wait waits until grown is closed, for at most patience. waiting counts the requests that wait, and the time does
// not count as the request's work. It returns true when grown is closed or the request has to end, false when time
// is up or the client has left.
func (r *request) wait(waiting *atomic.Int64, grown <-chan struct{}, patience time.Duration) bool {
	ctx, cancel := context.WithTimeout(r.ctx, patience)
	defer cancel()
	r.unwatch()
	defer r.c.watch(cancel)()
	r.c.memory.Rest()
	watch := clock.Start()
	defer func() { r.waited += watch.Elapsed() }()
	waiting.Add(1)
	defer waiting.Add(-1)
	select {
	case <-grown:
		return true
	case <-ctx.Done():
		return r.ctx.Err() != nil
	}
}

// An inlet is what a connection reads from. While a request waits, a byte may be taken from it ahead of time,
// which is how one finds out that the client has left.
type inlet struct {
	net.Conn
	ahead []byte // of the next request
	one   [1]byte
}

func (in *inlet) Read(b []byte) (int, error) {
	if len(in.ahead) > 0 && len(b) > 0 {
		n := copy(b, in.ahead)
		in.ahead = in.ahead[n:]
		return n, nil
	}
	return in.Conn.Read(b)
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
