package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"unsafe"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// A named makes the entries of documents in one named index.
type named struct {
	catalog.NamedIndex
	paths    [][]string         // of the columns
	partial  func(doc.Doc) bool // nil for every document
	narrowed projection         // of a wildcard index
	multikey *atomic.Bool       // true once a document is known to have several entries; it never goes back
}

func newNamed(x catalog.NamedIndex, partial func(doc.Doc) bool) *named {
	n := &named{NamedIndex: x, partial: partial, multikey: new(atomic.Bool)}
	for _, c := range x.Columns {
		var path []string
		if c.Path != "" {
			path = strings.Split(c.Path, ".")
		}
		n.paths = append(n.paths, path)
	}
	if x.Wildcard {
		n.narrowed = newProjection(x.Projection)
	}
	return n
}

// sameEntries reports whether two versions of a document have the same entries, because they have the same values where
// the paths of the index begin. It is false if that would not be quick to tell.
func (n *named) sameEntries(before, after doc.Doc) bool {
	if n.partial != nil || n.Wildcard {
		return false
	}
	for _, path := range n.paths {
		if !doc.Lookup(before, path[0]).Equal(doc.Lookup(after, path[0])) {
			return false
		}
	}
	return true
}

// ErrParallelArrays refuses a document with two arrays in one compound index: it would need an entry for each pair of
// elements.
var ErrParallelArrays = fault.New(fault.Invalid, "A document has two arrays in one compound index.")

// A Duplicate says that another living document has the same values in a unique named index.
type Duplicate struct {
	Index  catalog.NamedIndex
	Values []doc.Value // in the order of its columns
}

func (d *Duplicate) Error() string { return fmt.Sprintf("duplicate key in index %s", d.Index.Name) }

// Unwrap makes it a fault.Exists.
func (d *Duplicate) Unwrap() error { return ErrExists }

// collectNamed makes t the set of body's terms in a named index, sorted. array reports that
// one of its paths went through an array. A nil body has none.
func (t *terms) collectNamed(n *named, rng keys.Range, body doc.Doc) (array bool, err error) {
	t.reset()
	array, err = t.gatherNamed(n, rng, body)
	t.sort()
	return array, err
}

// gatherNamed is collectNamed behind what t has already, and does not sort.
func (t *terms) gatherNamed(n *named, rng keys.Range, body doc.Doc) (array bool, err error) {
	t.rng = rng
	return n.eachKey(body, func(values []doc.Value) {
		if t.work != nil && t.work.step() {
			return
		}
		from := t.begin(keys.KindNamed) // the number of the index tells all, without a generation
		t.bytes = append(t.bytes, byte(n.ID>>24), byte(n.ID>>16), byte(n.ID>>8), byte(n.ID))
		for i, v := range values {
			t.bytes, _ = keys.AppendBSONClipped(t.bytes, v, n.descending(i))
		}
		t.end(from)
	})
}

// descending tells which way a value of a key goes. The path of a wildcard key is ascending.
func (n *named) descending(i int) bool { return !n.Wildcard && n.Columns[i].Descending }

// eachKey calls use with the values of each entry that a document has; the same may come
// twice. The values are valid during the call.
func (n *named) eachKey(body doc.Doc, use func(values []doc.Value)) (array bool, err error) {
	if body == nil || n.partial != nil && !n.partial(body) {
		return false, nil
	}
	if n.Wildcard {
		w := wildcard{n: n, use: use}
		err = w.start(body)
		return w.array, err
	}
	x := expansion{use: use, sparse: n.Sparse}
	// On the stack for most indexes: this runs for each document of each write.
	var paths [8][]string
	var fixed [8]doc.Value
	err = x.expand(append(paths[:0], n.paths...), append(fixed[:0], make([]doc.Value, len(n.paths))...), body)
	return x.array, err
}

// An expansion makes the keys of one document in a compound index: one for each element of the one array that its paths
// go through, as MongoDB does.
type expansion struct {
	use    func([]doc.Value)
	sparse bool
	array  bool
	depth  int
}

// done marks a path whose value is fixed. No path has such a name, since names have no zero byte.
var done = []string{"\x00"}

func isDone(path []string) bool { return len(path) == 1 && path[0] == done[0] }

// expand fixes the values of paths in d, and goes on in the elements of the array that
// some of them lead to.
func (x *expansion) expand(paths [][]string, fixed []doc.Value, d doc.Doc) error {
	if x.depth++; x.depth > maxArrayDepth {
		return fault.New(fault.Invalid, "Too many arrays inside each other on an indexed path (limit %d).",
			maxArrayDepth)
	}
	defer func() { x.depth-- }()
	var array doc.Value
	var through [32]bool
	missing := 0
	for i, path := range paths {
		if isDone(path) {
			continue
		}
		v, rest, err := descend(d, path)
		if err != nil {
			return err
		}
		if v.Type != bsoncore.TypeArray {
			if v.Type == 0 {
				missing++
				v = doc.Null()
			}
			fixed[i], paths[i] = v, done
			continue
		}
		// Two paths may go through the same array, as a.b and a.c do. Two different ones would need an entry for each
		// pair of their elements.
		if array.Type != 0 && !same(array, v) {
			return ErrParallelArrays
		}
		array, through[i], paths[i] = v, true, rest
	}
	if array.Type == 0 {
		// A sparse index leaves out documents that have none of its fields, as in MongoDB.
		if !x.sparse || missing < len(paths) {
			x.use(fixed)
		}
		return nil
	}
	x.array = true
	return x.elements(paths, fixed, array, &through)
}

