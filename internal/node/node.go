// Package node is one running mayfly: an engine, a clock, the store, the
// reaper and the doors, started and stopped together. It owns what belongs to the whole:
// account key, certificates, listening, and the clock's mark. Several
// nodes can live in one process. It chooses no engine and reads no settings.
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
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/cosmos/rest"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/hint"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/mongo/command"
	"github.com/mayflydb/mayfly/internal/reaper"
	"github.com/mayflydb/mayfly/internal/store"
)

// Options say what to run.
type Options struct {
	// Engine holds the data. The node closes it, also when Start fails.
	Engine kv.Engine

	// Dir keeps the account key and certificates that the node makes; empty
	// keeps certificates in memory.
	Dir string

	// NoSQL and Admin are the addresses of the doors, host:port; empty switches a door off.
	NoSQL, Admin string

	// Compute is the address of a second NoSQL door, which behaves as the compute
	// gateway of the service does about ids in paths. When it is there, the first one behaves
	// as the routing gateway does, else as the compute gateway.
	Compute string

	// Strict leaves queries over several partitions to the client, see rest.Options.
	Strict bool

	// Mongo is the MongoDB door.
	Mongo Mongo

	// Version is mayfly's, for those who ask.
	Version string

	// TLS of the NoSQL doors and of the MongoDB door.
	TLS TLS

	// Key is the account key in base64. Empty takes the well-known key on loopback
	// addresses, else a key kept in Dir. AllowWellKnownKey takes it everywhere.
	Key               string
	AllowWellKnownKey bool

	// Emulator says that this node is for development: where the account key is the
	// well-known one, MongoDB clients need no password on any address, unless Mongo.Auth says
	// otherwise, and Mongo.Auth may be off on every address.
	Emulator bool

	// Virtual makes a clock that only Move moves. It starts at VirtualStart, but
	// never before the last instant that the data has seen; without VirtualStart at
	// that instant, and with no data at the present.
	Virtual      bool
	VirtualStart time.Time

	// Region, Advertise and Consistency are account properties, see rest.Options.
	Region, Advertise, Consistency string

	// Origins are the web origins whose pages may use the NoSQL doors, see rest.Options.
	Origins []string

	// AllowHosts are further names, *.names for all below one, or AnyHost, by which requests over HTTP may call this node. Where
	// the account key is well known, and on an admin address that asks for none, requests by a name that a stranger could
	// have are refused; with AllowHosts, they are refused with every key.
	AllowHosts []string

	// ReclaimRate is how many documents the reaper frees per second at most; 0 adapts.
	ReclaimRate int

	// Memory is how many bytes the node may take beside its engine, garbage included; 0 for no limit. Half of it
	// is for requests: memory that they have let go counts until the garbage collector has been there.
	Memory int64

	// Meter makes metrics for the admin address; nil makes none. It is for this node alone.
	Meter Meter

	// Slow is from which time on requests are logged with their plan; 0 logs none.
	Slow time.Duration

	// Logger may be nil.
	Logger *slog.Logger
}

// TLS says how a door speaks TLS. The zero value makes a certificate and
// answers plain HTTP on the same port too.
type TLS struct {
	Off       bool
	Cert, Key string // PEM files; TLS only when set
}

// Check fails with fault.Invalid when Cert and Key name files that cannot be read, or do not go together.
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
		return tls.Certificate{}, fault.Wrap(fault.Invalid, err, "the certificate cannot be read: give two files, CERT.pem,KEY.pem")
	}
	key, err := os.ReadFile(t.Key)
	if err != nil {
		return tls.Certificate{}, fault.Wrap(fault.Invalid, err, "the certificate's key cannot be read: give two files, CERT.pem,KEY.pem")
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return tls.Certificate{}, fault.Wrap(fault.Invalid, err, "%s and %s are not a certificate and its key, both in PEM", t.Cert, t.Key)
	}
	return pair, nil
}

// A Node is running. Its methods are safe for concurrent use.
type Node struct {
	engine  kv.Engine
	catalog *catalog.Catalog
	store   *store.Store
	reaper  *reaper.Reaper
	log     *slog.Logger

	clock     clock.Clock
	virtual   *clock.Virtual // nil when the clock is real
	real      *clock.Real    // nil when the clock is virtual
	moving    sync.Mutex     // held while Move moves it
	stopMarks func()
	answered  atomic.Uint64 // requests
	reaping   bool

	account account
	certs   certificates
	caFile  string
	nosql   *door
	compute *door
	admin   *door
	mongo   *door

	hints   *hint.Teller
	budget  *budget.Budget
	version string

	mongoServer *command.Server
	askMongo    bool // MongoDB clients who they are
	emulator    bool

	meter    Meter // nil for none
	surveys  *surveys
	operator atomic.Pointer[http.Handler] // everything on the admin address, once the node runs

	phase    atomic.Int32
	closing  sync.Once
	closeErr error
}

