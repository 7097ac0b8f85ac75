package exec

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

func (c *compiler) subquery(x *syntax.Subquery, s *scope) (node, error) {
	inner, err := c.nested(x.Query, s)
	if err != nil {
		return node{}, err
	}
	switch x.Kind {
	case syntax.Exists:
		return condition(inner.exists), nil
	case syntax.ArrayOf:
		return computed(inner.array), nil
	case syntax.All:
		return condition(inner.all), nil
	case syntax.First:
		return computed(inner.first), nil
	case syntax.Last:
		return computed(inner.last), nil
	}
	return computed(inner.scalar), nil
}

// nested compiles a subquery of an expression or of FROM.
func (c *compiler) nested(q *syntax.Query, s *scope) (*selection, error) {
	if s.empty() && len(q.From) > 0 {
		return nil, syntax.Wrong("SC2001", q.Span, "Identifier '%s' could not be resolved.", q.From[0].Root)
	}
	sel, err := c.selection(q, s)
	if err != nil {
		return nil, err
	}
	return sel, c.orderBy(q.OrderBy, sel)
}

// exists reports whether there is a row with a defined value.
func (s *selection) exists(f *frame) tri {
	s.loop.found = false
	s.rows(f, s.loop.find)
	return triOf(s.loop.found)
}

// array is an array of all rows.
func (s *selection) array(f *frame) doc.Value {
	b := f.open()
	s.rows(f, func(v doc.Value) bool {
		b.element(v)
		return f.err == nil
	})
	return b.close(bsoncore.TypeArray)
}

// all reports whether every row is true.
func (s *selection) all(f *frame) tri {
	result := yes
	s.rows(f, func(v doc.Value) bool {
		result = both(result, truth(v))
		return result != no
	})
	return result
}

func (s *selection) first(f *frame) (first doc.Value) {
	s.rows(f, func(v doc.Value) bool {
		first = s.held(f, v)
		return false
	})
	return first
}

func (s *selection) last(f *frame) (last doc.Value) {
	s.rows(f, func(v doc.Value) bool {
		last = s.held(f, v)
		return true
	})
	return last
}

var errCardinality = fault.New(fault.Invalid,
	"The cardinality of a scalar subquery result set cannot be greater than one.")

// scalar is the only row, or undefined.
func (s *selection) scalar(f *frame) (only doc.Value) {
	s.rows(f, func(v doc.Value) bool {
		if only.Type != 0 {
			only = f.fail(errCardinality)
			return false
		}
		only = s.held(f, v)
		return true
	})
	return only
}

// held is a row's value in memory that outlives the loop.
func (s *selection) held(f *frame, v doc.Value) doc.Value {
	if s.stable || !f.mayHold(len(v.Data)) {
		return v
	}
	return doc.Value{Type: v.Type, Data: f.kept.keep(v.Data)}
}

// A loop is the state of a running subquery. There is one per selection, because no subquery contains itself.
type loop struct {
	f     *frame
	get   eval
	yield func(doc.Value) bool
	skip  int
	left  int
	found bool

	find func(doc.Value) bool // notes that there is a row
	row  func(int) bool
	give func(doc.Value) bool
}

func (s *selection) makeLoop() {
	l := &s.loop
	l.get = s.row.eval()
	l.find = func(doc.Value) bool {
		l.found = true
		return false
	}
	l.give = func(v doc.Value) bool {
		if l.skip > 0 {
			l.skip--
			return true
		}
		l.left--
		return l.yield(v) && l.left != 0 && l.f.err == nil
	}
	l.row = func(int) bool {
		f := l.f
		if !f.step(1) {
			return false
		}
		m := f.mem.mark()
		v := l.get(f)
		more := f.err == nil && (v.Type == 0 || l.give(v))
		f.mem.release(m)
		return more
	}
}

// rows runs a subquery for the enclosing row. Each value is valid until the next call of yield.
func (s *selection) rows(f *frame, yield func(doc.Value) bool) {
	l := &s.loop
	l.f, l.yield, l.skip, l.left = f, yield, s.skip, s.take
	switch {
	case l.left == 0:
	case s.grouped || s.distinct || len(s.order) > 0:
		s.collect(f, l.give)
	default:
		s.each(f, l.row)
	}
}

