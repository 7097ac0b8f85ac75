// Package command is the API for MongoDB. It keeps connections, decides what their users may do, and has one table of
// commands with a file for each. A command reads its arguments, calls a package below, and shapes the answer. What a
// client sends is checked here and in the package call; the packages below trust it. The clock is read once for each
// request. https://www.mongodb.com/docs/v7.0/reference/command/
package command

import (
	"context"
	"log/slog"
	"maps"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/hint"
	"github.com/mayflydb/mayfly/internal/keyring"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/failpoint"
	"github.com/mayflydb/mayfly/internal/mongo/monitor"
	"github.com/mayflydb/mayfly/internal/mongo/parameter"
	"github.com/mayflydb/mayfly/internal/mongo/session"
	"github.com/mayflydb/mayfly/internal/slow"
	"github.com/mayflydb/mayfly/internal/store"
	"github.com/mayflydb/mayfly/internal/trace"
)

// Options say what a Server serves and how it looks.
type Options struct {
	Catalog *catalog.Catalog
	Store   *store.Store
	Clock   clock.Clock
	// Budget is the memory and the processors that requests share; nil has no limits.
	Budget *budget.Budget

	// Keys are the account keys: the passwords of every name that is not a user's. Such a client may do everything, or
	// read everything by a read-only key. nil has none.
	Keys *keyring.Ring
	// Auth requires clients to authenticate.
	Auth bool

	// ReplSet is the name of the replica set whose only member is the server. "" is a stand-alone server, which has no
	// transactions, retryable writes and change streams. It has no effect where several processes share the data: there
	// each of them is a mongos, which has all of these but change streams.
	ReplSet string
	// Advertise is the host:port that clients of the replica set are told; "" is the name that each client has asked
	// for over TLS, or the address that it has reached.
	Advertise string
	// Exposed says that other machines can reach the server, perhaps at addresses that it does not know. Without
	// Advertise it then looks like a mongos to most clients.
	Exposed bool

	// CosmosTTL refuses TTL indexes on fields other than _ts, as Cosmos DB does.
	CosmosTTL bool
	// TestCommands allows the commands that only test suites need.
	TestCommands bool

	// Gate is passed by each request that uses Catalog or Store; nil is always open. See Server.Reload.
	Gate Gate

	// TLS reports that all connections are encrypted.
	TLS bool

	// ReclaimNow frees the space of all expired documents before it returns.
	ReclaimNow func(context.Context) error
	// Reclaimed is how many documents have been reclaimed since the start.
	Reclaimed func() uint64
	// Tracer makes a span of each request; nil makes none.
	Tracer trace.Tracer
	// Meter counts requests; nil counts nothing.
	Meter monitor.Meter
	// Slow says how long a request takes that is logged with its plan, and keeps such requests; nil logs none.
	Slow *slow.Log
	// Version is the version of mayfly.
	Version string

	Logger *slog.Logger
	// Hints is told about documents and indexes that look like mistakes; nil is told nothing.
	Hints *hint.Teller
}

// A Server answers MongoDB's wire protocol. It is safe for concurrent use.
type Server struct {
	*session.Node
	o Options

	stop        context.CancelFunc
	mu          sync.Mutex
	listeners   map[net.Listener]struct{}
	connections map[*connection]struct{}
	serving     sync.WaitGroup
	cutting     bool         // cutStalled runs
	lastID      atomic.Int32 // of a connection
	awaiting    atomic.Int64 // hellos that wait for a change of the topology
	accepted    atomic.Int64 // connections since the start

	processID [12]byte // of this process, in the topology

	sweeping func() // ends sweepReceipts

	lastOp   atomic.Int32 // number of a request
	commands map[string]command
	accounts *account.Accounts

	monitor    monitor.Monitor
	parameters parameter.Parameters
	failing    failpoint.Points
}

// New makes a server that does not listen yet.
func New(o Options) *Server {
	if o.Gate == nil {
		o.Gate = openGate{}
	}
	if o.Catalog.Shared() {
		o.ReplSet = "" // it is a mongos
	}
	s := &Server{
		Node: &session.Node{
			Store: o.Store, Catalog: o.Catalog, Clock: o.Clock, Budget: o.Budget,
			Hints: o.Hints, Log: o.Logger, Replicates: o.ReplSet != "" || o.Catalog.Shared(),
			Shares: o.Catalog.Shared(),
		},
		o:           o,
		listeners:   map[net.Listener]struct{}{},
		connections: map[*connection]struct{}{},
		commands:    commands(),
		accounts:    account.New(o.Catalog, o.Keys),
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	s.Log = s.monitor.Keep(s.Log)
	s.monitor.Node, s.monitor.Started = s.Node, o.Clock.Now()
	s.monitor.Requests.Open(o.Meter, maps.Keys(s.commands))
	if s.monitor.SlowLog = o.Slow; o.Slow == nil {
		s.monitor.SlowLog = slow.New(0)
	}
	s.Given = s.given
	s.Running, s.stop = context.WithCancel(context.Background())
	s.parameters.Open(s.Node, o.TestCommands, s.monitor.TTL.Pass)
	s.Lifetime = func() time.Duration {
		return time.Duration(s.parameters.Number(parameter.TransactionSeconds)) * time.Second
	}
	s.Interrupt = s.interruptSessions
	s.Node.Open()
	s.sweepReceipts()
	s.processID = s.NewObjectID(s.monitor.Started)
	s.monitor.TTL.Start(s.Node, s.monitor.Started.Unix(), o.Gate,
		func() int64 { return s.parameters.Number(parameter.TTLSleepSeconds) },
		func() int64 { return s.parameters.Number(parameter.TTLSubPassSeconds) })
	return s
}

// maxConnections bounds how many clients are served at once.
const maxConnections = 10_000

// Serve accepts connections until the listener is closed, which Close does.
func (s *Server) Serve(l net.Listener) error {
	s.mu.Lock()
	if s.Running.Err() != nil {
		s.mu.Unlock()
		return net.ErrClosed
	}
	s.listeners[l] = struct{}{}
	if !s.cutting && s.o.Budget != nil {
		s.cutting = true
		s.serving.Go(s.cutStalled)
	}
	s.mu.Unlock()
	for {
		conn, err := l.Accept()
		if err != nil {
			if s.Running.Err() != nil {
				return nil
			}
			return err
		}
		s.accept(conn)
	}
}

// accept serves a connection in its own goroutine.
func (s *Server) accept(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Running.Err() != nil || len(s.connections) >= maxConnections {
		_ = conn.Close()
		return
	}
	c := newConnection(s, conn)
	s.connections[c] = struct{}{}
	s.accepted.Add(1)
	s.serving.Go(func() {
		c.serve()
		c.leave()
		if c.balanced {
			s.Cursors.EndConnection(c.id)
			s.Node.Sessions.EndConnection(c.id)
		}
		s.mu.Lock()
		delete(s.connections, c)
		s.monitor.Traffic.Add(&c.traffic)
		s.mu.Unlock()
	})
}

// Close stops accepting, ends running requests and waits for them until ctx ends.
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	s.stop()
	for l := range s.listeners {
		_ = l.Close()
	}
	for c := range s.connections {
		c.hangUp()
	}
	s.mu.Unlock()
	s.monitor.TTL.Stop()
	s.Cursors.Stop()
	s.sweeping()
	done := make(chan struct{})
	go func() {
		s.serving.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		return ctx.Err()
	}
	s.Node.Close()
	return nil
}

// Auth reports whether clients must authenticate.
func (s *Server) Auth() bool { return s.o.Auth }
