// Package rest is the door for Azure Cosmos DB for NoSQL: the gateway protocol
// that the official SDKs speak over HTTP. It checks credentials, finds what a path
// names, reads the clock once per request, and turns faults into the dialect's
// statuses, headers and JSON bodies. One table lists every route, and each resource has a
// file of its own. It never decides whether a document exists: the store does.
package rest

import (
	"context"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/hint"
	"github.com/mayflydb/mayfly/internal/store"
)

// Options are what a Door is made of.
type Options struct {
	Catalog *catalog.Catalog
	Store   *store.Store
	Clock   clock.Clock
	// Budget is the memory and the processors that requests share; nil has no limits.
	Budget *budget.Budget

	// Key is the account's master key in base64.
	Key string

	// Region is the name of the account's only region; empty is "South Central US".
	Region string

	// Advertise is the URL that clients are told to send everything to, such
	// as https://localhost:8081/. Empty derives it from each request's Host.
	Advertise string

	// Consistency is the account's default level; empty is "Session". All levels
	// behave alike, since one process serves every request.
	Consistency string

	// Strict answers queries over several partitions that need merging as the service's
	// gateway does: with an error that holds the plan, for the client to merge.
	Strict bool

	// Routing makes the door treat ids in paths as the older of the service's two
	// gateways does, see routable.
	Routing bool

	// Origins are the web origins, such as https://app.example, whose pages may use the API
	// from a browser; AnyOrigin among them is all. Empty is none.
	Origins []string

	// AllowHost says whether requests may call the API by the name in their Host; nil lets all in.
	AllowHost func(host string) bool

	// Meter counts requests; nil counts nothing.
	Meter Meter

	// Slow is from which time on a request is logged with its plan; 0 logs none.
	Slow time.Duration

	// Logger gets one line a request at debug, those of slow requests at info, and every
	// internal error; nil discards.
	Logger *slog.Logger

	// Hints hears of items and definitions of containers that look like mistakes; nil hears nothing.
	Hints *hint.Teller

	// CA gives the certificate authority in PEM for /_mayfly/ca.pem; nil answers 404 there.
	// Certificate gives the server's in its place to the clients of the emulators; nil if there is none.
	CA, Certificate func() []byte

	// Public says that everybody knows the key: the account can be read without credentials,
	// as with the emulator for Linux, by which containers for tests see that it answers.
	Public bool

	// Front says what the page for browsers tells; nil is nothing but the endpoint.
	Front func() Front

	// Probes answers /alive, /ready and /status; nil leaves them out.
	Probes http.Handler
}

// A Door answers the gateway protocol. It is safe for concurrent use. Mount it
// on a server as it is: a ServeMux would alter paths that ids may hold.
type Door struct {
	catalog     *catalog.Catalog
	store       *store.Store
	clock       clock.Clock
	keys        keyring
	region      string
	advertise   string
	consistency string
	log         *slog.Logger
	hints       *hint.Teller
	ca          func() []byte
	certificate func() []byte
	public      bool
	front       func() Front
	probes      http.Handler
	allowHost   func(host string) bool
	strict      bool
	routing     bool
	sharing     *sharing
	scripts     programs
	turns       turns // of scripts
	meter       Meter
	accounts    accounts
	budget      *budget.Budget
	slow        time.Duration
}

// The levels of consistency, strongest first.
var levels = []string{"Strong", "BoundedStaleness", "Session", "ConsistentPrefix", "Eventual"}

// New makes a Door. It fails when the key is not base64, the level is not
// one of the service's, or the advertised URL is none.
func New(o Options) (*Door, error) {
	key, err := base64.StdEncoding.DecodeString(o.Key)
	if err != nil || len(key) == 0 {
		return nil, fmt.Errorf("the account key is not base64")
	}
	d := &Door{
		catalog: o.Catalog, store: o.Store, clock: o.Clock, keys: newKeyring(o.Key, key),
		meter: o.Meter, slow: o.Slow, budget: o.Budget, hints: o.Hints,
		ca: o.CA, certificate: o.Certificate, public: o.Public, front: o.Front, probes: o.Probes, allowHost: o.AllowHost,
		region: o.Region, consistency: o.Consistency, log: o.Logger, strict: o.Strict, routing: o.Routing, sharing: newSharing(o.Origins),
	}
	if d.region == "" {
		d.region = "South Central US"
	}
	if d.log == nil {
		d.log = slog.New(slog.DiscardHandler)
	}
	if d.meter == nil {
		d.meter = unmetered{}
	}
	d.accounts = openAccounts(d.meter)
	if d.consistency, err = level(d.consistency); err != nil {
		return nil, err
	}
	if d.advertise, err = endpoint(o.Advertise); err != nil {
		return nil, err
	}
	return d, nil
}

func level(text string) (string, error) {
	if text == "" {
		return "Session", nil
	}
	for _, l := range levels {
		if strings.EqualFold(l, text) {
			return l, nil
		}
	}
	return "", fmt.Errorf("the consistency level %q is none of %s", text, strings.Join(levels, ", "))
}

func endpoint(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", fmt.Errorf("the advertised endpoint %q is no http or https URL", text)
	}
	return strings.TrimSuffix(text, "/") + "/", nil
}

// ServeHTTP answers one request. A panic in a handler becomes a 500.
func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	sent := r.URL
	r = collapse(r)
	if own := d.own(r); own != nil && d.admits(r) {
		own(w, r)
		return
	}
	e := newExchange(d, w, r)
	e.sent = sent
	if d.sharing != nil {
		e.shareOrigins(d.sharing)
	}
	defer e.release()
	status, err := e.answer()
	if err != nil {
		status = e.fail(err)
	}
	e.send(status)
	took := e.watch.Elapsed()
	d.accounts.of(e)(status, took)
	if d.slow > 0 && took >= d.slow {
		e.logSlow(status, took)
	}
	if d.log.Enabled(context.Background(), slog.LevelDebug) {
		e.logRequest(status, took, err)
	}
}

// admits reports whether the door goes by the name that a request calls it.
func (d *Door) admits(r *http.Request) bool { return d.allowHost == nil || d.allowHost(r.Host) }

// answer finds the route, checks the credentials and runs the handler.
func (e *exchange) answer() (status int, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked(p)
		}
	}()
	if !e.door.admits(e.Request) {
		return 0, refused(fault.Forbidden, "Requests by the name '%s' are refused, since it is none that this mayfly knows to be its own. "+
			"Call it by a name or an address of its machine, or add the name to --allow-host.", clip(e.Host))
	}
	if e.preflight() {
		return answerPreflight(e)
	}
	if err := e.find(); err != nil {
		return 0, err
	}
	if e.door.routing && e.aboutItem() {
		if err := routable(e.name); err != nil {
			return 0, err
		}
	}
	if e.door.public && e.path.count == 0 && e.given(hAuthorization) == "" {
		return e.route.run(e)
	}
	if e.grant, err = e.door.authenticate(e); err != nil {
		return 0, err
	}
	if err = e.lookUp(); err != nil {
		err = e.grant.hide(err)
	} else {
		err = e.grant.admit(e)
	}
	if err != nil {
		e.database, e.container = nil, nil // the answer's headers tell nothing of them
		return 0, err
	}
	if err := e.checkLevel(); err != nil {
		return 0, err
	}
	if err := e.checkWords(); err != nil {
		return 0, err
	}
	if e.Method == http.MethodPost && e.isQuery() {
		return e.postQuery()
	}
	return e.route.run(e)
}
