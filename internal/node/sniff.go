package node

import (
	"crypto/tls"
	"io"
	"net"
	"sync"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
)

// sniffTime is how long a client may take to send its first byte.
const sniffTime = 10 * time.Second

// tlsRecord reports whether a connection that begins so speaks TLS: a handshake record of
// version 3.x (RFC 8446 5.1). No HTTP request begins like that, and a MongoDB message would be of at
// least 66,326 bytes, which no client begins with.
func tlsRecord(first [3]byte) bool {
	return first[0] == 0x16 && first[1] == 0x03 && first[2] >= 1 && first[2] <= 4
}

// A sniffer accepts TLS and plain connections on one port. It looks at the
// first bytes of each, apart from the others, so that a silent client delays nobody.
type sniffer struct {
	net.Listener
	config   *tls.Config
	accepted chan net.Conn
	failed   chan error
	quit     chan struct{}
	stop     sync.Once

	mu      sync.Mutex
	waiting map[net.Conn]struct{} // nil once closed
}

// sniff starts to accept from l, until Close.
func sniff(l net.Listener, config *tls.Config) net.Listener {
	s := &sniffer{
		Listener: l, config: config,
		accepted: make(chan net.Conn), failed: make(chan error), quit: make(chan struct{}),
		waiting: map[net.Conn]struct{}{},
	}
	go s.run()
	return s
}

func (s *sniffer) run() {
	for {
		conn, err := s.Listener.Accept()
		if err == nil {
			if s.wait(conn) {
				go s.look(conn)
			}
			continue
		}
		select {
		case s.failed <- err: // Accept's caller knows which errors pass
		case <-s.quit:
			return
		}
	}
}

// look hands conn on when its first bytes have come.
func (s *sniffer) look(conn net.Conn) {
	var first [3]byte
	conn.SetReadDeadline(clock.Wall().Add(sniffTime))
	_, err := io.ReadFull(conn, first[:])
	if !s.waited(conn) {
		return
	}
	if err != nil {
		conn.Close()
		return
	}
	conn.SetReadDeadline(time.Time{})
	var out net.Conn = &peeked{Conn: conn, first: first[:]}
	if tlsRecord(first) {
		out = tls.Server(out, s.config)
	}
	select {
	case s.accepted <- out:
	case <-s.quit:
		conn.Close()
	}
}

// wait remembers a connection that has not spoken yet; false after Close.
func (s *sniffer) wait(conn net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting == nil {
		conn.Close()
		return false
	}
	s.waiting[conn] = struct{}{}
	return true
}

// waited forgets it; false when Close has closed it.
func (s *sniffer) waited(conn net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.waiting[conn]
	delete(s.waiting, conn)
	return ok
}

// Accept returns the next connection that has spoken, a *tls.Conn or a plain one.
func (s *sniffer) Accept() (net.Conn, error) {
	select {
	case conn := <-s.accepted:
		return conn, nil
	case err := <-s.failed:
		return nil, err
	case <-s.quit:
		return nil, net.ErrClosed
	}
}

// Close also closes the connections that have not spoken yet.
func (s *sniffer) Close() error {
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

// peeked is a connection whose first bytes have been read already.
type peeked struct {
	net.Conn
	first []byte
}

func (p *peeked) Read(b []byte) (int, error) {
	if len(p.first) == 0 {
		return p.Conn.Read(b)
	}
	n := copy(b, p.first)
	p.first = p.first[n:]
	return n, nil
}
