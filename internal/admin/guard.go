package admin

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"

	"github.com/mayflydb/mayfly/internal/fault"
)

// guard checks that a request may use the API. A browser on the same machine reaches a loopback address for any page
// that it shows: by a form or a script of another origin, or by a host name that resolves to 127.0.0.1 (DNS
// rebinding).
func (a *admin) guard(next http.Handler) http.Handler {
	origins := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := a.admit(r)
		if cross := origins.Check(r); cross != nil && err == nil {
			err = fault.Wrap(fault.Forbidden, cross, "web pages of another origin may not send requests here")
		}
		if err == nil && foreignProfile(r) {
			err = fault.New(fault.Forbidden, "web pages of another origin may not request profiles")
		}
		if err != nil {
			a.refuse(w, r, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// foreignProfile reports whether a page of another origin requests a profile. The page could not read it, but the
// machine would be busy making it. Browsers send the origin of a request:
// https://www.w3.org/TR/fetch-metadata/#sec-fetch-site-header
func foreignProfile(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return strings.HasPrefix(r.URL.Path, "/debug/") && (site == "cross-site" || site == "same-site")
}

func (a *admin) admit(r *http.Request) error {
	if a.AllowHost != nil && !a.AllowHost(r.Host) {
		return fault.New(fault.Forbidden, "the host name %q is not allowed: use a name or an address of this machine, "+
			"or add the name to --allow-host", r.Host)
	}
	if a.Key == "" || IsHealth(r) {
		return nil
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || !same(token, a.Key) {
		return fault.New(fault.Unauthorized, "send the account key: Authorization: Bearer <key>")
	}
	return nil
}

// same compares two texts in a time that does not depend on where they differ.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
