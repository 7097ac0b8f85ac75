package copying

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// An Endpoint is one side of a copy.
type Endpoint struct {
	Mongo         bool
	URL           string // without the names; of MongoDB with the database, which is where users are by default
	DB, Container string // empty for all of them
	Key           string // of a NoSQL account
	Authority     []byte // a certificate in PEM that is trusted in addition to those of the system; nil adds none
	Insecure      bool   // trust every certificate
}

// ParseEndpoint reads https://host:port/DB/CONTAINER or mongodb://host:port/DB/COLLECTION, both with fewer names.
func ParseEndpoint(text string) (e Endpoint, err error) {
	scheme, rest, ok := strings.Cut(text, "://")
	switch {
	case ok && (scheme == "mongodb" || scheme == "mongodb+srv"):
		e.Mongo = true
	case ok && (scheme == "http" || scheme == "https"):
	default:
		return e, errors.New("an endpoint is https://HOST:PORT/DB/CONTAINER or mongodb://HOST:PORT/DB/COLLECTION")
	}
	rest, query, hasQuery := strings.Cut(rest, "?")
	host, names, _ := strings.Cut(rest, "/")
	db, container, _ := strings.Cut(strings.Trim(names, "/"), "/")
	if e.DB, err = url.PathUnescape(db); err == nil {
		e.Container, err = url.PathUnescape(container)
	}
	if err != nil {
		return e, fmt.Errorf("%s://%s: %w", scheme, withoutUser(host), err)
	}
	e.URL = scheme + "://" + host
	switch {
	case host == "":
		return e, errors.New("an endpoint needs a host")
	case e.Mongo && hasQuery:
		e.URL += "/" + db + "?" + query
	case e.Mongo:
		e.URL += "/" + db
	case hasQuery || strings.Contains(host, "@"):
		return e, errors.New("the URL of a NoSQL endpoint has only a host and names: give its key with a flag")
	}
	return e, nil
}

// withoutUser is a host without a user and a password.
func withoutUser(host string) string { return host[strings.LastIndexByte(host, '@')+1:] }

// Name is the endpoint without secrets.
func (e Endpoint) Name() string {
	scheme, rest, _ := strings.Cut(e.URL, "://")
	host, _, _ := strings.Cut(rest, "/")
	name := scheme + "://" + withoutUser(host)
	if e.DB != "" {
		name += "/" + e.DB
	}
	if e.Container != "" {
		name += "/" + e.Container
	}
	return name
}

// renamed is the target for a container of the source.
func (e Endpoint) renamed(from name) name {
	if e.DB != "" {
		from.db = e.DB
	}
	if e.Container != "" {
		from.container = e.Container
	}
	return from
}

// same reports whether a container would be copied onto itself.
func (e Endpoint) same(to Endpoint) bool {
	from := name{e.DB, e.Container}
	a, b := e, to
	a.DB, a.Container, b.DB, b.Container = "", "", "", ""
	return a.Name() == b.Name() && to.renamed(from) == from
}

// Secure reports whether connections to the endpoint have TLS.
func (e Endpoint) Secure() bool {
	if e.Mongo {
		return options.Client().ApplyURI(e.URL).TLSConfig != nil
	}
	return strings.HasPrefix(e.URL, "https://")
}

// tls is the configuration for the certificates of the endpoint, nil for that of the system.
func (e Endpoint) tls() (*tls.Config, error) {
	c := &tls.Config{InsecureSkipVerify: e.Insecure}
	if e.Authority == nil {
		if !e.Insecure {
			return nil, nil
		}
		return c, nil
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(e.Authority) {
		return nil, errors.New("the file of the certificate authority has no certificate in PEM")
	}
	c.RootCAs = roots
	return c, nil
}
