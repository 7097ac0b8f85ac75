package command

import (
	"net"
	"sync/atomic"
	"time"

	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/mongo/monitor"
)

// A large frame holds memory until the client has sent all of it, and a large answer until the client has received it.
// A client that makes no progress while others wait for memory loses its connection.

const (
	pieceBytes = 64 << 10    // are written at once, so that progress can be seen
	stallEvery = time.Second // how often clients are looked at
	stallLooks = 2           // without progress, after which a connection is closed
)

// A transfer is a frame or an answer that is being sent.
type transfer struct {
	holds  atomic.Bool  // it holds memory, and waits for the client
	pieces atomic.Int64 // sent so far

	// The following are used by cutStalled alone.
	seen int64 // pieces at the last look
	idle int   // looks since then without progress
}

// stalls is called at each look, and reports whether there was no progress since stallLooks looks.
func (t *transfer) stalls() bool {
	if pieces := t.pieces.Load(); !t.holds.Load() || pieces != t.seen {
		t.seen, t.idle = pieces, 0
		return false
	}
	t.idle++
	return t.idle >= stallLooks
}

// An outlet is what a connection writes to, piece by piece.
type outlet struct {
	net.Conn
	transfer
	traffic *monitor.Traffic // of the connection
}

func (o *outlet) Write(b []byte) (n int, err error) {
	if len(b) > budget.FreeBytes {
		o.holds.Store(true)
		defer o.holds.Store(false)
	}
	for n < len(b) && err == nil {
		if err = o.SetWriteDeadline(clock.Wall().Add(writeTime)); err != nil {
			break
		}
		var k int
		k, err = o.Conn.Write(b[n:min(n+pieceBytes, len(b))])
		n += k
		o.pieces.Add(1)
		o.traffic.Out.Add(int64(k))
	}
	return n, err
}

// cutStalled closes the connections of clients that make no progress while others wait for memory.
func (s *Server) cutStalled() {
	for clock.Pause(s.Running, stallEvery) == nil {
		others := s.o.Budget.Read().Waiting > 0
		s.mu.Lock()
		for c := range s.connections {
			in, out := c.in.stalls(), c.out.stalls()
			if others && (in || out) {
				_ = c.conn.Close()
			}
		}
		s.mu.Unlock()
	}
}

// An inlet is what a connection reads from. While a request runs, one byte may be read ahead: that is how the server
// notices that the client has left.
type inlet struct {
	net.Conn
	transfer
	share *budget.Share // of the connection
	ahead []byte        // of the next request
	one   [1]byte
}

func (in *inlet) Read(b []byte) (int, error) {
	if len(in.ahead) > 0 && len(b) > 0 {
		n := copy(b, in.ahead)
		in.ahead = in.ahead[n:]
		return n, nil
	}
	if in.share.Counted() {
		in.holds.Store(true)
		defer in.holds.Store(false)
	}
	n, err := in.Conn.Read(b)
	in.pieces.Add(1)
	return n, err
}
