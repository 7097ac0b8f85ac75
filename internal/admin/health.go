package admin

import "net/http"

// aboutHealth lists the paths that tell how a mayfly is, to anybody.
var aboutHealth = map[string]func(*admin, http.ResponseWriter, *http.Request){
	"/healthz": (*admin).health,
	"/readyz":  (*admin).ready,
	// The names that the emulator of Cosmos DB for Linux has for the two, and for more about them.
	"/alive":  (*admin).health,
	"/ready":  (*admin).ready,
	"/status": (*admin).ready,
}

// AboutHealth reports whether a request is one that Health serves.
func AboutHealth(r *http.Request) bool { return aboutHealth[r.URL.Path] != nil }

// Health answers the questions about health as the handler of New does. It needs nothing of
// Options but NotReady, Key, AllowHost and Logger, so that it can answer while a mayfly starts and stops.
// Every other path is answered with the reasons why it cannot be served yet, or any more.
func Health(o Options) http.Handler {
	a := newAdmin(o)
	mux := http.NewServeMux()
	a.probe(mux)
	mux.HandleFunc("/", a.ready)
	return a.guard(mux)
}

// Probes answers the same questions, on an address that is for everybody, and nothing else.
func Probes(o Options) http.Handler {
	mux := http.NewServeMux()
	newAdmin(o).probe(mux)
	return mux
}

func (a *admin) probe(mux *http.ServeMux) {
	for path, handler := range aboutHealth {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) { handler(a, w, r) })
		mux.HandleFunc(path, a.nothing)
	}
}

// health answers that the process is alive.
func (a *admin) health(w http.ResponseWriter, _ *http.Request) {
	a.write(w, http.StatusOK, state{Status: "alive"})
}

// ready answers whether requests are served, and if not, why.
func (a *admin) ready(w http.ResponseWriter, _ *http.Request) {
	if reasons := a.NotReady(); len(reasons) > 0 {
		a.write(w, http.StatusServiceUnavailable, state{"not ready", reasons})
		return
	}
	a.write(w, http.StatusOK, state{Status: "ready"})
}

type state struct {
	Status  string   `json:"status"`
	Reasons []string `json:"reasons,omitempty"`
}
