package exec

import "github.com/mayflydb/mayfly/internal/doc"

// each yields the rows of FROM for the current document that WHERE accepts. Each row is in the frame's slots, and
// yield gets its ordinal among all rows of FROM. It ends when yield returns false or the query has failed.
func (s *selection) each(f *frame, yield func(ordinal int) bool) {
	if len(s.sources) == 0 {
		if accepts(f, s.where) {
			yield(0)
		}
		return
	}
	if len(s.sources) == 1 && s.sources[0].kind <= fromRow {
		if accepts(f, s.filters[0]) {
			yield(0)
		}
		return
	}
	s.walker = walker{selection: s, f: f, yield: yield}
	s.walker.from(0)
}

// accepts reports whether a row satisfies all conditions.
func accepts(f *frame, conditions []test) bool {
	for _, c := range conditions {
		p := f.mark()
		t := c(f)
		f.release(p)
		if t != yes {
			return false
		}
	}
	return f.err == nil
}

// A walker iterates over the rows of FROM for one document. Each selection has one, because no selection contains
// itself.
type walker struct {
	*selection
	f       *frame
	yield   func(ordinal int) bool
	ordinal int
}

// from iterates over the sources from the i-th on. It reports whether to continue.
func (w *walker) from(i int) bool {
	if i == len(w.sources) {
		w.ordinal++
		return w.yield(w.ordinal-1) && w.f.err == nil
	}
	s := &w.sources[i]
	switch s.kind {
	case fromValue:
		v := s.get(w.f)
		return v.Type == 0 || w.row(i, v)
	case fromElements:
		for v := range doc.Elements(s.get(w.f)) {
			if !w.row(i, v) {
				return false
			}
		}
		return w.f.err == nil
	case fromQuery:
		more := true
		s.query.rows(w.f, func(v doc.Value) bool {
			more = w.row(i, v)
			return more
		})
		return more && w.f.err == nil
	}
	return !accepts(w.f, w.filters[i]) || w.from(i+1)
}

// row puts a value of the i-th source into its slot and continues with the next source.
func (w *walker) row(i int, v doc.Value) bool {
	if !w.f.step(1) || !w.f.work(w.size) {
		return false
	}
	w.f.slots[w.sources[i].slot] = v
	if !accepts(w.f, w.filters[i]) {
		return w.f.err == nil
	}
	return w.from(i + 1)
}
