// Package http1 serves HTTP/1.1 with less work for each request than net/http. It answers requests of the common form
// itself: no request costs a goroutine, and header maps and buffers are used again. A connection whose client sends
// anything else goes to an http.Server, with all that was read, and stays there: HTTP/2, HTTP/1.0, HEAD and OPTIONS,
// chunked bodies, Expect, Upgrade, long heads, and whatever is spelled in an unusual or wrong way. So what is rare, or
// hard to get right, is answered by net/http.
package http1

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
)

// A Server serves HTTP on listeners. Handlers see no difference between its own requests and those of net/http, except
// that header maps and their values are used again after a handler has returned. Informational answers (status 1xx)
// panic.
type Server struct {
	// HTTP has the handler, timeouts and limits, and answers what the server does not answer itself. All timeouts and
	// ErrorLog must be set. Its ConnContext and ConnState are replaced.
	HTTP *http.Server

	// Arrived returns the context of a new connection, from which the contexts of its requests are made. Left is called
	// when the connection has been closed. Both get what the listener accepted.
	Arrived func(ctx context.Context, conn net.Conn) context.Context
	Left    func(conn net.Conn)

	prepare sync.Once
	handler http.Handler
	names   names
	today   date
	moved   sync.Map // net.Conn that HTTP has, to *conn

	mu      sync.Mutex
	conns   map[*conn]struct{} // those that HTTP does not have
	closing atomic.Bool
}

// Serve accepts connections from l until Shutdown or Close, and then returns http.ErrServerClosed.
func (s *Server) Serve(l net.Listener) error {
	s.prepare.Do(func() {
		s.handler = s.HTTP.Handler
		s.HTTP.Handler = http.HandlerFunc(s.movedRequest)
		s.HTTP.ConnContext = s.movedContext
		s.HTTP.ConnState = s.movedState
		s.mu.Lock()
		s.conns = map[*conn]struct{}{}
		s.mu.Unlock()
	})
	w := &listener{Listener: l, moved: make(chan net.Conn), failed: make(chan error), quit: make(chan struct{})}
	go w.run(s)
	return s.HTTP.Serve(w)
}

// A listener accepts connections for a Server, and gives its http.Server those that this is to answer.
type listener struct {
	net.Listener
	moved  chan net.Conn
	failed chan error
	quit   chan struct{}
	stop   sync.Once
}

func (l *listener) run(s *Server) {
	for {
		raw, err := l.Listener.Accept()
		if err == nil {
			if c := s.open(l, raw); c != nil {
				go c.serve()
			}
			continue
		}
		select {
		case l.failed <- err: // net/http knows which errors are temporary, and waits before it calls Accept again
		case <-l.quit:
			return
		}
	}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.moved:
		return conn, nil
	case err := <-l.failed:
		return nil, err
	case <-l.quit:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.stop.Do(func() { close(l.quit) })
	return l.Listener.Close()
}

// open begins to answer a connection; nil if the server is closing.
func (s *Server) open(l *listener, raw net.Conn) *conn {
	c := &conn{server: s, listener: l, accepted: raw, raw: raw, remote: raw.RemoteAddr().String()}
	c.in = make([]byte, readSize)
	if r, ok := raw.(*Replay); ok && len(r.First) <= readSize {
		c.raw, c.end = r.Conn, copy(c.in, r.First)
	}
	ctx := context.WithValue(context.Background(), http.ServerContextKey, s.HTTP)
	c.base = context.WithValue(ctx, http.LocalAddrContextKey, raw.LocalAddr())
	if s.Arrived != nil {
		c.base = s.Arrived(c.base, raw)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Load() {
		raw.Close()
		s.left(raw)
		return nil
	}
	s.conns[c] = struct{}{}
	return c
}

func (s *Server) left(raw net.Conn) {
	if s.Left != nil {
		s.Left(raw)
	}
}

// forget ends what the server knows about a connection that it answers itself.
func (s *Server) forget(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

// movedContext is the ConnContext of the http.Server: the context that the connection had before.
func (s *Server) movedContext(ctx context.Context, as net.Conn) context.Context {
	if c, ok := s.moved.Load(as); ok {
		return c.(*conn).base
	}
	return ctx
}

// movedRequest is the handler of the http.Server. net/http sets the state of TLS only if a connection is a *tls.Conn.
func (s *Server) movedRequest(w http.ResponseWriter, r *http.Request) {
	if r.TLS == nil {
		r.TLS, _ = r.Context().Value(tlsKey{}).(*tls.ConnectionState)
	}
	s.handler.ServeHTTP(w, r)
}

// tlsKey is the key of the state of TLS in the context of a connection.
type tlsKey struct{}

// movedState is the ConnState of the http.Server.
func (s *Server) movedState(as net.Conn, state http.ConnState) {
	if state != http.StateClosed && state != http.StateHijacked {
		return
	}
	if c, ok := s.moved.LoadAndDelete(as); ok {
		s.left(c.(*conn).accepted)
	}
}

// Shutdown accepts no more connections, closes those that wait for a request, and returns when all requests have been
// answered; or when ctx ends, with its error.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.closing.Store(true)
	s.mu.Unlock()
	ended := make(chan error, 1)
	go func() { ended <- s.HTTP.Shutdown(ctx) }()
	for s.closeIdle() > 0 {
		if err := clock.Pause(ctx, shutdownPause); err != nil {
			return errors.Join(<-ended, err)
		}
	}
	return <-ended
}

// shutdownPause is how often Shutdown looks whether all requests have been answered.
const shutdownPause = 5 * time.Millisecond

// closeIdle closes the connections that wait for a request, and returns how many others there are.
func (s *Server) closeIdle() (active int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		if c.idle.CompareAndSwap(true, false) {
			c.accepted.Close() // its goroutine ends
			delete(s.conns, c)
		} else {
			active++
		}
	}
	return active
}

// Close accepts no more connections and closes all that there are.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closing.Store(true)
	for c := range s.conns {
		c.accepted.Close()
	}
	s.mu.Unlock()
	return s.HTTP.Close()
}

// A Replay is a connection of which some bytes have been read already: they are read again.
type Replay struct {
	net.Conn
	First []byte
}

func (r *Replay) Read(b []byte) (int, error) {
	if len(r.First) == 0 {
		return r.Conn.Read(b)
	}
	n := copy(b, r.First)
	r.First = r.First[n:]
	return n, nil
}

// CloseWrite ends what is written to the connection: net/http does so before it closes one that it has not read to its
// end.
func (r *Replay) CloseWrite() error { return closeWrite(r.Conn) }

func closeWrite(conn net.Conn) error {
	if w, ok := conn.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return errors.ErrUnsupported
}
