package node

import (
	"crypto/x509"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/mayflydb/mayfly/internal/fault"
)

// AnyHost in Options.AllowHosts allows every host name.
const AnyHost = "*"

// CheckHost fails with fault.Invalid unless pattern can be in Options.AllowHosts: a name, *.name or AnyHost.
func CheckHost(pattern string) error {
	name := strings.TrimPrefix(pattern, "*.")
	if _, err := netip.ParseAddr(name); pattern == AnyHost || err == nil && name == pattern || plainName(name) {
		return nil
	}
	return fault.New(fault.Invalid, "%q is not a host name: give a name such as db.example, without a port, "+
		"or *.db.example, or * for every name", pattern)
}

// hostNames are the host names by which requests may address an API. They stop DNS rebinding: a web page can make its
// own name resolve to 127.0.0.1, so that the browser takes the API for a part of the page's site, and only the Host
// header shows the difference. docs/decisions/0024-host.md gives the reason for each rule.
type hostNames struct {
	own    []string          // names of this machine, the addresses listened on and the advertised ones
	given  []string          // Options.AllowHosts
	cert   *x509.Certificate // the operator's, whose names are verified; nil for none
	nearby bool              // other machines reach the API, by the names of their network

	first atomic.Pointer[string] // the first Host that was allowed; most clients always send the same
}

// allow reports whether a Host header, an :authority or the authority of an absolute request target names this API.
func (h *hostNames) allow(host string) bool {
	if first := h.first.Load(); first != nil {
		return *first == host || h.find(host)
	}
	if !h.find(host) {
		return false
	}
	kept := strings.Clone(host)
	h.first.Store(&kept)
	return true
}

func (h *hostNames) find(host string) bool {
	name, ok := hostName(host)
	if !ok {
		return false
	}
	if plainName(name) && (isPrivateName(name, h.nearby) || hasName(h.own, name) || h.isGiven(name)) {
		return true
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return true // an address is not resolved, so it cannot be rebound
	}
	return h.cert != nil && h.cert.VerifyHostname(name) == nil
}

func (h *hostNames) isGiven(name string) bool {
	return slices.ContainsFunc(h.given, func(pattern string) bool { return matchesName(pattern, name) })
}

// hostName is the name or address in a Host, without its port, the brackets of IPv6 and the dot of a rooted name.
func hostName(host string) (name string, ok bool) {
	name, port := host, ""
	if rest, found := strings.CutPrefix(host, "["); found {
		if name, port, found = strings.Cut(rest, "]"); !found {
			return "", false
		}
		if _, err := netip.ParseAddr(name); err != nil {
			return "", false
		}
		if port, found = strings.CutPrefix(port, ":"); !found && port != "" {
			return "", false
		}
	} else {
		name, port, _ = strings.Cut(host, ":")
		name = strings.TrimSuffix(name, ".")
	}
	for i := range len(port) {
		if port[i] < '0' || port[i] > '9' {
			return "", false
		}
	}
	return name, name != ""
}

// plainName reports whether a name consists of the characters of host names. Docker Compose has names with underscores.
func plainName(name string) bool {
	for label := range strings.SplitSeq(name, ".") {
		if label == "" {
			return false
		}
	}
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.':
		default:
			return false
		}
	}
	return true
}

// isPrivateName reports whether nobody on the internet can own the name, because its top-level domain is reserved.
func isPrivateName(name string, nearby bool) bool {
	dot := strings.LastIndexByte(name, '.')
	top := strings.ToLower(name[dot+1:])
	switch {
	case top == "localhost", dot >= 0 && top == "internal":
		return true
	case nearby:
		return dot < 0 || top == "local" || top == "test"
	}
	return false
}

func hasName(list []string, name string) bool {
	return slices.ContainsFunc(list, func(n string) bool { return strings.EqualFold(strings.TrimSuffix(n, "."), name) })
}

// matchesName reports whether a name matches a pattern of Options.AllowHosts.
func matchesName(pattern, name string) bool {
	if pattern == AnyHost {
		return true
	}
	if under, ok := strings.CutPrefix(pattern, "*"); ok { // *.example
		return len(name) > len(under) && strings.EqualFold(name[len(name)-len(under):], under)
	}
	return strings.EqualFold(pattern, name)
}

// allowHost returns the check of the Host of each request to an API; nil allows every Host. An API needs the check if a
// page of another site that reaches it could use it: because the key is well known, or because the API is open, without
// credentials.
func (n *Node) allowHost(o Options, e *endpoint, open bool) func(host string) bool {
	if !open && !n.account.wellKnown && len(o.AllowHosts) == 0 {
		return nil
	}
	names := &hostNames{own: o.hosts(), given: o.AllowHosts, nearby: e.exposed()}
	if o.TLS.Cert != "" {
		names.cert = n.certs.server.Leaf
	}
	return names.allow
}

// hosts are the names and addresses by which clients know this node.
func (o *Options) hosts() []string {
	return ownHosts(hostOf(o.NoSQL), hostOf(o.Compute), hostOf(o.Mongo.Address), hostOf(o.Mongo.Advertise),
		hostOf(o.Advertise), hostOf(o.Admin))
}
