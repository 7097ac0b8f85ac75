package rest

import (
	"strings"
	"time"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// The lifetime of a resource token in seconds.
const (
	tokenLife    = 3600
	minTokenLife = 10
	maxTokenLife = 18_000
)

// permissions are the resources that say what a user's resource tokens allow. Every answer about a permission has a
// fresh token.
var permissions = &namedKind{
	kind: catalog.Permission, feed: "Permissions", owner: permissionOwner,
	content: permissionContent, system: permissionToken,
	rid: func(of ownerLinks, r *catalog.Resource) rid {
		id := of.rid
		id.number, id.hasNumber = r.Number, true
		return id
	},
}

func permissionOwner(e *exchange) (ownerLinks, error) {
	above, _ := userOwner(e)
	user, err := e.api.catalog.Resource(catalog.User, above.owner, e.owner)
	if err != nil {
		if user = byUserRID(e, above); user == nil {
			return ownerLinks{}, catalog.ErrNoOwner
		}
	}
	e.user = user
	r := users.rid(above, user)
	return ownerLinks{
		owner: catalog.Owner{Database: e.database.ID, User: user.Number}, rid: r, segment: "permissions",
		links: []link{{"dbs", above.rid}, {"users", r}},
	}, nil
}

func byUserRID(e *exchange, above ownerLinks) *catalog.Resource {
	id, ok := parseRID(e.owner)
	if !ok || id.database != e.database.ID {
		return nil
	}
	user, err := e.api.catalog.ResourceByNumber(catalog.User, id.user)
	if err != nil || user.Owner != above.owner {
		return nil
	}
	return user
}

var permissionMode = oneOf("Read", "All")

// permissionContent checks mode, resource and partition. The mode may be in any letter case. The resource must be in
// the user's database, but need not exist yet.
func permissionContent(e *exchange, of ownerLinks, d doc.Doc, old *catalog.Resource) (doc.Doc, error) {
	var missing []string
	for _, name := range []string{"permissionMode", "resource"} {
		if !present(d, name) {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return nil, required(missing...)
	}
	mode := doc.Lookup(d, "permissionMode")
	if _, err := permissionMode("permissionMode", mode); err != nil {
		return nil, err
	}
	kept := doc.With(nil, "permissionMode", mode) // in the case that was sent
	kept = doc.With(kept, "resource", doc.Lookup(d, "resource"))
	if present(d, "resourcePartitionKey") {
		kept = doc.With(kept, "resourcePartitionKey", doc.Lookup(d, "resourcePartitionKey"))
	}
	g, err := e.api.grantOfBody(kept)
	switch absent := fault.KindOf(err) == fault.NotFound; {
	case err != nil && !absent:
		return nil, err
	case g.scope.database != e.database:
		return nil, errScope
	case absent:
		return kept, e.onlyPermission(of, old, g, textOf(kept, "resource"))
	}
	return kept, e.onlyPermission(of, old, g, "")
}

var errSecondPermission = fault.New(fault.Exists,
	"The user already has a permission for this resource. Replace it, or delete it first.")

// onlyPermission rejects a second permission of a user for the same resource. absent is the link of a resource that
// does not exist; two of those are the same if their links are equal.
func (e *exchange) onlyPermission(of ownerLinks, old *catalog.Resource, g grant, absent string) error {
	for _, r := range e.api.catalog.Resources(catalog.Permission, of.owner) {
		if old != nil && r.Number == old.Number {
			continue
		}
		other, err := e.api.grantOf(r)
		same := err == nil && absent == "" && other.scope == g.scope ||
			fault.KindOf(err) == fault.NotFound && strings.Trim(textOf(r.Body, "resource"),
				"/") == strings.Trim(absent, "/")
		if same && samePartitionLimit(other, g) {
			return errSecondPermission
		}
	}
	return nil
}

func samePartitionLimit(a, b grant) bool {
	if a.limited != b.limited || len(a.partition) != len(b.partition) {
		return false
	}
	for i := range a.partition {
		if !doc.Equal(a.partition[i], b.partition[i]) {
			return false
		}
	}
	return true
}

// grantOf is what a permission allows now. It fails with fault.NotFound if its resource does not exist.
func (a *API) grantOf(p *catalog.Resource) (grant, error) { return a.grantOfBody(p.Body) }

func (a *API) grantOfBody(body doc.Doc) (g grant, err error) {
	g.write = strings.EqualFold(textOf(body, "permissionMode"), "All")
	if present(body, "resourcePartitionKey") {
		key := doc.Lookup(body, "resourcePartitionKey")
		if !doc.IsArray(key) {
			return g, invalidProperty("resourcePartitionKey", "an array of partition key values")
		}
		g.limited = true
		if g.partition, err = parsePartitionKey(string(doc.AppendJSONValue(nil, key))); err != nil {
			return g, err
		}
	}
	var absent error
	if g.scope, err = a.parseScope(textOf(body, "resource")); err != nil {
		if fault.KindOf(err) != fault.NotFound {
			return g, err
		}
		absent = err
	}
	if g.limited {
		if err := g.checkPartition(); err != nil {
			return g, err
		}
	}
	return g, absent
}

// checkPartition rejects a partition limit without values, and one with more values than the container's key has.
func (g *grant) checkPartition() error {
	if len(g.partition) == 0 {
		return invalidProperty("resourcePartitionKey",
			"an array of at least one value; leave it out to allow every partition")
	}
	if c := g.scope.container; c != nil && len(g.partition) > len(c.State().Partition.Paths) {
		return invalidProperty("resourcePartitionKey",
			"an array with no more values than the container's partition key has paths")
	}
	return nil
}

// permissionToken renders `_token`, valid for as long as the request asks.
func permissionToken(e *exchange, dst []byte, p *catalog.Resource) ([]byte, error) {
	life, ok, err := e.count(hExpirySeconds)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		life = tokenLife
	case life < minTokenLife, life > maxTokenLife:
		return nil, fault.New(fault.Invalid,
			"The lifetime of a resource token, %d seconds, is invalid. Ask for %d to %d seconds.", life, minTokenLife,
			maxTokenLife)
	}
	end := e.at.Add(time.Duration(life) * time.Second)
	t := resourceToken{permission: p.Number, sequence: p.Sequence, from: e.now, to: end.Unix()}
	if end.Nanosecond() > 0 {
		t.to++ // round up, so that the token is never valid for less than was asked
	}
	if g, err := e.api.grantOf(p); err == nil {
		t.database = g.scope.database.ID
		if g.scope.container != nil {
			t.container = g.scope.container.ID
		}
	}
	return appendText(dst, "_token", e.api.verifier.issue(t, e.grant.key)), nil
}
