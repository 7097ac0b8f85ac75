// Package node is one running mayfly: an engine, a clock, the store, the reaper and the APIs, started and stopped
// together. It owns what they share: the account key, certificates, ports, and the clock's mark. Several nodes can run
// in one process. The package chooses no engine and reads no settings.
package node

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mayflydb/mayfly/internal/admin"
	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/bulk"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/cosmos/rest"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/hint"
	"github.com/mayflydb/mayfly/internal/keyring"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/mongo/command"
	"github.com/mayflydb/mayfly/internal/reaper"
	"github.com/mayflydb/mayfly/internal/slow"
	"github.com/mayflydb/mayfly/internal/store"
	"github.com/mayflydb/mayfly/internal/trace"
)

// MaxPartitions is the most ranges that a container can be created with.
const MaxPartitions = catalog.MaxPartitions

// Options say what to run.
type Options struct {
	// Engine holds the data. The node closes it, also when Start fails. If it is one that several processes share, the
	// account key and a certificate have to be given, and there is no Dir and no virtual clock.
	Engine kv.Engine

	// EngineName is what the admin API calls the engine, such as pebble.
	EngineName string

	// Dir keeps the account key and certificates that the node makes, and snapshots; empty
	// keeps certificates in memory.
	Dir string

	// Reopen opens an engine on disk in another folder: for snapshots, and for backups of an engine in memory. Without
	// it, these do not exist.
	Reopen func(ctx context.Context, dir string) (kv.Engine, error)

	// NoSQL and Admin are the addresses of these APIs, host:port; empty switches an API off.
	NoSQL, Admin string

	// Compute is a second address of the API for NoSQL, which treats ids in paths as the
	// compute gateway of the service does. If it is given, the first address behaves as the
	// routing gateway; otherwise the first one behaves as the compute gateway.
	Compute string

	// Strict leaves queries over several partitions to the client, see rest.Options.
	Strict bool

	// Partitions is how many ranges a new container has, see rest.Options.
	Partitions int

	// Mongo configures the API for MongoDB.
	Mongo Mongo

	// Version is mayfly's version, as metrics and the APIs report it.
	Version string

	// TLS is for the APIs for NoSQL and MongoDB.
	TLS TLS

	// Key is the account key in base64. Empty means the well-known key on loopback addresses,
	// else a key that is kept in Dir. AllowWellKnownKey permits the well-known key everywhere.
	Key               string
	AllowWellKnownKey bool

	// Emulator says that this node is for development: if the account key is the well-known
	// one, MongoDB clients need no password on any address, unless Mongo.Auth says otherwise,
	// and Mongo.Auth may be off on every address.
	Emulator bool

	// Virtual makes a clock that only Move moves. It starts at VirtualStart, or at the last
	// instant that the data has seen if that is later. If both are zero, it starts at the
	// present.
	Virtual      bool
	VirtualStart time.Time

	// Region, Advertise and Consistency are account properties, see rest.Options.
	Region, Advertise, Consistency string

	// Origins are the web origins whose pages may use the API for NoSQL, see rest.Options.
	Origins []string

	// AllowHosts are further host names by which HTTP requests may address this node: a name,
	// *.name for all names below it, or AnyHost. If the account key is the well-known one, and
	// on an admin address without a key, the node rejects requests to names that anybody
	// could own; with AllowHosts it rejects them whatever the key is.
	AllowHosts []string

	// ReclaimRate is the most documents per second that the reaper frees; 0 adapts to the load.
	ReclaimRate int

	// Memory is how many bytes the node may use besides its engine, garbage included; 0 for no
	// limit. Requests get half of it, because memory that they have released is in use until the
	// garbage collector has run.
	Memory int64

	// Seed is a folder of containers that are made and filled at the start if they do not exist yet, see
	// transfer.Seeds; empty for none.
	Seed string

	// Meter makes metrics for the admin address; nil makes none. Nodes cannot share one.
	Meter Meter

	// Page serves browsers at the admin address, see admin.Options; nil serves none.
	Page http.Handler

	// Tracer makes spans of what requests and the reaper do; nil makes none.
	Tracer trace.Tracer

	// Slow is the duration from which on a request is logged, with its plan; 0 logs none.
	Slow time.Duration

	// Logger may be nil.
	Logger *slog.Logger
}

