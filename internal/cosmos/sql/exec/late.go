package exec

import (
	"bytes"
	"sync"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/plan"
	"github.com/mayflydb/mayfly/internal/doc"
)

// A sort may keep several times as many rows as it returns, since a row that is among the first so far gives way to
// later ones. Writing a row as JSON takes several times as long as copying its document. So a row that depends on
// nothing but one document is written when it is returned, and until then a copy of the document is kept.
const (
	// maxLate is how many bytes the copies may take. Beyond it all rows are written, since the limits of a page are
	// about written rows.
	maxLate = 1 << 20
	// maxLateBody is the largest document that is copied.
	maxLateBody = 64 << 10
	// maxSpareBody is the largest copy whose memory is kept for other queries.
	maxSpareBody = 4 << 10
)

// spares are entries to fill, with the memory of earlier ones.
var spares = sync.Pool{New: func() any { return new(entry) }}

// writesLate reports whether rows can be written from a copy of their document.
func (r *run) writesLate() bool {
	return r.mode == modeSorted && r.inner == nil && r.documents && r.sel.always && len(r.sel.sources) == 1 &&
		r.sel.sources[0].kind == fromDocument
}

// addLate adds the row of a document without writing it.
func (s *sorter) addLate(d *access.Document, at place) {
	e := s.unused()
	body, size := d.Body, len(d.Body)
	if d.Memo == nil { // else it stays as it is
		e.body = append(e.body[:0], body...)
		body, size = e.body, 0
	}
	e.key, e.at, e.size, e.late = append(e.key[:0], s.key...), at, size+cap(e.body), true
	e.document, e.document.Body, e.document.Position = *d, body, nil
	s.add(e)
	if s.topK.used > maxLate {
		s.writeAll()
	}
}

// unused is an entry to fill: the last one that was dropped, or a spare one.
func (s *sorter) unused() *entry {
	if e := s.free; e != nil {
		s.free = nil
		return e
	}
	e := spares.Get().(*entry)
	s.copies = append(s.copies, e)
	return e
}

// spare keeps the memory of copies for other queries, once a pass is finished.
func (r *run) spare() {
	r.token.after = bytes.Clone(r.token.after) // it may be that of an entry
	for _, e := range r.copies {
		if cap(e.body) <= maxSpareBody {
			*e = entry{key: e.key[:0], position: e.position[:0], body: e.body[:0]}
			spares.Put(e)
		}
	}
	r.copies = nil
}

// writeAll writes the rows that are not written, and ends writing rows late.
func (s *sorter) writeAll() {
	s.late, s.copies = false, nil
	for _, e := range s.entries {
		if err := s.finish(e); err != nil {
			s.f.fail(err)
			return
		}
		s.topK.used -= e.size
		e.row, e.document, e.body, e.late, e.size = bytes.Clone(e.row), access.Document{}, nil, false, 0
		s.count(e)
	}
	s.shrink()
}

// finish writes a row that is not written. Its bytes are valid until the next call. An error that ends the query is
// returned, one of the row is kept in the entry.
func (r *run) finish(e *entry) error {
	if !e.late {
		return nil
	}
	if r.other == nil {
		r.other, r.row = r.frame(r.source), make([]byte, 0, 2*len(e.document.Body))
	}
	f, d := r.other, &e.document
	f.begin(d)
	row, _ := r.write(f, r.row[:0])
	r.row = row
	f.spend(len(row))
	if err := f.err; err != nil {
		if err := r.ending(err); err != nil {
			return err
		}
		e.err, f.err, row = err, nil, nil
	}
	e.row, e.position = row, r.position(f, e.position[:0], d)
	return nil
}

// position appends where a document stands in the order of the page.
func (r *run) position(f *frame, dst access.Position, d *access.Document) access.Position {
	if r.order.Kind != plan.ByValue {
		return access.NumberPosition(dst, d.Number)
	}
	var room [4]doc.Value
	values := room[:0]
	for _, k := range r.sel.order {
		values = append(values, k.get(f))
	}
	return access.ValuePosition(dst, values, tie(&r.order, d))
}
