package exec

import (
	"cmp"
	"slices"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// A query that needs only the values at a few indexed paths, and these only to group and to add them up, gets them from
// the source as a table, without documents.

// A table is the columns that such a query needs.
type table struct {
	by      access.Path
	columns []access.Path
	parts   [][]int // of a group, by the column that has their values
	ends    bool    // only the least and the greatest values count, and with counts how many there are
	counts  bool
	values  bool // only the values of by count
	lacking bool // and so does whether a document has none
}

// tabulated returns the table of a query, nil if it needs more than that.
func (q *Query) tabulated() *table {
	sel := q.sel
	if !q.documents || !q.plan.Exact || q.plan.Nothing || q.inner != nil || len(sel.keys) > 1 ||
		len(sel.sources) != 1 || sel.sources[0].kind != fromDocument {
		return nil
	}
	if q.mode == modeDistinct || q.mode == modeSortedUnique { // whose keys are in the row
		if path := q.indexed(sel.row.alone()); path != nil {
			return &table{by: path, values: true, lacking: sel.row.object != nil}
		}
		return nil
	}
	if !sel.grouped {
		return nil
	}
	t := &table{ends: len(sel.keys) == 0, values: len(sel.keys) == 1, lacking: true}
	if len(sel.keys) == 1 {
		if t.by = q.indexed(sel.paths[0]); t.by == nil {
			return nil
		}
	}
	for i := range sel.parts {
		p := &sel.parts[i]
		switch p.kind {
		case partCount, partSum, partAverage, partLeast, partGreatest:
			t.ends, t.values = t.ends && p.kind != partSum && p.kind != partAverage, false
			t.counts = t.counts || p.kind == partCount
			if p.get == nil {
				continue
			}
			path := q.indexed(p.path)
			if path == nil {
				return nil
			}
			t.add(i, path)
		case partFirst:
			if t.by == nil || !slices.Equal(p.path, sel.paths[0]) {
				return nil
			}
		default:
			return nil
		}
	}
	t.ends = t.ends && len(t.columns) > 0
	if !t.ends && slices.ContainsFunc(t.columns, isStamp) {
		return nil // no entries have it
	}
	return t
}

func isStamp(p access.Path) bool { return len(p) == 1 && p[0].Name == stampName }

// indexed is the path of a value whose index is complete, else nil.
func (q *Query) indexed(names []string) access.Path {
	if len(names) == 0 || q.schema.Indexed == nil {
		return nil
	}
	path := make(access.Path, len(names))
	for i, name := range names {
		path[i].Name = name
	}
	if !q.schema.Indexed(path) {
		return nil
	}
	return path
}

// add notes that a part needs the values at a path.
func (t *table) add(part int, path access.Path) {
	column := slices.IndexFunc(t.columns, func(known access.Path) bool { return slices.Equal(known, path) })
	if column < 0 {
		column = len(t.columns)
		t.columns, t.parts = append(t.columns, path), append(t.parts, nil)
	}
	t.parts[column] = append(t.parts[column], part)
}

// entryUnits is the work of reading an index entry.
const entryUnits = 16

// tabulate fills groups from a table of the source, or only from the ends of its columns. group finds the group of a
// value of GROUP BY, nil for one that is left to another page, and grow notes that the id-th group that is not nil
// needs more memory. If ok is false, the groups are of no use.
func (r *run) tabulate(
	ends bool, group func(v doc.Value) []accumulator, grow func(id, bytes int),
) (ok bool, err error) {
	if r.table == nil {
		return false, nil
	}
	var groups [][]accumulator
	parts := r.sel.parts
	x := access.Table{
		By: r.table.by, Columns: r.table.columns, Ends: ends, Counts: r.table.counts, Values: r.table.values,
		Lacking: r.table.lacking,
		Group: func(v doc.Value) (int, error) {
			g := group(v)
			if r.f.err != nil {
				return 0, r.f.err
			}
			if g == nil {
				return -1, nil
			}
			groups = append(groups, g)
			return len(groups) - 1, nil
		},
		Count: func(id int, documents uint64) {
			for i := range parts {
				if parts[i].kind == partCount && parts[i].get == nil {
					groups[id][i].count += documents
				}
			}
		},
		Add: func(id, column int, v doc.Value, whole bool) bool {
			for _, i := range r.table.parts[column] {
				p := &parts[i]
				// An array or an object leaves the least and the greatest value undefined.
				if !whole && (p.kind == partLeast || p.kind == partGreatest) && doc.RankOf(v) < doc.RankArray {
					return false
				}
				if n := groups[id][i].take(p, v, place{}); n > 0 {
					grow(id, n)
				}
			}
			return r.f.err == nil
		},
		Defined: func(id, column int, documents uint64) {
			for _, i := range r.table.parts[column] {
				if parts[i].kind == partCount {
					groups[id][i].count += documents
				}
			}
		},
		Work: func(entries int) error {
			r.f.work(entries * entryUnits)
			return r.f.err
		},
		Hold: func(n int) error {
			if r.limit.Hold == nil {
				return nil
			}
			return r.limit.Hold(n)
		},
	}
	began := r.limit.now()
	of, ok, err := r.source.Tabulate(r.ctx, r.plan.Access, &x)
	m := &r.page.Metrics
	m.Lookup += r.limit.now() - began
	if r.f.err != nil || !ok || err != nil {
		return false, cmp.Or(r.f.err, err)
	}
	m.Documents, m.DocumentBytes, m.IndexHits = m.Documents+of.Documents, m.DocumentBytes+of.Bytes,
		m.IndexHits+of.Documents
	return true, nil
}

// alone is the path of the only value of a document on which a row depends, nil if there is none or if it depends on
// more.
func (n *node) alone() []string {
	if n.object == nil {
		return n.path
	}
	var path []string
	for i := range n.object.members {
		of := n.object.members[i].node.alone()
		if of == nil || path != nil && !slices.Equal(path, of) {
			return nil
		}
		path = of
	}
	return path
}

// errManyValues ends a table that costs more than a walk in order, which ends with the page.
var errManyValues = fault.New(fault.Internal, "too many values")

// maxSortedValues is the most values of a table for a page in their order.
const maxSortedValues = 1_024

// tabulateRows offers the row of each value of a table, as that of a document with nothing else. If it is not ok, an
// empty b stays empty.
func (r *run) tabulateRows(b *topK, offer func(*access.Document, place) bool) (ok bool, err error) {
	if r.table == nil {
		return false, nil
	}
	empty := *b
	defer func() {
		if !ok {
			*b = empty
			clear(b.byKey)
		}
	}()
	var d access.Document
	n := 0
	ok, err = r.tabulate(false,
		func(v doc.Value) []accumulator {
			if n++; n > maxSortedValues && r.mode == modeSortedUnique {
				r.f.fail(errManyValues)
				return nil
			}
			d.Body = with(d.Body[:0], r.table.by, v)
			r.f.begin(&d)
			offer(&d, place{})
			return nil
		},
		func(int, int) {})
	if err == errManyValues {
		r.f.err, err = nil, nil
	}
	return ok, err
}

// with appends a document that has nothing but a value at a path.
func with(dst doc.Doc, path access.Path, v doc.Value) doc.Doc {
	at, dst := bsoncore.AppendDocumentStart(dst)
	switch {
	case len(path) > 1:
		dst = bsoncore.AppendHeader(dst, bsoncore.TypeEmbeddedDocument, path[0].Name)
		dst = with(dst, path[1:], v)
	case v.Type != 0:
		dst = bsoncore.AppendValueElement(dst, path[0].Name, v)
	}
	dst, _ = bsoncore.AppendDocumentEnd(dst, at)
	return dst
}

// tabulateOne is tabulate for the only group of a query without GROUP BY.
func (r *run) tabulateOne() (group []accumulator, ok bool, err error) {
	for _, ends := range []bool{true, false} {
		group = make([]accumulator, len(r.sel.parts))
		if r.table == nil || ends && !r.table.ends {
			continue
		}
		used := 0
		ok, err = r.tabulate(ends,
			func(doc.Value) []accumulator { return group },
			func(_, bytes int) {
				used += bytes
				r.holdGroup(used)
			})
		if ok || err != nil {
			break
		}
	}
	return group, ok, err
}

// tabulateGroups is tabulate for the groups that an empty b admits. If it is not ok, b stays empty.
func (r *run) tabulateGroups(b *topK) (ok bool, err error) {
	empty := *b
	defer func() {
		if !ok {
			*b = empty
			clear(b.byKey)
		}
	}()
	var entries []*entry
	return r.tabulate(false,
		func(v doc.Value) []accumulator {
			key := appendKey(nil, v)
			r.f.spend(len(key))
			e := b.group(clipKey(key), r.sel.parts)
			if e == nil {
				return nil
			}
			entries = append(entries, e)
			for i := range r.sel.parts {
				if a := &e.group[i]; r.sel.parts[i].kind == partFirst && a.count == 0 {
					a.count, a.value = 1, doc.Clone(v)
					b.grow(e, len(v.Data))
				}
			}
			return e.group
		},
		func(id, bytes int) {
			if e, kept := b.find(entries[id].key); kept && e == entries[id] {
				r.growGroup(b, e, bytes)
			}
		})
}
