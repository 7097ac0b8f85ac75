package http1

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
)

const (
	// readSize is the size of the buffer of an idle connection in bytes. maxHead is how long the head of a request may
	// be that is answered here.
	readSize, maxHead = 4 << 10, 16 << 10

	// slack is by how much a deadline may be later than it has to be, so that it need not be set for each request.
	slack = 10 * time.Second

	// maxUnread is how many bytes of a body the server reads for a handler that does not, so that the connection can
	// be used again; the same as in net/http.
	maxUnread = 256 << 10

	// linger is how long a client may take to read the last answer on a connection whose request was not read to its
	// end. To close at once would reset the connection, and the answer could be lost.
	linger = 500 * time.Millisecond
)

// A conn is a connection whose requests are answered here. Only its own goroutine uses it, except where fields say
// otherwise.
type conn struct {
	server   *Server
	listener *listener
	accepted net.Conn // what the listener accepted
	raw      net.Conn // what requests are read from: accepted, or what it replays
	secured  *tls.ConnectionState
	remote   string
	base     context.Context // the contexts of requests are made from it
	idle     atomic.Bool     // it waits for a request; who sets this to false may use, or close, it

	in         []byte // buffer of what has been read
	start, end int    // of what has not been used

	readBy, writeBy time.Time // the deadlines that are set; zero if it is not known which

	head   head
	body   body
	answer answer
	watch  watch
}

// serve answers requests until the connection ends, or goes to the http.Server.
func (c *conn) serve() {
	moved := false
	defer func() {
		c.server.forget(c)
		if !moved {
			c.accepted.Close()
			c.server.left(c.accepted)
		}
	}()
	if t, ok := c.raw.(*tls.Conn); ok && !c.secure(t) {
		moved = c.move(t)
		return
	}
	for {
		switch err := c.next(); {
		case errors.Is(err, errUncommon):
			moved = c.move(&Replay{c.raw, c.in[c.start:c.end]})
			return
		case err != nil:
			return
		}
		if !c.exchange() {
			return
		}
	}
}

// secure makes the TLS handshake, and returns whether the client has chosen HTTP/1.1. If the handshake fails, it has
// not: net/http then answers.
func (c *conn) secure(t *tls.Conn) bool {
	t.SetDeadline(clock.Wall().Add(c.server.HTTP.ReadHeaderTimeout))
	c.idle.Store(true)
	err := t.HandshakeContext(context.Background())
	if !c.idle.CompareAndSwap(true, false) {
		return false
	}
	t.SetDeadline(time.Time{})
	state := t.ConnectionState()
	if err != nil || state.NegotiatedProtocol != "" && state.NegotiatedProtocol != "http/1.1" {
		return false
	}
	c.secured = &state
	c.base = context.WithValue(c.base, tlsKey{}, c.secured)
	return true
}

// move gives the connection to the http.Server.
func (c *conn) move(as net.Conn) bool {
	c.raw.SetDeadline(time.Time{})
	c.server.moved.Store(as, c)
	select {
	case c.listener.moved <- as:
		return true
	case <-c.listener.quit:
		c.server.moved.Delete(as)
		return false
	}
}

// next reads the head of the next request. It fails with errUncommon if net/http has to read it.
func (c *conn) next() error {
	if c.start == c.end {
		if err := c.await(); err != nil {
			return err
		}
	}
	late := false
	for {
		n, err := c.head.parse(c.in[c.start:c.end], &c.server.names)
		if err != nil {
			return err
		}
		if n > 0 {
			c.start += n
			return nil
		}
		if !late {
			late = true
			c.readUntil(clock.Wall().Add(c.server.HTTP.ReadHeaderTimeout))
		}
		if err := c.more(); err != nil {
			return err
		}
	}
}

// errUncommon says that net/http has to read the request.
var errUncommon = errors.New("the request has an uncommon form")

// await waits for the first bytes of a request.
func (c *conn) await() error {
	c.start, c.end = 0, 0
	if len(c.in) > readSize {
		c.in = make([]byte, readSize)
	}
	if by := clock.Wall().Add(c.server.HTTP.IdleTimeout); by.After(c.readBy) {
		c.readUntil(by.Add(slack))
	}
	c.idle.Store(true)
	if c.server.closing.Load() && c.idle.CompareAndSwap(true, false) {
		return http.ErrServerClosed
	}
	n, err := c.raw.Read(c.in)
	if !c.idle.CompareAndSwap(true, false) {
		return http.ErrServerClosed
	}
	c.end = n
	if n > 0 {
		return nil
	}
	return err
}

// more reads more of a head. The buffer grows up to maxHead.
func (c *conn) more() error {
	if c.start > 0 {
		c.end = copy(c.in, c.in[c.start:c.end])
		c.start = 0
	}
	if c.end == len(c.in) {
		if len(c.in) >= maxHead {
			return errUncommon
		}
		c.in = append(make([]byte, 0, 2*len(c.in)), c.in...)[:2*len(c.in)]
	}
	n, err := c.raw.Read(c.in[c.end:])
	c.end += n
	if n > 0 {
		return nil
	}
	return err
}

func (c *conn) readUntil(t time.Time) {
	c.raw.SetReadDeadline(t)
	c.readBy = t
}

// exchange answers the request whose head has been read, and returns whether another one may follow.
func (c *conn) exchange() bool {
	now := clock.Wall()
	if by := now.Add(c.server.HTTP.WriteTimeout); by.After(c.writeBy) {
		c.writeBy = by.Add(slack)
		c.raw.SetWriteDeadline(c.writeBy)
	}
	ctx, cancel := context.WithCancel(c.base)
	r := c.head.request(ctx)
	r.RemoteAddr, r.TLS = c.remote, c.secured
	c.body.open(c, r.ContentLength)
	r.Body = http.NoBody
	if r.ContentLength > 0 {
		r.Body = &c.body
		if !c.body.whole {
			c.readUntil(now.Add(c.server.HTTP.ReadTimeout))
		}
	}
	c.answer.open(c)
	c.watch.open(c, cancel)
	finished := c.handle(r)
	c.watch.close()
	c.body.closed = true
	again := finished && c.answer.close()
	cancel()
	if !c.body.whole {
		c.readBy = time.Time{} // the handler may have set another
	}
	if c.answer.timed.Load() {
		c.writeBy = time.Time{}
	}
	return again
}

// handle runs the handler, and returns false if it has panicked.
func (c *conn) handle(r *http.Request) (finished bool) {
	defer func() {
		if finished {
			return
		}
		if p := recover(); p != nil && p != http.ErrAbortHandler {
			c.logf("http: panic serving %v: %v\n%s", c.remote, p, debug.Stack())
		}
	}()
	c.server.handler.ServeHTTP(&c.answer, r)
	return true
}

func (c *conn) logf(format string, args ...any) {
	c.server.HTTP.ErrorLog.Printf(format, args...)
}

// lingers closes the connection for writing and waits, so that the client can read the last answer.
func (c *conn) lingers() {
	_ = closeWrite(c.raw)
	_ = clock.Pause(context.Background(), linger)
}
