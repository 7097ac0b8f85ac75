package exec

import (
	"bytes"
	"iter"
	"slices"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// An inside is a query in FROM that has to see all documents before it has
// rows: its rows are then what the query around it is about.
type inside struct {
	selection *selection
	inner     *inside
}

var errDerived = fault.New(fault.TooLarge, "A subquery in FROM has more rows than the query's memory holds. Select fewer documents in it.")

// derive makes the rows of a query in FROM.
func (r *run) derive(in *inside) ([]doc.Value, error) {
	outer := &run{Query: &Query{plan: r.plan, compiler: r.compiler, sel: in.selection, inner: in.inner, documents: r.documents},
		ctx: r.ctx, source: r.source, limit: r.limit, f: r.f}
	if in.inner != nil {
		var err error
		if outer.rows, err = r.derive(in.inner); err != nil {
			return nil, err
		}
	}
	d := deriver{run: outer, table: map[string][]accumulator{}}
	rows, err := d.rows(in.selection)
	m, n := &r.page.Metrics, &outer.page.Metrics
	m.Documents, m.DocumentBytes, m.IndexHits = m.Documents+n.Documents, m.DocumentBytes+n.DocumentBytes, m.IndexHits+n.IndexHits
	m.Lookup, m.Load = m.Lookup+n.Lookup, m.Load+n.Load
	return rows, err
}

// A deriver collects rows of a query over documents.
type deriver struct {
	*run
	all   []collected
	table map[string][]accumulator
	seen  map[string]bool // of DISTINCT
	used  int
}

func (d *deriver) rows(s *selection) ([]doc.Value, error) {
	visit := d.row
	if s.distinct && len(s.order) == 0 {
		d.seen = map[string]bool{}
	}
	if s.grouped {
		visit = d.group
		if len(s.keys) == 0 {
			d.table[""] = make([]accumulator, len(s.parts))
		}
	}
	err := d.over(func(_ *Document, at place) bool {
		visit(s, at)
		if d.used > d.limit.Memory {
			d.f.fail(errDerived)
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	if s.grouped {
		d.finish(s)
	}
	if d.f.err != nil {
		return nil, d.f.err
	}
	slices.SortStableFunc(d.all, func(a, b collected) int { return bytes.Compare(a.key, b.key) })
	if s.distinct {
		d.all = distinct(d.all, len(s.order) == 0)
	}
	return sliced(d.all, s.skip, s.take), nil
}

func sliced(all []collected, skip, take int) []doc.Value {
	all = all[min(skip, len(all)):]
	if take >= 0 && take < len(all) {
		all = all[:take]
	}
	rows := make([]doc.Value, len(all))
	for i, c := range all {
		rows[i] = c.value
	}
	return rows
}

func (d *deriver) row(s *selection, _ place) {
	v := s.row.eval()(d.f)
	if v.Type == 0 {
		return
	}
	if d.seen != nil {
		key := string(appendKey(nil, v))
		if d.seen[key] {
			return
		}
		d.seen[key] = true
		d.used += len(key) + overhead
	}
	var key []byte
	for _, k := range s.order {
		key = appendSortKey(key, k.get(d.f), k.descending)
	}
	d.used += len(key) + len(v.Data) + overhead
	d.all = append(d.all, collected{key, clone(v)})
}

func (d *deriver) group(s *selection, at place) {
	var key []byte
	for _, get := range s.keys {
		key = appendKey(key, get(d.f))
	}
	group, ok := d.table[string(key)]
	if !ok {
		group = make([]accumulator, len(s.parts))
		d.table[string(key)] = group
		d.used += len(key) + 96*len(s.parts) + overhead
	}
	for i := range s.parts {
		d.used += group[i].add(&s.parts[i], d.f, at)
	}
}

func (d *deriver) finish(s *selection) {
	d.f.begin(nil)
	get := s.row.eval()
	for key, group := range d.table {
		s.finish(d.f, group)
		if v := get(d.f); v.Type != 0 {
			d.all = append(d.all, collected{[]byte(key), clone(v)})
		}
		d.f.mem.reset()
	}
}

// derivedRows walks rows as if they were documents, numbered from 1.
func (r *run) derivedRows(after access.Position) iter.Seq2[*Document, error] {
	return func(yield func(*Document, error) bool) {
		given, _ := after.Number()
		d := &Document{}
		for n := min(given, uint64(len(r.rows))) + 1; n <= uint64(len(r.rows)); n++ {
			d.Number, d.Position = n, access.NumberPosition(d.Position[:0], n)
			if !yield(d, nil) {
				return
			}
		}
	}
}
