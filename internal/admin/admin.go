// Package admin is the API for operators, as JSON over HTTP on an address of its own: databases, containers, items,
// queries and lifetimes, the clock and reclaiming, long work with its progress, health, metrics and profiles. It has no
// way of its own to documents: it reads and changes them through the two APIs, so that an item that has expired for
// them has expired here. docs/decisions/0028-the-admin-api.md says why, and who may send what.
package admin

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/clock"
)

// Base is the path under which version 1 of the API is.
const Base = "/_mayfly/v1"

// Options are the parts of a node that the API shows and controls.
type Options struct {
	// Version is mayfly's version.
	Version string

	// NotReady lists the reasons why a load balancer should not send requests at present. An empty
	// list means that the node is ready.
	NotReady func() []string

	Clock clock.Clock
	// Move moves the clock to the instant to(now), and returns the new time once that is durable. It
	// fails with fault.Conflict if the clock is real, and with fault.Invalid if the instant is in the
	// past. Virtual says whether it can succeed.
	Move    func(ctx context.Context, to func(now time.Time) time.Time) (time.Time, error)
	Virtual bool
	// StandsStill reports whether a real clock waits for the machine's time; nil means never.
	StandsStill func() bool

	Reaper Reaper

	// Catalog has the names and definitions of databases and containers. It is read only.
	Catalog func() *catalog.Catalog
	// Usage counts the living documents of a container, and their bytes.
	Usage func(ctx context.Context, c *catalog.Container) (documents, bytes uint64, err error)
	// NoSQL answers requests to the API for NoSQL as the account.
	NoSQL http.RoundTripper
	// Mongo runs commands of the API for MongoDB as the account, $db included. Both are BSON; the answer may be an
	// error of the command.
	Mongo func(ctx context.Context, command []byte) (answer []byte, err error)
	// MongoETag is the ETag of a living document; id is a BSON document with its _id. MongoGuard returns a context in
	// which Mongo writes a document only if it has an ETag, "" for any, and a function that says after the write which
	// ETag it has now, or whether it was refused.
	MongoETag  func(ctx context.Context, c *catalog.Container, id []byte) (string, error)
	MongoGuard func(ctx context.Context, ifMatch string) (context.Context, func() (etag string, refused bool))

	// ItemNumber is the number in the store of the item with this _rid; false if no item of the container can have it.
	ItemNumber func(c *catalog.Container, rid string) (uint64, bool)

	// Metrics serves /metrics; nil leaves the path out.
	Metrics http.Handler
	// Page serves browsers: the root, if they ask for HTML, and the paths below /_explorer/. Nil leaves both out.
	Page http.Handler

	// Allowed says what the sender of a key may do: `Authorization: Bearer <key>`, or the cookie of a session that
	// began with it. It compares in constant time. A key that has been replaced allows nothing. Nil asks nobody for a
	// key.
	Allowed func(key string) (read, write bool)
	// Local means that only this machine reaches the address: then nobody needs a key for what is harmless.
	Local bool
	// Public means that everybody knows the key: then a local address asks for none at all.
	Public bool
	// Caller, if not nil, adds the sender of a request to its context. key is "" if none was needed.
	Caller func(ctx context.Context, r *http.Request, key string) context.Context

	// AllowHost reports whether a request with this Host is allowed; nil allows all.
	AllowHost func(host string) bool

	// Logger receives failures; nil discards.
	Logger *slog.Logger

	Attachments
}

// A Reaper is the part of the reaper that the API controls.
type Reaper interface {
	// ReclaimNow returns when the space of every expired document is free.
	ReclaimNow(ctx context.Context) error
	Pause(ctx context.Context) error
	Resume(ctx context.Context) error
	Stats(ctx context.Context) (ReclaimStats, error)
}

// ReclaimStats are the reaper's figures.
type ReclaimStats struct {
	Documents  int64 `json:"reclaimedDocuments"` // since the start
	Bytes      int64 `json:"reclaimedBytes"`     // of their bodies, since the start
	Entries    int64 `json:"reclaimedEntries"`   // index entries, since the start
	Backlog    int64 `json:"backlog"`            // documents that are expired and not yet reclaimed; an estimate
	LagSeconds int64 `json:"lagSeconds"`         // how long ago the oldest of them has expired
	Paused     bool  `json:"paused"`
}

// An API answers requests until it is closed.
type API struct {
	admin   *admin
	handler http.Handler
}

type admin struct {
	Options
	operations *Operations
	sessions   sessions
	guesses    guesses
	v1         *http.ServeMux
	routes     []route // what v1 serves
	opened     time.Time
}

func newAdmin(o Options) *admin {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &admin{Options: o, opened: clock.Wall()}
}

// New returns the whole API.
func New(o Options) *API {
	a := newAdmin(o)
	a.operations = newOperations(a.Logger)
	a.v1 = http.NewServeMux()
	a.routes = routes
	for _, rt := range a.routes {
		a.v1.HandleFunc(rt.method+" "+Base+rt.path, a.serve(rt))
	}
	mux := http.NewServeMux()
	a.v1.HandleFunc(Base+"/", a.noRouteV1)
	mux.Handle(Base+"/", a.v1)
	mux.HandleFunc("GET /{$}", a.root)
	if a.Page != nil {
		mux.Handle("GET "+pageBase, a.Page)
	}
	mux.HandleFunc("/", a.aliased(a.noRoute))
	for pattern, handler := range a.aliases() {
		mux.HandleFunc(pattern, a.aliased(handler))
	}
	return &API{a, a.guard(mux)}
}

// ServeHTTP answers a request.
func (p *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.handler.ServeHTTP(w, r) }

// Operations is the long work that the API has begun.
func (p *API) Operations() *Operations { return p.admin.operations }

// Close cancels all operations, waits for them until ctx ends, and ends the streams of events.
func (p *API) Close(ctx context.Context) { p.admin.operations.close(ctx) }
