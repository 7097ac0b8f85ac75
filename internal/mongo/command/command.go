// Package command is the API for MongoDB. It keeps connections with their sessions, transactions and cursors, and has
// one table of commands with a file for each. A command reads its arguments, asks the store or a language, and shapes
// the answer. What a client sends is checked here; the packages below trust it. The clock is read once for each
// request. https://www.mongodb.com/docs/v7.0/reference/command/
package command

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/hint"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/session"
	"github.com/mayflydb/mayfly/internal/store"
)

// Options say what a Server serves and how it looks.
type Options struct {
	Catalog *catalog.Catalog
	Store   *store.Store
	Clock   clock.Clock
	// Budget is the memory and the processors that requests share; nil has no limits.
	Budget *budget.Budget

	// Key is the account key: the password of every name that is not a user's. Such a client may do everything.
	Key string
	// Auth requires clients to authenticate.
	Auth bool

	// ReplSet is the name of the replica set whose only member is the server. "" is a stand-alone server, which has no
	// transactions, retryable writes and change streams.
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

	// TLS reports that all connections are encrypted.
	TLS bool

	// ReclaimNow frees the space of all expired documents before it returns.
	ReclaimNow func(context.Context) error
	// Reclaimed is how many documents have been reclaimed since the start.
	Reclaimed func() uint64
	// Meter counts requests; nil counts nothing.
	Meter Meter
	// Slow is how long a request takes that is logged with its plan; 0 logs none.
	Slow time.Duration
	// Version is the version of mayfly.
	Version string

	Logger *slog.Logger
	// Hints is told about documents and indexes that look like mistakes; nil is told nothing.
	Hints *hint.Teller
}

// A Server answers MongoDB's wire protocol. It is safe for concurrent use.
type Server struct {
	*session.Node
	o       Options
	started time.Time

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

	counts   map[string]*counted // requests by command
	unknown  *counted            // those that name none
	slow     atomic.Int64        // nanoseconds from which on a request is logged, 0 for none
	lastOp   atomic.Int32        // number of a request
	commands map[string]command
	accounts *account.Accounts
	recent   recentLines
	usage    usage
	failing  failing

	parameters parameters
	monitor    monitor
	ops        opCounters
}

// New makes a server that does not listen yet.
func New(o Options) *Server {
	s := &Server{
		Node: &session.Node{Store: o.Store, Catalog: o.Catalog, Clock: o.Clock, Budget: o.Budget, Hints: o.Hints, Log: o.Logger, Replicates: o.ReplSet != ""},
		o:    o, started: o.Clock.Now(),
		listeners: map[net.Listener]struct{}{}, connections: map[*connection]struct{}{}, commands: commands(), accounts: account.New(o.Catalog, o.Key), counts: map[string]*counted{},
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	s.Log = s.recent.keep(s.Log)
	s.openCounts()
	s.slow.Store(int64(o.Slow))
	s.Running, s.stop = context.WithCancel(context.Background())
	s.parameters.init()
	s.Lifetime = func() time.Duration {
		return time.Duration(s.parameters.number(transactionLifetimeLimitSeconds)) * time.Second
	}
	s.Interrupt = s.interruptSessions
	s.Node.Open()
	s.processID = s.NewObjectID(s.started)
	s.monitor.init(s)
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
		s.mu.Lock()
		delete(s.connections, c)
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
	s.monitor.stop()
	s.Cursors.Stop()
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