// Memory of a collected row in addition to its key and value, and of a part of a group in addition to the values that
// it keeps.
const (
	overCollected = 56
	overPart      = 144
)

// A collected row is kept until a subquery has seen all rows.
type collected struct {
	key   []byte
	value doc.Value
}

// collect yields rows in order: of ORDER BY, or else of the groups or values.
func (s *selection) collect(f *frame, give func(doc.Value) bool) {
	var all []collected
	heap := f.heap
	defer func() { f.heap = heap }()
	if s.grouped {
		all = s.groups(f)
	} else {
		all = s.plain(f)
	}
	if f.err != nil {
		return
	}
	if s.distinct {
		all = distinct(f, all, len(s.order) == 0)
	}
	for _, c := range all {
		if !give(c.value) {
			return
		}
	}
}

// plain returns the rows, sorted if there is an order.
func (s *selection) plain(f *frame) (all []collected) {
	get := s.row.eval()
	var key []byte
	s.each(f, func(int) bool {
		m := f.mem.mark()
		defer f.mem.release(m)
		v := get(f)
		if v.Type == 0 {
			return f.step(1)
		}
		key = key[:0]
		for _, k := range s.order {
			key = appendSortKey(key, k.get(f), k.descending)
		}
		if f.heap += overCollected; f.mayHold(len(key)) && f.step(1) {
			all = append(all, collected{f.kept.keep(key), s.held(f, v)})
		}
		return f.err == nil
	})
	slices.SortStableFunc(all, func(a, b collected) int { return f.compareKeys(a.key, b.key) })
	return all
}

// groups returns one row per group, in order of their keys; without GROUP BY it returns one row.
func (s *selection) groups(f *frame) []collected {
	table := map[string][]accumulator{}
	if len(s.keys) == 0 {
		table[""] = make([]accumulator, len(s.parts))
	}
	var key []byte
	s.each(f, func(ordinal int) bool {
		m := f.mem.mark()
		defer f.mem.release(m)
		key = key[:0]
		for _, get := range s.keys {
			key = appendKey(key, get(f))
		}
		group, ok := table[string(key)]
		if !ok {
			if f.heap += len(key) + overhead + overPart*len(s.parts); !f.mayHold(0) {
				return false
			}
			group = make([]accumulator, len(s.parts))
			table[string(key)] = group
		}
		for i := range s.parts {
			f.heap += group[i].add(&s.parts[i], f, place{ordinal: ordinal})
		}
		return f.mayHold(0) && f.step(1)
	})
	all := make([]collected, 0, len(table))
	get := s.row.eval()
	for key, group := range table {
		if !f.step(1 + len(s.parts)/16) {
			return nil
		}
		m := f.mem.mark()
		s.finish(f, group)
		if v := get(f); v.Type != 0 {
			all = append(all, collected{[]byte(key), s.held(f, v)})
		}
		f.mem.release(m)
	}
	slices.SortFunc(all, func(a, b collected) int { return f.compareKeys(a.key, b.key) })
	return all
}

// finish puts the results of a group into their slots.
func (s *selection) finish(f *frame, group []accumulator) {
	for i := range s.parts {
		f.slots[s.parts[i].slot] = group[i].result(&s.parts[i], f)
	}
}

// distinct drops repeated rows. If sorted is set, it sorts the others by value.
func distinct(f *frame, all []collected, sorted bool) []collected {
	seen := map[string]bool{}
	kept := all[:0]
	var key []byte
	for _, c := range all {
		if !f.spend(len(c.value.Data)) {
			return nil
		}
		key = appendKey(key[:0], c.value)
		if seen[string(key)] {
			continue
		}
		own := string(key)
		seen[own] = true
		if sorted {
			c.key = []byte(own)
		}
		kept = append(kept, c)
	}
	if sorted {
		slices.SortFunc(kept, func(a, b collected) int { return f.compareKeys(a.key, b.key) })
	}
	return kept
}
