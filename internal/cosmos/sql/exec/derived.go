package exec

import (
	"bytes"
	"encoding/binary"
	"iter"
	"slices"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// An inside is a query in FROM that must read all documents before it has rows. The enclosing query runs over those
// rows.
type inside struct {
	selection *selection
	inner     *inside
}

var errDerived = fault.New(fault.TooLarge,
	"A subquery in FROM has more rows than the query's memory holds. Select fewer documents in it.")

// derive computes the rows of a query in FROM, sorted by keys that do not change as long as the underlying documents
// do not.
func (r *run) derive(in *inside) ([]collected, error) {
	outer := &run{Query: &Query{plan: r.plan, compiler: r.compiler, sel: in.selection, inner: in.inner,
		documents: r.documents},
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
	m.Documents, m.DocumentBytes, m.IndexHits = m.Documents+n.Documents, m.DocumentBytes+n.DocumentBytes,
		m.IndexHits+n.IndexHits
	m.Lookup, m.Load = m.Lookup+n.Lookup, m.Load+n.Load
	return rows, err
}

// A deriver collects the rows of a query over documents.
type deriver struct {
	*run
	all   []collected
	table map[string][]accumulator
	seen  map[string]bool // for DISTINCT
	used  int
}

func (d *deriver) rows(s *selection) ([]collected, error) {
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
	err := d.over(func(_ *access.Document, at place) bool {
		visit(s, at)
		if d.used > d.limit.Memory {
			d.f.fail(errDerived)
		} else if err := d.keep(d.used); err != nil {
			d.f.fail(err)
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
	if s.distinct && d.seen == nil {
		d.sort()
		if d.all = distinct(d.f, d.all, len(s.order) == 0); d.f.err != nil {
			return nil, d.f.err
		}
	}
	for i := range d.all {
		d.all[i].key = clipKey(d.all[i].key)
	}
	d.sort()
	return sliced(d.all, s.skip, s.take), d.f.err
}

func (d *deriver) sort() {
	slices.SortStableFunc(d.all, func(a, b collected) int { return d.f.compareKeys(a.key, b.key) })
}

func sliced(all []collected, skip, take int) []collected {
	all = all[min(skip, len(all)):]
	if take >= 0 && take < len(all) {
		all = all[:take]
	}
	return all
}

func (d *deriver) row(s *selection, at place) {
	v := s.row.eval()(d.f)
	if v.Type == 0 {
		return
	}
	var key []byte
	if d.seen != nil {
		key = appendKey(nil, v)
		if d.seen[string(key)] {
			return
		}
		d.seen[string(key)] = true
		d.used += len(key) + overhead
	} else {
		for _, k := range s.order {
			key = appendSortKey(key, k.get(d.f), k.descending)
		}
		key = d.appendPlace(key, at)
	}
	d.used += len(key) + len(v.Data) + overhead
	d.all = append(d.all, collected{key, doc.Clone(v)})
}

// appendPlace appends a unique identifier of a row of FROM: the document, or the key of the derived row, and the
// ordinal of the row within it.
func (d *deriver) appendPlace(dst []byte, at place) []byte {
	if d.inner != nil {
		dst = append(dst, d.run.rows[at.number-1].key...)
	} else {
		dst = appendNumber(dst, at.number, false)
	}
	return binary.BigEndian.AppendUint32(dst, uint32(at.ordinal))
}

func (d *deriver) group(s *selection, at place) {
	var key []byte
	for _, get := range s.keys {
		key = appendKey(key, get(d.f))
	}
	d.f.spend(len(key))
	group, ok := d.table[string(key)]
	if !ok {
		group = make([]accumulator, len(s.parts))
		d.table[string(key)] = group
		d.used += len(key) + overPart*len(s.parts) + overhead
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
			d.used += len(v.Data) + overCollected
			d.all = append(d.all, collected{[]byte(key), doc.Clone(v)})
		}
		if d.f.reset(); d.used > d.limit.Memory {
			d.f.fail(errDerived)
		}
		if !d.f.step(1 + len(s.parts)/16) {
			return
		}
	}
}

// derivedRows walks rows as if they were documents, numbered from 1 in this
// page. Between pages rows come and go, so a position is the key of a row.
func (r *run) derivedRows(after access.Position) iter.Seq2[*access.Document, error] {
	return func(yield func(*access.Document, error) bool) {
		d := &access.Document{}
		for i := range r.rows {
			d.Number, d.Position = uint64(i+1), append(append(d.Position[:0], positionRow), r.rows[i].key...)
			if bytes.Compare(d.Position, after) > 0 && !yield(d, nil) {
				return
			}
		}
	}
}

// positionRow is the first byte of the position of a derived row, so that no position is empty.
const positionRow = 1

// identityOf tells documents of a stream apart, also in another page.
func (r *run) identityOf(d *access.Document) uint64 {
	if r.inner == nil {
		return d.Number
	}
	id := identity(d.Position)
	return binary.BigEndian.Uint64(id[:])
}
