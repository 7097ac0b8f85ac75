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

// splitPath takes the path of a URL apart. Slashes at its ends do not count. Empty
// segments, malformed escapes and too many segments make it invalid.
func splitPath(u *url.URL) (path, error) {
	if u.RawPath == "" {
		return splitLink(u.Path)
	}
	p, err := splitLink(u.RawPath)
	if err != nil {
		return p, err
	}
	for i := range p.count {
		if p.segment[i], err = url.PathUnescape(p.segment[i]); err != nil {
			return p, errURL
		}
	}
	return p, err
}

// splitLink is splitPath for a link that is decoded already.
func splitLink(text string) (p path, err error) {
	text = strings.TrimSuffix(strings.TrimPrefix(text, "/"), "/")
	for more := text != ""; more; {
		if p.count == maxSegments {
			return p, errURL
		}
		p.segment[p.count], text, more = strings.Cut(text, "/")
		if p.segment[p.count] == "" {
			return p, errURL
		}
		p.count++
	}
	return p, nil
}

// find matches the request with the table.
func (e *exchange) find() (err error) {
	if e.path, err = splitPath(e.URL); err != nil {
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
