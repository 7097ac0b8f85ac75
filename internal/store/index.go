package store

import (
	"bytes"
	"slices"
	"sync"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/keys"
)

// An indexer makes the index entries of a container's documents: in the generation that is complete, in the one that is
// being built, and in the indexes that have names.
type indexer struct {
	generations [2]uint16
	matchers    [2]*matcher // the second is nil when none is being built

	epoch uint64 // of the container's state
	named []*named

	describe sync.Once // makes schema, see Schema
	schema   access.Schema
	absences absences
}

// indexer gives the compiled indexing of a view. A generation is never used for
// a second policy while entries of it are there, so it tells a stale one.
func (s *Store) indexer(v catalog.View) *indexer {
	generations := [2]uint16{v.Active.Generation}
	if v.Building != nil {
		generations[1] = v.Building.Generation
	}
	if known, ok := s.indexers.Load(v.Container); ok {
		if x := known.(*indexer); x.generations == generations && x.epoch == v.Epoch() {
			return x
		}
	}
	x := &indexer{generations: generations, epoch: v.Epoch()}
	x.matchers[0] = newMatcher(v.Active.Indexing)
	if v.Building != nil {
		x.matchers[1] = newMatcher(v.Building.Indexing)
	}
	for i, index := range v.Named {
		x.named = append(x.named, newNamed(index, v.Partials()[i]))
	}
	s.indexers.Store(v.Container, x)
	return x
}

// A verdict is what a policy says of a path.
type verdict uint8

const (
	unsaid verdict = iota
	included
	excluded
)

// A node is a path of an indexing policy, by its tokens.
type node struct {
	members map[string]*node
	element *node
	here    verdict // of the value at this path (`?`)
	below   verdict // of this path and all below it (`*`)
}

func (n *node) member(name string) *node {
	if n == nil {
		return nil
	}
	return n.members[name]
}

func (n *node) elements() *node {
	if n == nil {
		return nil
	}
	return n.element
}

// indexed reports whether the value at the path is indexed, and whether what is below it is. parent is the latter of
// the path that it is a step from.
func (n *node) indexed(parent bool) (here, below bool) {
	if n == nil {
		return parent, parent
	}
	below = parent
	if n.below != unsaid {
		below = n.below == included
	}
	here = below
	if n.here != unsaid {
		here = n.here == included
	}
	return here, below
}

// A matcher finds the index terms of documents under one indexing policy. The
// most precise path of the policy decides; of two equal ones, the excluded.
type matcher struct {
	root      *node
	composite [][]column
	none      bool // nothing is indexed
}

type column struct {
	path       doc.Path
	descending bool
}

// newMatcher compiles an indexing policy. The API has checked its paths; one that cannot be parsed is ignored.
func newMatcher(x catalog.Indexing) *matcher {
	m := &matcher{root: &node{}, none: x.None}
	if x.None {
		return m
	}
	for _, text := range x.Included {
		m.add(text, included)
	}
	for _, text := range x.Excluded {
		m.add(text, excluded)
	}
	m.add("/id/?", included) // always indexed, whatever the policy says (L-08)
	for _, columns := range x.Composite {
		m.composite = append(m.composite, compileColumns(columns))
	}
	return m
}

func compileColumns(paths []catalog.CompositePath) []column {
	columns := make([]column, len(paths))
	for i, p := range paths {
		path, _ := doc.ParsePath(p.Path)
		columns[i] = column{path, p.Descending}
	}
	return columns
}

func (m *matcher) add(text string, v verdict) {
	path, err := doc.ParsePath(text)
	if err != nil {
		return
	}
	n := m.root
	for _, token := range path {
		switch token.Kind {
		case doc.TokenBelow:
			n.below = v
			return
		case doc.TokenScalar:
			n.here = v
			return
		case doc.TokenElement:
			if n.element == nil {
				n.element = &node{}
			}
			n = n.element
		case doc.TokenMember:
			if n.members == nil {
				n.members = map[string]*node{}
			}
			if n.members[token.Name] == nil {
				n.members[token.Name] = &node{}
			}
			n = n.members[token.Name]
		}
	}
	n.here = v
}

// terms is a set of index entries of one document: their keys, each with space for the document's number at its end.
// The keys are one after the other in bytes, and list says where each is. So a large set is two pieces of memory, and
// sorting it copies no key.
type terms struct {
	bytes []byte
	list  []term
	path  []byte // of the value that is being looked at

	rng        keys.Range
	generation uint16

	work     *work // of a large document, else nil
	counting bool  // terms are counted, and not kept
	count    int
	size     int // of their keys
}

// A term is where an entry's key begins and ends.
type term struct{ from, to uint32 }

// numberBytes is what the number takes at the end of an entry's key.
const numberBytes = 8

func (t *terms) at(i int) []byte { return t.key(t.list[i]) }

func (t *terms) key(x term) []byte { return t.bytes[x.from:x.to:x.to] }

// entry is the key of an entry for the document with that number, in memory of its own.
func (t *terms) entry(i int, number uint64) []byte {
	return setNumber(bytes.Clone(t.at(i)), number)
}

// setNumber puts the number into the key of an entry.
func setNumber(key []byte, number uint64) []byte {
	keys.AppendNumber(key[:len(key)-numberBytes], number)
	return key
}

func (t *terms) reset() {
	t.bytes, t.list, t.path, t.counting = t.bytes[:0], t.list[:0], t.path[:0], false
}