// TLS configures the TLS of an API. The zero value makes a certificate, and answers plain HTTP on
// the same port too.
type TLS struct {
	Off       bool
	Cert, Key string // PEM files; if they are set, plain HTTP is off
}

// Check fails with fault.Invalid if Cert and Key name files that cannot be read, or that do not belong together.
func (t TLS) Check() error {
	if t.Cert == "" {
		return nil
	}
	_, err := t.load()
	return err
}

// load reads the files.
func (t TLS) load() (tls.Certificate, error) {
	cert, err := os.ReadFile(t.Cert)
	if err != nil {
		return tls.Certificate{}, fault.Wrap(fault.Invalid, err,
			"the certificate cannot be read: give two files, CERT.pem,KEY.pem")
	}
	key, err := os.ReadFile(t.Key)
	if err != nil {
		return tls.Certificate{}, fault.Wrap(fault.Invalid, err,
			"the certificate's key cannot be read: give two files, CERT.pem,KEY.pem")
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return tls.Certificate{}, fault.Wrap(fault.Invalid, err,
			"%s and %s are not a certificate and its key, both in PEM", t.Cert, t.Key)
	}
	return pair, nil
}

// A Node is a running mayfly. Its methods are safe for concurrent use.
type Node struct {
	// Loading a snapshot replaces the data and what works on it. So who uses one of them has entered the gate, or holds
	// moving.
	gate    *gate
	engine  kv.Engine
	catalog *catalog.Catalog
	store   *store.Store
	reaper  *reaper.Reaper
	surveys *surveys

	options Options
	log     *slog.Logger
	shelf   shelf      // nil if there is no way to keep snapshots
	backing sync.Mutex // held while a backup is made

	observed atomic.Pointer[reaper.Reaper] // the reaper, for Observe
	failed   chan struct{}                 // closed when an engine in use has failed
	failing  sync.Once
	unwatch  func() // ends the watch over the engine

	clock     clock.Clock
	virtual   *clock.Virtual // nil when the clock is real
	real      *clock.Real    // nil when the clock is virtual
	moving    sync.Mutex     // held while the clock is moved, and while a snapshot is saved or loaded
	stopMarks func()
	pulse     atomic.Pointer[pulse] // nil for an engine in this process
	answered  atomic.Uint64         // requests
	lines     *bulk.Lines           // imports and exports
	reaping   bool                  // the reaper has been started

	slow    *slow.Log
	account account
	keys    *keyring.Ring
	certs   certificates
	tlsOff  bool
	caFile  string
	nosql   *endpoint
	compute *endpoint
	admin   *endpoint
	mongo   *endpoint

	hints   *hint.Teller
	budget  *budget.Budget
	version string

	mongoServer *command.Server
	mongoAuth   bool // MongoDB clients have to authenticate
	emulator    bool

	local      *local          // the API for NoSQL, for the admin API
	localAPI   http.Handler    // of the present data, for local
	localMongo *command.Server // mongoServer, or one that does not listen

	meter Meter // nil for none
	// fullAdmin is the whole admin API. It is nil until the node runs: before, the admin address answers health alone.
	fullAdmin atomic.Pointer[http.Handler]
	adminAPI  *admin.API // nil until then
	activity  *activity  // nil without an admin address or a meter

	started  time.Time // by the machine's clock
	inMemory bool      // the engine keeps no data elsewhere

	phase    atomic.Int32
	closing  sync.Once
	closeErr error
}

// Start opens everything and returns when the APIs answer requests. It fails with fault.Invalid for options that do not
// go together, or with this machine.
func Start(ctx context.Context, o Options) (_ *Node, err error) {
	n := &Node{
		engine: o.Engine, log: o.Logger, meter: o.Meter, version: o.Version, gate: newGate(),
		failed: make(chan struct{}),
	}
	if n.log == nil {
		n.log = slog.New(slog.DiscardHandler)
	}
	n.hints, n.slow = hint.NewTeller(n.log, n.hinted), slow.New(o.Slow)
	n.budget = budget.New(budget.Options{Memory: o.Memory / 2})
	defer func() {
		if err != nil {
			err = errors.Join(err, n.close(ctx))
		}
	}()
	if err := o.check(); err != nil {
		return nil, err
	}
	n.options, n.started, n.inMemory = o, clock.Wall().UTC().Truncate(time.Second), holdsInMemory(o.Engine)
	for _, step := range []func(context.Context, Options) error{
		n.listen, n.prepareTLS, n.openAdmin, n.openShelf, n.openData, n.startClock, n.keepLog, n.openAPIs,
	} {
		if err := step(ctx, o); err != nil {
			return nil, err
		}
	}
	n.store.KeepLeases()
	n.reaper.Start()
	n.reaping = true
	n.collectGarbage()
	n.phase.Store(running)
	return n, nil
}

