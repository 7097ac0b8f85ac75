package tikv

import (
	"net"
	"strconv"
	"strings"

	"github.com/mayflydb/mayfly/internal/fault"
)

const (
	scheme         = "tikv://"
	defaultPrefix  = "mayfly"
	maxPrefixBytes = 64
)

// ParseAddress reads the address of a cluster, tikv://HOST:PORT[,HOST:PORT…][/PREFIX], into Endpoints and Prefix. The
// hosts are those of PD. The prefix has 1 to 64 letters, digits, underscores, dots and hyphens; without one it is
// mayfly. Databases with different prefixes share a cluster without seeing each other.
func ParseAddress(address string) (Options, error) {
	rest, ok := strings.CutPrefix(address, scheme)
	if !ok {
		return Options{}, invalidAddress(address, "it does not begin with "+scheme)
	}
	hosts, prefix, named := strings.Cut(rest, "/")
	o := Options{Prefix: defaultPrefix}
	if named {
		o.Prefix = prefix
		if err := checkPrefix(prefix); err != nil {
			return Options{}, err
		}
	}
	for endpoint := range strings.SplitSeq(hosts, ",") {
		if reason := wrongEndpoint(endpoint); reason != "" {
			return Options{}, invalidAddress(address, reason)
		}
		o.Endpoints = append(o.Endpoints, endpoint)
	}
	return o, nil
}

// wrongEndpoint says why host:port is not one, "" if it is.
func wrongEndpoint(endpoint string) string {
	if strings.Contains(endpoint, "@") {
		return "it has a user or a password; processes show certificates instead"
	}
	host, port, err := net.SplitHostPort(endpoint)
	if err != nil || host == "" {
		return strconv.Quote(endpoint) + " is not HOST:PORT"
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return strconv.Quote(port) + " is not a port"
	}
	return ""
}

func checkPrefix(prefix string) error {
	if prefix == "" || len(prefix) > maxPrefixBytes || strings.ContainsFunc(prefix, notInPrefix) {
		return fault.New(fault.Invalid, "The prefix %q is not 1 to %d letters, digits, underscores, dots and hyphens.",
			prefix, maxPrefixBytes)
	}
	return nil
}

func notInPrefix(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '.', r == '-':
		return false
	}
	return true
}

func invalidAddress(address, reason string) error {
	return fault.New(fault.Invalid, "%q is not the address of a cluster, %sHOST:PORT[,HOST:PORT…][/PREFIX]: %s.",
		address, scheme, reason)
}
