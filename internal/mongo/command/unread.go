package command

import (
	"net"
	"sync/atomic"
	"time"

	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/clock"
)

// An answer holds memory until the client has taken it. A client that takes nothing while others wait for
// memory loses its connection.

const (
	pieceBytes  = 64 << 10    // of an answer that are written at once
	unreadEvery = time.Second // between two looks at who takes nothing
	unreadLooks = 2           // without a piece, after which a client is in others' way
)

// An outlet is what a connection writes to, piece by piece.
type outlet struct {
	net.Conn
	writing atomic.Bool  // an answer that holds memory
	pieces  atomic.Int64 // that were taken

	seen int64 // pieces, at the last look; of the goroutine that looks
	idle int   // looks since one was taken
}

func (o *outlet) Write(b []byte) (n int, err error) {
	if len(b) > budget.FreeBytes {
		o.writing.Store(true)
		defer o.writing.Store(false)
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

// look notes whether the client has taken anything since the last look, and cuts it off when others wait for
// what it leaves.
func (o *outlet) look(others bool) {
	if pieces := o.pieces.Load(); !o.writing.Load() || pieces != o.seen {
		o.seen, o.idle = pieces, 0
		return
	}
	if o.idle++; others && o.idle >= unreadLooks {
		_ = o.Conn.Close()
	}
}

// cutUnread looks for such clients until the server closes.
func (s *Server) cutUnread() {
	for clock.Pause(s.running, unreadEvery) == nil {
		others := s.o.Budget.Read().Waiting > 0
		s.mu.Lock()
		for c := range s.connections {
			c.out.look(others)
		}
		s.mu.Unlock()
	}
}