// check checks the options that can be checked before anything is opened, and makes Dir absolute, so that messages can
// show it.
func (o *Options) check() (err error) {
	if o.Virtual && !o.VirtualStart.IsZero() {
		if err := clock.InRange(o.VirtualStart); err != nil {
			return fault.Wrap(fault.Invalid, err, "the clock cannot start at %s", o.VirtualStart.Format(time.RFC3339))
		}
	}
	if err := o.TLS.Check(); err != nil {
		return err
	}
	if sharesData(o.Engine) {
		if err := o.CheckShared(); err != nil {
			return err
		}
	}
	for _, pattern := range o.AllowHosts {
		if err := CheckHost(pattern); err != nil {
			return err
		}
	}
	if o.Dir != "" {
		o.Dir, err = filepath.Abs(o.Dir)
	}
	return err
}

// listen opens the ports, so that a port in use is noticed before anything is written. It also chooses the account key,
// which depends on who can reach the addresses.
func (n *Node) listen(ctx context.Context, o Options) (err error) {
	if n.nosql, err = listen(ctx, "NoSQL", o.NoSQL, n.log); err != nil {
		return err
	}
	if n.compute, err = listen(ctx, "NoSQL compute", o.Compute, n.log); err != nil {
		return err
	}
	if n.admin, err = listen(ctx, "admin", o.Admin, n.log); err != nil {
		return err
	}
	if n.mongo, err = listen(ctx, "MongoDB", o.Mongo.Address, n.log); err != nil {
		return err
	}
	n.emulator, n.tlsOff = o.Emulator, o.TLS.Off
	exposed := n.mongo.exposed() || n.nosql.exposed() || n.compute.exposed() || n.admin.exposed()
	if n.account, err = chooseKey(o.Key, exposed, o.AllowWellKnownKey, o.Dir); err != nil {
		return err
	}
	if n.keys, err = n.account.openKeys(o.Dir, sharesData(o.Engine)); err != nil {
		return err
	}
	if n.mongo != nil {
		if n.mongoAuth, err = n.chooseMongoAuth(o); err != nil {
			return err
		}
	}
	n.warn(exposed)
	return nil
}

// warn logs risks that an operator may not know of.
func (n *Node) warn(exposed bool) {
	for _, path := range []string{n.account.place, n.keys.Now().Key(keyring.Secondary).Origin} {
		if filepath.IsAbs(path) && othersHaveAccess(path) { // else it is no path, but words
			n.log.Warn("other users of this machine can read or change account keys: change the mode of their file "+
				"to 600",
				"file", path)
		}
	}
	if exposed && n.account.wellKnown {
		n.log.Warn("other machines can reach this mayfly, and its account key is public")
	}
	if n.mongo.exposed() && !n.mongoAuth {
		n.log.Warn("other machines can reach the API for MongoDB, and it needs no password",
			"address", n.mongo.address())
	}
	if n.emulator {
		n.log.Warn("this mayfly is an emulator, for development: do not store private data in it")
	}
	if n.admin.exposed() && !n.account.wellKnown && n.tlsOff {
		n.log.Warn("other machines can reach the admin API, which has no TLS: the account key travels in plain text",
			"address", n.admin.address())
	}
}

func (n *Node) openData(ctx context.Context, _ Options) (err error) {
	n.watchEngine()
	if n.catalog, err = catalog.Open(ctx, n.engine, conditions); err != nil {
		return err
	}
	if n.store, err = store.Open(ctx, n.engine, n.catalog); err != nil {
		return fmt.Errorf("open store: %w", err)
	}
	return nil
}

