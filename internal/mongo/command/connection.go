package command

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mayflydb/mayfly/internal/audit"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/monitor"
	"github.com/mayflydb/mayfly/internal/mongo/plan"
	"github.com/mayflydb/mayfly/internal/mongo/session"
	"github.com/mayflydb/mayfly/internal/mongo/wire"
)

// Bounds on how long a slow or silent client occupies a connection.
const (
	frameTime = 5 * time.Minute // from the first byte of a request to its last: enough for 48 MB at 1.3 Mbit/s
	writeTime = 2 * time.Minute // for each piece of an answer
	greetTime = time.Minute     // for a client that has not shown who it is
	// maxAnonymousFrame is how large a frame may be of a client that has not shown who it is.
	maxAnonymousFrame = 64 << 10
)

// A connection is one client. Its requests are answered one after the other.
type connection struct {
	s       *Server
	id      int32
	conn    net.Conn
	in      *inlet  // conn
	out     *outlet // conn
	reader  *wire.Reader
	writer  *wire.Writer
	memory  session.Memory
	traffic monitor.Traffic
	replyID int32
	since   time.Time       // by the machine's clock
	local   string          // the address that the client has reached
	base    context.Context // of its requests: Server.Running, with the client for the audit trail

	user   *account.Identity // nil until it has authenticated
	auth   authentication
	client clientInfo

	requests atomic.Int64

	mu      sync.Mutex
	cancel  context.CancelFunc // of the running request
	running *request           // nil between requests
	gone    bool
	left    bool                      // the client has, or was made to
	planned atomic.Pointer[plan.Plan] // that the running request follows

	balanced bool // the client keeps cursors and transactions at the connection, see discovery.go

	stopped func() error      // stops, made once
	hold    func(int64) error // holds, made once
}

func newConnection(s *Server, conn net.Conn) *connection {
	in, out := &inlet{Conn: conn}, &outlet{Conn: conn}
	c := &connection{s: s, id: s.lastID.Add(1), conn: conn, in: in, out: out, reader: wire.NewReader(in),
		writer: wire.NewWriter(out), since: clock.Wall().UTC(), local: conn.LocalAddr().String()}
	out.traffic = &c.traffic
	c.base = audit.With(s.Running, c)
	c.stopped, c.hold = c.stops, c.holds
	s.o.Budget.Open(&c.memory.Share)
	in.share = &c.memory.Share
	c.memory.Context = s.Running
	c.reader.Memory, c.writer.Memory = &c.memory, &c.memory
	if s.o.Auth {
		c.reader.MaxMessage = maxAnonymousFrame
	}
	return c
}

// hangUp ends the running request and the connection.
func (c *connection) hangUp() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = true
	if c.cancel != nil {
		c.cancel()
	}
	_ = c.conn.SetReadDeadline(clock.Wall())
}

// leave notes that the connection is over.
func (c *connection) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left = true
}

// serve answers requests until the client leaves.
func (c *connection) serve() {
	defer c.conn.Close()
	defer c.memory.Share.Close()
	var m wire.Message
	for {
		if c.reader.Buffered() == 0 {
			if err := c.flush(); err != nil {
				return
			}
		}
		if err := c.await(); err != nil {
			return
		}
		err := c.reader.Read(&m)
		var wrong *wire.Error
		switch {
		case errors.As(err, &wrong):
			if m.ID != 0 && !m.MoreToCome() {
				c.refuse(&m, wrong)
			}
			if wrong.Fatal {
				_ = c.flush()
				return
			}
		case err != nil:
			return
		default:
			if !c.handle(&m) {
				_ = c.flush()
				return
			}
		}
	}
}

// await waits until a request begins, and sets by when the rest of it must arrive.
func (c *connection) await() error {
	idle := time.Time{}
	if c.s.o.Auth && c.user == nil {
		idle = clock.Wall().Add(greetTime)
	}
	if err := c.deadline(idle); err != nil {
		return err
	}
	if err := c.reader.Await(); err != nil {
		return err
	}
	if c.s.o.Auth && c.user == nil {
		return c.deadline(clock.Wall().Add(greetTime))
	}
	return c.deadline(clock.Wall().Add(frameTime))
}

// deadline sets by when the client must send something.
func (c *connection) deadline(at time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return net.ErrClosed
	}
	return c.conn.SetReadDeadline(at)
}

func (c *connection) flush() error {
	err := c.writer.Flush()
	c.memory.Sent()
	return err
}

// refuse answers a frame that could not be read.
func (c *connection) refuse(m *wire.Message, wrong *wire.Error) {
	c.replyID++
	a := newAnswer(c.writer.Begin(m, c.replyID, 0))
	if wrong.Code == int32(code.ExceededMemoryLimit) {
		a.fail(call.Unread(c.s.Node, wrong.Cause))
	} else {
		a.fail(code.New(code.Code(wrong.Code), "%s", wrong.Text))
	}
	_ = c.writer.End(a.End())
}
