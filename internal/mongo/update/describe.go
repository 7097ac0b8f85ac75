package update

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

// Describe tells what an update has done, as events of change streams do:
// {updatedFields: {"a.b": 1}, removedFields: ["c"], truncatedArrays: [{field: "d",
// newSize: 2}]}. It goes as deep as names without dots lead; an array whose changes
// would take more room than itself is given whole. A member that moved behind others
// is among the updated fields.
// https://www.mongodb.com/docs/v7.0/reference/change-events/update/
func Describe(before, after doc.Doc) doc.Doc {
	x := description{updated: []byte{0, 0, 0, 0}, removed: beginArray(nil), truncated: beginArray(nil)}
	x.document(before, after)
	out := make([]byte, 4, 64+len(x.updated)+len(x.removed.dst)+len(x.truncated.dst))
	out = doc.AppendElement(out, "updatedFields", doc.Object(end(x.updated, 0)))
	out = doc.AppendElement(out, "removedFields", doc.Array(x.removed.end()))
	out = doc.AppendElement(out, "truncatedArrays", doc.Array(x.truncated.end()))
	return end(out, 0)
}

// A description is what was found so far.
type description struct {
	updated            []byte // a document that is not closed
	removed, truncated array
	path               []byte // of the place that is compared, with a dot at its end; empty at the root
	cost               int    // about how many bytes all of it takes
}

// A mark is a place in a description to come back to.
type mark struct {
	updated            int
	removed, truncated array
	cost               int
}

func (x *description) mark() mark { return mark{len(x.updated), x.removed, x.truncated, x.cost} }

func (x *description) back(m mark) {
	x.updated, x.removed, x.truncated, x.cost = x.updated[:m.updated], m.removed, m.truncated, m.cost
}

// since is what was added after m.
func (x *description) since(m mark) int { return x.cost - m.cost }

func (x *description) update(name string, v doc.Value) {
	x.updated = append(x.updated, byte(v.Type))
	x.updated = append(x.updated, x.path...)
	x.updated = append(append(x.updated, name...), 0)
	x.updated = append(x.updated, v.Data...)
	x.cost += 2 + len(x.path) + len(name) + len(v.Data)
}

func (x *description) remove(name string) {
	x.removed.add(doc.String(string(x.path) + name))
	x.cost += 2 + len(x.path) + len(name)
}

// shorten notes the new size of an array.
func (x *description) shorten(field string, size int) {
	entry := doc.AppendElement([]byte{0, 0, 0, 0}, "field", doc.String(field))
	entry = doc.AppendElement(entry, "newSize", doc.Int32(int32(size)))
	x.truncated.add(doc.Object(end(entry, 0)))
	x.cost += 2 + len(field)
}

// A member is one of a document's.
type member struct {
	name  string
	value doc.Value
}

func members(d doc.Doc) []member {
	list := make([]member, 0, 32)
	for name, v := range doc.Members(d) {
		list = append(list, member{name, v})
	}
	return list
}

// document compares members in step. Where names differ the old one is taken to be
// gone; if it comes later it has moved, and counts as updated.
func (x *description) document(before, after doc.Doc) {
	x.within(before, after, 0)
}

// within stops when it has added more than limit bytes, 0 for none.
func (x *description) within(before, after doc.Doc, limit int) {
	old, now := members(before), members(after)
	began := x.mark()
	var gone map[string]bool
	for len(old) > 0 && len(now) > 0 {
		if limit > 0 && x.since(began) > limit {
			return
		}
		if old[0].name == now[0].name {
			x.value(old[0].name, old[0].value, now[0].value)
			now = now[1:]
		} else {
			gone = noted(gone, old[0].name)
		}
		old = old[1:]
	}
	for _, m := range now {
		if limit > 0 && x.since(began) > limit {
			return
		}
		x.update(m.name, m.value)
		delete(gone, m.name)
	}
	for _, m := range old {
		gone = noted(gone, m.name)
	}
	for _, name := range slices.Sorted(maps.Keys(gone)) {
		x.remove(name)
	}
}

func noted(names map[string]bool, name string) map[string]bool {
	if names == nil {
		names = map[string]bool{}
	}
	names[name] = true
	return names
}

// smallDiff is how many bytes more than the object itself its changes may take.
const smallDiff = 1024

func (x *description) value(name string, before, after doc.Value) {
	if unchanged(before, after) {
		return
	}
	began, length := x.mark(), len(x.path)
	x.path = append(append(x.path, name...), '.')
	limit := 0
	switch {
	case before.Type != after.Type || !speakable(name):
	case after.Type == bsoncore.TypeEmbeddedDocument && tellable(before.Data) && tellable(after.Data):
		limit = len(after.Data) + smallDiff
		x.within(before.Data, after.Data, limit)
	case after.Type == bsoncore.TypeArray:
		limit = len(after.Data)
		x.elements(name, before, after, length, limit)
	}
	whole := limit == 0 || x.since(began) > limit
	x.path = x.path[:length]
	if whole {
		x.back(began)
		x.update(name, after)
	}
}

// speakable reports whether a name can be part of a dotted path.
func speakable(name string) bool {
	return name != "" && name[0] != '$' && !strings.Contains(name, ".")
}

// tellable reports whether all members of d can be told by dotted paths.
func tellable(d doc.Doc) bool {
	for name := range doc.Members(d) {
		if !speakable(name) {
			return false
		}
	}
	return true
}

// elements compares arrays place by place. outer is how much of the path leads to
// what is around the array called name.
func (x *description) elements(name string, before, after doc.Value, outer, limit int) {
	began := x.mark()
	old, now := members(before.Data), members(after.Data)
	for i, m := range now {
		if x.since(began) > limit {
			return
		}
		if i < len(old) {
			x.value(strconv.Itoa(i), old[i].value, m.value)
		} else {
			x.update(strconv.Itoa(i), m.value)
		}
	}
	if len(now) < len(old) {
		x.shorten(string(append(x.path[:outer:outer], name...)), len(now))
	}
}
