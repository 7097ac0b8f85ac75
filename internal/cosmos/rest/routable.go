package rest

import (
	"strings"

	"github.com/mayflydb/mayfly/internal/fault"
)

// The older of the service's two gateways, the routing gateway, stores items under any id but cannot address some of
// them afterwards, because it decodes the path twice before it checks the signature. The newer one, the compute
// gateway, serves every id. The public tests of the Go SDK (TestItemIdEncodingRoutingGW) list the affected ids.
var errUnroutable = gatewayFault(fault.Unauthorized,
	"The input authorization token can't serve the request. The routing gateway cannot serve this id: "+
		"use the compute gateway, or an id that does not end in a space and does not contain %% / \\ #.")

// routable rejects the ids of items in paths that the routing gateway rejects.
func routable(id string) error {
	switch {
	case strings.ContainsAny(id, "\r\n\t"):
		return errURL
	case strings.HasSuffix(id, " ") || strings.ContainsAny(id, `%/\#`):
		return errUnroutable
	}
	return nil
}
