package admin

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/mayflydb/mayfly/internal/fault"
)

// A handler answers a request. If it returns an error, it has sent nothing yet, or the error wraps errCut.
type handler func(*admin, http.ResponseWriter, *http.Request) error

// A route is one method of one path below Base.
type route struct {
	method, path string
	run          handler
	summary      string
	needs        need
	body         int64 // the most bytes of the request's body; 0 for smallBody, anySize for no limit
}

// Sizes of request bodies.
const (
	smallBody      = 64 << 10
	definitionBody = 2 << 20
	anySize        = -1 // for what is read as a stream
)

const (
	oneDatabase  = "/databases/{db}"
	oneContainer = "/databases/{db}/containers/{c}"
)

// routes lists every route, sorted by path and method. A route that is missing here does not exist. Each is in a file
// of openapi/paths, too.
var routes = []route{
	{"GET", "/{$}", show((*admin).indexV1), "Lists all routes.", harmless, 0},
	{"GET", "/activity", show((*admin).showActivity), "Returns the figures of the last 15 minutes.", reads, 0},
	{"GET", "/activity/events", (*admin).watchActivity, "Streams figures once a second.", reads, 0},
	{"GET", "/audit", (*admin).showAudit, "Returns the audited changes as JSON lines.", reads, 0},
	{"POST", "/backup", (*admin).takeBackup, "Sends a consistent backup as a tar stream.", writes, backupBody},
	{"POST", "/check", (*admin).startCheck, "Starts a check of everything that is stored.", reads, 0},
	{"GET", "/clock", show((*admin).showClock), "Shows the clock.", harmless, 0},
	{"POST", "/clock/advance", show((*admin).advanceClock), "Moves a virtual clock forward.", moves, 0},
	{"POST", "/clock/set", show((*admin).setClock), "Moves a virtual clock to an instant.", moves, 0},
	{"GET", "/connections", show((*admin).listConnections), "Lists the connections of clients.", reads, 0},
	{"GET", "/databases", show((*admin).listDatabases), "Lists the databases.", harmless, 0},
	{"POST", "/databases", (*admin).createDatabase, "Creates a database.", writes, 0},
	{"DELETE", oneDatabase, (*admin).deleteDatabase, "Deletes a database with all its containers.", writes, 0},
	{"GET", oneDatabase, show((*admin).showDatabase), "Shows a database.", harmless, 0},
	{"GET", oneDatabase + "/containers", show((*admin).listContainers),
		"Lists the containers with their sizes.", harmless, 0},
	{"POST", oneDatabase + "/containers", (*admin).createContainer,
		"Creates a container of either dialect.", writes, definitionBody},
	{"DELETE", oneContainer, (*admin).deleteContainer, "Deletes a container.", writes, 0},
	{"GET", oneContainer, show((*admin).showContainer),
		"Shows the definition and the size of a container.", harmless, 0},
	{"PUT", oneContainer, (*admin).replaceContainer,
		"Changes the definition of a container.", writes, definitionBody},
	{"GET", oneContainer + "/expiring", (*admin).listExpiring,
		"Returns a page of the items that end in a span of time.", reads, 0},
	{"GET", oneContainer + "/export", (*admin).exportItems, "Sends all items as JSON lines.", reads, 0},
	{"GET", oneContainer + "/forecast", (*admin).forecast, "Counts the expirations ahead.", reads, 0},
	{"POST", oneContainer + "/import", (*admin).importItems, "Writes items from JSON lines.", writes, anySize},
	{"GET", oneContainer + "/items", (*admin).listItems, "Returns a page of items.", reads, 0},
	{"POST", oneContainer + "/items", (*admin).createItem, "Creates or upserts an item.", writes, itemBody},
	{"DELETE", oneContainer + "/items/{id}", (*admin).deleteItem, "Deletes an item.", writes, 0},
	{"GET", oneContainer + "/items/{id}", (*admin).showItem, "Returns an item.", reads, 0},
	{"PUT", oneContainer + "/items/{id}", (*admin).replaceItem, "Replaces an item.", writes, itemBody},
	{"GET", oneContainer + "/lifetime", show((*admin).showLifetime),
		"Shows the policy of a container.", harmless, 0},
	{"PUT", oneContainer + "/lifetime", (*admin).setLifetime,
		"Changes the policy, and says what that has ended.", writes, 0},
	{"GET", oneContainer + "/lifetime/explain", (*admin).explainLifetime,
		"Says when an item ends and why, or why it does not.", reads, 0},
	{"POST", oneContainer + "/lifetime/preview", (*admin).previewLifetime,
		"Counts what a policy would end.", reads, 0},
	{"POST", oneContainer + "/query", (*admin).queryItems,
		"Returns a page of a query, in SQL or as MongoDB's find or pipeline.", reads, queryBody},
	{"GET", oneContainer + "/ranges", show((*admin).listRanges),
		"Lists the ranges of a container.", reads, 0},
	{"POST", oneContainer + "/ranges/{id}/split", (*admin).splitRange, "Splits a range in two.", writes, 0},
	{"GET", oneContainer + "/throughput", show((*admin).showThroughput),
		"Shows the throughput of a container.", harmless, 0},
	{"PUT", oneContainer + "/throughput", (*admin).setThroughput,
		"Changes the throughput of a container.", writes, 0},
	{"GET", oneDatabase + "/forecast", (*admin).forecast, "Counts the expirations ahead.", reads, 0},
	{"GET", "/endpoints", show((*admin).showEndpoints),
		"Says where the APIs are, as the sender reaches them.", harmless, 0},
	{"GET", "/forecast", (*admin).forecast, "Counts the expirations ahead.", reads, 0},
	{"GET", "/keys", (*admin).listKeys, "Lists the account keys, without their secrets.", reads, 0},
	{"POST", "/keys/{name}/rotate", (*admin).rotateKey, "Replaces an account key.", writes, 0},
	{"GET", "/openapi.yaml", (*admin).showOpenAPI, "Returns the OpenAPI document of this API.", harmless, 0},
	{"GET", "/operations", show((*admin).listOperations), "Lists long work, newest first.", reads, 0},
	{"GET", "/operations/events", (*admin).watchOperations, "Streams the progress of all operations.", reads, 0},
	{"DELETE", "/operations/{id}", (*admin).endOperation,
		"Cancels an operation, or forgets one that has ended.", writes, 0},
	{"GET", "/operations/{id}", show((*admin).showOperation), "Shows an operation.", reads, 0},
	{"GET", "/operations/{id}/events", (*admin).watchOperations,
		"Streams the progress of an operation.", reads, 0},
	{"GET", "/reclaim", show((*admin).showReclaim), "Shows the reaper's figures.", harmless, 0},
	{"POST", "/reclaim", show((*admin).reclaimNow),
		"Reclaims all expired items, and answers when that is done.", moves, 0},
	{"POST", "/reclaim/pause", show((*admin).pauseReclaim), "Pauses reclaiming.", moves, 0},
	{"POST", "/reclaim/resume", show((*admin).resumeReclaim), "Resumes reclaiming.", moves, 0},
	{"DELETE", "/session", (*admin).endSession, "Signs a browser out.", anyone, 0},
	{"GET", "/session", show((*admin).showSession), "Says what the sender may do.", anyone, 0},
	{"POST", "/session", (*admin).beginSession, "Signs a browser in, with a cookie.", anyone, 0},
	{"GET", "/slow", show((*admin).showSlow), "Lists the newest slow requests.", reads, 0},
	{"PUT", "/slow", show((*admin).setSlow), "Sets which requests are slow.", writes, 0},
	{"GET", "/snapshots", (*admin).listSnapshots, "Lists the snapshots.", reads, 0},
	{"POST", "/snapshots", (*admin).saveSnapshot, "Saves a snapshot of all data.", writes, 0},
	{"DELETE", "/snapshots/{name}", (*admin).deleteSnapshot, "Deletes a snapshot.", writes, 0},
	{"POST", "/snapshots/{name}/load", (*admin).loadSnapshot, "Replaces all data by a snapshot's.", writes, 0},
	{"GET", "/version", show((*admin).showVersion), "Shows mayfly's version.", harmless, 0},
}

