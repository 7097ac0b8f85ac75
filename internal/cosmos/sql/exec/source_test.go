package exec

import (
	"bytes"
	"context"
	"iter"
	"slices"
	"strconv"
	"testing"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
)

// A sliceSource is a Source of documents in memory, which implements all of access.
type sliceSource struct {
	docs      []access.Document // by number
	schema    access.Schema
	systems   int // calls of System
	visited   int // documents handed out
	noCounter bool
	tables    bool // Tabulate gives tables
	noCounts  bool // and only values, if it is asked for ends and counts
	texts     bool // wanted by a walk
	short     int  // walks with First end with access.ErrLong after so many documents, those that resume after fewer
}

func mustDoc(t testing.TB, text string) doc.Doc {
	t.Helper()
	d, err := doc.FromJSON(nil, []byte(text), doc.ParseOptions{})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return d
}

func mustValue(t testing.TB, text string) doc.Value {
	t.Helper()
	if text == "" {
		return doc.Value{}
	}
	v, err := doc.ValueFromJSON([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// newSource numbers documents from 1; sequences run the same way, stamps from 1001.
func newSource(t testing.TB, texts ...string) *sliceSource {
	t.Helper()
	s := &sliceSource{}
	for _, text := range texts {
		s.add(mustDoc(t, text))
	}
	s.schema = access.Schema{
		Partition: []access.Path{{{Name: "pk"}}},
		Indexed:   func(access.Path) bool { return true },
	}
	return s
}

func (s *sliceSource) add(body doc.Doc) {
	n := uint64(1)
	if len(s.docs) > 0 {
		n = s.docs[len(s.docs)-1].Number + 1
	}
	s.docs = append(s.docs,
		access.Document{Number: n, Version: access.Version{Sequence: n, Stamp: 1000 + int64(n)}, Body: body})
}

// remove removes a document, as its expiry does.
func (s *sliceSource) remove(number uint64) {
	s.docs = slices.DeleteFunc(slices.Clone(s.docs), func(d access.Document) bool { return d.Number == number })
}

func (s *sliceSource) System(dst []byte, d *access.Document) doc.Doc {
	s.systems++
	id := strconv.FormatUint(d.Number, 10)
	at, dst := bsoncore.AppendDocumentStart(dst)
	dst = bsoncore.AppendStringElement(dst, "_rid", "rid"+id)
	dst = bsoncore.AppendStringElement(dst, "_self", "self"+id)
	dst = bsoncore.AppendStringElement(dst, "_etag", "etag"+id)
	dst = bsoncore.AppendStringElement(dst, "_attachments", "attachments/")
	dst = bsoncore.AppendInt64Element(dst, "_ts", d.Stamp)
	dst, _ = bsoncore.AppendDocumentEnd(dst, at)
	return dst
}

func (s *sliceSource) Count(ctx context.Context, a access.Access) (n uint64, ok bool, err error) {
	if s.noCounter {
		return 0, false, nil
	}
	for range s.Scan(ctx, a) {
		n++
	}
	return n, true, nil
}

// Tabulate gives values as an index keeps them.
func (s *sliceSource) Tabulate(
	_ context.Context, a access.Access, t *access.Table,
) (of access.Tabled, ok bool, _ error) {
	if !s.tables {
		return of, false, nil
	}
	value := func(d *access.Document, p access.Path) (v doc.Value) {
		for _, found := range s.values(d, p) {
			v = found
		}
		return v
	}
	ends, all := make([][]doc.Value, len(t.Columns)), uint64(0)
	for i := range s.docs {
		d := &s.docs[i]
		if !s.selected(d, a) {
			continue
		}
		if t.Ends {
			all++
			for c, path := range t.Columns {
				if v := value(d, path); v.Type != 0 {
					ends[c] = append(ends[c], v)
				}
			}
			continue
		}
		of.Documents, of.Bytes = of.Documents+1, of.Bytes+uint64(len(d.Body))
		by := doc.Value{}
		if t.By != nil {
			by = value(d, t.By)
		}
		if rank := doc.RankOf(by); rank == doc.RankArray || rank == doc.RankObject {
			return of, false, nil
		}
		group, err := t.Group(by)
		if err != nil {
			return of, false, err
		}
		if group < 0 {
			continue
		}
		t.Count(group, 1)
		for c, path := range t.Columns {
			v := value(d, path)
			rank := doc.RankOf(v)
			if v.Type != 0 && !t.Add(group, c, v, rank != doc.RankArray && rank != doc.RankObject) {
				return of, false, nil
			}
		}
	}
	for c, list := range ends {
		if len(list) == 0 {
			continue
		}
		group, err := t.Group(doc.Value{})
		if err != nil {
			return of, false, err
		}
		if t.Counts {
			if len(list) < 2 || s.noCounts {
				return of, false, nil
			}
			t.Defined(group, c, uint64(len(list)-2))
			if c == 0 {
				t.Count(group, all)
			}
		}
		for _, v := range []doc.Value{slices.MinFunc(list, doc.Compare), slices.MaxFunc(list, doc.Compare)} {
			of.Documents++
			rank := doc.RankOf(v)
			if !t.Add(group, c, v, rank != doc.RankArray && rank != doc.RankObject) {
				return of, false, nil
			}
		}
	}
	return of, true, nil
}

// A placed document has its position in the order of a walk.
type placed struct {
	access.Document
	key []byte
}

func (s *sliceSource) Scan(_ context.Context, a access.Access) iter.Seq2[*access.Document, error] {
	return func(yield func(*access.Document, error) bool) {
		s.texts = s.texts || a.Texts
		var list []placed
		for _, d := range s.docs {
			if s.selected(&d, a) {
				list = append(list, s.place(d, a))
			}
		}
		slices.SortStableFunc(list, func(x, y placed) int { return bytes.Compare(x.key, y.key) })
		after := s.afterKey(a)
		left := s.short
		if n := len(after); n > 0 {
			left = int(after[n-1]) % (s.short + 1)
		}
		for i := range list {
			if after != nil && bytes.Compare(list[i].key, after) <= 0 {
				continue
			}
			if left--; a.First > 0 && left < 0 {
				yield(nil, access.ErrLong)
				return
			}
			// A source may pass over some of the documents that are not wanted.
			if a.Skip != nil && *a.Skip.Left > 0 && i%4 > 0 {
				*a.Skip.Left--
				a.Skip.Passed, a.Skip.Bytes = a.Skip.Passed+1, a.Skip.Bytes+uint64(len(list[i].Body))
				continue
			}
			s.visited++
			d := list[i].Document
			// What was handed out before is gone, unless it has a memo.
			body := slices.Clone(d.Body)
			if d.Memo == nil {
				d.Body = body
			}
			d.Position = slices.Clone(d.Position)
			if !yield(&d, nil) {
				return
			}
			for j := range body {
				body[j] = 0xAA
			}
			for j := range d.Position {
				d.Position[j] = 0xAA
			}
		}
	}
}

func (s *sliceSource) columns(r access.Range) []access.Column {
	if r.Composite > 0 {
		return s.schema.Composite[r.Composite-1]
	}
	return []access.Column{{Path: r.Path}}
}

func isStampPath(p access.Path) bool { return len(p) == 1 && p[0].Name == "_ts" }

func (s *sliceSource) key(columns []access.Column, reverse bool, values []doc.Value, number uint64) (key []byte) {
	for i, c := range columns {
		key = appendSortKey(key, values[i], c.Descending != reverse)
	}
	return appendNumber(key, number, reverse)
}

func (s *sliceSource) place(d access.Document, a access.Access) placed {
	walk, ok := a.Of.(*access.Walk)
	if !ok {
		d.Position = access.NumberPosition(nil, d.Number)
		return placed{d, d.Position}
	}
	columns, number := s.columns(walk.Range), d.Number
	var values []doc.Value
	for _, c := range columns {
		v := doc.Value{}
		for _, found := range s.values(&d, c.Path) {
			v = found
		}
		values = append(values, v)
		if isStampPath(c.Path) {
			number = d.Sequence
		}
	}
	d.Position = access.ValuePosition(nil, values, number)
	return placed{d, s.key(columns, walk.Reverse, values, number)}
}

func (s *sliceSource) afterKey(a access.Access) []byte {
	walk, ok := a.Of.(*access.Walk)
	if a.After == nil || !ok {
		return a.After
	}
	values, number, ok := a.After.Values()
	if !ok {
		panic("no position of a walk")
	}
	return s.key(s.columns(walk.Range), walk.Reverse, values, number)
}

func (s *sliceSource) values(d *access.Document, p access.Path) []doc.Value {
	if isStampPath(p) {
		return []doc.Value{doc.Int(d.Stamp)}
	}
	at := []doc.Value{doc.Object(d.Body)}
	for _, step := range p {
		var below []doc.Value
		for _, v := range at {
			if step.Element {
				below = slices.AppendSeq(below, doc.Elements(v))
			} else if m := member(v, step.Name); m.Type != 0 {
				below = append(below, m)
			}
		}
		at = below
	}
	return at
}

func (s *sliceSource) selected(d *access.Document, a access.Access) bool {
	partition, _ := access.ScopeOf(a.Of).(access.Partition)
	for i, want := range partition {
		if v := s.values(d, s.schema.Partition[i]); len(v) != 1 || !doc.Equal(v[0], want) {
			return false
		}
	}
	switch of := a.Of.(type) {
	case *access.Lookup:
		id, _ := doc.AsString(doc.Lookup(d.Body, "id"))
		return slices.Contains(of.IDs, id)
	case *access.Filter:
		return s.inSet(d, of.Set)
	case *access.Walk:
		r := &of.Range
		if !s.inSet(d, of.Set) {
			return false
		}
		if of.Absent && r.Low == nil && len(s.values(d, r.Path)) == 0 {
			return r.High == nil || within(doc.Value{}, nil, r.High)
		}
		return s.inRange(d, r)
	}
	return true
}

func (s *sliceSource) inSet(d *access.Document, set access.Set) bool {
	in := func(x access.Set) bool { return s.inSet(d, x) }
	switch set := set.(type) {
	case *access.Range:
		return s.inRange(d, set)
	case *access.Tested:
		return slices.ContainsFunc(s.values(d, set.Range.Path), func(v doc.Value) bool {
			passes := v.Type == bsoncore.TypeString
			if passes {
				passes, _ = set.Test(v)
			}
			return passes
		})
	case access.Intersection:
		return !slices.ContainsFunc(set, func(x access.Set) bool { return !in(x) })
	case access.Union:
		return slices.ContainsFunc(set, in)
	}
	return true
}

func (s *sliceSource) inRange(d *access.Document, r *access.Range) bool {
	if r.Composite == 0 {
		return slices.ContainsFunc(s.values(d, r.Path), func(v doc.Value) bool { return within(v, r.Low, r.High) })
	}
	value := func(c access.Column) (v doc.Value) {
		for _, found := range s.values(d, c.Path) {
			v = found
		}
		return v
	}
	columns := s.schema.Composite[r.Composite-1]
	for i, want := range r.Equal {
		if access.Compare(value(columns[i]), want) != 0 {
			return false
		}
	}
	if len(r.Equal) == len(columns) {
		return true
	}
	return within(value(columns[len(r.Equal)]), r.Low, r.High)
}

func within(v doc.Value, low, high *access.Bound) bool {
	class := func(v doc.Value) doc.Rank {
		if r := doc.RankOf(v); r != doc.RankTrue {
			return r
		}
		return doc.RankFalse
	}
	if low != nil {
		c := access.Compare(v, low.Value)
		if low.Type {
			c = int(class(v)) - int(class(low.Value))
		}
		if c < 0 || c == 0 && low.Open && !low.Type {
			return false
		}
	}
	if high != nil {
		c := access.Compare(v, high.Value)
		if high.Type {
			c = int(class(v)) - int(class(high.Value))
		}
		if c > 0 || c == 0 && high.Open && !high.Type {
			return false
		}
	}
	return true
}
