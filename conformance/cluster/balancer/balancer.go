// Package balancer spreads TCP connections over backends in turn, as a plain
// load balancer in front of several mayfly processes does. It knows no
// protocol: whoever connects has one backend until either side hangs up.
package balancer

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// dialing is how long a backend may take to accept; probing is how often a dead
// one is tried again.
const (
	dialing = time.Second
	probing = 100 * time.Millisecond
)

// A Balancer accepts connections until it is closed.
type Balancer struct {
	Address string // host:port

	listener net.Listener
	backends []*backend
	turn     atomic.Uint64
	ctx      context.Context
	stop     context.CancelFunc
	running  sync.WaitGroup
}

// A backend is dead from a failed dial until one succeeds.
type backend struct {
	address string
	dead    atomic.Bool
	served  atomic.Int64
}

// New listens on a free loopback port for the backends, each host:port.
func New(backends ...string) (*Balancer, error) { return At("127.0.0.1:0", backends...) }

// At listens on an address for the backends, each host:port.
func At(address string, backends ...string) (*Balancer, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	b := &Balancer{Address: l.Addr().String(), listener: l}
	b.ctx, b.stop = context.WithCancel(context.Background())
	for _, address := range backends {
		b.backends = append(b.backends, &backend{address: address})
	}
	b.running.Go(b.accept)
	b.running.Go(b.probe)
	return b, nil
}

// Close hangs up on everybody and returns when all is quiet.
func (b *Balancer) Close() error {
	b.stop()
	err := b.listener.Close()
	b.running.Wait()
	return err
}

// Served is how many connections each backend has had.
func (b *Balancer) Served() []int64 {
	var served []int64
	for _, s := range b.backends {
		served = append(served, s.served.Load())
	}
	return served
}

func (b *Balancer) accept() {
	for {
		client, err := b.listener.Accept()
		if err != nil {
			return // closed
		}
		b.running.Go(func() { b.serve(client) })
	}
}

func (b *Balancer) serve(client net.Conn) {
	defer client.Close()
	server, err := b.dial()
	if err != nil {
		return // the client sees a connection that ends
	}
	defer server.Close()
	defer context.AfterFunc(b.ctx, func() {
		client.Close()
		server.Close()
	})()
	var both sync.WaitGroup
	both.Go(func() { relay(server, client) })
	both.Go(func() { relay(client, server) })
	both.Wait()
}

// relay copies until either side ends. A side that only says that it sends no
// more is passed on as such.
func relay(to, from net.Conn) {
	_, err := io.Copy(to, from)
	if half, ok := to.(*net.TCPConn); ok && err == nil {
		half.CloseWrite()
		return
	}
	to.Close()
	from.Close()
}

var errAllDead = errors.New("no backend accepts connections")

// dial tries each backend once, those that are not dead first.
func (b *Balancer) dial() (net.Conn, error) {
	first := b.turn.Add(1)
	for _, dead := range []bool{false, true} {
		for i := range uint64(len(b.backends)) {
			s := b.backends[(first+i)%uint64(len(b.backends))]
			if s.dead.Load() != dead {
				continue
			}
			if c, err := s.dial(b.ctx); err == nil {
				s.served.Add(1)
				return c, nil
			}
		}
	}
	return nil, errAllDead
}

func (s *backend) dial(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialing)
	defer cancel()
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", s.address)
	s.dead.Store(err != nil)
	return c, err
}

func (b *Balancer) probe() {
	tick := time.NewTicker(probing)
	defer tick.Stop()
	for {
		select {
		case <-b.ctx.Done():
			return
		case <-tick.C:
		}
		for _, s := range b.backends {
			if s.dead.Load() {
				if c, err := s.dial(b.ctx); err == nil {
					c.Close()
				}
			}
		}
	}
}
