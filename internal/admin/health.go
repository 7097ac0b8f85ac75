package admin

import "net/http"

// Health answers the two questions about health as the handler of New does. It needs nothing of
// Options but NotReady, Key and Logger, so that it can answer while a mayfly starts and stops.
// Every other path is answered with the reasons why it cannot be served yet, or any more.
func Health(o Options) http.Handler {
	a := newAdmin(o)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", a.health)
	mux.HandleFunc("/healthz", a.nothing)
	mux.HandleFunc("GET /readyz", a.ready)
	mux.HandleFunc("/readyz", a.nothing)
	mux.HandleFunc("/", a.ready)
	return a.guard(mux)
}

// AboutHealth reports whether a request is one that Health serves.
func AboutHealth(r *http.Request) bool {
	return r.URL.Path == "/healthz" || r.URL.Path == "/readyz"
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
