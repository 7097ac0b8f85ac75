package rest

import (
	"strings"
	"time"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// How long a resource token is valid, in seconds.
const (
	tokenLife    = 3600
	minTokenLife = 10
	maxTokenLife = 18_000
)

// permissions say what a user's resource tokens allow. Every answer about one
// carries a fresh token.
var permissions = &named{
	kind: catalog.Permission, feed: "Permissions", owner: permissionOwner,
	content: permissionContent, system: permissionToken,
	rid: func(of family, r *catalog.Resource) rid {
		id := of.rid
		id.number, id.hasNumber = r.Number, true
		return id
	},
}

func permissionOwner(e *exchange) (family, error) {
	above, _ := userOwner(e)
	user, err := e.door.catalog.Resource(catalog.User, above.owner, e.owner)
	if err != nil {
		if user = byUserRID(e, above); user == nil {
			return family{}, catalog.ErrNoOwner
		}
	}
	e.user = user
	r := users.rid(above, user)
	return family{
		owner: catalog.Owner{Database: e.database.ID, User: user.Number}, rid: r, segment: "permissions",
		links: []link{{"dbs", above.rid}, {"users", r}},
	}, nil
}

func byUserRID(e *exchange, above family) *catalog.Resource {
	id, ok := parseRID(e.owner)
	if !ok || id.database != e.database.ID {
		return nil
	}
	user, err := e.door.catalog.ResourceByNumber(catalog.User, id.user)
	if err != nil || user.Owner != above.owner {
		return nil
	}
	return user
}

var permissionMode = oneOf("Read", "All")

// permissionContent checks mode, resource and partition. A mode counts in any case. The resource is one in the user's database, there or
// yet to come.
func permissionContent(e *exchange, of family, d doc.Doc, old *catalog.Resource) (doc.Doc, error) {
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
	g, err := e.door.grantOfBody(kept)
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

var errSecondPermission = fault.New(fault.Exists, "The user has a permission for this resource already. Replace it, or delete it first.")

// onlyPermission refuses a second permission of a user for the same resource. absent is the link of a resource that
// is not there: such ones are the same if their links are.
func (e *exchange) onlyPermission(of family, old *catalog.Resource, g grant, absent string) error {
	for _, r := range e.door.catalog.Resources(catalog.Permission, of.owner) {
		if old != nil && r.Number == old.Number {
			continue
		}
		other, err := e.door.grantOf(r)
		same := err == nil && absent == "" && other.scope == g.scope ||
			fault.KindOf(err) == fault.NotFound && strings.Trim(textOf(r.Body, "resource"), "/") == strings.Trim(absent, "/")
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

// grantOf is what a permission allows now; fault.NotFound when its resource is not there.
func (d *Door) grantOf(p *catalog.Resource) (grant, error) { return d.grantOfBody(p.Body) }

func (d *Door) grantOfBody(body doc.Doc) (g grant, err error) {
	g.write = strings.EqualFold(textOf(body, "permissionMode"), "All")
	if present(body, "resourcePartitionKey") {
		key := doc.Lookup(body, "resourcePartitionKey")
		if !doc.IsArray(key) {
			return g, misshapen("resourcePartitionKey", "an array of partition key values")
		}
		g.limited = true
		if g.partition, err = parsePartitionKey(string(doc.AppendJSONValue(nil, key))); err != nil {
			return g, err
		}
	}
	var absent error
	if g.scope, err = d.parseScope(textOf(body, "resource")); err != nil {
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

// checkPartition refuses a limit that limits nothing, or that no item can lie within.
func (g *grant) checkPartition() error {
	if len(g.partition) == 0 {
		return misshapen("resourcePartitionKey", "an array of at least one value; leave it out to allow every partition")
	}
	if c := g.scope.container; c != nil && len(g.partition) > len(c.State().Partition.Paths) {
		return misshapen("resourcePartitionKey", "an array with no more values than the container's partition key has paths")
	}
	return nil
}

// permissionToken renders `_token`, good for as long as the request asks.
func permissionToken(e *exchange, dst []byte, p *catalog.Resource) ([]byte, error) {
	life, ok, err := e.count(hExpirySeconds)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		life = tokenLife
	case life < minTokenLife, life > maxTokenLife:
		return nil, fault.New(fault.Invalid, "The life of a resource token, %d seconds, is invalid. Ask for %d to %d seconds.", life, minTokenLife, maxTokenLife)
	}
	end := e.at.Add(time.Duration(life) * time.Second)
	t := resourceToken{permission: p.Number, sequence: p.Sequence, from: e.now, to: end.Unix()}
	if end.Nanosecond() > 0 {
		t.to++ // never shorter than asked for
	}
	if g, err := e.door.grantOf(p); err == nil {
		t.database = g.scope.database.ID
		if g.scope.container != nil {
			t.container = g.scope.container.ID
		}
	}
	return appendText(dst, "_token", e.door.keys.issue(t)), nil
}
