package catalog

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mayflydb/mayfly/internal/audit"
	"github.com/mayflydb/mayfly/internal/doc"
)

// How events of the audit trail name and describe what the catalog has.

// maxShown is the longest value in bytes that an event shows.
const maxShown = 1 << 10

// resourceWords are the names of kinds of resources.
var resourceWords = map[ResourceKind]string{
	Procedure: "stored procedure", Trigger: "trigger", Function: "user-defined function", Offer: "throughput",
	User: "user", Permission: "permission", MongoUser: "MongoDB user",
}

// unshown are members of resources that events only mention: keys of passwords, data of clients, and source code.
var unshown = []string{"credentials", "customData", "resourcePartitionKey", "body"}

// implied are members that say what the name of a MongoDB user says too.
var implied = []string{"_id", "userId", "user", "db"}

func (ct *Container) path() string { return ct.Database.Name + "/" + ct.State().Name }

// pathOf is the path of a resource.
func (c *Catalog) pathOf(r *Resource) string {
	if r.Kind == Offer {
		return c.ownerPath(r.Target)
	}
	if r.Owner == (Owner{}) {
		return r.Name
	}
	return c.ownerPath(r.Owner) + "/" + r.Name
}

func (c *Catalog) ownerPath(o Owner) string {
	if o.Container != 0 {
		if ct, err := c.ContainerByID(o.Container); err == nil {
			return ct.path()
		}
	}
	var path string
	if db, err := c.DatabaseByID(o.Database); err == nil {
		path = db.Name
	}
	if o.User != 0 {
		if user, err := c.ResourceByNumber(User, o.User); err == nil {
			path += "/" + user.Name
		}
	}
	return path
}

// differences lists the members of two documents that are not the same. Either may be nil.
func differences(before, after doc.Doc) (list []audit.Change) {
	for name, old := range doc.Members(before) {
		if now := doc.Lookup(after, name); !sameValue(old, now) && !slices.Contains(implied, name) {
			list = append(list, audit.Change{Name: name, Before: shown(name, old), After: shown(name, now)})
		}
	}
	for name, now := range doc.Members(after) {
		if old := doc.Lookup(before, name); old.Type == 0 && !slices.Contains(implied, name) {
			list = append(list, audit.Change{Name: name, After: shown(name, now)})
		}
	}
	return list
}

func sameValue(a, b doc.Value) bool { return a.Type == b.Type && bytes.Equal(a.Data, b.Data) }

// shown is a value as events show it, nil if it is missing.
func shown(name string, v doc.Value) any {
	if v.Type == 0 {
		return nil
	}
	if slices.Contains(unshown, name) {
		if name == "body" {
			return digest(v.Data)
		}
		return "not shown"
	}
	text := doc.AppendJSONValue(nil, v)
	if len(text) > maxShown || !json.Valid(text) {
		return digest(v.Data)
	}
	return json.RawMessage(text)
}

// digest tells large values apart.
func digest(value []byte) string {
	sum := sha256.Sum256(value)
	return fmt.Sprintf("%d bytes, SHA-256 %x", len(value), sum[:8])
}

// changesOf lists what is different between two states of a container. before is nil for a new one.
func changesOf(before *State, after *State) (list []audit.Change) {
	if before == nil {
		before = new(State)
		dialect := "nosql"
		if after.Dialect != NoSQL {
			dialect = string(after.Dialect)
		}
		list = append(list, audit.Change{Name: "dialect", After: dialect})
		if n := len(after.Ranges()); n > 1 {
			list = append(list, audit.Change{Name: "partitions", After: int64(n)})
		}
	}
	if old, now := before.Policy.Default, after.Policy.Default; old != now {
		list = append(list, audit.Change{Name: "defaultTtl", Before: orNil(int64(old)), After: orNil(int64(now))})
	}
	if old, now := before.Policy.Property, after.Policy.Property; old != now {
		list = append(list, audit.Change{Name: "ttlPropertyPath", Before: orNil(old), After: orNil(now)})
	}
	return append(list, differences(before.Echo, after.Echo)...)
}

// orNil is nil for the zero value.
func orNil[T comparable](v T) any {
	if v == *new(T) {
		return nil
	}
	return v
}

// noteContainer adds the event of a container that is new, or of one that has changed: none if it is as before.
func (r *revision) noteContainer(ct *Container, before, after *State) {
	changes := changesOf(before, after)
	switch {
	case before == nil:
		r.note("create", "container", ct.Database.Name+"/"+after.Name, changes...)
	case len(changes) > 0:
		r.note("replace", "container", ct.path(), changes...)
	}
}

// noteIndexes adds an event for each named index that is new, gone or different.
func (r *revision) noteIndexes(ct *Container, before, after []NamedIndex) {
	find := func(list []NamedIndex, id uint32) (x NamedIndex, ok bool) {
		i := slices.IndexFunc(list, func(x NamedIndex) bool { return x.ID == id })
		if i < 0 {
			return x, false
		}
		return list[i], true
	}
	for _, old := range before {
		now, kept := find(after, old.ID)
		changes := differences(old.Spec, now.Spec)
		switch {
		case !kept:
			r.note("delete", "index", ct.path()+"/"+old.Name, changes...)
		case len(changes) > 0:
			r.note("replace", "index", ct.path()+"/"+old.Name, changes...)
		}
	}
	for _, now := range after {
		if _, old := find(before, now.ID); !old {
			r.note("create", "index", ct.path()+"/"+now.Name, differences(nil, now.Spec)...)
		}
	}
}

// noteResource adds the event of a resource. before is nil for a new one, and after for one that is deleted.
func (c *Catalog) noteResource(r *revision, before, after *Resource) {
	switch {
	case before == nil && after == nil:
	case before == nil:
		r.note("create", resourceWords[after.Kind], c.pathOf(after), differences(nil, after.Body)...)
	case after == nil:
		r.note("delete", resourceWords[before.Kind], c.pathOf(before))
	default:
		changes := differences(before.Body, after.Body)
		if before.Name != after.Name {
			changes = append(changes, audit.Change{Name: "id", Before: before.Name, After: after.Name})
		}
		r.note("replace", resourceWords[before.Kind], c.pathOf(before), changes...)
	}
}