func (n *Node) prepareTLS(_ context.Context, o Options) (err error) {
	switch {
	case n.nosql == nil && n.compute == nil && n.mongo == nil && n.admin == nil || o.TLS.Off:
		return nil
	case o.TLS.Cert != "":
		if n.certs.server, err = o.TLS.load(); err != nil {
			return err
		}
		n.secure(false)
		return nil
	}
	if n.certs, err = ownCertificates(o.Dir, o.hosts(), clock.Wall()); err != nil {
		return err
	}
	if o.Dir != "" {
		n.caFile = AuthorityFile(o.Dir)
	}
	n.secure(true)
	return nil
}

// secure turns TLS on. The admin API always answers plain connections, too: probes and scrapers use them.
func (n *Node) secure(both bool) {
	if n.admin != nil {
		n.admin.secure(n.certs.server, true)
	}
	for _, e := range []*endpoint{n.nosql, n.compute, n.mongo} {
		if e != nil {
			e.secure(n.certs.server, both)
		}
	}
}

func (n *Node) openAPIs(ctx context.Context, o Options) error {
	n.openServices(o)
	if err := n.seed(ctx, o); err != nil {
		return err
	}
	for _, e := range []*endpoint{n.nosql, n.compute} {
		if e == nil {
			continue
		}
		handler, err := n.nosqlHandler(o, e)
		if err != nil {
			return err
		}
		e.handler = handler
		e.open(n.gated(e), responseTime)
	}
	if err := n.openMongo(o, o.Version); err != nil {
		return err
	}
	if n.admin == nil {
		return nil
	}
	if err := n.openLocal(o); err != nil {
		return err
	}
	n.openFullAdmin(o)
	return nil
}

// openServices makes what works on the store beside the APIs.
func (n *Node) openServices(o Options) {
	st := n.store
	st.SetTracer(o.Tracer)
	st.SetClock(func() int64 { return n.clock.Now().Unix() })
	watchBuilds(st)
	n.catalog.SetClock(n.clock.Now)
	n.lines = bulk.New(n.catalog, st, n.budget, func() int64 { return n.clock.Now().Unix() })
	n.reaper = reaper.New(reaper.Options{
		Store: st, Clock: n.clock, Rate: o.ReclaimRate, Logger: n.log, Tracer: o.Tracer,
	})
	n.observed.Store(n.reaper)
	n.surveys = newSurveys(func(ctx context.Context) (store.Survey, error) {
		return st.Survey(ctx, n.clock.Now().Unix(), surveyEntries)
	})
}

// gated answers requests with the handler of the present data.
func (n *Node) gated(e *endpoint) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.gate.Enter()
		defer n.gate.Leave()
		e.handler.ServeHTTP(w, r)
	})
}

// observe is called at the end of each request.
func (n *Node) observe(took time.Duration) {
	n.answered.Add(1)
	n.observed.Load().Observe(took)
}

// Work returns how many requests have been answered since the start, and how many bytes requests hold now. Small
// requests are not counted in held.
func (n *Node) Work() (answered uint64, held int64) { return n.answered.Load(), n.budget.Read().Used }

// EngineMemory is the number of bytes that the engine holds for tables and caches.
func (n *Node) EngineMemory() uint64 {
	n.gate.Enter()
	defer n.gate.Leave()
	return n.store.Load().MemoryBytes
}

func (n *Node) nosqlHandler(o Options, e *endpoint) (http.Handler, error) {
	options := rest.Options{
		Catalog: n.catalog, Store: n.store, Clock: n.clock, Budget: n.budget, Keys: n.keys,
		Region: o.Region, Advertise: o.Advertise, Consistency: o.Consistency, Logger: n.log, Hints: n.hints,
		Meter: metered{n, apiNoSQL}, Slow: n.slow, Tracer: o.Tracer,
		Strict: o.Strict, Partitions: o.Partitions, Origins: o.Origins, Routing: e == n.nosql && n.compute != nil,
	}
	if e == n.compute && o.Advertise != "" {
		options.Advertise = samePort(o.Advertise, e.address())
	}
	if n.certs.authority != nil {
		options.CA = n.CA
	} else if len(n.certs.server.Certificate) > 0 {
		options.Certificate = n.certs.chain
	}
	options.PageInfo = n.front
	options.Public, options.Probes = n.account.wellKnown, admin.Probes(n.adminOptions(o))
	options.AllowHost = n.allowHost(o, e, false)
	handler, err := rest.New(options)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "the account settings are not valid")
	}
	return handler, nil
}

