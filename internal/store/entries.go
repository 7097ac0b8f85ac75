package store

import (
	"bytes"
	"slices"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/keys"
)

// An entryRange is the index entries of an access.Range.
type entryRange struct {
	interval
	prefix  []byte   // of all entries of the path or composite index
	columns []column // what entries consist of behind prefix
	exact   bool     // entries say exactly which documents are in the Range
	once    bool     // no document has two entries

	composite bool
}

// entryOf appends the entry of a document, nothing if it has none. The path has no steps to elements.
func (e *entryRange) entryOf(dst []byte, number uint64, body doc.Doc) []byte {
	if !e.composite && doc.IsUndefined(e.columns[0].path.Lookup(body)) {
		return dst
	}
	return e.appendForm(append(dst, e.prefix...), number, body)
}

// appendForm appends what follows the prefix in the entry of a document.
func (e *entryRange) appendForm(dst []byte, number uint64, body doc.Doc) []byte {
	for _, c := range e.columns {
		dst = keys.AppendValue(dst, c.path.Lookup(body), c.descending)
	}
	return keys.AppendNumber(dst, number)
}

// foundEntries is what entries has found last: a count asks several times for the same.
type foundEntries struct {
	of         *access.Range
	rng        keys.Range
	generation uint16
	entries    entryRange
	ok         bool
}

// entries finds the entries of a Range; ok is false when the index does not have them.
func (r *reading) entries(x *access.Range) (e entryRange, ok bool) {
	if f := &r.found; f.of == x && f.rng == r.rng && f.generation == r.index.Generation {
		return f.entries, f.ok
	}
	e, ok = r.findEntries(x)
	r.found = foundEntries{x, r.rng, r.index.Generation, e, ok}
	return e, ok
}

func (r *reading) findEntries(x *access.Range) (e entryRange, ok bool) {
	if x.Composite > 0 {
		return r.compositeEntries(x)
	}
	// An index that the policy does not have is not empty, but unknown: the caller looks at documents instead.
	if !r.matcher.covers(x.Path) {
		return e, false
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
	e = entriesWithin(prefix, x, false)
	e.prefix, e.columns, e.once = prefix, []column{{path: path}}, plain || e.run
	return e, true
}

// compositeEntries finds the entries in a composite index. The index may have changed since
// the view was entered, so its columns are compared with those that the Range means.
func (r *reading) compositeEntries(x *access.Range) (e entryRange, ok bool) {
	ordinal := x.Composite - 1
	meant := r.v.Active.Indexing.Composite
	if ordinal >= len(r.matcher.composite) || ordinal >= len(meant) ||
		!slices.Equal(meant[ordinal], r.index.Indexing.Composite[ordinal]) {
		return e, false
	}
	columns := r.matcher.composite[ordinal]
	if len(x.Equal) > len(columns) {
		return e, false
	}
	all := r.rng.CompositePrefix(nil, r.index.Generation, uint16(ordinal))
	prefix, exact := slices.Clone(all), true
	for i, v := range x.Equal {
		prefix = keys.AppendValue(prefix, v, columns[i].descending)
		exact = exact && !rough(v)
	}
	if len(x.Equal) == len(columns) {
		e.interval, e.exact = prefixed(prefix), x.Low == nil && x.High == nil
		e.run = true
	} else {
		e = entriesWithin(prefix, x, columns[len(x.Equal)].descending)
		e.run = e.run && len(x.Equal) == len(columns)-1
	}
	e.prefix, e.columns, e.once, e.exact, e.composite = all, columns, true, e.exact && exact, true
	return e, true
}

// entriesWithin finds the entries that begin with prefix and a value within the bounds of x.
func entriesWithin(prefix []byte, x *access.Range, descending bool) (e entryRange) {
	form := func(dst []byte, v doc.Value) ([]byte, bool) { return keys.AppendValue(dst, v, descending), rough(v) }
	e.interval = between(prefix, x.Low, x.High, descending, form)
	if isValue(x.Low) && isValue(x.High) && !x.Low.Open && !x.High.Open {
		last := x.High
		if descending {
			last = x.Low
		}
		e.run = bytes.Equal(e.lower, edge(prefix, last, descending, false, form))
	}
	e.exact = !roughBound(x.Low) && !roughBound(x.High)
	return e
}

func isValue(b *access.Bound) bool { return b != nil && !b.Type }

// endOfType is the value whose form begins as the first, or with last as the last, of v's
// type does: of the types only the truth values have two forms.
func endOfType(v doc.Value, last bool) doc.Value {
	if v.Type != bsoncore.TypeBoolean {
		return v
	}
	return doc.Bool(last)
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
