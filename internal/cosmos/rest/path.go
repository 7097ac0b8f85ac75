package rest

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"

	"github.com/mayflydb/mayfly/internal/fault"
)

// maxSegments is the depth of the deepest path, /dbs/d/users/u/permissions/p.
const maxSegments = 6

// A path is a request's path, split into decoded segments.
type path struct {
	segment [maxSegments]string
	count   int
}

// errDirect answers clients in direct mode, which ask for the replicas of a partition. They sign another path, so the
// check comes before authentication.
var errDirect = gatewayFault(fault.Unsupported, "Direct mode is not available: requests go to the gateway. Set "+
	"ConnectionMode.Gateway in the CosmosClientOptions of the SDK "+
	"for .NET, or call gatewayMode() on the CosmosClientBuilder of the SDK for Java.")

var errURL = gatewayFault(fault.Invalid, "Request url is invalid")

// split splits the path of a URL. Malformed escapes and too many segments are errors.
func (p *path) split(u *url.URL) error {
	if u.RawPath == "" {
		return p.splitLink(u.Path)
	}
	if err := p.splitLink(u.RawPath); err != nil {
		return err
	}
	for i, segment := range p.segment[:p.count] {
		var err error
		if p.segment[i], err = url.PathUnescape(segment); err != nil {
			return errURL
		}
	}
	return nil
}

// splitLink is split for a link that is already decoded. Empty segments are ignored, as in the service: clients
// double slashes when they join links.
func (p *path) splitLink(text string) error {
	for more := true; more; {
		var segment string
		if segment, text, more = strings.Cut(text, "/"); segment == "" {
			continue
		}
		if p.count == maxSegments {
			return errURL
		}
		p.segment[p.count] = segment
		p.count++
	}
	return nil
}

// collapseSlashes returns r with each run of slashes in its path reduced to one, so that routing and authentication
// see the link that the client means. Slashes within names are encoded and stay.
func collapseSlashes(r *http.Request) *http.Request {
	raw := cmp.Or(r.URL.RawPath, r.URL.Path)
	if !strings.Contains(raw, "//") {
		return r
	}
	for strings.Contains(raw, "//") {
		raw = strings.ReplaceAll(raw, "//", "/")
	}
	out, u := new(http.Request), *r.URL
	*out, out.URL = *r, &u
	if u.RawPath == "" {
		u.Path = raw
		return out
	}
	u.RawPath = raw
	if path, err := url.PathUnescape(raw); err == nil { // cannot fail, because the server has unescaped the path before
		u.Path = path
	}
	return out
}

// find finds the route of the request.
func (e *exchange) find() error {
	if err := e.path.split(e.URL); err != nil {
		return err
	}
	routeNode := routes.find(&e.path)
	switch {
	case routeNode == nil && e.path.segment[0] == "addresses":
		return errDirect
	case routeNode == nil:
		return errURL
	}
	if e.route = routeNode.route(e.Method); e.route == nil {
		return errMethod(e.Method)
	}
	if e.path.count%2 == 0 && e.path.count > 0 {
		e.name = e.path.segment[e.path.count-1]
	}
	return nil
}

func errMethod(method string) error {
	if len(method) > 16 {
		method = http.MethodTrace
	}
	return gatewayFault(fault.MethodNotAllowed, "The requested verb is not supported. This path does not accept %s.",
		method)
}
