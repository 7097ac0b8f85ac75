package admin

import (
	"net/http"
	"strings"

	"github.com/mayflydb/mayfly/internal/fault"
)

// healthPaths are the paths of health checks, which need no credentials.
var healthPaths = map[string]func(*admin, http.ResponseWriter, *http.Request){
	"/healthz": (*admin).health,
	"/readyz":  (*admin).ready,
	// The paths that the Linux emulator of Cosmos DB has.
	"/alive":  (*admin).health,
	"/ready":  (*admin).ready,
	"/status": (*admin).ready,
}

// IsHealth reports whether a request is a health check.
func IsHealth(r *http.Request) bool { return healthPaths[r.URL.Path] != nil }

// Health returns a handler that answers health checks as the handler of New does. Of Options it uses only NotReady,
// AllowHost, Logger and what the guard uses, so that it can answer while a mayfly starts and stops. For every other
// path it answers with the reasons why the node is not ready.
func Health(o Options) http.Handler {
	a := newAdmin(o)
	mux := http.NewServeMux()
	a.probe(mux)
	mux.HandleFunc("/", a.aliased(a.notYet))
	return a.guard(mux)
}

// Probes returns a handler of health checks alone, without the guard's checks, for the addresses of other
// APIs.
func Probes(o Options) http.Handler {
	mux := http.NewServeMux()
	newAdmin(o).probe(mux)
	return mux
}

func (a *admin) probe(mux *http.ServeMux) {
	for path, handler := range healthPaths {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) { handler(a, w, r) })
		mux.HandleFunc(path, a.noRoute)
	}
}

// health answers that the process is alive.
func (a *admin) health(w http.ResponseWriter, _ *http.Request) {
	a.write(w, http.StatusOK, state{Status: "alive"})
}

// ready answers whether the node is ready for requests, and if not, why.
func (a *admin) ready(w http.ResponseWriter, _ *http.Request) {
	if reasons := a.NotReady(); len(reasons) > 0 {
		a.write(w, http.StatusServiceUnavailable, state{"not ready", reasons})
		return
	}
	a.write(w, http.StatusOK, state{Status: "ready"})
}

// notYet answers every other path while there are only health checks.
func (a *admin) notYet(w http.ResponseWriter, r *http.Request) {
	if isV1(r) {
		a.refuseV1(w, r, fault.New(fault.Unavailable, "not ready: %s", strings.Join(a.NotReady(), "; ")))
		return
	}
	a.ready(w, r)
}

type state struct {
	Status  string   `json:"status"`
	Reasons []string `json:"reasons,omitempty"`
}
