package rest

import (
	"net/http"
	"strings"
)

// ownPrefix begins the paths that mayfly adds to the service's.
const ownPrefix = "/_mayfly/"

// ownHandler finds the handler of a path that the service does not have: mayfly's own paths, those of the Cosmos DB
// emulators, which scripts and test containers use, and the page for browsers. No resource has such a path, and none
// of them needs credentials. It is nil for every other path.
//
// https://learn.microsoft.com/azure/cosmos-db/how-to-develop-emulator documents emulator.pem and the explorer,
// https://learn.microsoft.com/azure/cosmos-db/emulator-linux documents alive, ready and status, on a separate port.
func (a *API) ownHandler(r *http.Request) http.HandlerFunc {
	switch path := r.URL.Path; {
	case path == "/":
		if wantsPage(r) {
			return readOnly(a.servePage)
		}
	case strings.HasPrefix(path, ownPrefix):
		return a.serveAuthority
	case path == "/_explorer/emulator.pem":
		return readOnly(a.serveCertificate)
	case path == "/_explorer" || path == "/_explorer/" || path == "/_explorer/index.html":
		return readOnly(a.servePage)
	case path == "/alive" || path == "/ready" || path == "/status":
		if a.probes != nil {
			return readOnly(a.probes.ServeHTTP)
		}
	}
	return nil
}

// readOnly rejects all methods except GET and HEAD.
func readOnly(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			http.Error(w, "Use GET.", http.StatusMethodNotAllowed)
			return
		}
		next(w, r)
	}
}

// serveAuthority serves the certificate authority that a client needs before it can trust the API.
func (a *API) serveAuthority(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != ownPrefix+"ca.pem" || a.ca == nil {
		http.Error(w, "Not found. The certificate authority is at "+ownPrefix+
			"ca.pem when mayfly makes its own certificate.", http.StatusNotFound)
		return
	}
	readOnly(func(w http.ResponseWriter, _ *http.Request) { servePEM(w, a.ca()) })(w, r)
}

// serveCertificate serves the certificate that clients of the emulators are told to trust: the authority, or the
// certificate that the operator has configured.
func (a *API) serveCertificate(w http.ResponseWriter, _ *http.Request) {
	switch {
	case a.ca != nil:
		servePEM(w, a.ca())
	case a.certificate != nil:
		servePEM(w, a.certificate())
	default:
		http.Error(w, "Not found. This server uses plain HTTP and has no certificate.", http.StatusNotFound)
	}
}

func servePEM(w http.ResponseWriter, pem []byte) {
	w.Header().Set(string(outContentType), "application/x-pem-file")
	w.Write(pem)
}
