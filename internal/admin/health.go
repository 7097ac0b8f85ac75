package admin

import "net/http"

// health answers that the process is alive.
func (a *admin) health(w http.ResponseWriter, _ *http.Request) {
	a.write(w, http.StatusOK, state{"alive"})
}

// ready answers whether requests are served.
func (a *admin) ready(w http.ResponseWriter, _ *http.Request) {
	if a.Ready() {
		a.write(w, http.StatusOK, state{"ready"})
		return
	}
	a.write(w, http.StatusServiceUnavailable, state{"not ready"})
}

type state struct {
	Status string `json:"status"`
}
