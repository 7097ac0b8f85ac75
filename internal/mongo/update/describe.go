package update

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

// Describe describes what an update changed, in the form of change events: {updatedFields: {"a.b": 1}, removedFields:
// ["c"], truncatedArrays: [{field: "d", newSize: 2}]}. An array whose changes would be larger than the array itself is
// given as a whole. A member that moved behind others is among the updated fields. If a path is ambiguous, because a
// name in it has a dot or looks like an index, the member disambiguatedPaths has its parts: {"a.0": ["a", "0"]}.
// Without such a path there is no such member.
// https://www.mongodb.com/docs/v7.0/reference/change-events/update/
func Describe(before, after doc.Doc) doc.Doc {
	x := description{updated: []byte{0, 0, 0, 0}, removed: beginArray(nil), truncated: beginArray(nil)}
	x.parts = x.room[:0]
	x.document(before, after)
	out := make([]byte, 4, 64+len(x.updated)+len(x.removed.dst)+len(x.truncated.dst))
	out = doc.AppendElement(out, "updatedFields", doc.Object(end(x.updated, 0)))
	out = doc.AppendElement(out, "removedFields", doc.Array(x.removed.end()))
	out = doc.AppendElement(out, "truncatedArrays", doc.Array(x.truncated.end()))
	if len(x.parted) > 0 {
		out = doc.AppendElement(out, DisambiguatedPaths, doc.Object(end(x.parted, 0)))
	}
	return end(out, 0)
}

// DisambiguatedPaths is the member of a description that only expanded events show.
const DisambiguatedPaths = "disambiguatedPaths"

// A description is a description under construction.
type description struct {
	updated            []byte // a document that is not closed
	parted             []byte // another one, empty until there is an ambiguous path
	removed, truncated array
	path               []byte      // of the place being compared, with a dot at its end; empty at the root
	parts              []pathPart  // the same
	room               [8]pathPart // memory for parts, enough for most documents
	cost               int         // size of the description in bytes (approximate)
}

// A pathPart is a name or an index.
type pathPart struct {
	name  string
	index bool // of an array
	doubt bool // the path up to this part is ambiguous
}

// next is the part below the place being compared. A name that has a dot, or that looks like an index and is not at the
// root, makes the path ambiguous.
// mongodb/mongo: src/mongo/db/pipeline/change_stream_document_diff_parser.cpp
func (x *description) next(name string, index bool) pathPart {
	n := len(x.parts)
	doubt := n > 0 && x.parts[n-1].doubt || !index && (strings.Contains(name, ".") || n > 0 && numeric(name))
	return pathPart{name, index, doubt}
}

// numeric reports whether a name could be an index.
func numeric(name string) bool {
	for _, c := range []byte(name) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return name == "0" || name != "" && name[0] != '0'
}

// part notes the parts of the path that ends with last, if it is ambiguous.
func (x *description) part(last pathPart) {
	if !last.doubt {
		return
	}
	if len(x.parted) == 0 {
		x.parted = append(x.parted, 0, 0, 0, 0)
	}
	x.parted = append(append(append(x.parted, byte(bsoncore.TypeArray)), x.path...), last.name...)
	list := beginArray(append(x.parted, 0))
	for _, s := range append(x.parts, last) {
		if v := doc.String(s.name); !s.index {
			list.add(v)
			continue
		}
		n, _ := strconv.Atoi(s.name)
		list.add(doc.Int32(int32(n)))
	}
	x.parted = list.end()
}

// A mark is a state of a description to return to.
type mark struct {
	updated, parted    int
	removed, truncated array
	cost               int
}

func (x *description) mark() mark {
	return mark{len(x.updated), len(x.parted), x.removed, x.truncated, x.cost}
}

func (x *description) back(m mark) {
	x.updated, x.parted = x.updated[:m.updated], x.parted[:m.parted]
	x.removed, x.truncated, x.cost = m.removed, m.truncated, m.cost
}

