package node

import (
	"crypto/x509"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/mayflydb/mayfly/internal/fault"
)

// AnyHost among Options.AllowHosts lets requests in by every name.
const AnyHost = "*"

// CheckHost fails with fault.Invalid for what is no pattern of Options.AllowHosts: a name, *.name or AnyHost.
func CheckHost(pattern string) error {
	name := strings.TrimPrefix(pattern, "*.")
	if _, err := netip.ParseAddr(name); pattern == AnyHost || err == nil && name == pattern || plainName(name) {
		return nil
	}
	return fault.New(fault.Invalid, "%q is neither a name such as db.example, without a port, nor *.db.example, nor *", pattern)
}

// hostNames are the names in the Host of requests by which a door may be called. A web page can give a name of its own
// the address 127.0.0.1 (DNS rebinding); the browser then takes the door for a part of that page's site, and only the Host shows
// the difference. decisions/0024-host.md has the reasons for each rule.
type hostNames struct {
	own    []string          // names of this machine, the addresses listened on and the advertised ones
	given  []string          // Options.AllowHosts
	shown  *x509.Certificate // its names are proven; nil for none
	nearby bool              // other machines reach the door, by the names that machines of one network have

	first atomic.Pointer[string] // the Host that was allowed first; most clients send the same all the time
}

// allow reports whether a Host header, an :authority or the authority of an absolute request target names this door.
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
	if plainName(name) && (ownedByNobodyElse(name, h.nearby) || hasName(h.own, name) || h.isGiven(name)) {
		return true
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return true // no name has been resolved
	}
	return h.shown != nil && h.shown.VerifyHostname(name) == nil
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

// plainName reports whether a name has the letters of host names. Underscores are in names of Compose.
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

// ownedByNobodyElse reports whether no stranger on the internet can have the name.
func ownedByNobodyElse(name string, nearby bool) bool {
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

// matchesName reports whether a pattern of Options.AllowHosts stands for a name.
func matchesName(pattern, name string) bool {
	if pattern == AnyHost {
		return true
	}
	if under, ok := strings.CutPrefix(pattern, "*"); ok { // *.example
		return len(name) > len(under) && strings.EqualFold(name[len(name)-len(under):], under)
	}
	return strings.EqualFold(pattern, name)
}

// allowHost is what a door asks about the Host of a request; nil lets every one in. A door needs it where a page of
// another site could do what it likes if it only reached the door: the key is well known, or nothing is asked for.
func (n *Node) allowHost(o Options, d *door, open bool) func(host string) bool {
	if !open && !n.account.wellKnown && len(o.AllowHosts) == 0 {
		return nil
	}
	names := &hostNames{own: append(o.hosts(), hostOf(o.Admin)), given: o.AllowHosts, nearby: d.exposed()}
	if o.TLS.Cert != "" {
		names.shown = n.certs.server.Leaf
	}
	return names.allow
}

// hosts are the names and addresses by which clients know this node.
func (o *Options) hosts() []string {
	return ownHosts(hostOf(o.NoSQL), hostOf(o.Compute), hostOf(o.Mongo.Address), hostOf(o.Mongo.Advertise), hostOf(o.Advertise))
}
