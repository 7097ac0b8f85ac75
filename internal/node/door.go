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
)

// Bounds on what a slow client may hold on to. How large a body may be is for
// each door's handler to say.
const (
	headerTime     = 10 * time.Second
	requestTime    = time.Minute
	responseTime   = 2 * time.Minute
	operatorTime   = 15 * time.Minute // the admin door waits for a reclaim, or takes a long profile
	idleTime       = 150 * time.Second
	maxHeaderBytes = 64 << 10
)

// cutTime is how long requests may take to end that have been cut off.
const cutTime = 2 * time.Second

// A door is one HTTP server on one address, or on both addresses of localhost.
type door struct {
	name      string
	listeners []net.Listener // the first is on the address that was asked for
	scheme    string         // of the URL that clients should prefer
	server    *http.Server
	log       *slog.Logger
	serving   sync.WaitGroup // each Serve that has not returned

	requests sync.RWMutex  // each running request holds it for reading, a closing door for writing
	draining sync.Once     // takes requests for writing, for good
	drained  chan struct{} // closed when it has them

	connections, inFlight atomic.Int64
}

// listen opens a door's port; nothing answers until open. An empty address
// gives no door.
func listen(ctx context.Context, name, address string, log *slog.Logger) (*door, error) {
	if address == "" {
		return nil, nil
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "cannot listen on %s for the %s API: give it another address, or none", address, name)
	}
	d := &door{name: name, listeners: []net.Listener{l}, scheme: "http", log: log, drained: make(chan struct{})}
	d.listenBeside(ctx, hostOf(address))
	return d, nil
}

// listenBeside takes the port on [::1] too when the door is for this machine's
// IPv4: "localhost" means both, and which of them a client tries is its own affair. A machine without IPv6 has
// no such client.
func (d *door) listenBeside(ctx context.Context, host string) {
	if host != "127.0.0.1" && host != "localhost" {
		return
	}
	a, ok := d.listeners[0].Addr().(*net.TCPAddr)
	if !ok || a.IP.To4() == nil {
		return
	}
	beside := net.JoinHostPort("::1", strconv.Itoa(a.Port))
	l, err := new(net.ListenConfig).Listen(ctx, "tcp6", beside)
	switch {
	case err == nil:
		d.listeners = append(d.listeners, l)
	case errors.Is(err, syscall.EADDRINUSE):
		d.log.Warn("another program has this port on [::1]: clients that are told localhost may reach that instead", "door", d.name, "address", beside)
	}
}

// address is where the door listens, host:port.
func (d *door) address() string { return d.listeners[0].Addr().String() }

// exposed reports whether other machines may reach the door.
func (d *door) exposed() bool {
	if d == nil {
		return false
	}
	a, ok := d.listeners[0].Addr().(*net.TCPAddr)
	return !ok || !a.IP.IsLoopback()
}

// url is where to reach the door from this machine.
func (d *door) url(scheme string) string {
	if d == nil {
		return ""
	}
	host, port, _ := net.SplitHostPort(d.address())
	if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() {
		host = "localhost"
	}
	return scheme + "://" + net.JoinHostPort(host, port) + "/"
}

// secure makes the door speak TLS, and plain HTTP beside it when both is set.
func (d *door) secure(cert tls.Certificate, both bool) {
	config := &tls.Config{
		Certificates: []tls.Certificate{cert},
		MinVersion:   tls.VersionTLS12,
		CipherSuites: cipherSuites,
		NextProtos:   []string{"http/1.1", "h2"}, // the first that the client knows too
	}
	d.scheme = "https"
	for i, l := range d.listeners {
		if both {
			d.listeners[i] = sniff(l, config)
		} else {
			d.listeners[i] = tls.NewListener(l, config)
		}
	}
}

