// Package rest is the API for NoSQL of Azure Cosmos DB: the gateway protocol that the official SDKs speak over HTTP.
// It checks credentials, resolves paths, reads the clock once per request, and converts faults to the service's
// statuses, headers and JSON bodies. One table lists every route, and each type of resource has its own file. The
// package never decides whether a document exists or has expired: the store does.
package rest

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/hint"
	"github.com/mayflydb/mayfly/internal/keyring"
	"github.com/mayflydb/mayfly/internal/slow"
	"github.com/mayflydb/mayfly/internal/store"
	"github.com/mayflydb/mayfly/internal/trace"
)

// Options configure an API.
type Options struct {
	Catalog *catalog.Catalog
	Store   *store.Store
	Clock   clock.Clock
	// Budget is the memory and the processors that requests share. If it is nil, there is no limit.
	Budget *budget.Budget

	// Keys are the account keys.
	Keys *keyring.Ring

	// Region is the name of the account's only region; empty is "South Central US".
	Region string

	// Advertise is the URL that clients should send every request to, such as https://localhost:8081/. If it is
	// empty, the URL is derived from each request's Host.
	Advertise string

	// Consistency is the account's default level; empty is "Session". All levels behave the same, because one process
	// serves every request.
	Consistency string

	// Strict answers queries over several partitions that need merging as the service's gateway does: with an error
	// that holds the query plan, for the client to merge.
	Strict bool

	// Partitions is how many ranges a new container has if its request does not say; 0 is 1.
	Partitions int

	// Routing treats ids in paths like the older of the service's two gateways, see routable.
	Routing bool

	// Origins are the web origins, such as https://app.example, whose pages may use the API from a browser. AnyOrigin
	// allows all; an empty list allows none.
	Origins []string

	// AllowHost reports whether requests may use the host name in their Host header. If it is nil, all names are
	// allowed.
	AllowHost func(host string) bool

	// Tracer makes a span of each request; nil makes none.
	Tracer trace.Tracer

	// Meter counts requests; nil counts nothing.
	Meter Meter

	// Slow says from which duration on requests are logged with their plan, and keeps them. If it is nil, none are.
	Slow *slow.Log

	// Logger gets one line per request at level debug, slow requests at info, and every internal error. If it is nil,
	// nothing is logged.
	Logger *slog.Logger

	// Hints receives hints about items and container definitions that look like mistakes. It may be nil.
	Hints *hint.Teller

	// CA returns the certificate authority in PEM, for /_mayfly/ca.pem. If it is nil, that path answers 404.
	// Certificate returns the server's own certificate for clients of the emulators, if there is no CA. It may be
	// nil.
	CA, Certificate func() []byte

	// Public says that the primary key is well known: the account can be read without credentials, as in the Linux
	// emulator. Test containers use that request to see that the server is up.
	Public bool

	// PageInfo returns what the page for browsers shows. If it is nil, the page shows only the endpoint.
	PageInfo func() PageInfo

	// Probes answers /alive, /ready and /status. If it is nil, these paths do not exist.
	Probes http.Handler
}

// An API is the HTTP handler of the gateway protocol. It is safe for concurrent use. Do not mount it on a ServeMux,
// which would clean paths that contain ids.
type API struct {
	catalog         *catalog.Catalog
	store           *store.Store
	clock           clock.Clock
	verifier        *verifier
	region          string
	advertise       string
	consistency     string
	log             *slog.Logger
	hints           *hint.Teller
	ca              func() []byte
	certificate     func() []byte
	public          bool
	pageInfo        func() PageInfo
	probes          http.Handler
	allowHost       func(host string) bool
	strict          bool
	partitions      int
	routing         bool
	corsPolicy      *corsPolicy
	scripts         programCache
	parsed          parsedQueries
	planned         plannedQueries
	partitionLocks  partitionLocks // of scripts on the same partition
	meter           Meter
	tracer          trace.Tracer
	requestCounters requestCounters
	budget          *budget.Budget
	slow            *slow.Log
	instance        string // another one each time that a process starts
}

// Consistency levels, strongest first.
var levels = []string{"Strong", "BoundedStaleness", "Session", "ConsistentPrefix", "Eventual"}

