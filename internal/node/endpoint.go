package node

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/http1"
	"github.com/mayflydb/mayfly/internal/socket"
)

// Limits on how long a slow client may occupy a connection. The handler of each API limits the size of bodies.
const (
	headerTime     = 10 * time.Second
	requestTime    = time.Minute
	responseTime   = 2 * time.Minute
	adminTime      = 15 * time.Minute // the admin API waits for a reclaim, or takes a long profile
	idleTime       = 150 * time.Second
	maxHeaderBytes = 64 << 10
)

// cutTime is how long a request may take to end after it has been cut off.
const cutTime = 2 * time.Second

// An endpoint is the server of one API on one address, or on both addresses of localhost.
type endpoint struct {
	name      string
	listeners []net.Listener // the first is on the address that was asked for
	scheme    string         // of the URL that clients should prefer
	server    *http1.Server
	handler   http.Handler // of the present data, see Node.gated
	log       *slog.Logger
	serving   sync.WaitGroup // each Serve that has not returned

	requests sync.RWMutex  // each running request holds a read lock; quiet takes the write lock and keeps it
	draining sync.Once     // takes that write lock
	drained  chan struct{} // closed when the write lock is taken: no request runs

	connections, inFlight atomic.Int64
	arrivals              atomic.Int64 // connections since the start
	clients               sync.Map     // net.Conn to *client, for cutOff and Connections
}

// listen opens the port of an API; nothing answers until open. For an empty address, the endpoint is nil.
func listen(ctx context.Context, name, address string, log *slog.Logger) (*endpoint, error) {
	if address == "" {
		return nil, nil
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err,
			"cannot listen on %s for the %s API: give it another address, or none", address, name)
	}
	e := &endpoint{
		name: name, listeners: []net.Listener{socket.Listener(l)}, scheme: "http", log: log,
		drained: make(chan struct{}),
	}
	e.listenBeside(ctx, hostOf(address))
	return e, nil
}

// listenBeside opens the same port on [::1] if the address is on 127.0.0.1: "localhost" means both, and clients may try
// either. On a machine without IPv6 it does nothing, because no client tries [::1] there.
func (e *endpoint) listenBeside(ctx context.Context, host string) {
	if host != "127.0.0.1" && host != "localhost" {
		return
	}
	a, ok := e.listeners[0].Addr().(*net.TCPAddr)
	if !ok || a.IP.To4() == nil {
		return
	}
	beside := net.JoinHostPort("::1", strconv.Itoa(a.Port))
	l, err := new(net.ListenConfig).Listen(ctx, "tcp6", beside)
	switch {
	case err == nil:
		e.listeners = append(e.listeners, socket.Listener(l))
	case errors.Is(err, syscall.EADDRINUSE):
		e.log.Warn("another program uses this port on [::1]: clients that connect to localhost may reach that program",
			"api", e.name, "address", beside)
	}
}

// address is where the API listens, host:port.
func (e *endpoint) address() string { return e.listeners[0].Addr().String() }

// exposed reports whether other machines may reach the API.
func (e *endpoint) exposed() bool {
	if e == nil {
		return false
	}
	a, ok := e.listeners[0].Addr().(*net.TCPAddr)
	return !ok || !a.IP.IsLoopback()
}

// url is where this machine reaches the API.
func (e *endpoint) url(scheme string) string {
	if e == nil {
		return ""
	}
	host, port, _ := net.SplitHostPort(e.address())
	if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() {
		host = "localhost"
	}
	return scheme + "://" + net.JoinHostPort(host, port) + "/"
}

// secure makes the API answer TLS, and plain connections on the same port if both is set.
func (e *endpoint) secure(cert tls.Certificate, both bool) {
	config := &tls.Config{
		Certificates: []tls.Certificate{cert},
		MinVersion:   tls.VersionTLS12,
		CipherSuites: cipherSuites,
		NextProtos:   []string{"http/1.1", "h2"}, // the server takes the first that the client supports
	}
	e.scheme = "https"
	for i, l := range e.listeners {
		if both {
			e.listeners[i] = listenMixed(l, config)
		} else {
			e.listeners[i] = tls.NewListener(l, config)
		}
	}
}

// cipherSuites are the suites of TLS 1.2 with forward secrecy and authenticated encryption. Go's own list also has
// suites with CBC, which RFC 9325, 4.2 advises against and RFC 9113 forbids for HTTP/2. All suites of TLS 1.3 are
// good.
var cipherSuites = []uint16{
	tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
	tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
	tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
}