// cipherSuites are those of TLS 1.2 with forward secrecy and authenticated encryption. Go's own list also has suites with CBC, which RFC 9325, 4.2
// advises against and RFC 9113 forbids for HTTP/2. TLS 1.3 has no others.
var cipherSuites = []uint16{
	tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
	tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
	tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
}

// open starts to answer.
func (d *door) open(handler http.Handler, response time.Duration) {
	d.serve(d.counted(handler), response)
}

// serve is open for a handler that is counted where close has to wait for it. Clients that speak HTTP/1.1 get that: HTTP/2 is slower for
// small requests and answers. Those that speak nothing else, as the SDK for Rust, get HTTP/2.
func (d *door) serve(handler http.Handler, response time.Duration) {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	d.server = &http.Server{
		Handler:           framed(handler),
		Protocols:         protocols,
		ReadHeaderTimeout: headerTime,
		ReadTimeout:       requestTime,
		WriteTimeout:      response,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeaderBytes,
		ConnState:         d.connected,
		ErrorLog:          slog.NewLogLogger(d.log.Handler(), slog.LevelDebug),
	}
	for _, l := range d.listeners {
		d.serving.Go(func() {
			if err := d.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				d.log.Error("door failed", "door", d.name, "error", err)
			}
		})
	}
}

// framed ends a connection of HTTP/1 after the answer to a chunked request. One with a Content-Length beside the chunks is how requests are
// smuggled past a proxy that goes by the other of the two: RFC 9112, 6.1 lets a server take it by its chunks, but then the connection
// must end. net/http removes the Content-Length before a handler sees it, so all chunked requests are treated alike;
// the official SDKs send the length of what they send.
func framed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.TransferEncoding) > 0 {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// counted makes close able to wait for running requests: those of a connection
// that was cut off still run.
func (d *door) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !d.requests.TryRLock() { // taken, or wanted, by close
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		defer d.requests.RUnlock()
		d.inFlight.Add(1)
		defer d.inFlight.Add(-1)
		next.ServeHTTP(w, r)
	})
}

// connected keeps count of connections.
func (d *door) connected(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		d.connections.Add(1)
	case http.StateClosed, http.StateHijacked:
		d.connections.Add(-1)
	}
}

// traffic is who uses the door at present.
func (d *door) traffic() Traffic {
	if d == nil {
		return Traffic{}
	}
	return Traffic{d.connections.Load(), d.inFlight.Load()}
}

// close accepts nothing more, and returns when every request has its answer.
// Once ctx has ended it cuts off those that are left, and fails when one does not
// end even so: what it uses must then bear being closed under it, as engines do.
func (d *door) close(ctx context.Context) error {
	if d == nil {
		return nil
	}
	if d.server == nil {
		var err error
		for _, l := range d.listeners {
			err = errors.Join(err, l.Close())
		}
		return err
	}
	err := d.server.Shutdown(ctx)
	if err != nil {
		d.log.Warn("requests cut off", "door", d.name)
		err = d.server.Close()
	}
	d.serving.Wait()
	return errors.Join(err, d.drain())
}

// drain waits until no request runs, and lets none begin.
func (d *door) drain() error {
	patience, cancel := context.WithTimeout(context.Background(), cutTime)
	defer cancel()
	if !d.quiet(patience) {
		return fault.New(fault.Timeout, "a request of the %s door does not end, although it was cut off", d.name)
	}
	return nil
}

// quiet lets no request begin any more, and waits until none runs; false when ctx ends before.
func (d *door) quiet(ctx context.Context) bool {
	d.draining.Do(func() {
		go func() {
			d.requests.Lock() // for good
			close(d.drained)
		}()
	})
	select {
	case <-d.drained:
		return true
	case <-ctx.Done():
		return false
	}
}

// settle is close, except that what is not counted is still answered.
func (d *door) settle(ctx context.Context) error {
	if d == nil || d.server == nil || d.quiet(ctx) {
		return nil
	}
	return d.close(ctx)
}

// hostOf is the host part of an address or URL, "" when there is none.
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