// New creates an API. It fails if the consistency level is unknown, the advertised URL is invalid, or a container
// cannot have that many ranges.
func New(o Options) (_ *API, err error) {
	a := &API{
		catalog: o.Catalog, store: o.Store, clock: o.Clock, verifier: newVerifier(o.Keys),
		meter: o.Meter, tracer: o.Tracer, slow: o.Slow, budget: o.Budget, hints: o.Hints,
		ca: o.CA, certificate: o.Certificate, public: o.Public, pageInfo: o.PageInfo, probes: o.Probes,
		allowHost: o.AllowHost,
		region:    o.Region, consistency: o.Consistency, log: o.Logger, strict: o.Strict, routing: o.Routing,
		partitions: max(o.Partitions, 1),
		corsPolicy: newCORSPolicy(o.Origins), instance: rand.Text(),
	}
	if a.region == "" {
		a.region = "South Central US"
	}
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	if a.slow == nil {
		a.slow = slow.New(0)
	}
	if a.meter == nil {
		a.meter = noMeter{}
	}
	a.requestCounters = newRequestCounters(a.meter)
	if o.Partitions < 0 || o.Partitions > catalog.MaxPartitions {
		return nil, fmt.Errorf("a container has 1 to %d partitions, not %d", catalog.MaxPartitions, o.Partitions)
	}
	if a.consistency, err = level(a.consistency); err != nil {
		return nil, err
	}
	if a.advertise, err = endpoint(o.Advertise); err != nil {
		return nil, err
	}
	return a, nil
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
	return "", fmt.Errorf("the consistency level %q is not one of %s", text, strings.Join(levels, ", "))
}

func endpoint(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", fmt.Errorf("the advertised endpoint %q is not an http or https URL", text)
	}
	return strings.TrimSuffix(text, "/") + "/", nil
}

// ServeHTTP answers one request. A panic in a handler becomes status 500.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	sent := r.URL
	r = collapseSlashes(r)
	if own := a.ownHandler(r); own != nil && a.allowsHost(r) {
		own(w, r)
		return
	}
	ctx, span := trace.Serve(a.tracer, r.Context(), r.Method, r.Header)
	if span.On() {
		r = r.WithContext(ctx)
	}
	e := newExchange(a, w, r)
	e.sent = sent
	if a.corsPolicy != nil {
		e.sendCORSHeaders(a.corsPolicy)
	}
	defer e.release()
	status, err := e.answer()
	if err != nil {
		status = e.fail(err)
	}
	e.send(status)
	e.endSpan(span, status)
	took := e.watch.Elapsed()
	a.requestCounters.of(e)(status, took)
	if a.slow.NoSQL.Slow(took) {
		e.logSlow(status, took)
	}
	if a.log.Enabled(context.Background(), slog.LevelDebug) {
		e.logRequest(status, took, err)
	}
}

// allowsHost reports whether the API accepts the host name of a request. See Options.AllowHost.
func (a *API) allowsHost(r *http.Request) bool { return a.allowHost == nil || a.allowHost(r.Host) }

// answer finds the route, checks the credentials and runs the handler.
func (e *exchange) answer() (status int, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked(p)
		}
	}()
	if !e.api.allowsHost(e.Request) {
		return 0, gatewayFault(fault.Forbidden, "The host name '%s' is not one of this server's names. "+
			"Use a name or an address of its machine, or add the name to --allow-host.", clip(e.Host))
	}
	if e.preflight() {
		return answerPreflight(e)
	}
	if err := e.find(); err != nil {
		return 0, err
	}
	if e.api.routing && e.aboutItem() {
		if err := routable(e.name); err != nil {
			return 0, err
		}
	}
	if e.api.public && e.path.count == 0 && e.given(hAuthorization) == "" {
		return e.route.run(e)
	}
	if err := e.refresh(); err != nil {
		return 0, err
	}
	if e.grant, err = e.api.authenticate(e); err != nil {
		return 0, err
	}
	if err = e.lookUp(); err != nil {
		err = e.grant.hideMissing(err)
	} else {
		err = e.grant.authorize(e)
	}
	if err != nil {
		e.database, e.container = nil, nil // so that headers of the answer do not reveal them
		return 0, err
	}
	if err := e.checkLevel(); err != nil {
		return 0, err
	}
	if err := e.checkEnumerations(); err != nil {
		return 0, err
	}
	if e.Method == http.MethodPost && e.isQuery() {
		return e.postQuery()
	}
	return e.route.run(e)
}
