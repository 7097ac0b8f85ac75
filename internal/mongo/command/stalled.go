package command

import (
	"net"
	"sync/atomic"
	"time"

	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/clock"
)

// A large frame holds memory until the client has sent all of it, and a large answer until the client has taken it. A client
// that does neither while others wait for memory loses its connection.

const (
	pieceBytes = 64 << 10    // of an answer that are written at once
	stallEvery = time.Second // between two looks at who makes no progress
	stallLooks = 2           // without progress, after which a client is in others' way
)

// A transfer is a frame or an answer on its way.
type transfer struct {
	holds  atomic.Bool  // memory, and waits for the client
	pieces atomic.Int64 // that have passed

	seen int64 // pieces, at the last look; of the goroutine that looks
	idle int   // looks since one has passed
}

// stalls reports whether no piece has passed for some looks.
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
	}
	return n, err
}

// cutStalled closes the connections of such clients until the server closes.
func (s *Server) cutStalled() {
	for clock.Pause(s.running, stallEvery) == nil {
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