// samePort is the advertised URL with the port of an address, so that clients of the second address keep using it.
func samePort(advertised, address string) string {
	u, err := url.Parse(advertised)
	_, port, err2 := net.SplitHostPort(address)
	if err != nil || err2 != nil {
		return ""
	}
	u.Host = net.JoinHostPort(u.Hostname(), port)
	return u.String()
}

// ReclaimNow returns when the space of every expired document is free.
func (n *Node) ReclaimNow(ctx context.Context) error {
	ctx, leave := n.gate.enterLong(ctx)
	defer leave()
	return whyEnded(ctx, n.reaper.ReclaimNow(ctx))
}

// Close accepts no more requests, lets running ones finish until ctx ends, then cuts them off, and closes everything,
// the engine last. It does not wait forever for a request that ignores being cut off, but returns an error. Only the
// first call does anything; all calls return its error.
func (n *Node) Close(ctx context.Context) error {
	n.closing.Do(func() { n.closeErr = n.close(ctx) })
	return n.closeErr
}

// close first reports not ready, then stops accepting. Health checks are answered until everything else is closed, so
// that a load balancer sees the node leave.
func (n *Node) close(ctx context.Context) error {
	n.phase.Store(stopping)
	if n.adminAPI != nil {
		n.adminAPI.Close(ctx)
	}
	n.activity.close()
	err := errors.Join(n.nosql.close(ctx), n.compute.close(ctx), n.closeMongo(ctx), n.admin.settle(ctx))
	if n.stopMarks != nil {
		n.stopMarks()
	}
	n.moving.Lock() // no snapshot is being loaded
	defer n.moving.Unlock()
	n.surveys.close()
	if n.reaping {
		n.reaper.Stop()
	}
	if n.unwatch != nil {
		n.unwatch()
	}
	n.pulse.Load().end()
	if n.clock != nil {
		err = errors.Join(err, n.unlessFull(n.saveMark(context.WithoutCancel(ctx), n.clock.Now())))
	}
	if n.store != nil {
		err = errors.Join(err, n.unlessFull(n.store.Close()))
	}
	return errors.Join(err, n.engine.Close(), n.admin.close(ctx))
}

// unlessFull drops the error that a write gets from a full disk while the node stops: the next start works without what
// was to be written.
func (n *Node) unlessFull(err error) error {
	if fault.KindOf(err) != fault.OutOfSpace {
		return err
	}
	n.log.Warn("the disk is full: the next start recovers as after a crash", "error", err)
	return nil
}

// Endpoint is the URL of the API for NoSQL, https if it has TLS; "" when it is off.
func (n *Node) Endpoint() string {
	if n.nosql == nil {
		return ""
	}
	return n.nosql.url(n.nosql.scheme)
}

// ComputeEndpoint is the URL of the second address of the API for NoSQL, "" when there is none.
func (n *Node) ComputeEndpoint() string {
	if n.compute == nil {
		return ""
	}
	return n.compute.url(n.compute.scheme)
}

// PlainEndpoint is the http URL of the API for NoSQL if that answers both https and http, else "".
func (n *Node) PlainEndpoint() string {
	if n.certs.authority == nil {
		return ""
	}
	return n.nosql.url("http")
}

// AdminURL is the URL of the admin API, "" when it is off.
func (n *Node) AdminURL() string { return n.admin.url("http") }

// Exposed returns the addresses at which other machines may reach each API, "" for an API that they cannot reach.
func (n *Node) Exposed() (nosql, mongo, admin string) {
	if n.nosql.exposed() {
		nosql = n.nosql.address()
	}
	if n.compute.exposed() {
		nosql = strings.TrimSpace(nosql + " " + n.compute.address())
	}
	if n.mongo.exposed() {
		mongo = n.mongo.address()
	}
	if n.admin.exposed() {
		admin = n.admin.address()
	}
	return nosql, mongo, admin
}

// Key is the primary account key in base64. It does not belong in a log: KeyPlace does.
func (n *Node) Key() string { return n.keys.Now().Key(keyring.Primary).Text }

// KeyPlace says where the account key comes from: the path of its file, or a phrase such as "as given".
func (n *Node) KeyPlace() string { return n.account.place }

// CA is the certificate of the authority that the node made, in PEM; nil if it made none.
func (n *Node) CA() []byte { return n.certs.authority }

// CAFile is the path of the file with CA, "" if it is only in memory.
func (n *Node) CAFile() string { return n.caFile }
