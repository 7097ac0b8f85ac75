package store

import (
	"bytes"
	"slices"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/keys"
)

// A stretch is the index entries of a Range: the keys in [lower, upper).
type stretch struct {
	lower, upper []byte
	prefix       []byte   // of all entries of the path or composite index
	columns      []column // what entries consist of behind prefix
	point        bool     // all entries begin with lower, and a number comes next
	exact        bool     // entries say exactly which documents are in the Range
	once         bool     // no document has two entries
}

func (st *stretch) empty() bool { return bytes.Compare(st.lower, st.upper) >= 0 }

// stretch finds the entries of a Range; ok is false when the index does not have them.
func (r *reading) stretch(x *access.Range) (st stretch, ok bool) {
	if x.Composite > 0 {
		return r.compositeStretch(x)
	}
	if !r.matcher.covers(x.Path) {
		return st, false
	}
	var steps []byte
	for _, s := range x.Path {
		if s.Element {
			steps = keys.AppendElementStep(steps)
		} else {
			steps = keys.AppendMemberStep(steps, s.Name)
		}
	}
	prefix := r.rng.EntryPrefix(nil, r.index.Generation, keys.AppendSteps(nil, steps))
	path, plain := plainPath(x.Path)
	st = between(prefix, x, false)
	st.prefix, st.columns, st.once = prefix, []column{{path: path}}, plain || st.point
	return st, true
}

// compositeStretch finds the entries in the composite index that the Range means, which
// the index of the view has at that ordinal.
func (r *reading) compositeStretch(x *access.Range) (st stretch, ok bool) {
	ordinal := x.Composite - 1
	meant := r.v.Active.Indexing.Composite
	if ordinal >= len(r.matcher.composite) || ordinal >= len(meant) ||
		!slices.Equal(meant[ordinal], r.index.Indexing.Composite[ordinal]) {
		return st, false
	}
	columns := r.matcher.composite[ordinal]
	if len(x.Equal) > len(columns) {
		return st, false
	}
	all := r.rng.CompositePrefix(nil, r.index.Generation, uint16(ordinal))
	prefix, exact := slices.Clone(all), true
	for i, v := range x.Equal {
		prefix = keys.AppendValue(prefix, v, columns[i].descending)
		exact = exact && !rough(v)
	}
	if len(x.Equal) == len(columns) {
		st.lower, st.upper = keys.Prefixed(prefix)
		st.point, st.exact = true, x.Low == nil && x.High == nil
	} else {
		st = between(prefix, x, columns[len(x.Equal)].descending)
		st.point = st.point && len(x.Equal) == len(columns)-1
	}
	st.prefix, st.columns, st.once, st.exact = all, columns, true, st.exact && exact
	return st, true
}

// between finds the keys that begin with prefix and a value within the bounds of x.
func between(prefix []byte, x *access.Range, descending bool) (st stretch) {
	first, last := x.Low, x.High
	if descending {
		first, last = last, first
	}
	first, last = ofLow(first, descending), ofLow(last, !descending)
	st.lower = edge(prefix, first, descending, false)
	st.upper = edge(prefix, last, descending, true)
	st.point = isValue(x.Low) && isValue(x.High) && !x.Low.Open && !x.High.Open &&
		bytes.Equal(edge(prefix, x.Low, descending, false), edge(prefix, x.High, descending, false))
	st.exact = !roughBound(x.Low) && !roughBound(x.High)
	return st
}

func isValue(b *access.Bound) bool { return b != nil && !b.Type }

// ofLow gives a Bound whose type begins, or for a High ends, with a value of its own: of
// the types only the truth values have two forms.
func ofLow(b *access.Bound, high bool) *access.Bound {
	if b == nil || !b.Type || b.Value.Type != bsoncore.TypeBoolean {
		return b
	}
	return &access.Bound{Value: doc.Bool(high), Type: true}
}

// edge gives the key before which, or with after behind which, entries are out of bounds.
// A bound of which an entry keeps only a part leaves no one out who may be within.
func edge(prefix []byte, b *access.Bound, descending, after bool) []byte {
	key := slices.Clone(prefix)
	open := false
	if b != nil {
		key = keys.AppendValue(key, b.Value, descending)
		if b.Type {
			key = key[:len(prefix)+1] // the form of a value begins with its type
		} else {
			open = b.Open && !rough(b.Value)
		}
	}
	if after != open {
		return keys.End(key)
	}
	return key
}

func roughBound(b *access.Bound) bool { return b != nil && !b.Type && rough(b.Value) }

// rough reports whether an index entry keeps only a part of v.
func rough(v doc.Value) bool {
	switch v.Type {
	case bsoncore.TypeString:
		s, _ := doc.AsString(v)
		return len(s) > keys.MaxStringBytes
	case 0, bsoncore.TypeNull, bsoncore.TypeBoolean:
		return false
	}
	return !doc.IsNumber(v)
}

// plainPath is a path as documents are asked for it; ok is false for one with steps
// to elements.
func plainPath(path access.Path) (p doc.Path, ok bool) {
	p = make(doc.Path, len(path))
	for i, s := range path {
		if s.Element {
			return nil, false
		}
		p[i] = doc.Token{Kind: doc.TokenMember, Name: s.Name}
	}
	return p, true
}

// isStamp reports whether a path is that of the stamp, whose order is that of the feed.
func isStamp(x *access.Range) bool {
	return x.Composite == 0 && len(x.Path) == 1 && !x.Path[0].Element && x.Path[0].Name == "_ts"
}
