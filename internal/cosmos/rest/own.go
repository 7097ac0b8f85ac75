package rest

import (
	"net/http"
	"strings"
)

// ownPrefix begins the paths that are not the service's but mayfly's.
const ownPrefix = "/_mayfly/"

// own finds the handler of a path that is not the service's: mayfly's own, those of the emulators of
// Cosmos DB, which scripts and containers for tests ask for, and the page for browsers. No resource has such a path,
// and none of them wants credentials. It is nil for every other path.
//
// https://learn.microsoft.com/azure/cosmos-db/how-to-develop-emulator has emulator.pem and the explorer,
// https://learn.microsoft.com/azure/cosmos-db/emulator-linux has alive, ready and status, on a port of their own.
func (d *Door) own(r *http.Request) http.HandlerFunc {
	switch path := r.URL.Path; {
	case path == "/":
		if wantsPage(r) {
			return reading(d.servePage)
		}
	case strings.HasPrefix(path, ownPrefix):
		return d.serveAuthority
	case path == "/_explorer/emulator.pem":
		return reading(d.serveCertificate)
	case path == "/_explorer" || path == "/_explorer/" || path == "/_explorer/index.html":
		return reading(d.servePage)
	case path == "/alive" || path == "/ready" || path == "/status":
		if d.probes != nil {
			return reading(d.probes.ServeHTTP)
		}
	}
	return nil
}

// reading refuses everything but GET and HEAD.
func reading(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			http.Error(w, "Use GET.", http.StatusMethodNotAllowed)
			return
		}
		next(w, r)
	}
}

// serveAuthority answers what a client needs before it can trust the door.
func (d *Door) serveAuthority(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != ownPrefix+"ca.pem" || d.ca == nil {
		http.Error(w, "Not found. The certificate authority is at "+ownPrefix+"ca.pem when mayfly makes its own certificate.", http.StatusNotFound)
		return
	}
	reading(func(w http.ResponseWriter, _ *http.Request) { servePEM(w, d.ca()) })(w, r)
}

// serveCertificate answers what the emulators' clients are told to trust: the authority, or the certificate
// that the owner of this mayfly has given it.
func (d *Door) serveCertificate(w http.ResponseWriter, _ *http.Request) {
	switch {
	case d.ca != nil:
		servePEM(w, d.ca())
	case d.certificate != nil:
		servePEM(w, d.certificate())
	default:
		http.Error(w, "Not found. This mayfly speaks plain http and has no certificate.", http.StatusNotFound)
	}
}

func servePEM(w http.ResponseWriter, pem []byte) {
	w.Header().Set(string(outContentType), "application/x-pem-file")
	w.Write(pem)
}
