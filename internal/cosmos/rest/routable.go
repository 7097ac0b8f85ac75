package rest

import (
	"strings"

	"github.com/mayflydb/mayfly/internal/fault"
)

// The older of the service's two gateways, its routing gateway, stores items under any id and
// then cannot be asked for some of them: it decodes paths once more on the way to
// the signature. The newer one, the compute gateway, serves every id. The public
// tests of the Go SDK (TestItemIdEncodingRoutingGW) say which.
var errUnroutable = refused(fault.Unauthorized, "The input authorization token can't serve the request. The routing gateway cannot serve this id: "+
	"use the compute gateway, or an id that does not end in a space and has none of %% / \\ #.")

// routable refuses ids of items in paths as the routing gateway does.
func routable(id string) error {
	switch {
	case strings.ContainsAny(id, "\r\n\t"):
		return errURL
	case strings.HasSuffix(id, " ") || strings.ContainsAny(id, `%/\#`):
		return errUnroutable
	}
	return nil
}