// show turns f into a handler that answers 200 with the result of f as JSON.
func show(f func(*admin, *http.Request) (any, error)) handler {
	return func(a *admin, w http.ResponseWriter, r *http.Request) error {
		body, err := f(a, r)
		if err == nil {
			a.write(w, http.StatusOK, body)
		}
		return err
	}
}

// serve checks the sender and the size of a request before the route answers it.
func (a *admin) serve(rt route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, err := a.permit(r, rt.needs)
		if err == nil {
			r = r.WithContext(ctx)
			if rt.body != anySize {
				r.Body = http.MaxBytesReader(w, r.Body, cmp.Or(rt.body, smallBody))
			}
			err = rt.run(a, w, r)
		}
		if err != nil {
			a.refuseV1(w, r, err)
		}
	}
}

// isV1 reports whether a request is for a path under Base.
func isV1(r *http.Request) bool { return r.URL.Path == Base || strings.HasPrefix(r.URL.Path, Base+"/") }

// indexV1 lists all routes.
func (a *admin) indexV1(*http.Request) (any, error) {
	type entry struct {
		Method  string `json:"method"`
		Path    string `json:"path"`
		Summary string `json:"summary"`
	}
	var list struct {
		Version string  `json:"version"`
		Routes  []entry `json:"routes"`
	}
	list.Version = a.Version
	for _, rt := range a.routes {
		list.Routes = append(list.Routes, entry{rt.method, Base + strings.TrimSuffix(rt.path, "{$}"), rt.summary})
	}
	return list, nil
}

func (a *admin) showVersion(*http.Request) (any, error) {
	return struct {
		Version string `json:"version"`
	}{a.Version}, nil
}

// noRouteV1 answers requests without a route: the path does not exist, or not with this method.
func (a *admin) noRouteV1(w http.ResponseWriter, r *http.Request) {
	if _, err := a.permit(r, harmless); err != nil {
		a.refuseV1(w, r, err)
		return
	}
	var allowed []string
	for _, method := range []string{http.MethodDelete, http.MethodGet, http.MethodPost, http.MethodPut} {
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := a.v1.Handler(other); pattern != Base+"/" && !slices.Contains(allowed, method) {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) == 0 {
		a.refuseV1(w, r,
			fault.New(fault.NotFound, "the path %s does not exist: GET %s/ lists all paths", r.URL.Path, Base))
		return
	}
	list := strings.Join(allowed, ", ")
	w.Header().Set("Allow", list)
	a.refuseV1(w, r, fault.New(fault.MethodNotAllowed, "%s supports %s, not %s", r.URL.Path, list, r.Method))
}
