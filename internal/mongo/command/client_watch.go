package command

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// stops fails when the request that runs has to stop.
func (c *connection) stops() error {
	c.mu.Lock()
	r := c.running
	c.mu.Unlock()
	if r == nil {
		return nil
	}
	return r.Stopped()
}

// holds counts what expressions of the request that runs hold. Its end gives back the rest.
func (c *connection) holds(n int64) error {
	if n < 0 {
		c.memory.Give(-n)
		return nil
	}
	return session.MemoryError(c.memory.Take(n))
}

// patience is how long a request runs before its client is watched, so that short ones pay nothing.
const patience = 50 * time.Millisecond

// Watch ends a request that has run for a while when its client leaves. Like MongoDB it lets writes come to their end.
// mongodb/mongo: src/mongo/db/operation_context.h, markKillOnClientDisconnect
func (r *request) Watch() {
	may := r.watched == nil && r.c != nil && r.cancel != nil
	writes := r.command.needs&account.Write != 0 || r.Transaction != nil
	if !may || writes || r.Since.Elapsed()-r.Waited < patience {
		return
	}
	r.watched = r.c.watch(r.cancel)
}

// unwatch ends the watch before anybody else reads from the connection.
func (r *request) unwatch() {
	if r.watched != nil {
		r.watched()
		r.watched = nil
	}
}

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
