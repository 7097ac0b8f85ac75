package rest

import (
	"context"

	"github.com/mayflydb/mayfly/internal/audit"
	"github.com/mayflydb/mayfly/internal/catalog"
)

// audited is the request's context for changes that the audit trail has. Requests for items do without. A request of
// the admin API in this process knows already whom it is for.
func (e *exchange) audited() context.Context {
	if _, known := audit.From(e.Context()); known {
		return e.Context()
	}
	return audit.With(e.Context(), audit.Who{API: audit.NoSQL, Principal: e.principal(), Address: e.RemoteAddr})
}

// principal names the account key of the request, or the user of its resource token.
func (e *exchange) principal() string {
	if e.grant.key != nil {
		return string(e.grant.key.Name)
	}
	if e.grant.permission == nil {
		return ""
	}
	user, err := e.api.catalog.ResourceByNumber(catalog.User, e.grant.permission.Owner.User)
	if err != nil {
		return "resource token of a deleted user"
	}
	return "user " + user.Name
}
