package rest

import (
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

var errURL = refused(fault.Invalid, "Request url is invalid")

// split takes the path of a URL apart. Slashes at its ends do not count. Empty
// segments, malformed escapes and too many segments make it invalid.
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

// splitLink is split for a link that is decoded already.
func (p *path) splitLink(text string) error {
	text = strings.TrimSuffix(strings.TrimPrefix(text, "/"), "/")
	for more := text != ""; more; {
		if p.count == maxSegments {
			return errURL
		}
		var segment string
		if segment, text, more = strings.Cut(text, "/"); segment == "" {
			return errURL
		}
		p.segment[p.count] = segment
		p.count++
	}
	return nil
}

// find matches the request with the table.
func (e *exchange) find() error {
	if err := e.path.split(e.URL); err != nil {
		return err
	}
	place := routes.descend(&e.path)
	if place == nil {
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
