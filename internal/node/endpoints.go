package node

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/mayflydb/mayfly/internal/admin"
	"github.com/mayflydb/mayfly/internal/kv"
)

// endpoints is where the sender of a request to the admin API reaches the APIs: by the host that it has asked for,
// unless an API listens elsewhere or has a name to advertise.
func (n *Node) endpoints(r *http.Request) admin.Endpoints {
	asked, ok := hostName(r.Host)
	if !ok {
		asked = "localhost"
	}
	f := admin.Endpoints{
		Admin: n.AdminURL(), MongoAuth: n.mongoAuth, Memory: n.inMemory, Engine: n.options.EngineName,
		Version: n.version, StartedAt: n.started,
	}
	if ok {
		scheme := "http://"
		if r.TLS != nil {
			scheme = "https://"
		}
		f.Admin = scheme + r.Host + "/"
	}
	if n.nosql != nil {
		at := n.besideAdmin(n.nosql, asked)
		f.NoSQL = n.nosql.scheme + "://" + at + "/"
		if n.options.Advertise != "" {
			f.NoSQL = strings.TrimSuffix(n.options.Advertise, "/") + "/"
		}
		if n.certs.authority != nil { // before a client trusts it, it can ask over http only
			f.CA = "http://" + at + "/_mayfly/ca.pem"
		}
	}
	if n.mongo != nil {
		at := n.advertisedMongo()
		if at == "" {
			at = n.besideAdmin(n.mongo, asked)
		}
		f.Mongo = n.mongoURI(at)
	}
	if n.account.wellKnown {
		f.Key = n.account.key
	}
	return f
}

// besideAdmin is the host:port at which a client reaches an API that has reached the admin API by the host asked.
func (n *Node) besideAdmin(e *endpoint, asked string) string {
	host, port, _ := net.SplitHostPort(e.address())
	listens, err := netip.ParseAddr(host)
	if err != nil {
		return net.JoinHostPort(asked, port)
	}
	name := asked == "localhost" || strings.HasSuffix(asked, ".localhost")
	to, err := netip.ParseAddr(asked)
	switch {
	case listens.IsUnspecified(), err == nil && e.listensOn(to):
		host = asked
	case listens.IsLoopback() && name:
		host = "localhost"
	case err != nil && !name && n.admin.listensOn(listens): // so the name is one of this address
		host = asked
	}
	return net.JoinHostPort(host, port)
}

// listensOn reports whether an address is one of those of the endpoint.
func (e *endpoint) listensOn(a netip.Addr) bool {
	for _, l := range e.listeners {
		if own, err := netip.ParseAddrPort(l.Addr().String()); err == nil && own.Addr() == a {
			return true
		}
	}
	return false
}

// named is the engine's name for a message.
func (n *Node) named() string {
	if n.options.EngineName == "" {
		return ""
	}
	return ", " + n.options.EngineName + ","
}

// holdsInMemory reports whether an engine keeps all data in memory.
func holdsInMemory(e kv.Engine) bool {
	_, ok := e.(kv.Copier)
	return ok
}