// begin begins the key of an entry.
func (t *terms) begin(kind keys.Kind) (from int) {
	from = len(t.bytes)
	t.bytes = t.rng.AppendPrefix(t.bytes, kind)
	return from
}

// beginHere begins the key of an entry of the generation.
func (t *terms) beginHere(kind keys.Kind) (from int) {
	from = t.begin(kind)
	t.bytes = append(t.bytes, byte(t.generation>>8), byte(t.generation))
	return from
}

// end ends it.
func (t *terms) end(from int) {
	t.bytes = append(t.bytes, 0, 0, 0, 0, 0, 0, 0, 0)
	if t.counting {
		t.count, t.size = t.count+1, t.size+len(t.bytes)-from
		t.bytes = t.bytes[:from]
		return
	}
	t.list = append(t.list, term{uint32(from), uint32(len(t.bytes))})
}

// collect makes t the set of body's terms under a policy, whose entries have that generation, sorted.
func (t *terms) collect(m *matcher, rng keys.Range, generation uint16, body doc.Doc) {
	t.reset()
	t.gather(m, rng, generation, body)
	t.sort()
}

// gather is collect behind what t has already, and does not sort.
func (t *terms) gather(m *matcher, rng keys.Range, generation uint16, body doc.Doc) {
	t.rng, t.generation = rng, generation
	if body == nil {
		return
	}
	below := m.root.below == included
	for name, v := range doc.Members(body) {
		t.value(m.root.member(name), below, v, name, false)
	}
	t.composites(m, body)
}

// gatherChange is gather for a document before and after a change, without some terms that it has before and after: of
// members that are the same, except below arrays, where terms do not say of which element they are. Documents of
// containers with an indexing policy have each name once in an object (doc.Builder).
func gatherChange(sides *[2]terms, m *matcher, rng keys.Range, generation uint16, before, after doc.Doc) {
	for i := range sides {
		sides[i].rng, sides[i].generation = rng, generation
	}
	changedMembers(sides, m.root, m.root.below == included, before, after)
	sides[0].composites(m, before)
	sides[1].composites(m, after)
}

// changedMembers adds the terms of the members in which two objects at the present path differ. n and below are what
// the policy says of that.
func changedMembers(sides *[2]terms, n *node, below bool, before, after doc.Doc) {
	doc.Differences(before, after, func(name string, old, fresh doc.Value) bool {
		member := n.member(name)
		// Both have a term for the object itself.
		if old.Type == bsoncore.TypeEmbeddedDocument && fresh.Type == old.Type {
			_, below := member.indexed(below)
			if member == nil && !below {
				return true
			}
			depth := len(sides[0].path)
			for i := range sides {
				sides[i].path = keys.AppendMemberStep(sides[i].path, name)
			}
			changedMembers(sides, member, below, old.Data, fresh.Data)
			for i := range sides {
				sides[i].path = sides[i].path[:depth]
			}
			return true
		}
		for i, v := range [...]doc.Value{old, fresh} {
			if v.Type != 0 {
				sides[i].value(member, below, v, name, false)
			}
		}
		return true
	})
}

// sort puts the terms in order, each once.
func (t *terms) sort() {
	slices.SortFunc(t.list, func(a, b term) int {
		if t.work != nil && t.work.step() {
			return 0 // the write ends, so the order does not matter
		}
		return bytes.Compare(t.bytes[a.from:a.to], t.bytes[b.from:b.to])
	})
	t.list = slices.CompactFunc(t.list, func(a, b term) bool {
		return bytes.Equal(t.bytes[a.from:a.to], t.bytes[b.from:b.to])
	})
}

// value adds the terms of the value that is one step further: the member
// called name, or an element.
func (t *terms) value(n *node, below bool, v doc.Value, name string, element bool) {
	here, below := n.indexed(below)
	// Below a path that the policy does not mention, everything is as the path itself. So nothing below an excluded one
	// has to be visited.
	if n == nil && !here || t.work != nil && t.work.step() {
		return
	}
	depth := len(t.path)
	if element {
		t.path = keys.AppendElementStep(t.path)
	} else {
		t.path = keys.AppendMemberStep(t.path, name)
	}
	if here {
		t.add(v)
	}
	switch v.Type {
	case bsoncore.TypeEmbeddedDocument:
		for name, member := range doc.Members(doc.Doc(v.Data)) {
			t.value(n.member(name), below, member, name, false)
		}
	case bsoncore.TypeArray:
		for member := range doc.Elements(v) {
			t.value(n.elements(), below, member, "", true)
		}
	}
	t.path = t.path[:depth]
}

// add adds the term of v at the present path. Objects and arrays have one too,
// which says only that they are there.
func (t *terms) add(v doc.Value) {
	from := t.beginHere(keys.KindEntry)
	t.bytes = keys.AppendSteps(t.bytes, t.path)
	t.bytes = keys.AppendValue(t.bytes, v, false)
	t.end(from)
}

// composites adds the terms of a document in all composite indexes.
func (t *terms) composites(m *matcher, body doc.Doc) {
	for ordinal, columns := range m.composite {
		t.composite(ordinal, columns, body)
	}
}

// composite adds the one term that a document has in a composite index.
// Absent values count as undefined, so that every document is there.
func (t *terms) composite(ordinal int, columns []column, body doc.Doc) {
	from := t.beginHere(keys.KindComposite)
	t.bytes = append(t.bytes, byte(ordinal>>8), byte(ordinal))
	for _, c := range columns {
		t.bytes = keys.AppendValue(t.bytes, c.path.Lookup(body), c.descending)
	}
	t.end(from)
}
