package rest

import (
	"net/http"
	"slices"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keyring"
	"github.com/mayflydb/mayfly/internal/store"
)

// A grant is what the credentials of a request allow: everything, or the resource of one permission.
type grant struct {
	whole     bool // account key or AAD; a read-only key has been checked, see onlyReads
	write     bool // permissionMode All
	scope     scope
	partition []doc.Value // resourcePartitionKey
	limited   bool        // to that partition

	key        *keyring.Key      // nil for a resource token
	permission *catalog.Resource // of the resource token
}

// A scope is the resource of a permission: a database, a container, or one resource in a container.
type scope struct {
	database  *catalog.Database
	container *catalog.Container // nil: the whole database
	kind      string             // path segment of the resource's type, "" for the whole container
	name      string
	number    uint64 // of the item, when the permission names it by its RID
}

var errForbidden = gatewayFault(fault.Forbidden, "Insufficient permissions provided in the authorization header for "+
	"the corresponding request. Please retry with another authorization header.")

// authorize checks that the request is within the grant. A resource token may also read the account and the metadata of
// its container, because SDKs need them. It may never use users, permissions or offers, nor change the database
// around its scope.
func (g *grant) authorize(e *exchange) error {
	if g.whole || g.allows(e) {
		return nil
	}
	return errForbidden
}

// hideMissing replaces a not-found error with errForbidden, so that a resource token does not reveal what exists
// outside its scope.
func (g *grant) hideMissing(missing error) error {
	if g.whole {
		return missing
	}
	return errForbidden
}

func (g *grant) allows(e *exchange) bool {
	reads := e.Method == http.MethodGet || e.Method == http.MethodPost && e.isQuery()
	switch {
	case e.path.count == 0:
		return true
	case !reads && !g.write:
		return false
	case e.database == nil || e.database != g.scope.database || e.owner != "":
		return false
	case e.container == nil:
		return reads && g.scope.container == nil && e.path.segment[2] != "users"
	}
	return g.inContainer(e, reads)
}

func (g *grant) inContainer(e *exchange, reads bool) bool {
	s := &g.scope
	if s.container != nil && s.container != e.container {
		return false
	}
	kind := ""
	if e.path.count > 4 {
		kind = e.path.segment[4]
	}
	switch {
	case kind == "" || kind == "pkranges":
		return reads || s.kind == "" && !g.limited
	case s.kind != "" && (kind != s.kind || e.path.count != 6):
		return false
	case s.kind != "" && s.kind != "docs" && e.name != s.name:
		return false // items are checked by their handler, see authorizeItem
	case g.limited:
		return kind == "docs" && g.inPartition(e)
	}
	return true
}

// inPartition reports whether the request names the grant's partition, or one below it. Documents outside
// that partition are rejected by the item handlers, because they do not match the header.
func (g *grant) inPartition(e *exchange) bool {
	parts, err := parsePartitionKey(e.given(hPartitionKey))
	if err != nil || len(parts) < len(g.partition) {
		return false
	}
	for i, want := range g.partition {
		if !doc.Equal(parts[i], want) {
			return false
		}
	}
	return true
}

// authorizeItem checks that a request may use the item with that key and id, when the grant is for a single item. An
// item can be addressed by id and by RID, and the permission may use one and the request the other, so the check
// compares the items and not the names.
func (g *grant) authorizeItem(e *exchange, v catalog.View, key store.Key, id string) error {
	switch s := &g.scope; {
	case s.kind != "docs":
		return nil
	case s.number == 0:
		if id != s.name {
			return errForbidden
		}
		return nil
	}
	var number uint64
	err := e.api.store.Read(e.Context(), v, key, func(d access.Document) error {
		number = d.Number
		return nil
	})
	switch {
	case fault.KindOf(err) == fault.NotFound && e.byRID && e.name == g.scope.name:
		return errNoItem // the permission's own item no longer exists
	case fault.KindOf(err) == fault.NotFound, err == nil && number != g.scope.number:
		return errForbidden
	}
	return err
}

// parseScope parses a resource link of names or RIDs, with or without leading and trailing slashes: dbs/d,
// dbs/d/colls/c, or dbs/d/colls/c/docs/i and the like. It fails with fault.NotFound if the database or the container
// does not exist. If only the container is missing, the scope still has its database.
func (a *API) parseScope(link string) (s scope, err error) {
	var p path
	if err := p.splitLink(link); err != nil {
		return s, errScope
	}
	if p.count%2 != 0 || p.count < 2 || p.segment[0] != "dbs" || p.count > 2 && p.segment[2] != "colls" {
		return s, errScope
	}
	if p.count > 4 && !slices.Contains(scopes, p.segment[4]) {
		return s, errScope
	}
	if s.database, err = a.findDatabase(p.segment[1]); err != nil || p.count == 2 {
		return s, err
	}
	var byRID bool
	if s.container, byRID, err = a.findContainer(s.database, p.segment[3]); err != nil || p.count == 4 {
		return s, err
	}
	s.kind, s.name = p.segment[4], p.segment[5]
	if s.kind == "docs" && byRID {
		s.number, _ = itemNumber(s.container, s.name)
	}
	return s, nil
}

// scopes are the path segments of the resource types in a container that a permission can be for.
var scopes = []string{"docs", "sprocs", "triggers", "udfs"}

var errScope = fault.New(fault.Invalid, "The resource of a permission is invalid. Give the link of a database, a "+
	"container or something in a container, such as dbs/d/colls/c.")