// elements expands each element of the array that the paths marked in through lead to.
func (x *expansion) elements(paths [][]string, fixed []doc.Value, array doc.Value, through *[32]bool) error {
	// The common case, tags: ["a", "b"], without a recursion for each element.
	if x.flat(paths, through) {
		x.leaves(fixed, array, through)
		return nil
	}
	none := true
	inner, values := slices.Clone(paths), slices.Clone(fixed)
	step := func(element doc.Value) error {
		copy(inner, paths) // expand fixes paths in them
		copy(values, fixed)
		for i := range inner {
			if through[i] && len(inner[i]) == 0 {
				values[i], inner[i] = element, done
			}
		}
		below, _ := doc.AsDoc(element)
		if below == nil {
			below = doc.Empty
		}
		return x.expand(inner, values, below)
	}
	for element := range doc.Elements(array) {
		none = false
		if err := step(element); err != nil {
			return err
		}
	}
	if none {
		// An empty array has an entry too, as undefined, so that the index still knows the document.
		return step(doc.Value{Type: bsoncore.TypeUndefined})
	}
	return nil
}

// flat reports whether every path that is not fixed ends at the array.
func (x *expansion) flat(paths [][]string, through *[32]bool) bool {
	for i, path := range paths {
		if !isDone(path) && (!through[i] || len(path) > 0) {
			return false
		}
	}
	return true
}

// leaves makes a key of each element, or one for an array that has none.
func (x *expansion) leaves(fixed []doc.Value, array doc.Value, through *[32]bool) {
	values, none := slices.Clone(fixed), true
	give := func(element doc.Value) {
		none = false
		for i := range values {
			if through[i] {
				values[i] = element
			}
		}
		x.use(values)
	}
	for element := range doc.Elements(array) {
		give(element)
	}
	if none {
		// As in elements, an empty array keeps an entry.
		give(doc.Value{Type: bsoncore.TypeUndefined})
	}
}

// maxArrayDepth bounds how many arrays inside each other a path goes through.
const maxArrayDepth = 100

// same reports whether both are the same value of the same document.
func same(a, b doc.Value) bool { return unsafe.SliceData(a.Data) == unsafe.SliceData(b.Data) }

// descend follows a path to its end or to the first array on it, and gives what is left of the
// path there. A number goes to the element of that place, as in a query. A path that is over has a
// rest that is not nil only at an array.
func descend(d doc.Doc, path []string) (v doc.Value, rest []string, err error) {
	for i := 0; ; i++ {
		v = doc.Lookup(d, path[i])
		for v.Type == bsoncore.TypeArray && i+1 < len(path) {
			place, number := doc.ElementIndex(path[i+1])
			if !number {
				return v, path[i+1:], nil
			}
			if v, err = elementAt(v, place, path[i+1]); err != nil {
				return v, nil, err
			}
			i++
		}
		if i+1 == len(path) {
			return v, path[len(path):], nil
		}
		var ok bool
		if d, ok = doc.AsDoc(v); !ok {
			return doc.Value{}, nil, nil
		}
	}
}

// elementAt returns an element, the zero Value if there is none. An *AmbiguousPath when the step is the name of a
// member of some element, too.
func elementAt(array doc.Value, place int, name string) (found doc.Value, err error) {
	i := 0
	for element := range doc.Elements(array) {
		// MongoDB refuses such documents, because a.0 could mean the first element or the member "0" of each.
		if d, ok := doc.AsDoc(element); ok && doc.Lookup(d, name).Type != 0 {
			return found, &AmbiguousPath{Step: name}
		}
		if i == place {
			found = element
		}
		i++
	}
	return found, nil
}

// Named lists the indexes of a container that have names and are complete, as a language
// may use them, the one on _id first.
func (s *Store) Named(ctx context.Context, v catalog.View) ([]access.NamedIndex, error) {
	x := s.indexer(v)
	list := make([]access.NamedIndex, 1, 1+len(x.named))
	list[0] = access.NamedIndex{
		Index: access.Identity, Name: "_id_", Columns: []access.NamedColumn{{Path: "_id"}}, Unique: true,
	}
	for _, n := range x.named {
		if n.Building {
			continue
		}
		multikey, err := s.isMultikey(ctx, s.engine, v.Container.Only(), n)
		if err != nil {
			return nil, err
		}
		list = append(list, access.NamedIndex{
			Index: n.ID, Name: n.Name, Unique: n.Unique, Sparse: n.Sparse, Wildcard: n.Wildcard, Multikey: multikey,
			Hidden: n.Hidden, Partial: n.Partial, Projection: n.Projection, Columns: columnsOf(n.Columns),
		})
	}
	return list, nil
}

func columnsOf(columns []catalog.NamedColumn) []access.NamedColumn {
	list := make([]access.NamedColumn, len(columns))
	for i, c := range columns {
		list[i] = access.NamedColumn{Path: c.Path, Descending: c.Descending}
	}
	return list
}

// isMultikey reports whether a document has had several entries in an index.
func (s *Store) isMultikey(ctx context.Context, r kv.Reader, rng keys.Range, n *named) (bool, error) {
	if n.multikey.Load() {
		return true, nil
	}
	found, err := r.Get(ctx, rng.Multikey(nil, n.ID), func([]byte) error { return nil })
	// The mark never goes away, so it is remembered. Its absence is not: the next write may set it.
	if found {
		n.multikey.Store(true)
	}
	return found, err
}

// find gives the named index of that number, nil if there is none.
func (x *indexer) find(id uint32) *named {
	for _, n := range x.named {
		if n.ID == id {
			return n
		}
	}
	return nil
}
