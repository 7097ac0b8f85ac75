package admin

import (
	"context"
	"net/http"
	"strings"

	"github.com/mayflydb/mayfly/internal/fault"
)

// A need is what a request asks of its sender.
type need uint8

const (
	// harmless requests show or do nothing that hurts: names and definitions, the clock, reclaiming. On a local address
	// they need no key.
	harmless need = iota
	// moves requests change nothing but the clock and reclaiming. On a local address they need no key, but a read-only
	// key does not send them.
	moves
	// reads show data, or what may have some in it, such as the error of an import.
	reads
	// writes change something.
	writes
	// anyone may send the request, also where everything else needs a key.
	anyone
)

// guard checks what is true of every path. A browser on the same machine reaches a loopback address for any page that
// it shows: by a form or a script of another origin, or by a host name that resolves to 127.0.0.1 (DNS rebinding).
func (a *admin) guard(next http.Handler) http.Handler {
	origins := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := a.checkHost(r)
		if cross := origins.Check(r); cross != nil && err == nil {
			err = fault.Wrap(fault.Forbidden, cross, "web pages of another origin may not send requests here")
		}
		if err == nil && foreignRead(r) {
			err = fault.New(fault.Forbidden, "web pages of another origin may not request this")
		}
		if err != nil {
			a.refuse(w, r, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// foreignRead reports whether a page of another origin requests a profile or a resource. The page could not read it,
// but the machine would be busy making it. Browsers send the origin of a request:
// https://www.w3.org/TR/fetch-metadata/#sec-fetch-site-header
func foreignRead(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	costly := strings.HasPrefix(r.URL.Path, "/debug/") || isV1(r)
	return costly && (site == "cross-site" || site == "same-site")
}

func (a *admin) checkHost(r *http.Request) error {
	if a.AllowHost == nil || a.AllowHost(r.Host) {
		return nil
	}
	return fault.New(fault.Forbidden, "the host name %q is not allowed: use a name or an address of this machine, "+
		"or add the name to --allow-host", r.Host)
}

// permit checks the key or the session of a request, and returns the context in which to answer it. A key that only
// reads does so also where no key is needed: its sender has chosen what it may do.
func (a *admin) permit(r *http.Request, needs need) (context.Context, error) {
	ctx, key, may := r.Context(), "", mayAll
	changes := needs == writes || needs == moves
	switch {
	case a.Allowed == nil:
	case needs == anyone:
		may = rights{}
	case a.Local && (a.Public || needs == harmless || needs == moves):
		if key = a.named(r); key != "" {
			_, may.write = a.Allowed(key)
		}
	default:
		var err error
		if key, may, err = a.sender(r); err != nil {
			return nil, err
		}
		if key == "" {
			return nil, fault.New(fault.Unauthorized, "send the account key: Authorization: Bearer <key>")
		}
	}
	if changes && !may.write {
		return nil, fault.New(fault.Forbidden, "this key is read-only, and %s %s changes something: "+
			"send the primary or the secondary key", r.Method, r.URL.Path)
	}
	if a.Caller != nil {
		ctx = a.Caller(ctx, r, key)
	}
	return context.WithValue(ctx, rightsKey{}, may), nil
}

// sender is the account key that a request is sent with, and what it allows; "" if there is none. The key is in the
// request, or in the session that it belongs to.
func (a *admin) sender(r *http.Request) (key string, may rights, err error) {
	if a.Allowed == nil {
		return "", mayAll, nil
	}
	if r.Header.Get("Authorization") == "" {
		key = a.sessions.key(r)
		if key == "" {
			return "", rights{}, nil
		}
		read, write := a.Allowed(key)
		if !read && !write { // the key has been replaced
			a.sessions.end(r)
			return "", rights{}, nil
		}
		return key, rights{write}, nil
	}
	if key = bearer(r); key == "" {
		return "", rights{}, nil
	}
	may, ok, err := a.prove(r, key)
	if !ok {
		return "", rights{}, err
	}
	return key, may, nil
}

// named is the key of a request that needs none, for the audit trail; "" if it has none that holds.
func (a *admin) named(r *http.Request) string {
	key := bearer(r)
	if r.Header.Get("Authorization") == "" {
		key = a.sessions.key(r)
	}
	if key == "" {
		return ""
	}
	if read, write := a.Allowed(key); !read && !write {
		return ""
	}
	return key
}

// rights are what the sender of a request may do besides reading.
type rights struct{ write bool }

type rightsKey struct{}

var mayAll = rights{write: true}

// mayWrite reports whether the sender of a request may change something, for requests that only sometimes do.
func mayWrite(r *http.Request) bool {
	may, _ := r.Context().Value(rightsKey{}).(rights)
	return may.write
}

// bearer is the key that a request sends, "" for none.
func bearer(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}
