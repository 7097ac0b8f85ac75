package http1

import (
	"context"
	"sync"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
)

// watchAfter is how long a request runs until the server begins to look whether its client is still there.
const watchAfter = 50 * time.Millisecond

// A watch ends the context of a request whose client has gone away. It reads from the connection while the handler
// runs; what it reads is the beginning of the next request. Most requests end before it starts.
type watch struct {
	c     *conn
	timer *time.Timer

	mu      sync.Mutex
	running bool // the handler
	cancel  context.CancelFunc
	done    chan struct{} // not nil: the connection is being read; closed when it is no longer
	read    int           // bytes, once done is closed
}

// open begins to watch a request that is about to run.
func (w *watch) open(c *conn, cancel context.CancelFunc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.c, w.running, w.cancel, w.done = c, true, cancel, nil
	if w.timer == nil {
		w.timer = clock.Later(watchAfter, w.start)
	} else {
		w.timer.Reset(watchAfter)
	}
}

// start reads until the request ends.
func (w *watch) start() {
	w.mu.Lock()
	c := w.c
	switch {
	case !w.running || w.done != nil:
		w.mu.Unlock()
		return
	case c.body.left.Load() > 0: // the handler reads, and so learns that the client has gone
		w.timer.Reset(watchAfter)
		w.mu.Unlock()
		return
	case c.end == len(c.in): // the client has sent a lot of what follows
		w.mu.Unlock()
		return
	}
	done := make(chan struct{})
	w.done = done
	c.raw.SetReadDeadline(time.Time{})
	w.mu.Unlock()

	n, err := c.raw.Read(c.in[c.end:])

	w.mu.Lock()
	defer w.mu.Unlock()
	w.read = n
	if err != nil && w.running {
		w.cancel()
	}
	close(done)
}

// close ends the watch when the handler has returned.
func (w *watch) close() {
	w.timer.Stop()
	w.mu.Lock()
	w.running = false
	done := w.done
	if done != nil {
		w.c.raw.SetReadDeadline(time.Unix(1, 0)) // ends the read
	}
	w.mu.Unlock()
	if done != nil {
		<-done
		w.c.end += w.read
		w.c.readBy = time.Time{}
	}
}
