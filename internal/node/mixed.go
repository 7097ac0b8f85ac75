package node

import (
	"crypto/tls"
	"io"
	"net"
	"sync"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/http1"
)

// firstBytesTime is how long a client may take to send its first bytes.
const firstBytesTime = 10 * time.Second

// tlsRecord reports whether a connection with these first bytes is TLS: they are a handshake record of version 3.x
// (RFC 8446, 5.1). No HTTP request begins with them, and a MongoDB message with them would have at least 66,326 bytes,
// which the first message of a client never has.
func tlsRecord(first [3]byte) bool {
	return first[0] == 0x16 && first[1] == 0x03 && first[2] >= 1 && first[2] <= 4
}

// A mixedListener accepts TLS and plain connections on one port. It reads the first bytes of each connection in a
// goroutine of its own, so that a silent client delays no other.
type mixedListener struct {
	net.Listener
	config   *tls.Config
	accepted chan net.Conn
	failed   chan error
	quit     chan struct{}
	stop     sync.Once

	mu      sync.Mutex
	waiting map[net.Conn]struct{} // for their first bytes; nil after Close
}

// listenMixed starts to accept from l, until Close.
func listenMixed(l net.Listener, config *tls.Config) net.Listener {
	s := &mixedListener{
		Listener: l, config: config,
		accepted: make(chan net.Conn), failed: make(chan error), quit: make(chan struct{}),
		waiting: map[net.Conn]struct{}{},
	}
	go s.run()
	return s
}

func (s *mixedListener) run() {
	for {
		conn, err := s.Listener.Accept()
		if err == nil {
			if s.await(conn) {
				go s.detect(conn)
			}
			continue
		}
		select {
		case s.failed <- err: // the caller of Accept knows which errors are temporary
		case <-s.quit:
			return
		}
	}
}

// detect hands conn to Accept, as TLS or plain, when its first bytes have arrived.
func (s *mixedListener) detect(conn net.Conn) {
	var first [3]byte
	conn.SetReadDeadline(clock.Wall().Add(firstBytesTime))
	_, err := io.ReadFull(conn, first[:])
	if !s.arrived(conn) {
		return
	}
	if err != nil {
		conn.Close()
		return
	}
	conn.SetReadDeadline(time.Time{})
	var out net.Conn = &http1.Replay{Conn: conn, First: first[:]}
	if tlsRecord(first) {
		out = tls.Server(out, s.config)
	}
	select {
	case s.accepted <- out:
	case <-s.quit:
		conn.Close()
	}
}

// await remembers a connection that has sent nothing yet; false after Close.
func (s *mixedListener) await(conn net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting == nil {
		conn.Close()
		return false
	}
	s.waiting[conn] = struct{}{}
	return true
}

// arrived forgets a connection that await remembered; false if Close has closed it.
func (s *mixedListener) arrived(conn net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.waiting[conn]
	delete(s.waiting, conn)
	return ok
}

// Accept returns the next connection that has sent its first bytes, a *tls.Conn or a plain one.
func (s *mixedListener) Accept() (net.Conn, error) {
	select {
	case conn := <-s.accepted:
		return conn, nil
	case err := <-s.failed:
		return nil, err
	case <-s.quit:
		return nil, net.ErrClosed
	}
}

// Close also closes the connections that have sent nothing yet.
func (s *mixedListener) Close() error {
	s.stop.Do(func() { close(s.quit) })
	err := s.Listener.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	for conn := range s.waiting {
		conn.Close()
	}
	s.waiting = nil
	return err
}