// open starts to answer.
func (e *endpoint) open(handler http.Handler, response time.Duration) {
	e.serve(e.counted(handler), response)
}

// serve is open for a handler that wraps with counted what close has to wait for. Clients get HTTP/1.1 if they speak
// it: HTTP/2 is slower for small requests and answers. It is for clients that speak nothing else, such as the SDK for
// Rust.
func (e *endpoint) serve(handler http.Handler, response time.Duration) {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	e.server = &http1.Server{
		HTTP: &http.Server{
			Handler:           framed(handler),
			Protocols:         protocols,
			ReadHeaderTimeout: headerTime,
			ReadTimeout:       requestTime,
			WriteTimeout:      response,
			IdleTimeout:       idleTime,
			MaxHeaderBytes:    maxHeaderBytes,
			ErrorLog:          slog.NewLogLogger(e.log.Handler(), slog.LevelDebug),
		},
		Arrived: e.arrived,
		Left:    e.left,
	}
	for _, l := range e.listeners {
		e.serving.Go(func() {
			if err := e.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				e.log.Error("an API stopped accepting connections", "api", e.name, "error", err)
			}
		})
	}
}

// framed ends a connection of HTTP/1 after the answer to a chunked request. A request with both chunks and a
// Content-Length can smuggle another request past a proxy that believes the other of the two. RFC 9112, 6.1 lets a
// server read it by its chunks, but then the connection must end. net/http removes the Content-Length before a
// handler sees it, so framed treats all chunked requests alike. The official SDKs send a Content-Length and no
// chunks.
func framed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.TransferEncoding) > 0 {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// counted lets close wait for running requests: a request goes on running after its connection has been cut off.
func (e *endpoint) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !e.requests.TryRLock() { // quiet has the write lock, or waits for it
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		defer e.requests.RUnlock()
		e.inFlight.Add(1)
		defer e.inFlight.Add(-1)
		c := clientOf(r)
		c.begin(r)
		defer c.end()
		next.ServeHTTP(w, r)
	})
}

// left forgets a connection that has ended.
func (e *endpoint) left(conn net.Conn) {
	e.connections.Add(-1)
	e.clients.Delete(conn)
}

// cutOff ends all connections, and so the requests that run. The endpoint goes on accepting others.
func (e *endpoint) cutOff() {
	if e == nil {
		return
	}
	for conn := range e.clients.Range {
		_ = conn.(net.Conn).Close()
	}
}

// traffic is the present use of the API.
func (e *endpoint) traffic() Traffic {
	if e == nil {
		return Traffic{}
	}
	return Traffic{e.connections.Load(), e.inFlight.Load()}
}

// close accepts no more connections, and returns when every request has been answered. When ctx ends, it cuts off the
// requests that still run. It fails if one of them does not end even then; the store and the engine are closed while
// that request uses them, and have to cope with it.
func (e *endpoint) close(ctx context.Context) error {
	if e == nil {
		return nil
	}
	if e.server == nil {
		var err error
		for _, l := range e.listeners {
			err = errors.Join(err, l.Close())
		}
		return err
	}
	err := e.server.Shutdown(ctx)
	if err != nil {
		e.log.Warn("requests did not end in time and were cut off", "api", e.name)
		err = e.server.Close()
	}
	e.serving.Wait()
	return errors.Join(err, e.drain())
}

// drain lets no more requests begin, and waits a short time for the running ones.
func (e *endpoint) drain() error {
	patience, cancel := context.WithTimeout(context.Background(), cutTime)
	defer cancel()
	if !e.quiet(patience) {
		return fault.New(fault.Timeout, "a request to the %s API did not end after it was cut off", e.name)
	}
	return nil
}

// quiet lets no more requests begin, and waits until none runs; false if ctx ends first.
func (e *endpoint) quiet(ctx context.Context) bool {
	e.draining.Do(func() {
		go func() {
			e.requests.Lock() // and never unlocks
			close(e.drained)
		}()
	})
	select {
	case <-e.drained:
		return true
	case <-ctx.Done():
		return false
	}
}

// settle waits for counted requests like close, but goes on answering the others: health checks.
func (e *endpoint) settle(ctx context.Context) error {
	if e == nil || e.server == nil || e.quiet(ctx) {
		return nil
	}
	return e.close(ctx)
}

// hostOf is the host in an address or URL, "" if it has none.
func hostOf(address string) string {
	if _, rest, ok := strings.Cut(address, "://"); ok {
		address, _, _ = strings.Cut(rest, "/")
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return strings.Trim(address, "[]")
	}
	return host
}
