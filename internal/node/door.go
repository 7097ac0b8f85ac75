package node

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
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

// A door is one HTTP server on one address.
type door struct {
	name     string
	listener net.Listener
	scheme   string // of the URL that clients should prefer
	server   *http.Server
	log      *slog.Logger
	serving  chan struct{} // closed when Serve has returned

	requests sync.RWMutex // each running request holds it for reading
	closed   bool
}

// listen opens a door's port; nothing answers until open. An empty address
// gives no door.
func listen(ctx context.Context, name, address string, log *slog.Logger) (*door, error) {
	if address == "" {
		return nil, nil
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "cannot listen on %s for the %s door", address, name)
	}
	return &door{name: name, listener: l, scheme: "http", log: log}, nil
}

// exposed reports whether other machines may reach the door.
func (d *door) exposed() bool {
	if d == nil {
		return false
	}
	a, ok := d.listener.Addr().(*net.TCPAddr)
	return !ok || !a.IP.IsLoopback()
}

// url is where to reach the door from this machine.
func (d *door) url(scheme string) string {
	if d == nil {
		return ""
	}
	host, port, _ := net.SplitHostPort(d.listener.Addr().String())
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
		NextProtos:   []string{"http/1.1"},
	}
	d.scheme = "https"
	if both {
		d.listener = sniff(d.listener, config)
		return
	}
	d.listener = tls.NewListener(d.listener, config)
}

// open starts to answer. HTTP/1.1 only: HTTP/2 is slower for small requests
// and answers, and no SDK needs it.
func (d *door) open(handler http.Handler, response time.Duration) {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	d.server = &http.Server{
		Handler:           d.counted(handler),
		Protocols:         protocols,
		ReadHeaderTimeout: headerTime,
		ReadTimeout:       requestTime,
		WriteTimeout:      response,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(d.log.Handler(), slog.LevelDebug),
	}
	d.serving = make(chan struct{})
	go func() {
		defer close(d.serving)
		if err := d.server.Serve(d.listener); !errors.Is(err, http.ErrServerClosed) {
			d.log.Error("door failed", "door", d.name, "error", err)
		}
	}()
}

// counted makes close able to wait for running requests: those of a connection
// that was cut off still run.
func (d *door) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.requests.RLock()
		defer d.requests.RUnlock()
		if d.closed {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// timed tells observe how long each request takes: the reaper yields to them.
func timed(next http.Handler, observe func(time.Duration)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		watch := clock.Start()
		next.ServeHTTP(w, r)
		observe(watch.Elapsed())
	})
}

// close accepts nothing more, and returns when every request has its answer.
// Once ctx has ended it cuts off those that are left.
func (d *door) close(ctx context.Context) error {
	if d == nil {
		return nil
	}
	if d.server == nil {
		return d.listener.Close()
	}
	err := d.server.Shutdown(ctx)
	if err != nil {
		d.log.Warn("requests cut off", "door", d.name)
		err = d.server.Close()
	}
	<-d.serving
	d.requests.Lock()
	d.closed = true
	d.requests.Unlock()
	return err
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
