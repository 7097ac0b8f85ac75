package pipeline

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// Keys appends the values that a document sorts by, one for each path; they share its memory. A missing value is null.
// An array stands for the element that sorts first, an empty one for undefined. If several paths go into one array,
// their keys come from the same element. It fails with BadValue if paths go into different arrays.
// https://www.mongodb.com/docs/v7.0/reference/bson-type-comparison-order/
func (s *Sort) Keys(dst []doc.Value, d doc.Doc) ([]doc.Value, error) { return s.keys(nil, dst, d) }

// keys is Keys with its work spent from m.
func (s *Sort) keys(m *work.Meter, dst []doc.Value, d doc.Doc) ([]doc.Value, error) {
	if err := m.Spend(len(s.parts) * (work.Operator + work.Scanned(len(d))/4)); err != nil {
		return dst, err
	}
	start, arrays := len(dst), 0
	for _, p := range s.parts {
		v, array := straight(d, p.path)
		if array {
			arrays++
		}
		dst = append(dst, v)
	}
	if arrays == 0 {
		return dst, nil
	}
	if err := m.Spend(arrays * work.Scanned(len(d))); err != nil {
		return dst, err
	}
	if arrays > 1 {
		return s.keysOfArrays(m, dst[:start], d)
	}
	for i, p := range s.parts {
		if _, array := straight(d, p.path); array {
			dst[start+i] = p.firstValue(m, d)
		}
	}
	return dst, m.Err()
}

// straight is the value at a path; array reports that there is an array on the way, or at the end.
func straight(d doc.Doc, p path) (v doc.Value, array bool) {
	v = doc.Object(d)
	for _, name := range p {
		switch v.Type {
		case bsoncore.TypeEmbeddedDocument:
			v = doc.Lookup(v.Data, name)
		case bsoncore.TypeArray:
			return v, true
		default:
			return null, false
		}
	}
	return orNull(v), v.Type == bsoncore.TypeArray
}

// firstValue is the value at a path that sorts first.
func (p sortPart) firstValue(m *work.Meter, d doc.Doc) (best doc.Value) {
	each(doc.Object(d), p.path, func(v doc.Value) {
		if best.Type == 0 {
			best = v
			return
		}
		c := m.Compare(v, best)
		if c < 0 && !p.descending || c > 0 && p.descending {
			best = v
		}
	})
	return orNull(best)
}

// each calls f with the values that an index on the path would have for v.
func each(v doc.Value, p path, f func(doc.Value)) {
	for i := 0; i < len(p); i++ {
		switch v.Type {
		case bsoncore.TypeEmbeddedDocument:
			v = doc.Lookup(v.Data, p[i])
		case bsoncore.TypeArray:
			if e, ok := elementNamed(v, p[i]); ok {
				v = e
				continue
			}
			eachElement(v, p[i:], f)
			return
		default:
			f(null)
			return
		}
	}
	if !doc.IsArray(v) {
		f(orNull(v))
		return
	}
	some := false
	for e := range doc.Elements(v) {
		some = true
		f(e)
	}
	if !some {
		f(undefined)
	}
}

func eachElement(array doc.Value, p path, f func(doc.Value)) {
	some := false
	for e := range doc.Elements(array) {
		some = true
		if isObject(e) {
			each(e, p, f)
		} else {
			f(null)
		}
	}
	if !some {
		f(null)
	}
}

// elementNamed is the element of an array whose index is the name.
func elementNamed(array doc.Value, name string) (doc.Value, bool) {
	index := arrayIndex(name)
	if index < 0 {
		return doc.Value{}, false
	}
	for e := range doc.Elements(array) {
		if index == 0 {
			return e, true
		}
		index--
	}
	return doc.Value{}, false
}

// A trail is the progress along one path.
type trail struct {
	v    doc.Value
	at   int  // how many names of the path have been followed
	done bool // v is the key
}

// keysOfArrays is Keys if several paths meet arrays.
func (s *Sort) keysOfArrays(m *work.Meter, dst []doc.Value, d doc.Doc) ([]doc.Value, error) {
	trails := make([]trail, len(s.parts))
	for i := range trails {
		trails[i].v = doc.Object(d)
	}
	var best []doc.Value
	err := s.spread(m, trails, func(keys []doc.Value) {
		if best == nil || s.compareKeys(m, keys, best) < 0 {
			best = append(best[:0], keys...)
		}
	})
	return append(dst, best...), err
}

// spread calls f with each combination of keys. It goes through one array at a time, for all paths that lead through
// it.
func (s *Sort) spread(m *work.Meter, trails []trail, f func([]doc.Value)) error {
	through := -1
	for i := range trails {
		t := &trails[i]
		t.follow(s.parts[i].path)
		if t.done {
			continue
		}
		if through < 0 {
			through = i
		} else if !slices.Equal(s.parts[i].path[:t.at], s.parts[through].path[:trails[through].at]) {
			return code.New(code.BadValue, "cannot sort with keys that are parallel arrays")
		}
	}
	if through < 0 {
		keys := make([]doc.Value, len(trails))
		for i, t := range trails {
			keys[i] = t.v
		}
		f(keys)
		return nil
	}
	some := false
	for e := range doc.Elements(trails[through].v) {
		some = true
		if err := m.Spend(len(trails) * work.Operator); err != nil {
			return err
		}
		if err := s.spread(m, s.enter(trails, e), f); err != nil {
			return err
		}
	}
	if !some {
		return s.spread(m, s.enter(trails, doc.Value{}), f)
	}
	return nil
}

// follow advances until the key or an array.
func (t *trail) follow(p path) {
	for !t.done {
		switch {
		case doc.IsArray(t.v) && t.at < len(p):
			e, ok := elementNamed(t.v, p[t.at])
			if !ok {
				return
			}
			t.v = e
			t.at++
		case doc.IsArray(t.v):
			return
		case t.at == len(p):
			t.v, t.done = orNull(t.v), true
		case isObject(t.v):
			t.v = doc.Lookup(t.v.Data, p[t.at])
			t.at++
		default:
			t.v, t.done = null, true
		}
	}
}

// enter replaces the array that paths have met with one of its elements; a missing one stands for an empty array.
func (s *Sort) enter(trails []trail, e doc.Value) []trail {
	next := slices.Clone(trails)
	for i := range next {
		t := &next[i]
		switch {
		case t.done:
		case t.at == len(s.parts[i].path) && e.Type == 0:
			t.v, t.done = undefined, true
		case t.at == len(s.parts[i].path):
			t.v, t.done = e, true
		case isObject(e):
			t.v = e
		default:
			t.v, t.done = null, true
		}
	}
	return next
}
