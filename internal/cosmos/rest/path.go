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

// A path is a request's path in pieces, decoded after splitting.
type path struct {
	segment [maxSegments]string
	count   int
}

// errDirect answers clients that look for the replicas of a partition. Their signature
// is for another path, so it comes before authentication.
var errDirect = refused(fault.Unsupported, "Direct mode is not available: requests go to the gateway. Set ConnectionMode.Gateway in the CosmosClientOptions of the SDK "+
	"for .NET, or call gatewayMode() on the CosmosClientBuilder of the SDK for Java.")

var errURL = refused(fault.Invalid, "Request url is invalid")

// split takes the path of a URL apart. Malformed escapes and too many segments make it invalid.
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

// splitLink is split for a link that is decoded already. Empty segments do not count,
// as in the service: clients double slashes when they join links.
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

// collapse returns r with one slash in its path for each run of them, so that whatever
// looks at the path sees the link that the client means. Slashes in names are
// encoded and stay.
func collapse(r *http.Request) *http.Request {
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
	if path, err := url.PathUnescape(raw); err == nil { // the server has unescaped it already
		u.Path = path
	}
	return out
}

// find matches the request with the table.
func (e *exchange) find() error {
	if err := e.path.split(e.URL); err != nil {
		return err
	}
	place := routes.descend(&e.path)
	switch {
	case place == nil && e.path.segment[0] == "addresses":
		return errDirect
	case place == nil:
		return errURL
	}
	if e.route = place.serving(e.Method); e.route == nil {
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
	return refused(fault.MethodNotAllowed, "The requested verb is not supported. %s is none of the verbs of this path.", method)
}