// since is the number of bytes added after m.
func (x *description) since(m mark) int { return x.cost - m.cost }

func (x *description) update(name string, index bool, v doc.Value) {
	x.part(x.next(name, index))
	x.updated = append(x.updated, byte(v.Type))
	x.updated = append(x.updated, x.path...)
	x.updated = append(append(x.updated, name...), 0)
	x.updated = append(x.updated, v.Data...)
	x.cost += 2 + len(x.path) + len(name) + len(v.Data)
}

func (x *description) remove(name string) {
	x.part(x.next(name, false))
	x.removed.add(doc.String(string(x.path) + name))
	x.cost += 2 + len(x.path) + len(name)
}

// shorten notes the new size of the array being compared; outer is the length of the path of its parent.
func (x *description) shorten(outer, size int) {
	field := string(x.path[:len(x.path)-1])
	last := x.parts[len(x.parts)-1]
	path, parts := x.path, x.parts
	x.path, x.parts = x.path[:outer], x.parts[:len(x.parts)-1]
	x.part(last)
	x.path, x.parts = path, parts
	entry := doc.AppendElement([]byte{0, 0, 0, 0}, "field", doc.String(field))
	entry = doc.AppendElement(entry, "newSize", doc.Int32(int32(size)))
	x.truncated.add(doc.Object(end(entry, 0)))
	x.cost += 2 + len(field)
}

// document compares the members of two documents in order. Where the names differ, the old member counts as removed; if
// it comes later, it has moved and counts as updated.
func (x *description) document(before, after doc.Doc) {
	x.within(before, after, 0)
}

// within is document, but stops once it has added more than limit bytes; 0 is no limit.
func (x *description) within(before, after doc.Doc, limit int) {
	began := x.mark()
	var gone map[string]bool
	doc.Differences(before, after, func(name string, old, fresh doc.Value) bool {
		switch {
		case limit > 0 && x.since(began) > limit:
			return false
		case fresh.Type == 0:
			gone = noted(gone, name)
		case old.Type == 0:
			x.update(name, false, fresh)
			delete(gone, name)
		default:
			x.value(name, false, old, fresh)
		}
		return true
	})
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

// smallDiff is how many bytes larger than the object itself the description of its changes may be.
const smallDiff = 1024

func (x *description) value(name string, index bool, before, after doc.Value) {
	if unchanged(before, after) {
		return
	}
	began, length := x.mark(), len(x.path)
	x.parts = append(x.parts, x.next(name, index))
	x.path = append(append(x.path, name...), '.')
	limit := 0
	switch {
	case before.Type != after.Type || name == "":
	case after.Type == bsoncore.TypeEmbeddedDocument && tellable(before.Data) && tellable(after.Data):
		limit = len(after.Data) + smallDiff
		x.within(before.Data, after.Data, limit)
	case after.Type == bsoncore.TypeArray:
		limit = len(after.Data)
		x.elements(before, after, length, limit)
	}
	whole := limit == 0 || x.since(began) > limit
	x.path, x.parts = x.path[:length], x.parts[:len(x.parts)-1]
	if whole {
		x.back(began)
		x.update(name, index, after)
	}
}

// tellable reports whether paths can name all members of d.
func tellable(d doc.Doc) bool {
	for name := range doc.Members(d) {
		if name == "" {
			return false
		}
	}
	return true
}

// elements compares arrays element by element. outer is the length of the path of their parent.
func (x *description) elements(before, after doc.Value, outer, limit int) {
	began := x.mark()
	doc.ElementDifferences(before, after, func(i int, old, fresh doc.Value) bool {
		switch {
		case x.since(began) > limit:
			return false
		case fresh.Type == 0:
			x.shorten(outer, i)
			return false
		case old.Type == 0:
			x.update(strconv.Itoa(i), true, fresh)
		default:
			x.value(strconv.Itoa(i), true, old, fresh)
		}
		return true
	})
}