// Start opens everything and returns when requests are answered. It fails
// with fault.Invalid when the options cannot be kept.
func Start(ctx context.Context, o Options) (_ *Node, err error) {
	n := &Node{engine: o.Engine, log: o.Logger, meter: o.Meter, version: o.Version}
	if n.log == nil {
		n.log = slog.New(slog.DiscardHandler)
	}
	n.hints = hint.NewTeller(n.log, n.hinted)
	n.budget = budget.New(budget.Options{Memory: o.Memory / 2})
	defer func() {
		if err != nil {
			err = errors.Join(err, n.close(ctx))
		}
	}()
	if err := o.check(); err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context, Options) error{
		n.listen, n.openAdmin, n.openData, n.startClock, n.keepLog, n.prepareTLS, n.openDoors,
	} {
		if err := step(ctx, o); err != nil {
			return nil, err
		}
	}
	n.reaper.Start()
	n.reaping = true
	n.phase.Store(running)
	return n, nil
}

// check looks at what needs nothing opened, and makes the folder's path good
// wherever it is shown.
func (o *Options) check() (err error) {
	if o.Virtual && !o.VirtualStart.IsZero() {
		if err := clock.InRange(o.VirtualStart); err != nil {
			return fault.Wrap(fault.Invalid, err, "no clock starts at %s", o.VirtualStart.Format(time.RFC3339))
		}
	}
	if err := o.TLS.Check(); err != nil {
		return err
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

// listen takes the ports, so that a port in use is found out before anything
// is written, and the key, which depends on them.
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
	n.emulator = o.Emulator
	exposed := n.mongo.exposed() || n.nosql.exposed() || n.compute.exposed() || n.admin.exposed()
	if n.account, err = chooseKey(o.Key, exposed, o.AllowWellKnownKey, o.Dir); err != nil {
		return err
	}
	if n.mongo != nil {
		if n.askMongo, err = n.mongoAuth(o); err != nil {
			return err
		}
	}
	n.warn(exposed)
	return nil
}

// warn names what an operator may not know about keys that are in danger.
func (n *Node) warn(exposed bool) {
	if n.account.readable {
		n.log.Warn("other users of this machine can read or change the account key: take that from them with chmod 600", "file", n.account.place)
	}
	if exposed && n.account.wellKnown {
		n.log.Warn("other machines reach this mayfly, and everybody knows its account key")
	}
	if n.mongo.exposed() && !n.askMongo {
		n.log.Warn("other machines reach MongoDB, and it asks nobody for a password", "address", n.mongo.address())
	}
	if n.emulator {
		n.log.Warn("this mayfly is an emulator, for development: do not keep data in it that must stay private")
	}
	if n.admin.exposed() && !n.account.wellKnown {
		n.log.Warn("other machines reach the admin door, which has no TLS: the account key travels in clear", "address", n.admin.address())
	}
}

func (n *Node) openData(ctx context.Context, _ Options) (err error) {
	if n.catalog, err = catalog.Open(ctx, n.engine, conditions); err != nil {
		return fmt.Errorf("open catalog: %w", err)
	}
	if n.store, err = store.Open(ctx, n.engine, n.catalog); err != nil {
		return fmt.Errorf("open store: %w", err)
	}
	return nil
}

func (n *Node) prepareTLS(_ context.Context, o Options) (err error) {
	switch {
	case n.nosql == nil && n.compute == nil && n.mongo == nil || o.TLS.Off:
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
		n.caFile = filepath.Join(o.Dir, tlsFolder, authorityName+".pem")
	}
	n.secure(true)
	return nil
}

// secure makes the doors for documents speak TLS.
func (n *Node) secure(both bool) {
	for _, d := range []*door{n.nosql, n.compute, n.mongo} {
		if d != nil {
			d.secure(n.certs.server, both)
		}
	}
}

func (n *Node) openDoors(_ context.Context, o Options) error {
	n.store.SetClock(func() int64 { return n.clock.Now().Unix() })
	n.reaper = reaper.New(reaper.Options{Store: n.store, Clock: n.clock, Rate: o.ReclaimRate, Logger: n.log})
	n.surveys = newSurveys(func(ctx context.Context) (store.Survey, error) {
		return n.store.Survey(ctx, n.clock.Now().Unix(), surveyEntries)
	})
	for _, d := range []*door{n.nosql, n.compute} {
		if d == nil {
			continue
		}
		handler, err := n.nosqlHandler(o, d)
		if err != nil {
			return err
		}
		d.open(handler, responseTime)
	}
	if err := n.openMongo(o, o.Version); err != nil {
		return err
	}
	if n.admin != nil {
		n.operate(o)
	}
	return nil
}

// observe is told of each request when it is over.
func (n *Node) observe(took time.Duration) {
	n.answered.Add(1)
	n.reaper.Observe(took)
}

// Work tells how many requests have been answered since the start, and how many bytes requests hold at present,
// small ones aside.
func (n *Node) Work() (answered uint64, held int64) { return n.answered.Load(), n.budget.Read().Used }

// EngineMemory is how many bytes the engine holds for tables and caches.
func (n *Node) EngineMemory() uint64 { return n.store.Load().MemoryBytes }

func (n *Node) nosqlHandler(o Options, d *door) (http.Handler, error) {
	options := rest.Options{
		Catalog: n.catalog, Store: n.store, Clock: n.clock, Budget: n.budget, Key: n.account.key,
		Region: o.Region, Advertise: o.Advertise, Consistency: o.Consistency, Logger: n.log, Hints: n.hints,
		Meter: metered{n, apiNoSQL}, Slow: o.Slow,
		Strict: o.Strict, Origins: o.Origins, Routing: d == n.nosql && n.compute != nil,
	}
	if d == n.compute && o.Advertise != "" {
		options.Advertise = samePort(o.Advertise, d.address())
	}
	if n.certs.authority != nil {
		options.CA = n.CA
	} else if len(n.certs.server.Certificate) > 0 {
		options.Certificate = n.certs.chain
	}
	options.PageInfo = n.front
	options.Public, options.Probes = n.account.wellKnown, admin.Probes(n.adminOptions(o))
	options.AllowHost = n.allowHost(o, d, false)
	handler, err := rest.New(options)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "account settings")
	}
	return handler, nil
}

