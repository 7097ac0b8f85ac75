package admin

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"

	"github.com/mayflydb/mayfly/internal/fault"
)

// guard lets pass who may use the door. A browser on the same machine reaches a
// loopback address, on behalf of any page that it shows: by a form or script that
// posts from a foreign origin, or by a host name that resolves to 127.0.0.1 (DNS rebinding).
func (a *admin) guard(next http.Handler) http.Handler {
	origins := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := a.admit(r)
		if cross := origins.Check(r); cross != nil && err == nil {
			err = fault.Wrap(fault.Forbidden, cross, "requests from web pages of another origin are refused")
		}
		if err == nil && foreignProfile(r) {
			err = fault.New(fault.Forbidden, "profiles asked for by web pages of another origin are refused")
		}
		if err != nil {
			a.refuse(w, r, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// foreignProfile reports whether a page of another origin asks for a profile.
// It could not read one, but the machine would be busy with it. Browsers say where a request comes from:
// https://www.w3.org/TR/fetch-metadata/#sec-fetch-site-header
func foreignProfile(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return strings.HasPrefix(r.URL.Path, "/debug/") && (site == "cross-site" || site == "same-site")
}

func (a *admin) admit(r *http.Request) error {
	if a.AllowHost != nil && !a.AllowHost(r.Host) {
		return fault.New(fault.Forbidden, "requests by the name %q are refused: call this address by a name or an address of its machine, or add the name to --allow-host", r.Host)
	}
	if a.Key == "" || AboutHealth(r) {
		return nil
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || !same(token, a.Key) {
		return fault.New(fault.Unauthorized, "send the account key: Authorization: Bearer <key>")
	}
	return nil
}

// same compares in a time that tells nothing about where two texts differ.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