// samePort is the advertised URL with the port of an address: clients of the
// second door stay there.
func samePort(advertised, address string) string {
	u, err := url.Parse(advertised)
	_, port, err2 := net.SplitHostPort(address)
	if err != nil || err2 != nil {
		return ""
	}
	u.Host = net.JoinHostPort(u.Hostname(), port)
	return u.String()
}

// operated is the reaper as the admin door sees it.
type operated struct{ *reaper.Reaper }

// Stats gives the reaper's account of itself.
func (o operated) Stats(ctx context.Context) (admin.ReclaimStats, error) {
	s, err := o.Reaper.Stats(ctx)
	return admin.ReclaimStats{
		Documents: s.Documents, Bytes: s.Bytes, Entries: s.Entries, Backlog: s.Backlog,
		LagSeconds: int64(s.Lag / time.Second), Paused: s.Paused,
	}, err
}

// ReclaimNow frees the space of everything that is expired before it returns.
func (n *Node) ReclaimNow(ctx context.Context) error { return n.reaper.ReclaimNow(ctx) }

// Close stops accepting, lets requests finish until ctx ends, then cuts them
// off, and closes everything, the engine last. A request that does not end even
// then is left behind, with an error. Only the first call does
// something; all return what became of it.
func (n *Node) Close(ctx context.Context) error {
	n.closing.Do(func() { n.closeErr = n.close(ctx) })
	return n.closeErr
}

// close says that the node is not ready before it accepts nothing more, and answers for health until
// everything else is closed: whoever spreads requests over several sees it go.
func (n *Node) close(ctx context.Context) error {
	n.phase.Store(stopping)
	err := errors.Join(n.nosql.close(ctx), n.compute.close(ctx), n.closeMongo(ctx), n.admin.settle(ctx))
	n.surveys.close()
	if n.reaping {
		n.reaper.Stop()
	}
	if n.stopMarks != nil {
		n.stopMarks()
	}
	if n.clock != nil {
		err = errors.Join(err, n.unlessFull(n.saveMark(context.WithoutCancel(ctx), n.clock.Now())))
	}
	if n.store != nil {
		err = errors.Join(err, n.unlessFull(n.store.Close()))
	}
	return errors.Join(err, n.engine.Close(), n.admin.close(ctx))
}

// unlessFull leaves out an error that a full disk gives to what a stop writes down: the next start does without it.
func (n *Node) unlessFull(err error) error {
	if fault.KindOf(err) != fault.OutOfSpace {
		return err
	}
	n.log.Warn("the disk is full: the next start goes on as after a kill", "error", err)
	return nil
}

// Endpoint is the URL of the NoSQL door, the secure one if there is one; ""
// when it is off.
func (n *Node) Endpoint() string {
	if n.nosql == nil {
		return ""
	}
	return n.nosql.url(n.nosql.scheme)
}

// ComputeEndpoint is the URL of the second NoSQL door, "" when it is off.
func (n *Node) ComputeEndpoint() string {
	if n.compute == nil {
		return ""
	}
	return n.compute.url(n.compute.scheme)
}

// PlainEndpoint is the http URL of a NoSQL door that also speaks TLS, else "".
func (n *Node) PlainEndpoint() string {
	if n.certs.authority == nil {
		return ""
	}
	return n.nosql.url("http")
}

// AdminURL is the URL of the admin door, "" when it is off.
func (n *Node) AdminURL() string { return n.admin.url("http") }

// Exposed are the addresses at which other machines may reach the doors, ""
// for a door that they cannot reach.
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

// Key is the account key in base64, and KeyPlace says in words where it comes
// from: a file's path, or a phrase. Only the second belongs in a log.
func (n *Node) Key() string { return n.account.key }

// KeyPlace says in words where the account key comes from, or the path of its file.
func (n *Node) KeyPlace() string { return n.account.place }

// CA is the certificate authority that the node made, in PEM; nil if it made none.
func (n *Node) CA() []byte { return n.certs.authority }

// CAFile is where CA is kept, "" when it is only in memory.
func (n *Node) CAFile() string { return n.caFile }
